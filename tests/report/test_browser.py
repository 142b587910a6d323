"""The page in a real browser: Chromium without a display, driven by Selenium."""

import json
import shutil
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from sklearn.datasets import load_digits

from symclust import HierarchicalSymNMF, SymNMF, topics
from symclust.report import Part, write_report

webdriver = pytest.importorskip("selenium.webdriver", reason="the browser tests need selenium")
for library in ("jinja2", "matplotlib"):
    pytest.importorskip(library)
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None, reason="Chromium and chromedriver are not installed"
)
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--window-size=1280,900",
]  # fmt: skip
HOSTILE = [
    "<script>document.title='owned'</script>",
    "</script><img src=x onerror=\"document.title='owned'\">",
    "\"quotes\" 'and' `ticks` \\ & &amp;",
    "\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd",
    "zero \x00 escape \x1b[31m bell \x07",
    "long " * 400,
    "{{ 7 * 7 }} ${7*7} <!-- ]]>",
    "half \ud800 pair",
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_script_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture
def visit(browser):
    """Open a page as on a screen of some width, wait for its matrices, and return the driver."""

    def go(path, width=1280, dark=False):
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        browser.get(Path(path).as_uri())
        browser.execute_script("localStorage.clear()")  # the colours chosen in another test
        browser.get("about:blank")
        for kind in ("performance", "browser"):
            browser.get_log(kind)  # what came before
        browser.get(Path(path).as_uri())
        ready = "[...document.querySelectorAll('[data-matrix]')].every((figure) => figure.dataset.view)"
        wait(browser, f"return {ready}")
        return browser

    return go


def wait(browser, script, seconds=30):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, seconds, poll_frequency=0.02).until(lambda b: b.execute_script(script))


def find(browser, selector):
    return browser.find_element("css selector", selector)


def find_all(browser, selector):
    return browser.find_elements("css selector", selector)


def view(browser):
    """First column, first row and number of rows in view."""
    return [int(number) for number in find(browser, "[data-matrix]").get_attribute("data-view").split()]


def press(browser, *keys):
    from selenium.webdriver.common.action_chains import ActionChains

    for key in keys:
        ActionChains(browser).send_keys(key).perform()


@pytest.fixture(scope="module")
def digits_page(tmp_path_factory):
    digits = load_digits(n_class=5)
    model = SymNMF(5, random_state=0).fit(digits.data)
    path = tmp_path_factory.mktemp("pages") / "digits.html"
    return write_report(path, model, labels_true=digits.target, images=-digits.images, title="Digits")


@pytest.fixture(scope="module")
def topics_page(tmp_path_factory):
    kinds = {
        "cat dog pet fur": ["bark", "walk", "purr", "milk", "paw", "tail"],
        "stock market bank money": ["loan", "price", "trade", "fund", "share", "bond"],
        "rocket space orbit moon": ["nasa", "launch", "probe", "crater", "module", "comet"],
    }
    texts = [f"{base} {extra} {extra}" for base, more in kinds.items() for extra in more for _ in range(2)]
    return write_report(tmp_path_factory.mktemp("pages") / "topics.html", topics(texts, 6, random_state=0))


@pytest.fixture(scope="module")
def club_page(tmp_path_factory):
    model = HierarchicalSymNMF(4, random_state=0).fit(nx.karate_club_graph())
    return write_report(tmp_path_factory.mktemp("pages") / "club.html", model, title="A club")


# Safe and alone ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["digits_page", "topics_page", "club_page"])
def test_no_request_leaves_the_page_and_nothing_is_refused(visit, request, name):
    browser = visit(request.getfixturevalue(name))
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert any(url.startswith("file:") for url in sent)
    assert all(url.startswith(("file:", "data:", "about:")) for url in sent)
    assert len([url for url in sent if url.startswith("file:")]) == 1
    assert browser.get_log("browser") == []  # no error, nothing against the policy


def test_the_policy_holds_against_scripts_and_requests(visit, digits_page):
    browser = visit(digits_page)
    browser.execute_script(
        "const s = document.createElement('script'); s.textContent = 'document.title = \"owned\"';"
        "document.body.append(s);"
    )
    outcome = browser.execute_async_script(
        "fetch('https://example.org/').then(() => arguments[0]('sent'), () => arguments[0]('refused'))"
    )
    assert outcome == "refused"
    assert browser.title == "Digits"
    messages = [entry["message"] for entry in browser.get_log("browser")]
    assert len([m for m in messages if "Content Security Policy" in m]) >= 2


