"""The page's policy names its script by hash: says whether it is right, and with --write puts it right."""

import base64
import hashlib
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[3] / "Sources/Control/Resources/page.html"


def sealed(text):
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return re.sub(r"script-src 'sha256-[^']*'", f"script-src 'sha256-{digest}'", text, count=1)


if __name__ == "__main__":
    found = PAGE.read_text(encoding="utf-8")
    if found != sealed(found):
        if "--write" not in sys.argv:
            sys.exit("the policy in page.html does not fit its script: scripts/page --seal")
        PAGE.write_text(sealed(found), encoding="utf-8")
