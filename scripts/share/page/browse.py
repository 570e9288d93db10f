"""The browser of scripts/page: does what each line on standard input says, and answers it with one line.

    open URL                 a page for the token's form and one with the token; checks both on the way
    look STATE NAME          waits for the state, checks all that must hold there, takes the screenshots NAME-*.png
    press BUTTON             pause, keyframe or stop (with its dialog)
    lost NAME / found        the daemon is gone / is back
    hostile                  what must hold where names try to be markup
    end

An answer is "ok", with figures, or "failed: " and why.
"""

import os
import re
import sys
import time

from playwright.sync_api import Error, sync_playwright

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
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
    def __init__(self, playwright, folder, token):
        self.folder, self.token = folder, token
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
            if self.page.locator("html[data-link=heard]").count():
                hard = self.page.evaluate(CONTRAST)
                must(not hard, f"hard to read in {scheme}: {hard[:5]}")
        self.page.set_viewport_size({"width": NARROW, "height": 800})
        self.page.wait_for_timeout(100)
        self.fits(f"{name}, {NARROW} wide")
        self.page.set_viewport_size(dict(zip(("width", "height"), SIZES["desktop"])))
        self.page.emulate_media(color_scheme="light")

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

    def look(self, state, name):
        page = self.page
        self.wait(f"document.documentElement.dataset.state === '{state}'", f"state {state}", 25)
        on = state not in ("idle", "stopping")
        must(self.text("#state").strip().lower() == state, f"the heading says {self.text('#state')}")
        must(page.title().lower().startswith(state) and page.title().endswith("upcast"), f"the title is {page.title()}")
        must(page.get_attribute("#icon", "href").startswith("data:image/svg+xml,%3Csvg"), "there is no icon")
        must("Since " in self.text("#lead"), f"it does not say since when: {self.text('#lead')}")
        must("1280 × 720, 30 fps" in self.text("#facts"), "the canvas is not there")
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
        for word in ("Video bitrate", "bit/s", "Queue", "fps", "MiB", "cap 50.0", "plan ", "min ago", "now"):
            must(word in page.evaluate("document.getElementById('plots').textContent"), f"the plots do not say {word}: {plots}")
        must(page.locator("#events li:not(.none)").count() >= 1, "there are no events")
        must(page.locator(".destination").count() >= 1, "there is no destination")
        colors = 0
        if on:
            self.wait("!document.getElementById('picture').hidden && document.getElementById('picture').naturalWidth > 0", "a picture")
            colors = page.locator("#picture").evaluate(PIXELS)
            must(colors >= 3, f"the picture has {colors} colours that are not black")
        else:
            self.wait("document.getElementById('picture').hidden", "no picture")
        must(page.locator("#stop").is_enabled() == on or state in ("starting", "draining"), "stop is not as it should be")
        if state == "reconnecting":
            # It connects now and then.
            self.wait("/reconnecting for/.test(document.getElementById('destinations').textContent)", "a destination that reconnects")
            self.wait("document.querySelector('.destination button:not([hidden])')", "a button to retry with")
            must("Last error: " in self.text("#destinations"), "the last error is not there")
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
        else:
            page.click(f"#{button}")
        self.wait("document.getElementById('said').textContent !== ''", "what became of it")
        expected = {"keyframe": "Keyframe: done", "pause": "(Pause|Resume): done", "stop": "Stop: done"}[button]
        must(re.fullmatch(expected, self.text("#said")), f"{button} says {self.text('#said')}")
        self.quiet()
        return self.text("#said")

    def lost(self, name):
        page = self.page
        self.wait("!document.getElementById('banner').hidden", "the banner", 15)
        must("does not answer" in self.text("#banner") and re.search(r"since \d\d:\d\d:\d\d", self.text("#banner"))
             and "trying again" in self.text("#banner"), f"the banner says {self.text('#banner')}")
        must(page.title().startswith("No answer"), f"the title is {page.title()}")
        must(page.evaluate("getComputedStyle(document.querySelector('main')).opacity") < "0.6", "what is stale is not greyed")
        must(not page.locator("#stop").is_enabled(), "stop can be pressed")
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
        page.click("summary")
        self.wait("document.getElementById('groups').children.length > 5", "all figures")
        must(page.evaluate("window.hacked") is None, "a script from a name has run")
        must(page.locator("img").count() == 1 and page.locator("script").count() == 1, "a name became markup")
        must("<img src=x onerror=" in self.text("#facts"), f"the client's name is not shown as it is: {self.text('#facts')}")
        must(not re.search("[\u202a-\u202e]", page.content()), "a name turns the direction of text")
        page.click("summary")
        self.quiet()
        return "names stay text"


def main():
    folder, token = sys.argv[1:3]
    with sync_playwright() as playwright:
        browser = Browser(playwright, folder, token)
        print("ok", browser.browser.version, flush=True)
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