def test_hostile_names_show_as_text(visit, tmp_path):
    X = np.repeat(np.eye(2, 4), 4, axis=0) + 0.1 * np.random.default_rng(0).random((8, 4))
    model = SymNMF(2, affinity_params={"n_neighbors": 3}, random_state=0).fit(X)
    path = write_report(
        tmp_path / "a.html",
        [
            Part(
                model,
                title=HOSTILE[0],
                summary=HOSTILE[1],
                names=HOSTILE,
                labels_true=HOSTILE[:2] * 2 + HOSTILE[2:4] * 2,
                cluster_names=HOSTILE[:2],
                numbers={HOSTILE[0]: HOSTILE[2]},
            ),
            topics([f"{name} word{i % 2} other{i % 2}" for i, name in enumerate(HOSTILE[:5] * 4)], 2),
        ],
        title=HOSTILE[1],
        summary=HOSTILE[3],
    )
    browser = visit(path)
    assert browser.title == HOSTILE[1]
    assert find_all(browser, "img[onerror], main script:not([type='application/json'])") == []
    shown = find(browser, "main").get_attribute("textContent")
    for name in HOSTILE[:4]:
        assert name in shown
    assert r"zero \x00 escape \x1b[31m bell \x07" in shown
    assert r"half \ud800 pair" in shown
    assert "{{ 7 * 7 }}" in shown and "49" not in shown.replace("0.49", "")
    assert "long " * 30 not in shown  # clipped
    names = browser.execute_script(
        "return JSON.parse(document.querySelector('[data-matrix] script').textContent).samples"
    )
    assert sorted(name[:10] for name in names if name[0] != "z") == sorted(
        name.encode("utf-8", "backslashreplace").decode()[:10] for name in HOSTILE if name[0] != "z"
    )
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.get_log("browser") == []


# The matrix -------------------------------------------------------------------------------------------------


def test_buttons_zoom_into_the_matrix(visit, digits_page):
    browser = visit(digits_page)
    whole = view(browser)
    assert whole == [0, 0, 901]
    before = browser.execute_script("return document.querySelector('.matrix canvas').toDataURL()")
    find(browser, "[data-zoom=in]").click()
    closer = view(browser)
    assert closer[2] == round(0.6 * 901)
    assert closer[0] == closer[1] == round((901 - 0.6 * 901) / 2)  # around the middle
    assert browser.execute_script("return document.querySelector('.matrix canvas').toDataURL()") != before
    assert "of 901 rows" in find(browser, ".matrix output").text
    find(browser, "[data-zoom=out]").click()
    assert view(browser) == whole
    find(browser, "[data-zoom=in]").click()
    find(browser, "[data-zoom=all]").click()
    assert view(browser) == whole
    assert find(browser, ".matrix output").text == "The whole matrix"


def test_a_cluster_can_be_chosen(visit, digits_page):
    from selenium.webdriver.support.ui import Select

    browser = visit(digits_page)
    data = browser.execute_script(
        "return JSON.parse(document.querySelector('[data-matrix] script').textContent)"
    )
    Select(find(browser, "[data-zoom-to]")).select_by_value("2")
    x, y, size = view(browser)
    start, end = data["starts"][2], data["starts"][3]
    assert x == y
    assert x <= start and x + size >= end
    assert size <= 1.21 * (end - start)
    told = find(browser, ".matrix output").text
    assert ": cluster 2 " in told and told.endswith(f", {end - start} rows")


def test_keys_zoom_and_move(visit, digits_page):
    from selenium.webdriver.common.keys import Keys

    browser = visit(digits_page)
    canvas = find(browser, ".matrix canvas")
    browser.execute_script("arguments[0].focus()", canvas)
    press(browser, "+", "+")
    x, y, size = view(browser)
    assert size == round(0.49 * 901)
    press(browser, Keys.ARROW_RIGHT)
    assert view(browser)[0] > x and view(browser)[1] == y
    press(browser, Keys.ARROW_LEFT, Keys.ARROW_DOWN)
    assert view(browser)[0] == x and view(browser)[1] > y
    press(browser, Keys.ARROW_UP, "-")
    assert view(browser)[2] == round(0.7 * 901)
    press(browser, "0")
    assert view(browser) == [0, 0, 901]
    press(browser, *"+" * 40)
    assert 0 < view(browser)[2] < 30  # there is an end to it


