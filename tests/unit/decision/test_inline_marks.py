import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.answers import ContextChunk, GeneratedAnswer
from schemas.citations import Citation
from schemas.grounding import Claim, Verdict
from schemas.reports import Span
from tests.unit.evaluation.citations.test_citation_finder import DONE
from workers.decision.reader_text.inline_marks import (
    CONTRADICTED_MARK,
    MAX_ADDED,
    UNSUPPORTED_MARK,
    InlinePolicy,
    UngroundedPolicy,
    annotate,
)
from workers.decision.reader_text.reference_list import format_interactive, format_references
from workers.decision.reader_text.source_addresses import check_template, source_address
from workers.evaluation.citations.citation_finder import find_citations

RULES = {
    "/runbooks/*": "https://git.example.org/docs/tree/main{path}",
    "*grafana*": "https://grafana.example.org{path}",
    "daily_summaries/*": "https://console.example.org/records/{table}/{record}",
}


def citation(**fields: object) -> Citation:
    return Citation.model_validate(
        {"citation_id": "x", "number": 1, "chunk_id": "c1", "source_type": "runbook"} | fields
    )


def claim(text: str, said: str, verdict: Verdict = "unsupported", **fields: object) -> Claim:
    start = text.index(said)
    span = Span(start=start, end=start + len(said))
    return Claim.model_validate(
        {"claim_id": said[:50], "span": span, "text": said, "kind": "factual", "verdict": verdict} | fields
    )


class TestAddresses:
    @pytest.mark.parametrize(
        ("fields", "address"),
        [
            ({"source_path": "/runbooks/loki.md"}, "https://git.example.org/docs/tree/main/runbooks/loki.md"),
            ({"source_path": "/d/grafana-loki"}, "https://grafana.example.org/d/grafana-loki"),
            ({"source_path": "d/grafana"}, "https://grafana.example.org/d/grafana"),
            (
                {"source_table": "daily_summaries", "record_id": "2026-01-04/asset"},
                "https://console.example.org/records/daily_summaries/2026-01-04%2Fasset",
            ),
            ({"source_path": "https://wiki.example.org/a"}, "https://wiki.example.org/a"),
            (
                {"source_path": "/runbooks/Loki crash (2).md"},
                "https://git.example.org/docs/tree/main/runbooks/Loki%20crash%20%282%29.md",
            ),
            (
                {"source_table": "daily_summaries", "record_id": "Grinder 5"},
                "https://console.example.org/records/daily_summaries/Grinder%205",
            ),
            ({"source_path": "/other/loki.md"}, None),
            ({}, None),
        ],
    )
    def test_rules_give_a_source_its_address(self, fields: dict[str, str], address: str | None) -> None:
        assert source_address(citation(**fields), RULES) == address

    @pytest.mark.parametrize(
        "path",
        ["/runbooks/@evil.example", "/runbooks/?x=1#y", "/runbooks/a b", "/runbooks/\u202egpj", "//evil/grafana"],
    )
    def test_a_hostile_path_stays_a_path(self, path: str) -> None:
        address = source_address(citation(source_path=path), RULES)
        assert address is None or address.startswith(("https://git.example.org/", "https://grafana.example.org/"))
        assert address is None or not set("?#@ ") & set(address)

    @pytest.mark.parametrize(
        "template",
        ["/relative{path}", "javascript:{path}", "https://{path}", "https://{table}.example.org/", "https://a/{secret}", "ftp://a{path}"],
    )  # fmt: skip
    def test_a_template_that_leaves_the_host_open_is_refused(self, template: str) -> None:
        with pytest.raises(ValueError, match="template"):
            check_template(template)

    def test_the_three_formats_use_the_rules(self) -> None:
        cited = [
            citation(source_path="/runbooks/loki.md", spans=[Span(start=5, end=8)], display_text="[1] Runbook: Loki")
        ]
        address = "https://git.example.org/docs/tree/main/runbooks/loki.md"
        assert annotate("Loki [1].", cited, [], inline="link", rules=RULES) == f"Loki [[1]]({address})."
        assert f"Source: [/runbooks/loki.md](<{address}>)" in format_references(cited, rules=RULES)
        interactive = format_interactive(cited, RULES)[0]
        assert (interactive["url"], interactive["displayText"]) == (address, "[1] Runbook: Loki")


