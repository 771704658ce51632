"""The page in a real browser: whole games by clicks and by keyboard, what the search sees, games to
browse, small screens and dark ones."""

import random
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from serving import serving
from test_serve import Somebody, random_game, write_run

from athenan.saved_games import append_game, saved_game

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = shutil.which("chromium-headless-shell")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="there is no chromium-headless-shell"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("page")
    append_game(folder / "mine.jsonl", saved_game(random_game("othello"), 2, [Somebody()] * 2))
    write_run(folder / "checkpoints" / "connect_four" / "first")
    words = ["game=hex", "game.size=5", "evaluations=60", f"saved={folder}"]
    with serving(*words, f"checkpoints={folder / 'checkpoints'}", "messages=1000") as (found, _):
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        # A container's root has no sandbox of Chromium's.
        found = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield found
        found.close()


@contextmanager
def looking(browser: Any, address: str, game: str, **settings: Any) -> Iterator[Any]:
    """A page with a game; nothing may be reported in its console."""
    context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **settings})
    page = context.new_page()
    page.set_default_timeout(20_000)
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{address}#{game}")
    page.wait_for_selector(".hit")
    yield page
    context.close()
    assert faults == []


def wait_for_turn(page: Any) -> str:
    """Until the person is to move, or the game is over; what the page says then."""
    page.wait_for_function(
        "() => !document.getElementById('status').textContent.includes('thinks')"
        " && document.getElementById('status').textContent !== ''"
    )
    return str(page.inner_text("#status"))


def is_over(words: str) -> bool:
    return " won" in words or "A draw" in words


@pytest.mark.parametrize(
    "game", ["own", "tictactoe", "connect_four", "tic_tac_mo", "amazons6"]
)  # own: hex 5
def test_a_whole_game_by_clicks(browser: Any, address: str, game: str) -> None:
    chance = random.Random(1)
    with looking(browser, address, game) as page:
        for _ in range(400):
            if is_over(wait_for_turn(page)):
                break
            cells = page.evaluate(
                "() => [...document.querySelectorAll('.hit.can')].map((hit) => hit.dataset.cell)"
            )
            if cells:  # none for the moment in which the server answers
                page.click(f".hit[data-cell='{chance.choice(cells)}']")
        assert is_over(page.inner_text("#status"))
        assert page.locator("#line li").count() >= 5
        assert page.locator(".hit.can").count() == 0


def test_a_whole_game_by_keyboard(browser: Any, address: str) -> None:
    with looking(browser, address, "tictactoe") as page:
        wait_for_turn(page)
        page.focus(".hit[tabindex='0']")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        assert page.evaluate("() => document.activeElement.getAttribute('aria-label')") == (
            "b2, empty"
        )
        assert page.locator(".focus").count() == 1, "a ring, above all cells"
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelectorAll('#line li').length === 2")
        for _ in range(4):
            words = wait_for_turn(page)
            if is_over(words):
                break
            free = page.evaluate(
                "() => [...document.querySelectorAll('.hit')].findIndex("
                "(hit) => hit.getAttribute('aria-label').includes('empty'))"
            )
            row, column = divmod(free, 3)
            for key in ["ArrowUp"] * 2 + ["ArrowLeft"] * 2:
                page.keyboard.press(key)
            for key in ["ArrowDown"] * row + ["ArrowRight"] * column:
                page.keyboard.press(key)
            before = page.locator("#line li").count()
            page.keyboard.press("Enter")
            page.wait_for_function(f"() => document.querySelectorAll('#line li').length > {before}")
        assert is_over(wait_for_turn(page))


def test_typed_actions_and_undo(browser: Any, address: str) -> None:
    with looking(browser, address, "own") as page:
        wait_for_turn(page)
        page.fill("#typed-action", "C3")
        page.press("#typed-action", "Enter")
        page.wait_for_function("() => document.querySelectorAll('#line li').length === 2")
        assert page.inner_text("#line li:first-child") == "c3"
        assert page.get_attribute(".hit[data-cell='12']", "aria-label") == "c3, red piece"
        wait_for_turn(page)
        page.click("#undo")
        page.wait_for_function("() => document.querySelectorAll('#line li').length === 0")
        page.fill("#typed-action", "nowhere")
        page.press("#typed-action", "Enter")
        page.wait_for_selector("#notice:not([hidden])")
        assert "no action here" in page.inner_text("#notice")


def test_the_search_is_seen(browser: Any, address: str) -> None:
    with looking(browser, address, "tictactoe") as page:
        wait_for_turn(page)
        page.check("#analyse")
        page.wait_for_selector(".pill")
        page.wait_for_selector(".candidates tbody tr:nth-child(9)")
        assert page.inner_text(".why").startswith("Why ")
        page.wait_for_function(
            "() => document.querySelector('.score').textContent.includes('proven')"
        )
        assert "draws" in page.inner_text(".score b"), "tic-tac-toe is a draw"
        assert page.locator(".pill").count() == 9
        page.uncheck("#values")
        assert page.locator(".pill").count() == 0
        page.check("#values")
        page.click(".pv button:nth-child(2)")
        page.wait_for_selector("#peek:not([hidden])")
        assert page.locator("#figures g, #board path").count() >= 2
        assert page.locator("#line li").count() == 0, "the game has not gone on"
        page.click("#peek-back")
        page.click("summary")
        page.click(".tree > ul > li:first-child > button")
        page.wait_for_selector(".tree li li")
        page.check("#compare")
        page.wait_for_selector("#search-b")
        page.select_option("#search-b select >> nth=0", "uct")
        page.wait_for_selector("#search-b .candidates")
        assert page.locator("#search-a .candidates").count() == 1


def test_games_are_browsed(browser: Any, address: str) -> None:
    with looking(browser, address, "tictactoe") as page:
        page.click("#show-games")
        page.wait_for_selector("#rows tr td")
        page.click("#rows td button")
        page.wait_for_function("() => document.querySelectorAll('#line li').length > 20")
        page.click("#last")
        page.wait_for_function(
            "() => document.getElementById('status').textContent.match(/won|draw/)"
        )
        page.click("#line li:nth-child(3) button")
        page.wait_for_selector("#line li:nth-child(3) button[aria-current]")
        page.click("#show-training")
        page.wait_for_selector("#run-shown .chart")
        assert "learned" in page.inner_text("#run-shown .log")
        page.click("#run-shown td button")
        page.wait_for_selector("#curve svg")
        box = page.locator("#curve svg").bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 20)
        page.wait_for_selector("#line [aria-current]")
        assert int(page.evaluate("() => document.querySelectorAll('#line li').length")) > 6


def test_a_phone_and_a_dark_screen(browser: Any, address: str) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with looking(browser, address, "connect_four", **phone) as page:
        wait_for_turn(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
        page.tap(".hit[data-cell='38']")  # any cell of the column will do
        page.wait_for_function("() => document.querySelectorAll('#line li').length === 2")
        assert page.inner_text("#line li:first-child") == "4"
        light = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    with looking(browser, address, "tictactoe", color_scheme="dark") as page:
        dark = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        shades = [sum(map(int, re.findall(r"\d+", colour))) for colour in (light, dark)]
        assert shades[0] > 600
        assert shades[1] < 120


def test_nothing_of_the_machine_is_shown(browser: Any, address: str, tmp_path: Path) -> None:
    with looking(browser, address, "tictactoe") as page:
        page.click("#show-training")
        page.wait_for_selector("#run-shown .log")
        assert str(tmp_path.parents[1]) not in page.content()