def test_the_wheel_zooms_once_the_matrix_has_been_clicked(visit, digits_page):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

    browser = visit(digits_page)
    canvas = find(browser, ".matrix canvas")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    origin = ScrollOrigin.from_element(canvas)
    ActionChains(browser).scroll_from_origin(origin, 0, -100).perform()
    assert view(browser) == [0, 0, 901]  # the page scrolls
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    canvas.click()
    ActionChains(browser).scroll_from_origin(origin, 0, -100).perform()
    wait(browser, "return document.querySelector('[data-matrix]').dataset.view !== '0 0 901'")
    assert view(browser)[2] == round(0.8 * 901)
    ActionChains(browser).scroll_from_origin(origin, 0, 100).perform()
    wait(browser, "return document.querySelector('[data-matrix]').dataset.view === '0 0 901'")


def test_dragging_moves_and_pointing_tells(visit, digits_page):
    from selenium.webdriver.common.action_chains import ActionChains

    browser = visit(digits_page)
    canvas = find(browser, ".matrix canvas")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    ActionChains(browser).move_to_element_with_offset(canvas, 40, 0).perform()
    assert "cluster" in find(browser, ".matrix output").text
    browser.execute_script("document.querySelector('[data-zoom=in]').click()")
    x, y, _ = view(browser)
    ActionChains(browser).move_to_element(canvas).click_and_hold().move_by_offset(
        -60, -30
    ).release().perform()
    assert view(browser)[0] > x and view(browser)[1] > y


# The map ----------------------------------------------------------------------------------------------------


def test_the_map_names_nodes_and_clusters(visit, club_page):
    browser = visit(club_page)
    shown = find(browser, "[data-map]")
    assert int(shown.get_attribute("data-labels")) == 4
    assert 15 < int(shown.get_attribute("data-names")) <= 34


def test_the_map_can_be_searched(visit, club_page):
    browser = visit(club_page)
    canvas = "return document.querySelector('.map canvas').toDataURL()"
    before = browser.execute_script(canvas)
    find(browser, "[data-map-search]").send_keys("33")
    assert find(browser, ".map output").text.startswith("33 — ")
    assert browser.execute_script(canvas) != before
    assert find(browser, "[data-map]").get_attribute("data-names") == "1"


def test_pointing_at_a_dot_tells_its_name_and_cluster(visit, club_page):
    browser = visit(club_page)
    browser.execute_script(
        """
        const canvas = document.querySelector('.map canvas'), box = canvas.getBoundingClientRect();
        for (let x = 0; x < box.width; x += 4) for (let y = 0; y < box.height; y += 4)
          if (document.querySelector('.map output').textContent.trim() === '')
            canvas.dispatchEvent(
              new PointerEvent('pointermove', {clientX: box.left + x, clientY: box.top + y}));
        """
    )
    assert " — " in find(browser, ".map output").text


def test_buttons_zoom_into_the_map(visit, digits_page):
    browser = visit(digits_page)
    figure = find(browser, "[data-map]")
    whole = figure.get_attribute("data-map-view")
    find(browser, "[data-map-zoom=in]").click()
    assert figure.get_attribute("data-map-view").split()[2] == str(round(0.6 * 4095))
    find(browser, "[data-map-zoom=all]").click()
    assert figure.get_attribute("data-map-view") == whole


def test_it_begins_with_names_and_sizes(visit, digits_page):
    browser = visit(digits_page)
    tops = [
        find(browser, place).location["y"] for place in (".lead", ".first", ".numbers", ".map", ".clusters")
    ]
    assert tops == sorted(tops)
    rows = find_all(browser, ".first li")
    assert len(rows) == 5 and all(row.find_elements("css selector", "img.mean") for row in rows)


# The tree ---------------------------------------------------------------------------------------------------


def lines(browser):
    """The lines of the tree that are to be seen."""
    return [line for line in find_all(browser, ".tree .line") if line.is_displayed()]


def test_the_tree_unfolds_by_mouse_and_by_keyboard(visit, topics_page):
    from selenium.webdriver.common.keys import Keys

    browser = visit(topics_page)
    leaf = find_all(browser, ".tree details")[-1]
    summary = leaf.find_element("css selector", "summary")
    example = leaf.find_element("css selector", ".examples li")
    assert not example.is_displayed()
    summary.click()
    assert example.is_displayed()
    summary.send_keys(Keys.ENTER)
    assert not example.is_displayed()
    find(browser, "[data-tree-open]").click()
    assert all(line.is_displayed() for line in find_all(browser, ".tree .line, .tree .examples li"))
    find(browser, "[data-tree-close]").click()
    assert len(lines(browser)) == 1