class TestMarks:
    TEXT = "Loki failed at noon. The cause was a leak. It was fixed."

    def test_claims_without_support_are_marked_or_left_out(self) -> None:
        claims = [claim(self.TEXT, "The cause was a leak."), claim(self.TEXT, "It was fixed.", "contradicted")]
        assert annotate(self.TEXT, [], claims, ungrounded="mark") == (
            f"Loki failed at noon. The cause was a leak.{UNSUPPORTED_MARK} It was fixed.{CONTRADICTED_MARK}"
        )
        assert annotate(self.TEXT, [], claims, ungrounded="omit").split() == ["Loki", "failed", "at", "noon."]
        assert annotate(self.TEXT, [], claims) == self.TEXT

    def test_supported_claims_and_talk_stay_as_they_are(self) -> None:
        claims = [
            claim(self.TEXT, "It was fixed.", "supported"),
            claim(self.TEXT, "Loki failed at noon.", "not_checked"),
        ]
        assert annotate(self.TEXT, [], claims, ungrounded="omit", inline="link") == self.TEXT

    def test_a_part_of_a_sentence_is_marked_since_the_rest_needs_it(self) -> None:
        text = "Loki failed, and the cause was a leak."
        assert annotate(text, [], [claim(text, "Loki failed")], ungrounded="omit") == (
            f"Loki failed{UNSUPPORTED_MARK}, and the cause was a leak."
        )

    def test_a_derived_figure_is_followed_by_its_calculation(self) -> None:
        calculation = {"operation": "sum", "result": "60", "expression": "25 + 35 = 60", "inputs": [{"text": "25"}]}
        claims = [claim(self.TEXT, "Loki failed at noon.", "supported", calculations=[calculation])]
        marked = annotate(self.TEXT, [], claims, inline="propose")
        assert marked.startswith("Loki failed at noon [Calculation: 25 + 35 = 60]. The")
        assert annotate(self.TEXT, [], claims, inline="link") == self.TEXT

    def test_missing_citations_are_proposed_before_the_full_stop(self) -> None:
        claims = [claim(self.TEXT, "Loki failed at noon.", "supported", proposed_numbers=[2])]
        assert annotate(self.TEXT, [], claims, inline="propose").startswith("Loki failed at noon [2]. The")
        assert annotate(self.TEXT, [], claims, inline="link") == self.TEXT

    def test_a_record_is_proposed_by_its_name(self) -> None:
        claims = [claim(self.TEXT, "Loki failed at noon.", "supported", proposed_numbers=[2])]
        markers = {2: "[Source: daily_summaries/loki]"}
        marked = annotate(self.TEXT, [], claims, inline="propose", markers=markers)
        assert marked.startswith("Loki failed at noon [Source: daily_summaries/loki]. The")

    @pytest.mark.parametrize(
        ("text", "left"),
        [
            (
                "Known:\n\n- Loki failed.\n- The cause was a leak.\n- It was fixed.\n",
                "Known:\n\n- Loki failed.\n- It was fixed.\n",
            ),
            ("1. The cause was a leak.\n2. Loki failed.", "2. Loki failed."),
            ("* The cause was a leak. [1]\n* Loki failed.", "* Loki failed."),
            ("> - The cause was a leak.\n> - Loki failed.", "> - Loki failed."),
            ("- Loki failed. The cause was a leak.", "- Loki failed. "),
            ("The cause was a leak.\nLoki failed.", "Loki failed."),
            ("- The cause was a leak.", ""),
        ],
    )
    def test_omission_leaves_no_empty_bullet(self, text: str, left: str) -> None:
        said = "The cause was a leak. [1]" if "[1]" in text else "The cause was a leak."
        assert annotate(text, [], [claim(text, said)], ungrounded="omit") == left

    def test_a_cell_is_marked_within_its_cell(self) -> None:
        text = "| a | b |\n|---|---|\n| x | 47 min |\n"
        marked = annotate(text, [], [claim(text, "| x | 47 min")], ungrounded="omit")
        assert f"| x | 47 min{UNSUPPORTED_MARK} |" in marked

    def test_marks_add_no_more_than_fits(self) -> None:
        text = "Loki fell. " * 5_000
        spans = [Span(start=11 * n, end=11 * n + 10) for n in range(5_000)]
        claims = [claim(text[:11], "Loki fell.").model_copy(update={"span": span}) for span in spans]
        assert len(annotate(text, [], claims, ungrounded="mark")) <= len(text) + MAX_ADDED

    def test_a_marker_of_several_sources_stays(self) -> None:
        cited = [citation(number=n, source_path="https://a.example/b", spans=[Span(start=5, end=11)]) for n in (1, 2)]
        assert annotate("Loki [1, 2].", cited, [], inline="link") == "Loki [1, 2]."

    @settings(max_examples=200, deadline=None)
    @given(
        st.lists(
            st.sampled_from(["Loki fell [1]. ", "`a [1] b` ", "\n```\nx [1].\n```\n", "- It was [2] so.\n", "| a [1] |\n", "(", "\n"]),
            max_size=12,
        ).map("".join),
        st.sampled_from(["keep", "link", "propose"]),
        st.sampled_from(["keep", "mark", "omit"]),
    )  # fmt: skip
    def test_code_is_never_touched(self, text: str, inline: InlinePolicy, ungrounded: UngroundedPolicy) -> None:
        chunks = [ContextChunk(chunk_id=f"c{n}", content="x", source_path=f"https://a.example/{n}") for n in (1, 2)]
        answer = GeneratedAnswer(answer_id="a", answer=text, contexts=chunks, completed_at=DONE)
        found = find_citations(answer)
        marked = annotate(text, found.citations, [], inline=inline, ungrounded=ungrounded)
        assert marked.count("`a [1] b`") == text.count("`a [1] b`")
        assert marked.count("x [1].\n```") == text.count("x [1].\n```")
        again = annotate(text, found.citations, [], inline=inline, ungrounded=ungrounded)
        assert again == marked


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("Click the option System (display, power).", "Click the option System (display, power) [2]."),
        ("Choose “Sync Audiobooks”.", "Choose “Sync Audiobooks” [2]."),
        ('Choose "Sync Audiobooks."', 'Choose "Sync Audiobooks." [2]'),
        ("(The valve is open.)", "(The valve is open.) [2]"),
        ("Wählen Sie „Sync“.", "Wählen Sie „Sync“ [2]."),
        ("See [the guide](https://example.org/a_(b)).", "See [the guide](https://example.org/a_(b)) [2]."),
        ("**The valve is open.**", "**The valve is open [2].**"),
        ("The valve is open", "The valve is open [2]"),
    ],
)
def test_a_proposed_citation_stands_behind_brackets_and_quotation_marks(text: str, marked: str) -> None:
    assert annotate(text, [], [claim(text, text, "supported", proposed_numbers=[2])], inline="propose") == marked
