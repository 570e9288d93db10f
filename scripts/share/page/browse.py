"""The browser of scripts/page: does what each line on standard input says, and answers it with one line.

    open URL                 a page for the token's form and one with the token; checks both on the way
    look AIR NAME [WORD...]  waits for the state of the air (idle, off_air, hidden, impaired, on_air), checks all that must
                             hold there, takes the screenshots NAME-*.png. WORD: recording, paused, down (a destination
                             that reconnects), levels, silent
    press BUTTON             pause, keyframe or stop (with its dialog), by the mouse
    curtain WHO NAME         raises the curtain by its button and lowers it, by the keyboard; WHO: nobody else, or others
                             who hold it
    keys                     reaches every control with Tab, in the order of the page
    lost NAME / found        the daemon is gone / is back
    hostile                  what must hold where names try to be markup
    axe                      whether axe-core looks at each state, and how often it did
    end

An answer is "ok", with figures, or "failed: " and why. The arguments: the folder for screenshots, the token, and the file
axe.min.js, or nothing.
"""

import os
import pathlib
import re
import sys
import time

from playwright.sync_api import Error, sync_playwright

SIZES = {"desktop": (1440, 900), "phone": (390, 844)}
WORDS = {"idle": "Idle", "off_air": "Off air", "hidden": "Hidden", "impaired": "Impaired", "on_air": "On air"}
AXE = """() => axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa"], resultTypes: ["violations"] })
    .then(found => found.violations.map(v => `${v.id} (${v.nodes.length}): ${v.nodes[0].target.join(" ")} ${v.nodes[0].failureSummary.slice(0, 160)}`))"""
# Buttons and fields that a thumb may miss.
SMALL = """() => [...document.querySelectorAll("button, input, select, summary")]
    .filter(node => node.getClientRects().length && !node.closest("dialog:not([open])"))
    .filter(node => node.getBoundingClientRect().height < 43.5).map(node => `${node.id || node.textContent.trim().slice(0, 20)} ${node.getBoundingClientRect().height}`)"""
NARROW = 360
# What the browser itself says of an answer other than 200: expected without a token and while the daemon is gone.
EXPECTED = re.compile(r"^Failed to load resource: (net::ERR_|the server responded with a status of (401|404))")
PIXELS = """async image => {
    const canvas = document.createElement("canvas");
    canvas.width = 64, canvas.height = 36;
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, 64, 36);
    const data = context.getImageData(0, 0, 64, 36).data, colors = new Set();
    for (let at = 0; at < data.length; at += 4) {
        if (data[at] + data[at + 1] + data[at + 2] > 90) { colors.add(data[at] >> 4 << 8 | data[at + 1] >> 4 << 4 | data[at + 2] >> 4); }
    }
    return colors.size;
}"""
# Text that is harder to read than WCAG's 4.5 to 1.
CONTRAST = """() => {
    const parse = color => color.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, at) => sum + v * [.2126, .7152, .0722][at], 0);
    const bad = [];
    for (const node of document.querySelectorAll("body *")) {
        const own = [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
        if (!own || !node.getClientRects().length || node.closest("script, style, noscript, .sr, :disabled, figure p")) { continue; }
        const style = getComputedStyle(node);
        let back = node, ground = [0, 0, 0, 0];
        while (back && !(ground[3] === undefined || ground[3] > 0)) { ground = parse(getComputedStyle(back).backgroundColor); back = back.parentElement; }
        const [a, b] = [light(parse(node.namespaceURI.endsWith("svg") ? style.fill : style.color)), light(ground)];
        const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (ratio < 4.5) { bad.push(`${node.textContent.trim().slice(0, 30)} ${ratio.toFixed(2)}`); }
    }
    return bad;
}"""


class Wrong(Exception):
    pass


def must(holds, what):
    if not holds:
        raise Wrong(what)