def test_the_tree_can_be_searched(visit, topics_page):
    browser = visit(topics_page)
    everything = len(lines(browser))
    field = find(browser, "[data-tree-search]")
    field.send_keys("ROCKET")
    told = find(browser, "[data-tree-tools] output")
    shown = [line.text for line in lines(browser)]
    assert 0 < len(shown) < everything
    assert any("rocket" in text for text in shown)
    # The way to a match is shown; what neither holds one nor is inside one is not.
    assert not any("bank" in text and "rocket" not in text for text in shown if text[0].isdigit())
    assert told.text.endswith("found") and told.text[0].isdigit()
    field.clear()
    field.send_keys("no such word")
    assert told.text == "Nothing found"
    assert lines(browser) == []
    browser.execute_script("arguments[0].value = ''; arguments[0].dispatchEvent(new Event('input'))", field)
    assert len(lines(browser)) == everything
    assert told.text == ""


def test_examples_are_found_by_their_words(visit, topics_page):
    browser = visit(topics_page)
    word = find(browser, ".tree .examples li").get_attribute("textContent").split()[0]
    find(browser, "[data-tree-search]").send_keys(word)
    assert any(word in item.text for item in find_all(browser, ".tree .examples li") if item.is_displayed())


# Colours, widths, keyboard ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, True])
def test_colours_follow_the_system_and_the_button(visit, club_page, dark):
    browser = visit(club_page, dark=dark)

    def paper():
        return browser.execute_script("return getComputedStyle(document.body).backgroundColor")

    def plots():
        return [
            plot.get_attribute("class").split()[-1]
            for plot in find_all(browser, ".plot")
            if plot.is_displayed()
        ]

    colours = {True: "rgb(22, 26, 32)", False: "rgb(255, 255, 255)"}
    assert paper() == colours[dark]
    assert set(plots()) == {"only-dark" if dark else "only-light"}
    matrix = "return document.querySelector('.matrix canvas').toDataURL()"
    before = browser.execute_script(matrix)
    button = find(browser, "[data-theme-toggle]")
    assert button.get_attribute("aria-pressed") == str(dark).lower()
    button.click()
    assert paper() == colours[not dark]
    assert set(plots()) == {"only-light" if dark else "only-dark"}
    assert browser.execute_script(matrix) != before
    button.click()
    assert paper() == colours[dark]


@pytest.mark.parametrize("name", ["digits_page", "topics_page", "club_page"])
def test_a_phone_shows_it_without_scrolling_sideways(visit, request, name):
    browser = visit(request.getfixturevalue(name), width=390)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    assert all(
        control.size["height"] >= 30
        for control in find_all(browser, "main button, main select")
        if control.is_displayed()
    )


def test_the_keyboard_reaches_everything(visit, club_page):
    from selenium.webdriver.common.keys import Keys

    browser = visit(club_page)
    press(browser, Keys.TAB)
    skip = browser.switch_to.active_element
    assert skip.text == "Skip to what was found"
    assert skip.is_displayed() and skip.location["y"] >= 0
    reached = set()
    for _ in range(80):
        press(browser, Keys.TAB)
        active = browser.switch_to.active_element
        reached.add(active.tag_name)
        if active.tag_name not in ("body", "html"):
            outline = browser.execute_script("return getComputedStyle(arguments[0]).outlineStyle", active)
            assert outline != "none"  # one can see where one is
        if "summary" in reached and active.tag_name == "body":
            break
    assert {"button", "canvas", "select", "summary", "input"} <= reached


def test_what_is_doubtful_leads_to_its_cluster(visit, digits_page):
    browser = visit(digits_page)
    for link in find_all(browser, ".doubts a")[:2]:
        target = link.get_attribute("href").partition("#")[2]
        link.click()
        assert browser.execute_script("return document.querySelector(':target').id") == target


def test_without_scripts_the_page_still_says_everything(browser, digits_page):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(Path(digits_page).as_uri())
        picture = find(browser, ".matrix img")
        assert picture.is_displayed()
        assert "Five clusters in 901 samples." in find(browser, "main").text
        assert not find(browser, ".matrix canvas").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
