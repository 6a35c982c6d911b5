"""The screens in a real browser: Debian's chromium, driven by playwright."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from app.qrels import qrels
from corpus.judging import Judgment, Project, Topic
from store.archive import Archive
from store.catalogue import Catalogue
from store.judging import add_judgment, add_topics, judgments
from store.projects import add_project
from tests.conftest import Workplace

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, WebSocketRoute

ROOT = Path(__file__).parents[1]
CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 60_000
"""Long, for a machine that is busy: what is waited for comes at once or never."""

ODD = "Valve <img src=x onerror=alert(1)> & <b>seat</b>"
ODD_PAGE = f"<html><head><title>{escape(ODD)}</title></head><body><p>The seat.</p></body></html>"

SCREENS = {
    "start": "/",
    "fused": "/?q=gland+screws",
    "labelling": "/?q=gland+screws&as=Ana",
    "side-by-side": "/?q=gland+screws&view=Side+by+side",
    "why": "/?q=gland+screws&view=Why",
    "document": "/document?doc=pumps%2Fgland.md&passage=pumps%2Fgland.md%401%2300001&q=gland",
    "topics": "/judge?as=Ana",
    "judge": "/judge?as=Ana&topic=t1",
    "agreement": "/judge?as=Ana&view=agreement",
    "nothing": "/?q=de+la",
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None,
        reason="no chromium to drive; on Debian: apt-get update && apt-get install chromium",
    ),
]


@dataclass
class Served:
    """The screens, running on a port of this machine over an archive of their own."""

    address: str
    archive: Archive
    foreign: list[str] = field(default_factory=list)
    """Requests that left this machine, by any page."""

    def open(self, browser: Browser, path: str, width: int = 1280, **context: object) -> Page:
        size = {"width": width, "height": 800 if width > 700 else 844}
        page = browser.new_context(viewport=size, **context).new_page()  # type: ignore[arg-type]
        page.set_default_timeout(PATIENCE_MS)
        page.on("request", lambda request: self._see(request.url))
        page.on("websocket", lambda socket: self._see(socket.url))
        page.goto(self.address + path)
        return page

    def _see(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.netloc != urlsplit(self.address).netloc:
            self.foreign.append(url)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: str) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("browser")
    place = Workplace(folder / "files", Archive(folder / "archive"), tiny_encoder)
    steps = "\n\n".join(f"## Step {n}\n\n{'Tighten the gland screws. ' * 12}" for n in range(4))
    place.write("pumps/gland.md", f"# Gland of the PX-310 pump\n\n{steps}")
    for number in range(14):
        title = f"Shift note {number} of the conveyor hall, early and late shift together"
        place.write(f"notes/a rather long folder name/{number:02}.md", f"# {title}\n\nIt stopped.")
    place.write("valves/odd.html", ODD_PAGE)
    case = ROOT.parent / "shared" / "cases" / "files" / "html_markup_in_text.html"
    if case.is_file():
        shutil.copy(case, place.files / case.name)
    place.ingest()
    topic = Topic("t1", "gland torque", "The torque of the gland screws in force.", "Ana", "dev")
    with Catalogue(place.archive) as catalogue:
        add_topics(catalogue, [topic])
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "app", "serve", "--port", str(port)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--archive", str(place.archive.root)],
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_for(f"http://localhost:{port}/_stcore/health", process, folder / "log")
        yield Served(f"http://localhost:{port}", place.archive)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)
    said = (folder / "log").read_text(encoding="utf-8")
    assert "Traceback" not in said, said


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = monotonic() + PATIENCE_MS / 1000
    while monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError):
            pass
        try:
            process.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            continue
        break
    pytest.fail(f"the screens did not start:\n{log.read_text(encoding='utf-8')}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where screenshots are written: ``$COUNTERPOINT_SCREENSHOTS``, else a folder of the test."""
    folder = Path(os.environ.get("COUNTERPOINT_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def labels(archive: Archive, judge: str) -> list[Judgment]:
    with Catalogue(archive) as catalogue:
        return judgments(catalogue, judge=judge)


class Wire:
    """What the server says to a page, which a test can hold up: a search as slow as it likes."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._held: list[tuple[WebSocketRoute, bytes]] | None = None
        page.route_web_socket(re.compile("/_stcore/stream"), self._connect)
        page.reload()

    def hold(self) -> None:
        self._held = []

    def wait_for(self, part: bytes) -> None:
        """Until what was held up holds this."""
        deadline = monotonic() + PATIENCE_MS / 1000
        while not any(part in message for _, message in self._held or []):
            assert monotonic() < deadline, f"the server did not say {part!r}"
            self._page.evaluate("() => new Promise(requestAnimationFrame)")

    def release(self) -> None:
        held, self._held = self._held or [], None
        for route, message in held:
            route.send(message)

    def _connect(self, route: WebSocketRoute) -> None:
        route.connect_to_server().on_message(lambda message: self._pass(route, message))

    def _pass(self, route: WebSocketRoute, message: str | bytes) -> None:
        assert isinstance(message, bytes)
        if self._held is None:
            route.send(message)
        else:
            self._held.append((route, message))


def search_box(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Search", exact=True)


def test_search_open_go_back_sign_in_label_and_find_the_label_again(
    served: Served, browser: Browser
) -> None:
    from playwright.sync_api import expect

    page = served.open(browser, "/")
    field = search_box(page)
    field.fill("gland screws")
    field.press("Enter")
    first = page.locator(".cp-row").first
    expect(first.locator(".cp-title")).to_have_text("Gland of the PX-310 pump")
    expect(first.locator(".cp-sum")).to_contain_text("/61")
    expect(page.locator(".cp-status").first).to_contain_text("Version 1, in force · protocol ")
    expect(page).to_have_url(re.compile(r"\?q=gland\+screws$"))

    page.get_by_role("radio", name="Side by side").click()
    expect(page.locator(".cp-list")).to_have_count(3)
    pump = page.locator(".cp-list-F li").first
    pump.hover()
    lit = pump.evaluate("item => getComputedStyle(item).backgroundColor")
    other = page.locator(".cp-list-L li").first
    expect(other).to_have_css("background-color", lit)
    page.get_by_role("radio", name="Fused").click()

    page.locator(".cp-row .cp-title").first.click()
    expect(page.locator(".cp-passage")).to_be_in_viewport()
    expect(page.locator(".cp-passage mark").first).to_have_text("gland")
    place = page.locator(".cp-steps")
    found = place.inner_text()
    page.get_by_role("link", name="next ›").click()
    expect(place).not_to_have_text(found, use_inner_text=True)
    page.go_back()
    expect(place).to_have_text(found, use_inner_text=True)
    page.go_back()
    expect(page.locator(".cp-row")).to_have_count(10)

    page.get_by_role("button", name="Sign in").click()
    name = page.get_by_label("Your name")
    name.fill("Ana María")
    name.press("Enter")
    expect(page.locator(".cp-name")).to_have_text("Ana María")
    grade = page.get_by_role("radiogroup", name="Label of result 1", exact=True).get_by_role(
        "radio", name="3"
    )
    grade.click()
    expect(page.locator(".cp-remark")).to_have_text("stored")
    page.reload()
    expect(grade).to_be_checked()
    expect(page.locator(".cp-name")).to_have_text("Ana María")
    (label,) = labels(served.archive, "Ana María")
    assert (label.doc_id, label.grade, label.blind) == ("pumps/gland.md", 3, False)
    assert served.foreign == []
    page.context.close()


def test_back_walks_through_settings_and_searches(served: Served, browser: Browser) -> None:
    from playwright.sync_api import expect

    page = served.open(browser, "/?q=gland+screws")
    expect(page.locator(".cp-row")).to_have_count(10)
    page.get_by_role("button", name="Protocol").click()
    page.get_by_label("k, the constant").fill("0.5")
    page.get_by_label("k, the constant").press("Enter")
    expect(page.locator(".cp-status").first).to_contain_text("k 1/2")
    page.keyboard.press("Escape")
    field = search_box(page)
    field.fill("conveyor")
    field.press("Enter")
    expect(page).to_have_url(re.compile("q=conveyor"))
    expect(page.locator(".cp-status").first).to_contain_text("k 1/2")
    page.go_back()
    expect(field).to_have_value("gland screws")
    page.go_back()
    expect(page.locator(".cp-status").first).to_contain_text("k 60")
    page.get_by_role("link", name="Judge").click()
    expect(page.get_by_role("heading", name="Sign in to judge")).to_be_visible()
    page.get_by_role("link", name="Search").click()
    expect(field).to_have_value("gland screws")
    page.context.close()


def test_what_begins_so_is_offered_while_typing_and_taken_by_keyboard(
    served: Served, browser: Browser
) -> None:
    from playwright.sync_api import expect

    page = served.open(browser, "/?q=conveyor")
    box, options = search_box(page), page.get_by_role("option")
    expect(page.locator(".cp-row")).to_have_count(10)
    expect(box).to_have_value("conveyor")
    page.keyboard.press("/")
    expect(box).to_be_focused()
    box.press_sequentially("px")
    expect(options).to_have_text(["Code PX-310", "Title Gland of the PX-310 pump"])
    expect(options.locator("mark")).to_have_text(["PX", "PX"])
    expect(box).to_have_attribute("aria-expanded", "true")
    expect(page).to_have_url(re.compile(r"\?q=conveyor$"))

    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = page.get_by_role("option", selected=True)
    expect(chosen).to_have_text("Title Gland of the PX-310 pump")
    expect(box).to_have_attribute("aria-activedescendant", chosen.get_attribute("id") or "none")
    expect(box).to_have_value("px")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"\?q=Gland\+of\+the\+PX-310\+pump$"))
    expect(page.locator(".cp-title").first).to_have_text("Gland of the PX-310 pump")
    expect(box).to_have_value("Gland of the PX-310 pump")
    expect(options).to_have_count(0)
    page.go_back()
    expect(box).to_have_value("conveyor")
    expect(page.locator(".cp-title").first).to_contain_text("conveyor hall")
    page.context.close()
    assert served.foreign == []


def test_the_list_is_left_by_escape_tab_and_the_pointer(served: Served, browser: Browser) -> None:
    from playwright.sync_api import expect

    page = served.open(browser, "/")
    box, options = search_box(page), page.get_by_role("option")
    box.press_sequentially("px")
    expect(options).to_have_count(2)
    box.press("Escape")
    expect(options).to_have_count(0)
    expect(box).to_have_attribute("aria-expanded", "false")
    expect(box).to_have_value("px")
    box.press("ArrowUp")
    expect(page.get_by_role("option", selected=True)).to_contain_text("Gland of")
    box.press("Tab")
    expect(options).to_have_count(0)
    expect(box).to_have_value("px")
    expect(page.get_by_role("button", name="Search", exact=True)).to_be_focused()
    page.keyboard.press("/")  # something has the focus already
    expect(box).not_to_be_focused()
    box.press("ArrowDown")
    options.first.click()
    expect(page).to_have_url(re.compile(r"\?q=PX-310$"))
    expect(page.locator(".cp-title").first).to_have_text("Gland of the PX-310 pump")
    expect(box).to_be_focused()
    page.context.close()


def test_enter_that_ends_a_composition_does_not_search(served: Served, browser: Browser) -> None:
    from playwright.sync_api import expect

    page = served.open(browser, "/")
    box = search_box(page)
    box.fill("gland")
    box.dispatch_event("keydown", {"key": "Enter", "isComposing": True})
    box.press_sequentially(" screws")
    box.press("Enter")
    expect(page).to_have_url(re.compile(r"\?q=gland\+screws$"))
    page.go_back()
    expect(page).to_have_url(served.address + "/")
    expect(box).to_have_value("")
    page.context.close()


def test_text_typed_during_a_slow_search_is_not_lost(served: Served, browser: Browser) -> None:
    from playwright.sync_api import expect

    page = served.open(browser, "/")
    wire = Wire(page)
    box = search_box(page)
    box.fill("gland screws")
    wire.hold()
    box.press("Enter")
    box.press_sequentially(" of px")
    wire.release()
    expect(page.locator(".cp-title").first).to_have_text("Gland of the PX-310 pump")
    expect(page).to_have_url(re.compile(r"\?q=gland\+screws$"))
    option = page.get_by_role("option")
    expect(option).to_have_text(["Code PX-310"])
    expect(box).to_have_value("gland screws of px")
    expect(box).to_be_focused()
    option.click()
    expect(page).to_have_url(re.compile(r"\?q=gland\+screws\+of\+PX-310$"))
    expect(box).to_have_value("gland screws of PX-310")
    page.go_back()
    expect(box).to_have_value("gland screws")
    page.context.close()


def test_an_answer_to_an_older_text_is_not_shown(served: Served, browser: Browser) -> None:
    from playwright.sync_api import expect

    page = served.open(browser, "/")
    wire = Wire(page)
    box = search_box(page)
    expect(page.locator(".cp-state")).to_be_visible()
    expect(page.locator(".stApp")).to_have_attribute("data-test-script-state", "notRunning")
    page.evaluate(
        """() => {
          const list = document.querySelector("[role=listbox]");
          window.offered = [];
          new MutationObserver(() => {
            if (list.children.length) offered.push(document.querySelector("[role=combobox]").value);
          }).observe(list, { childList: true });
        }"""
    )
    wire.hold()
    box.press_sequentially("px")
    wire.wait_for(b'"typed": "px"')
    box.press_sequentially("yz")
    wire.release()
    page.wait_for_function("document.querySelector('.cp-begins').answer?.typed === 'pxyz'")
    assert page.evaluate("offered") == []
    box.press("Backspace")
    box.press("Backspace")
    expect(page.get_by_role("option")).to_have_count(2)
    assert page.evaluate("offered") == ["px"]
    page.context.close()


def test_a_document_is_judged_with_a_key_and_undone_with_another(
    served: Served, browser: Browser
) -> None:
    from playwright.sync_api import expect

    page = served.open(browser, "/judge?as=Keys")
    page.get_by_role("button", name="Judge", exact=True).first.click()
    title = page.locator(".cp-h2")
    expect(title).to_be_visible()
    first = title.inner_text()
    _press(page, "2")
    expect(title).not_to_have_text(first)
    assert [label.grade for label in labels(served.archive, "Keys")] == [2]
    _press(page, "z")
    expect(title).to_have_text(first)
    _press(page, "0")
    expect(title).not_to_have_text(first)
    given = labels(served.archive, "Keys")
    assert [(label.grade, label.withdrawn) for label in given] == [
        (2, False),
        (None, True),
        (0, False),
    ]
    assert len({label.doc_id for label in given}) == 1
    _press(page, "u")
    reason = page.get_by_label("Why can it not be rated?")
    reason.press_sequentially("page 3 is torn, z and u too")
    reason.press("Enter")
    expect(page.locator(".cp-steps .cp-progress")).to_contain_text("2 of ")
    last = labels(served.archive, "Keys")[3:]
    assert [(label.grade, label.reason) for label in last] == [
        (None, "page 3 is torn, z and u too")
    ]
    second = title.inner_text()
    _press(page, "s")
    expect(title).not_to_have_text(second)
    page.reload()
    expect(title).to_be_visible()
    expect(title).not_to_have_text(second)
    page.context.close()


def test_two_judge_blind_and_a_third_settles_what_they_differ_on(
    served: Served, browser: Browser
) -> None:
    from playwright.sync_api import expect

    with Catalogue(served.archive) as catalogue:
        add_topics(catalogue, [Topic("t2", "conveyor hall", "When it stopped.", "Ana", "dev")])
        add_project(catalogue, Project("halls"), "Ana")
    for judge, other in (("Judge-One", "Judge-Two"), ("Judge-Two", "Judge-One")):
        page = served.open(browser, f"/judge?project=halls&topic=t2&as={judge}")
        title = page.locator(".cp-h2")
        expect(title).to_be_visible()
        source = page.content()
        for told in (other, "sha256", "lexical", "semantic", ".md", "notes/"):
            assert told not in source, told
        assert "default" not in page.url
        shown = title.inner_text()
        _press(page, "3" if judge == "Judge-One" else "0")
        expect(title).not_to_have_text(shown)
        expect(page.locator(".cp-hint", has_text="Stored: ")).to_be_visible()
        page.context.close()
    # The least judged come first, so the second judge begins with another document.
    first, second = (labels(served.archive, name)[0] for name in ("Judge-One", "Judge-Two"))
    assert first.doc_id != second.doc_id
    with Catalogue(served.archive) as catalogue:
        add_judgment(catalogue, replace(second, doc_id=first.doc_id, revision=first.revision))
    page = served.open(browser, "/judge?project=halls&view=agreement&as=Judge-One")
    expect(page.locator(".cp-topic", has_text="Judge-One 3, Judge-Two 0")).to_be_visible()
    page.get_by_role("button", name="Settle").click()
    expect(page.locator(".cp-h2")).to_be_visible()
    _press(page, "1")
    expect(page.locator(".cp-topic", has_text="settled: 1")).to_be_visible()
    page.context.close()
    with Catalogue(served.archive) as catalogue:
        given = judgments(catalogue, "t2", project="halls")
    pair = [label for label in given if label.doc_id == first.doc_id]
    assert [(label.judge, label.grade, label.role) for label in pair] == [
        ("Judge-One", 3, "judge"),
        ("Judge-Two", 0, "judge"),
        ("Judge-One", 1, "adjudicator"),
    ]
    assert qrels(given, "adjudicated")["t2"][first.doc_id] == 1
    assert qrels(given, "minimum")["t2"][first.doc_id] == 0


def _press(page: Page, key: str) -> None:
    """Press a key once the buttons of the document shown are in place, not those of the last."""
    from playwright.sync_api import expect

    expect(page.locator(".stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    page.keyboard.press(key)


def test_markup_in_a_document_stays_text(served: Served, browser: Browser, shared: Path) -> None:
    """sec-02: nothing in the page comes from a document's text, and nothing is asked outside."""
    from playwright.sync_api import expect

    dialogs: list[str] = []
    for view in ("Fused", "Side+by+side", "Why"):
        page = served.open(browser, f"/?q=bobina+Precio&view={view}&n=20&as=Ana")
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        title = page.locator(".cp-title", has_text="onerror=alert(1)").first
        expect(title).to_be_visible()
        _only_our_elements(page)
        if view == "Fused":
            expect(
                page.locator(".cp-snippet", has_text="<script>alert(1)</script>")
            ).to_be_visible()
            title.click()
            expect(page.locator(".cp-text")).to_contain_text("**no negrita**")
            expect(page.locator(".cp-text")).to_contain_text("[pulsa](javascript:alert(1))")
            _only_our_elements(page)
        page.context.close()
    assert dialogs == []
    assert served.foreign == []


def test_markup_in_a_title_is_offered_as_the_text_it_is(served: Served, browser: Browser) -> None:
    """sec-02"""
    from playwright.sync_api import expect

    dialogs: list[str] = []
    page = served.open(browser, "/")
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    search_box(page).press_sequentially("val")
    option = page.get_by_role("option")
    expect(option).to_have_text([f"Title {ODD}"])
    assert page.locator(".cp-box").locator("img, b, script, a").count() == 0
    option.click()
    expect(page.locator(".cp-title").first).to_have_text(ODD)
    _only_our_elements(page)
    assert dialogs == []
    assert served.foreign == []
    page.context.close()


def _only_our_elements(page: Page) -> None:
    inside = page.locator(".stHtml")
    for name in ("script", "img", "iframe", "object", "form", "svg", "[onerror]"):
        assert inside.locator(name).count() == 0, name
    links = inside.locator("a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert all(link.startswith(("document?", "./?")) for link in links)
    main = page.locator("[data-testid=stMain]")
    assert main.locator("img, iframe, a[href^=javascript], a[href*='127.0.0.1:9']").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_screen_fits_its_width_in_both_themes(
    served: Served, browser: Browser, pictures: Path, width: int, scheme: str
) -> None:
    from playwright.sync_api import expect

    page = served.open(browser, "/", width, color_scheme=scheme)
    for name, path in SCREENS.items():
        page.goto(served.address + path)
        drawn = ".cp-foot, .cp-state, .cp-text, .cp-topic"
        expect(page.locator(drawn).first).to_be_visible()
        expect(page.locator(".stApp")).to_have_attribute("data-test-script-state", "notRunning")
        expect(page.locator("[data-testid=stSkeleton]")).to_have_count(0)
        page.screenshot(path=pictures / f"{name}-{width}-{scheme}.png")
        wide = page.evaluate(
            "Math.max(document.documentElement.scrollWidth,"
            " document.querySelector('[data-testid=stMain]').scrollWidth)"
        )
        assert wide <= width, f"{name} is {wide} pixels wide"
        background = page.locator(".stApp").evaluate(
            "app => getComputedStyle(app).backgroundColor.match(/\\d+/g).map(Number)"
        )
        assert (sum(background) < 384) == (scheme == "dark")
    page.goto(served.address)
    search_box(page).press_sequentially("sh")
    expect(page.get_by_role("option")).to_have_count(8)
    search_box(page).press("ArrowDown")
    page.screenshot(path=pictures / f"offered-{width}-{scheme}.png")
    offered = page.get_by_role("listbox").bounding_box()
    assert offered is not None
    assert 0 <= offered["x"] < offered["x"] + offered["width"] <= width
    page.context.close()
    assert served.foreign == []


def test_ten_results_are_within_two_screens(served: Served, browser: Browser) -> None:
    from playwright.sync_api import expect

    page = served.open(browser, "/?q=gland+screws")
    expect(page.locator(".cp-row")).to_have_count(10)
    box = page.locator(".cp-row").last.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 2 * 800
    page.context.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_figures_and_sweeps_fit_their_width_and_need_no_other_server(
    served: Served, browser: Browser, pictures: Path, width: int
) -> None:
    from playwright.sync_api import expect

    with Catalogue(served.archive) as catalogue:
        add_topics(catalogue, [Topic("t2", "conveyor hall", "Notes.", "Ana", "dev")])
        for topic_id, doc_id in (("t1", "pumps/gland.md"), ("t2", "valves/odd.html")):
            label = Judgment(topic_id, doc_id, 1, 2, "eva", "2026-11-30T10:00Z", 1, True)
            add_judgment(catalogue, label)
    page = served.open(browser, "/evaluate", width)
    page.get_by_role("button", name="Evaluate", exact=True).click()
    expect(page.locator(".cp-figures").first).to_contain_text("fused")
    expect(page.locator("[data-testid=stVegaLiteChart]").first).to_be_visible()
    page.screenshot(path=pictures / f"evaluate-{width}.png", full_page=True)
    assert _width_of(page) <= width
    page.get_by_role("tab", name="Sweep").click()
    page.get_by_role("button", name="Sweep", exact=True).click()
    expect(page.get_by_text("out of fold", exact=True)).to_be_visible()
    expect(page.locator("[data-testid=stVegaLiteChart]").last).to_be_visible()
    page.screenshot(path=pictures / f"sweep-{width}.png", full_page=True)
    assert _width_of(page) <= width
    page.context.close()
    assert served.foreign == []


def _width_of(page: Page) -> int:
    wide = page.evaluate(
        "Math.max(document.documentElement.scrollWidth,"
        " document.querySelector('[data-testid=stMain]').scrollWidth)"
    )
    return int(wide)
