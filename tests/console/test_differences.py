"""Changes of a correction are whole words and figures, and copied or read aloud they do not run into each other."""

from playwright.sync_api import Browser

from tests.harness.browser import logged_in, needs_browser
from tests.harness.console import EVERYTHING, ConsoleThread

pytestmark = needs_browser

CHANGES = [
    ("€29 a month", "€9 a month", ["€", "-29", "+9", " a month"]),
    ("prend 10 à 5 jours", "prend 3 à 5 jours", ["prend ", "-10", "+3", " à 5 jours"]),
    ("=1+1 is two", "Only the CFO may", ["-=1+1 is two", "+Only the CFO may"]),
    ("one two  three four", "one zwei  drei four", ["one ", "-two  three", "+zwei  drei", " four"]),
    ("a b c", "a c", ["a ", "-b ", "c"]),
    ("same", "same", ["same"]),
]
RUN = """async ([before, after]) => {
  const { differences } = await import("/static/js/diff.js");
  const place = document.createElement("p");
  place.replaceChildren(...differences(before, after));
  document.querySelector("main").prepend(place);
  const nodes = [...place.childNodes].map((node) => ({ INS: "+", DEL: "-" }[node.nodeName] ?? "") + node.textContent);
  getSelection().selectAllChildren(place);
  const copied = getSelection().toString();
  const spoken = [...place.querySelectorAll("ins, del")].map((node) => getComputedStyle(node, "::before").content);
  place.remove();
  return { nodes, copied, spoken };
}"""


def test_changes_are_whole_and_copied_text_is_the_new_one(browser: Browser, console: ConsoleThread) -> None:
    with logged_in(browser, console, EVERYTHING) as (page, _):
        page.goto("/search")
        page.add_script_tag(url="/static/vendor/diff-9.0.0.min.js")
        for before, after, nodes in CHANGES:
            found = page.evaluate(RUN, [before, after])
            assert found["nodes"] == nodes
            assert found["copied"].split() == after.split()
            words = {"-": '" removed: "', "+": '" added: "'}
            assert found["spoken"] == [words[node[0]] for node in nodes if node[0] in words]