class Browser:
    def __init__(self, playwright, folder, token, axe):
        self.folder, self.token, self.looked = folder, token, 0
        # Evaluated by the debugger: as an element of the page, its policy would not let it in.
        self.axe_text = pathlib.Path(axe).read_text(encoding="utf-8") if axe else ""
        self.browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--disable-gpu"] + ["--no-sandbox"] * (os.geteuid() == 0))
        self.page = None
        self.said = []

    def new_page(self):
        page = self.browser.new_page(viewport=dict(zip(("width", "height"), SIZES["desktop"])))
        page.set_default_timeout(15000)
        page.on("console", lambda message: message.type in ("error", "warning") and not EXPECTED.match(message.text)
                and self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        return page

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def wait(self, expression, what, seconds=15):
        # wait_for_function evaluates text inside the page, which its policy forbids.
        end = time.monotonic() + seconds
        while not self.page.evaluate(expression):
            must(time.monotonic() < end, f"{what}: not within {seconds} s; the page says \"{self.text('#state')}\"")
            self.page.wait_for_timeout(100)

    def screenshot(self, name):
        """Light and dark, wide and narrow; nothing may stick out."""
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            for size, (width, height) in SIZES.items():
                self.page.set_viewport_size({"width": width, "height": height})
                self.page.wait_for_timeout(250)
                self.fits(f"{name}, {size}")
                self.page.screenshot(path=f"{self.folder}/{name}-{scheme}-{size}.png", full_page=True)
                if size == "phone":
                    small = self.page.evaluate(SMALL)
                    must(not small, f"{name}: lower than 44 px on a phone: {small}")
                self.accessible(f"{name}, {scheme}, {size}")
            if self.page.locator("html[data-link=heard]").count() and not self.page.locator("dialog[open]").count():
                hard = self.page.evaluate(CONTRAST)
                must(not hard, f"hard to read in {scheme}: {hard[:5]}")
        self.page.set_viewport_size({"width": NARROW, "height": 800})
        self.page.wait_for_timeout(100)
        self.fits(f"{name}, {NARROW} wide")
        self.page.set_viewport_size(dict(zip(("width", "height"), SIZES["desktop"])))
        self.page.emulate_media(color_scheme="light")

    def accessible(self, where):
        """WCAG 2.1 AA, as far as axe-core can tell."""
        if not self.axe_text:
            return
        if self.page.evaluate("typeof axe") == "undefined":
            self.page.evaluate(self.axe_text + "; 0")
        found = self.page.evaluate(AXE)
        must(not found, f"{where}: axe-core: {found[:4]}")
        self.looked += 1

    def fits(self, where):
        wide, room = self.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        must(wide <= room, f"{where}: the page is {wide} wide in a window of {room}")

    def quiet(self):
        must(not self.said, f"the console says: {self.said[:3]}")

    def open(self, url):
        page = self.page = self.new_page()
        page.goto(url)
        page.wait_for_selector("#ask:not([hidden])")
        must(page.evaluate("document.activeElement.id") == "token", "the field for the token has no focus")
        self.screenshot("token")
        page.keyboard.type("not-the-token")
        page.keyboard.press("Enter")
        page.wait_for_selector("#refused.bad")
        must("refused" in self.text("#refused"), "nothing says that the token was refused")
        page.keyboard.type(self.token)
        page.keyboard.press("Enter")
        page.wait_for_selector("html[data-link=heard]")
        page.close()
        page = self.page = self.new_page()
        page.goto(f"{url}#token={self.token}")
        page.wait_for_selector("html[data-link=heard]")
        must("token" not in page.url, f"the token stays in the address: {page.url}")
        page.reload()
        page.wait_for_selector("html[data-link=heard]")
        self.quiet()
        return "the token is asked for, refused, taken, and kept for a reload"

    def look(self, state, name, *words):
        page, word = self.page, WORDS[state]
        self.wait(f"document.documentElement.dataset.state === '{state}'", f"state {state}", 25)
        for one in ("recording", "paused"):
            self.wait(f"{'' if one in words else '!'}({{ recording: !document.getElementById('recording').hidden,"
                      f" paused: document.documentElement.dataset.does === 'paused' }}).{one}", f"{one} as it should be", 25)
        on = state != "idle"
        must(self.text("#state").strip() == word, f"the heading says {self.text('#state')}")
        must(re.fullmatch(r"for \d+\s(s|min\s\d+\ss|h\s\d+\smin)", self.text("#for")), f"it does not say for how long: {self.text('#for')}")
        must(page.title().startswith(word) and page.title().endswith("upcast"), f"the title is {page.title()}")
        must(("recording" in page.title()) == ("recording" in words and state != "on_air"), f"the title is {page.title()}")
        must(page.get_attribute("#icon", "href").startswith("data:image/svg+xml,%3Csvg"), "there is no icon")
        must(f"{word} since" in self.text("#facts") and re.search(r"\d\d:\d\d:\d\d", self.text("#facts")),
             f"it does not say since when: {self.text('#facts')}")
        must(("broadcast for" in self.text("#facts")) == on, f"the broadcast's age: {self.text('#facts')}")
        must("1280 × 720, 30 frames/s" in self.text("#facts"), "the canvas is not there")
        must(2 <= page.locator("#facts > div:visible").count() <= 4, f"the facts are {self.text('#facts')}")
        if state == "off_air":
            tone = "getComputedStyle(document.documentElement).getPropertyValue('--bad')"
            must(page.get_attribute("#state", "class") == "bad" and page.evaluate(tone), "off air is not the red of the page")
        must(not re.search(r"idle for|superseded|curtained|taken back|420v|rotate\d|daemon:|(video|audio|closed)_", self.text("#facts") + self.text("#destinations")),
             f"a name of the program: {self.text('#facts')} {self.text('#destinations')}")
        # A minute of a young daemon's, or ten of an old one's; grown by the events.
        counted = "[...document.querySelectorAll('.plot svg')].map(plot => Number(plot.dataset.points))"
        self.wait(f"{counted}.length === 4 && Math.min(...{counted}) >= 2", "two points in each of four plots")
        before = page.evaluate(counted)
        last = page.evaluate("latest()")
        self.wait(f"latest() > {last} + 1900", "new points in the plots", 8)
        after = page.evaluate(counted)
        must(max(after) <= 602 and min(after) >= min(before) - 2, f"points in the plots: {before}, then {after}")
        must(page.evaluate("[...document.querySelectorAll('.curve')].every(path => /^M[\\d.]+ [\\d.]+(L|M)/.test(path.getAttribute('d')))"),
             "a plot has no curve")
        plots = self.text("#plots")
        for word in ("Video bitrate", "bit/s", "Waiting, slowest destination", "Encoded frames a second", "/s", "MiB", "cap 50.0", "plan ", "min ago", "now"):
            must(word in page.evaluate("document.getElementById('plots').textContent"), f"the plots do not say {word}: {plots}")
        must(page.locator("#events li:not(.none)").count() >= 1, "there are no events")
        must(page.locator(".destination").count() >= 1, "there is no destination")
        colors = 0
        if on:
            self.wait("!document.getElementById('picture').hidden && document.getElementById('picture').naturalWidth > 0", "a picture")
            colors = page.locator("#picture").evaluate(PIXELS)
            must(colors >= 3 or state == "hidden", f"the picture has {colors} colours that are not black")
        else:
            self.wait("document.getElementById('picture').hidden", "no picture")
        must(page.locator("#stop").is_enabled() == on, "stop is not as it should be")
        must(page.locator("#veil").is_visible() == (state == "hidden"), "the overlay on the picture is not as it should be")
        if state == "hidden":
            must("Hidden from viewers" in self.text("#veil") and re.search(r", for \d+\s(s|min)", self.text("#veil")),
                 f"the overlay says {self.text('#veil')}")
        must(page.locator("#show").is_visible() == (state == "hidden"), "\"Show again\" is not as it should be")
        if "down" in words:
            # It connects now and then.
            self.wait("/down for .*reconnecting, retry in/.test(document.getElementById('destinations').textContent)", "a destination that reconnects")
            self.wait("document.querySelector('.destination button:not([hidden])')", "a button to retry with")
            must(re.search(r"Last error, \d+\s\w+.* ago: ", self.text("#destinations")), "the last error is not there, with its age")
            must("trying again" not in self.text("#destinations"), "a countdown of an attempt that is over")
        if "levels" in words:
            self.wait("document.querySelectorAll('#levels [role=meter]').length >= 1", "a level")
            must(re.search(r"peak .?\d+\.\d dBFS, RMS .?\d+\.\d dBFS", self.text("#levels")), f"the levels say {self.text('#levels')}")
            must(-60 < float(page.locator("#levels [role=meter]").first.get_attribute("aria-valuenow")) <= 0, "a level that is none")
        if "silent" in words:
            self.wait("/silent for \\d+\\s(s|min)/.test(document.getElementById('levels').textContent)", "silence")
        self.keyboard()
        self.screenshot(name)
        self.quiet()
        return f"{min(after)} points in each plot" + (f", {colors} colours in the picture" if on else "")

    def keyboard(self):
        """The newest point, one back, and away again, without a mouse; the same with one."""
        page, plot = self.page, self.page.locator(".plot svg").nth(3)
        plot.focus()
        page.keyboard.press("Home")
        must("MiB, " in plot.get_attribute("aria-valuetext") and "now" not in plot.get_attribute("aria-valuetext"),
             f"Home says {plot.get_attribute('aria-valuetext')}")
        page.keyboard.press("Escape")
        must(plot.get_attribute("aria-valuetext").endswith("now"), f"Escape says {plot.get_attribute('aria-valuetext')}")
        plot.hover(position={"x": 200, "y": 60})
        must(page.locator(".plot .dot[visibility=visible]").count() == 4, "four plots do not point at the same moment")
        page.mouse.move(2, 2)
        page.evaluate("document.activeElement.blur()")
        for control in page.locator("button:visible, input:visible, [tabindex]:visible").all():
            name = control.get_attribute("aria-label") or control.inner_text()
            must(name.strip(), "a control has no name")

    def keys(self):
        """What Tab reaches, in its order; each with an outline."""
        page, seen = self.page, []
        # From the beginning of the page.
        page.evaluate("scrollTo(0, 0)")
        page.mouse.click(2, 2)
        page.keyboard.press("Tab")
        for _ in range(60):
            name = page.evaluate("""(() => { const node = document.activeElement; return node === document.body ? "" : node.id
                || node.getAttribute("aria-label") || node.textContent.trim(); })()""")
            if not name or name in seen:
                break
            must(page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", f"{name} has no outline")
            seen.append(name)
            page.keyboard.press("Tab")
        order = [name for name in ("hide", "show", "pause", "stop", "events") if name in seen]
        must([name for name in seen if name in order] == order and "events" in order, f"Tab goes to {seen}")
        must({"hide", "show"} & set(seen), f"Tab does not reach the curtain: {seen}")
        must("All figures" in seen, f"Tab does not reach the figures: {seen}")
        return f"{len(seen)} controls"

    def curtain(self, who, name):
        page = self.page
        page.focus("#hide")
        page.keyboard.press("Enter")
        # No question, and an answer at once.
        self.wait("!document.getElementById('veil').hidden && /An operator: status page, for/.test(document.getElementById('veil').textContent)",
                  "the curtain", 3)
        must(not page.locator("#sure").is_visible(), "hiding asks first")
        must(not page.locator("#hide").is_visible(), "it can be hidden twice")
        page.focus("#show")
        page.keyboard.press("Enter")
        must(page.evaluate("document.activeElement.id") == "no", "the dialog does not begin with Cancel")
        if who == "others":
            must("App kiosk" in self.text("#sure") and "Viewers still see nothing" in self.text("#sure"), f"the dialog says {self.text('#sure')}")
        else:
            must("Show the picture again?" in self.text("#sure"), f"the dialog says {self.text('#sure')}")
        self.screenshot(f"{name}-dialog")
        page.keyboard.press("Escape")
        must(not page.locator("#sure").is_visible() and page.locator("#veil").is_visible(), "Escape lowers the curtain")
        page.focus("#show")
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        must(page.evaluate("document.activeElement.id") == "yes", "Tab does not reach the answer")
        page.keyboard.press("Enter")
        self.wait("document.getElementById('said').textContent !== ''", "what became of it")
        if who == "others":
            self.wait("/still up: others hold it/.test(document.getElementById('said').textContent)", "that others hold it")
            must(page.locator("#veil").is_visible() and "operator" not in self.text("#veil"), f"the overlay says {self.text('#veil')}")
            page.focus("#show")
            page.keyboard.press("Enter")
            must(not page.locator("#yes").is_visible() and "--force" in self.text("#sure"), f"the dialog says {self.text('#sure')}")
            page.keyboard.press("Enter")
            must(not page.locator("#sure").is_visible(), "Close does not close")
        else:
            self.wait("document.getElementById('veil').hidden", "the end of the curtain", 3)
        self.quiet()
        return self.text("#said")

    def axe(self):
        return f"{self.looked} times without a violation" if self.axe_text else "skipped"

    def press(self, button):
        page = self.page
        if button == "stop":
            page.click("#stop")
            must(page.evaluate("document.activeElement.id") == "no", "the dialog does not begin with Cancel")
            page.screenshot(path=f"{self.folder}/stop-light-desktop.png")
            page.keyboard.press("Escape")
            must(not page.locator("#sure").is_visible(), "Escape leaves the dialog open")
            page.click("#stop")
            page.click("#yes")
        elif button == "keyframe":
            page.click("#change summary")
            self.screenshot("change")
            page.click("#keyframe")
        else:
            page.click(f"#{button}")
        self.wait("document.getElementById('said').textContent !== ''", "what became of it")
        expected = {"keyframe": "Keyframe: done", "pause": "(Pause|Resume): done", "stop": "Stop: done"}[button]
        must(re.fullmatch(expected, self.text("#said")), f"{button} says {self.text('#said')}")
        if button == "keyframe":
            page.click("#change summary")
        self.quiet()
        return self.text("#said")

    def lost(self, name):
        page = self.page
        self.wait("!document.getElementById('banner').hidden", "the banner", 15)
        must("does not answer" in self.text("#banner") and re.search(r"since \d\d:\d\d:\d\d", self.text("#banner"))
             and "trying again" in self.text("#banner"), f"the banner says {self.text('#banner')}")
        must(page.title().startswith("No answer"), f"the title is {page.title()}")
        must("grayscale" in page.evaluate("getComputedStyle(document.querySelector('main')).filter"), "what is stale is not greyed")
        must(self.text("#state").strip() == "No answer" and "is unknown" in self.text("#lead"), f"the heading says {self.text('#state')}")
        must(not page.locator("#stop").is_enabled() and not page.locator("#hide").is_enabled(), "a button can be pressed")
        self.screenshot(name)
        self.quiet()
        return re.sub(r"\s+", " ", self.text("#banner"))

    def found(self):
        began = time.monotonic()
        # It may be quicker by itself.
        self.page.evaluate("document.getElementById('try').click()")
        self.wait("document.documentElement.dataset.link === 'heard' && document.getElementById('banner').hidden", "the end of the banner", 20)
        self.quiet()
        return f"after {time.monotonic() - began:.1f} s"

    def hostile(self):
        page = self.page
        page.click("#more summary")
        self.wait("document.getElementById('groups').children.length > 5", "all figures")
        must(page.evaluate("window.hacked") is None, "a script from a name has run")
        must(page.locator("img").count() == 1 and page.locator("script").count() == 1, "a name became markup")
        must("<img src=x onerror=" in self.text("#facts"), f"the client's name is not shown as it is: {self.text('#facts')}")
        must(not re.search("[\u202a-\u202e]", page.content()), "a name turns the direction of text")
        self.screenshot("figures")
        page.click("#more summary")
        self.quiet()
        return "names stay text"


def main():
    folder, token, axe = (*sys.argv[1:4], "")[:3]
    with sync_playwright() as playwright:
        browser = Browser(playwright, folder, token, axe)
        print("ok", browser.browser.version, "and axe-core" if axe else "without axe-core", flush=True)
        for line in sys.stdin:
            words = line.split()
            if words == ["end"]:
                break
            try:
                print("ok", getattr(browser, words[0])(*words[1:]) or "", flush=True)
            except (Wrong, Error) as error:
                if browser.page:
                    browser.page.screenshot(path=f"{folder}/failed.png", full_page=True)
                print("failed:", re.sub(r"\s+", " ", str(error))[:600], flush=True)
        browser.browser.close()
    print("ok", flush=True)


if __name__ == "__main__":
    main()
