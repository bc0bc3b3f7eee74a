import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness.paths import ROOT
from workers.evaluation.claims.claim_extraction import MAX_CLAIM, ExtractedClaim, extract_claims
from workers.evaluation.text.structure.markers import find_markers
from workers.evaluation.text.structure.segmentation import segment


def claims(text: str, contexts: int = 3) -> list[ExtractedClaim]:
    sentences = segment(text)
    return extract_claims(text, sentences, find_markers(text, contexts, sentences))


def kinds(text: str) -> list[str]:
    return [claim.kind for claim in claims(text)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *(
            (text, "factual")
            for text in ("Loki failed at 14:03.", "The pod uses 2 GiB.", "Certainly the pod restarted 3 times.")
        ),
        *((text, "factual") for text in ("There is no data loss.", "TLS is not included in the free plan.")),
        *(
            (text, "recommendation")
            for text in ("Run the job again.", "You should raise the limit.", "First, check the logs.")
        ),
        *(
            (text, "recommendation")
            for text in ("If it fails, you must restart it.", "Recommendation: Schedule maintenance.")
        ),
        *((text, "recommendation") for text in ("Sie sollten den Dienst neu starten.",)),
        *(
            (text, "inference")
            for text in ("It will fail again. [AI Inference - pattern]", "AI inference: it will fail.")
        ),
        *((text, "question") for text in ("Shall I restart it?", "再起動しますか？")),
        *((text, "meta") for text in ("Hello!", "I hope this helps!", "Unable to answer based on given passages.")),
        *(
            (text, "meta")
            for text in (
                "The provided passages do not mention the cost.",
                "I'm sorry, I can't help with that.",
                "I'm sorry, but I cannot list three reasons for the outage, as the document only gives one.",
            )
        ),
        *((text, "meta") for text in ("Sure, I'd be happy to help!", "Here is a summary of the article in 65 words:")),
        *((text, "meta") for text in ("The cost is not mentioned in the provided documents.", "[^1]: A note.")),
        ("```\nrm -rf /\n```", "code"),
    ],
)
def test_each_kind_is_told_apart(text: str, kind: str) -> None:
    assert kinds(text) == [kind]


def test_the_seed_004_example_has_facts_a_pattern_and_an_inference() -> None:
    text = (
        "Based on yesterday's data, Grinder 5 had the highest downtime at 47 minutes\n"
        "[Source: daily_summaries/2026-01-04/asset-grinder-5], costing approximately\n"
        "$2,350 in lost production [Evidence: cost_centers calculation @ $3000/hr].\n\n"
        "This is consistent with the pattern we've seen over the past week\n"
        "[Memory: asset-history/grinder-5/mem-id-abc123] where similar issues\noccurred on Monday and Wednesday.\n\n"
        "**Recommendation:** Schedule preventive maintenance before next shift.\n[AI Inference - based on pattern analysis]"
    )
    found = claims(text)
    assert [claim.kind for claim in found] == ["factual", "factual", "inference"]
    assert found[0].plain == (
        "Grinder 5 had the highest downtime at 47 minutes, costing approximately $2,350 in lost production."
    )
    assert found[1].antecedent == found[0].plain


def test_a_lead_about_the_documents_is_no_part_of_the_claim() -> None:
    assert claims("Based on the given passages, a P60 is a summary.")[0].plain == "a P60 is a summary."


def test_a_thing_that_a_statement_is_contrasted_with_is_no_part_of_the_claim() -> None:
    text = "The studio has 80 seats. Unlike the hall, it can't be darkened."
    assert [claim.plain for claim in claims(text)] == ["The studio has 80 seats.", "it can't be darkened."]


def test_headings_title_rows_and_reference_lists_claim_nothing() -> None:
    text = "# Cause of the crash\n\n| a | b |\n|---|---|\n\n## References\n\n[1] Runbook: Loki\n"
    assert [claim.kind for claim in claims(text) if claim.needs_grounding] == []


@pytest.mark.parametrize(
    "heading",
    [
        "## Dose: 500 mg", "# 3 May 2024", "# 剂量：500毫克", "## 500 mg", "### Price: $40", "## Preis: 40 €", "## Deadline: 3 May",
        "# 40 %", "# 2024-05-03", "## Opening: 9:00", "## **Dose:** 500 mg", "## Distance – 5 km", "## Dose (500 mg)",
        "# 500毫克", "## Dose = 500 mg", "## Límite: 5 °C", "Dose: 500 mg\n============",
    ],
)  # fmt: skip
def test_a_short_heading_that_gives_a_figure_is_a_claim(heading: str) -> None:
    first, second = claims(f"{heading}\n\nIt is taken with food [1].")
    assert first.needs_grounding and first.end <= len(heading)
    assert second.plain == "It is taken with food."


@pytest.mark.parametrize(
    "heading",
    [
        "## Results for 2024", "## Step 3: Restart", "## 2. Setup", "## Version 2.4", "## Top 10 risks", "## Q3 2024: Summary",
        "## 3 steps", "## Phase 1", "# 2024", "## Part 2: Costs", "## Chapter 12: The end", "## 3.2 Limits", "## FAQ 2024",
        "## 5 tips", "## Section 4: 2 options", "## Release 2.4: Changes", "## Option 1: Pay by card", "## 第3步：重启",
        "## 2024年", "## Agenda: Monday", "## HTTP 404: Not found", "## Error 500", "## Day 1: Arrival", "## Windows 11: Setup",
        "## Note: see below", "## FY2023: Outlook", "## Year: 2024", "## Results (2024)", "## Budget 2024/25",
        "## Part 2 – Costs", "## Overview (2023–2024)",
    ],
)  # fmt: skip
def test_a_number_or_a_year_in_a_title_is_no_claim(heading: str) -> None:
    assert [claim.plain for claim in claims(f"{heading}\n\nIt is taken with food [1].")] == ["It is taken with food."]


def test_a_row_with_one_value_is_one_claim_read_with_its_titles() -> None:
    found = claims("| Asset | Downtime |\n|---|---|\n| Grinder 5 | 47 min |\n")
    assert [claim.plain for claim in found] == ["Asset: Grinder 5; Downtime: 47 min"]


def test_each_value_of_a_row_is_a_claim_about_what_the_row_names() -> None:
    text = "| Asset | Downtime | Cost |\n|---|---|---|\n| Grinder 5 | 47 min [1] | $2,350 [2] |\n| Press | - | 3 |\n"
    found = claims(text)
    assert [(claim.plain, claim.cited_numbers) for claim in found] == [
        ("Asset: Grinder 5; Downtime: 47 min", (1,)),
        ("Asset: Grinder 5; Cost: $2,350", (2,)),
        ("Asset: Press; Cost: 3", ()),
    ]
    assert text[found[0].start : found[0].end] == "| Grinder 5 | 47 min [1]"
    assert text[found[1].start : found[1].end] == "$2,350 [2]"


def test_a_marker_in_a_cell_of_its_own_stands_for_the_row() -> None:
    text = "| Asset | Downtime | Cost | Source |\n|---|---|---|---|\n| Grinder 5 | 47 min | $2,350 | [3] |\n"
    assert [(claim.text, claim.cited_numbers) for claim in claims(text)] == [
        ("| Grinder 5 | 47 min", (3,)),
        ("$2,350", (3,)),
    ]


def test_a_counting_first_column_names_nothing() -> None:
    found = claims("| # | Asset | Downtime | Cost |\n|---|---|---|---|\n| 1 | Grinder 5 | 47 min | $9 |\n")
    assert found[1].plain == "#: 1; Asset: Grinder 5; Cost: $9"


def test_a_table_of_more_values_than_are_listed_is_judged_by_rows() -> None:
    text = "| a | b | c |\n|---|---|---|\n" + "".join(f"| n{n} | {n} | {n + 1} |\n" for n in range(300))
    assert len(claims(text)) == 300


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Revenue was $4.2m, costs were $3.1m, and profit was $1.1m.",
         ["Revenue was $4.2m", "costs were $3.1m", "profit was $1.1m."]),
        ("The pump failed and the motor was replaced.", ["The pump failed", "the motor was replaced."]),
        ("The service has 2 GiB, and the `limit` is 4 GiB, but it restarts after 3 minutes.",
         ["The service has 2 GiB", "the limit is 4 GiB", "it restarts after 3 minutes."]),
        ("The plan costs $50 a month and includes 3 seats.", ["The plan costs $50 a month", "The plan includes 3 seats."]),
        ("Sales grew 12 % in March and fell 3 % in April.", ["Sales grew 12 % in March", "Sales fell 3 % in April."]),
        ("According to the structured data, the shop has a garden and has 3 rooms.",
         ["According to the structured data, the shop has a garden", "the shop has 3 rooms."]),
        ("Parking: The shop has a garage and has 3 rooms.", ["Parking: The shop has a garage", "The shop has 3 rooms."]),
        ("Stop the pump and close the valve.", ["Stop the pump", "close the valve."]),
        ("The documents do not say so, but the plan costs $50 a month in total.",
         ["The documents do not say so", "the plan costs $50 a month in total."]),
    ],
)  # fmt: skip
def test_statements_joined_by_and_or_but_are_claims_of_their_own(text: str, parts: list[str]) -> None:
    assert [claim.plain for claim in claims(text)] == parts


@pytest.mark.parametrize(
    "text",
    [
        "The report says the pump and the motor were replaced.",
        "The report says that A, B, and C were replaced.",
        "Between the pump and the valve is a filter.",
        "If the pump fails, the pod restarts, and the data is lost.",
        "It includes logs, metrics, and the data stored in S3.",
        "It restarts when the memory is full and the limit is reached.",
        "Run the check and balance system.",
        "He was kidnapped in 2011 and held hostage for four years.",
        "It is meant to be enjoyed in full, but not adopted as a belief.",
        "The scandal began after a man, Mr Example, was found dead and left a note to the press.",
        "It sells glazed, chocolate dipped, and caramel drizzled, all made daily.",
        "Mr Example sang Fooled Around and Fell in Love at a concert.",
        "A more educated and skilled workforce could lead to growth.",
        "The plan is a document that supports children and young adults with special needs.",
        "They asked why the problem arose, what was done, and what was learned from it.",
        "The filter is cheap and easy to clean.",
        "The pump was inspected and repaired by the night shift.",
        'The log says "it is done, and it was good" twice.',
        "The field (a is 1, and b is 2) was dropped.",
        "`a is 1, and b is 2` was printed.",
    ],
)
def test_what_one_statement_needs_stays_whole(text: str) -> None:
    assert [claim.text for claim in claims(text)] == [text]


def test_parts_of_a_sentence_have_kinds_of_their_own() -> None:
    assert kinds("The limit is 2 GiB, but you should raise it to 4 GiB.") == ["factual", "recommendation"]
    assert kinds("The documents do not say so, but the plan costs $50 a month.") == ["meta", "factual"]


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("Loki has 2 GiB [1], and the limit is 4 GiB [2].", [(1,), (2,)]),
        ("Loki has 2 GiB, and the limit is 4 GiB [2].", [(2,), (2,)]),
        ("Loki has 2 GiB [1], and the limit is 4 GiB.", [(1,), ()]),
        ("According to [1], Loki has 2 GiB, and the limit is 4 GiB.", [(1,), (1,)]),
    ],
)
def test_a_marker_stands_for_what_comes_before_it_in_the_sentence(text: str, cited: list[tuple[int, ...]]) -> None:
    assert [claim.cited_numbers for claim in claims(text)] == cited


@pytest.mark.parametrize(
    ("text", "leans"),
    [
        ("Loki failed at 14:03. It was restarted twice. It recovered.",
         ["", "Loki failed at 14:03.", "Loki failed at 14:03. It was restarted twice."]),
        ("## Grinder 5\n\n- Downtime: 47 minutes\n- It was repaired.\n", ["Grinder 5", "Grinder 5 Downtime: 47 minutes"]),
        ("The causes of the crash are:\n\n- low memory\n- a full disk\n",
         ["", "The causes of the crash are:", "The causes of the crash are:"]),
        ("Loki failed at 14:03. Because of low memory.", ["", "Loki failed at 14:03."]),
        ("Loki failed at 14:03. The pod was restarted.", ["", ""]),
    ],
)  # fmt: skip
def test_a_fragment_leans_on_what_it_completes(text: str, leans: list[str]) -> None:
    found = [claim.antecedent for claim in claims(text)]
    assert found[-len(leans) :] == leans


def test_statements_joined_by_a_semicolon_are_claims_of_their_own() -> None:
    text = "The limit is 4 GiB; the pod restarts after 3 minutes [1]."
    found = claims(text)
    assert [text[claim.start : claim.end] for claim in found] == [
        "The limit is 4 GiB",
        "the pod restarts after 3 minutes [1].",
    ]
    assert [claim.cited_numbers for claim in found] == [(1,), (1,)]


def test_an_enumeration_stays_whole() -> None:
    assert len(claims("The colours are red; green; blue.")) == 1


def test_a_hedged_fact_is_a_claim_all_the_same() -> None:
    found = claims("Revenue probably fell 30 %.")[0]
    assert (found.kind, found.hedged) == ("factual", True)


def test_markdown_is_not_part_of_what_is_said() -> None:
    assert claims("**Loki** uses `2 GiB` of <b>memory</b> [1].")[0].plain == "Loki uses 2 GiB of memory."


def test_a_lead_to_a_list_claims_nothing_unless_it_has_figures() -> None:
    assert kinds("The causes are as follows:\n\n- memory\n")[0] == "meta"
    assert kinds("Based on the passages, here's how to clean the mill properly:\n\nOpen the lid.")[0] == "meta"
    assert kinds("Loki failed 3 times:\n\n- memory\n")[0] == "factual"


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from(["It is; ", "[1] ", "a b c d; ", "# ", "\n", "? ", "`", "| a |\n", ". "])).map("".join)
)
def test_spans_point_into_the_answer_in_order(text: str) -> None:
    end = 0
    for claim in claims(text):
        assert claim.start >= end
        assert text[claim.start : claim.end] == claim.text
        end = claim.end


REFERENCE = (ROOT / "docs" / "reference" / "claims.md").read_text(encoding="utf-8")


def documented(section: str) -> list[list[str]]:
    """The rows of a section's table."""
    body = REFERENCE.partition(f"## {section}")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines() if line[:3] == "| `"]


def test_the_reference_gives_the_kinds_that_are_found() -> None:
    examples = [
        (kind.strip("`"), example)
        for kind, _, _, cell in documented("Kinds")
        for example in re.findall(r"`([^`]+)`", cell)
    ]
    assert len(examples) >= 18
    wrong = [(kind, example, kinds(example)) for kind, example in examples if set(kinds(example)) != {kind}]
    assert not wrong


def test_the_reference_tells_where_a_sentence_is_split() -> None:
    examples = [cells[2].strip("`") for cells in documented("One sentence, several claims") if cells[2]]
    assert [len(claims(example)) for example in examples] == [2, 2, 3, 2, 2, 2]
    whole = REFERENCE.partition("are not split: ")[2].partition("\n")[0]
    assert [len(claims(example)) for example in re.findall(r"`([^`]+)`", whole)] == [1, 1, 1]


@pytest.mark.parametrize(
    "text",
    [
        "```\nThe pump needs service "
        + "and the motor is checked and oiled " * 70
        + "and it costs 900 euros a month.\n```",
        "| part | note |\n|---|---|\n| Pump | It is quiet "
        + "and the motor is checked and oiled " * 70
        + "for 900 euros. |",
    ],
)
def test_a_figure_at_the_end_of_a_long_line_of_code_or_cell_is_in_a_claim_that_is_read(text: str) -> None:
    claims = extract_claims(text, segment(text))
    assert max(len(claim.plain) for claim in claims) <= MAX_CLAIM
    assert any("900 euros" in claim.plain and claim.needs_grounding for claim in claims)
    assert all(one.end <= two.start for one, two in pairwise(claims))
    assert all(text[claim.start : claim.end] == claim.text for claim in claims)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("(Passage 1:4)", "meta"),
        ("[see Source 2]", "meta"),
        ("(Passages 1 and 3).", "meta"),
        ("Passage 3: (unavailable)", "meta"),
        ("Passage 1:", "meta"),
        ("For Method 2:", "meta"),
        ("Option B:", "meta"),
        ("(The dose is 500 mg)", "factual"),
        ("(Passage 1: the dose is 500 mg)", "factual"),
        ("For Method 2: press F8.", "factual"),
        ("Step 2: the valve is open.", "factual"),
        ("Passage 3: not available before May.", "factual"),
    ],
)
def test_a_label_is_no_claim_and_hides_none(text: str, kind: str) -> None:
    assert kinds(f"The pump is red.\n\n{text}\n\nThe tank is blue.") == ["factual", kind, "factual"]


def test_a_label_that_is_the_whole_answer_is_compared() -> None:
    assert kinds("Option 2:") == ["factual"]


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("Is smoking allowed in the yard?", "Yes. Smoking is allowed in the yard.", "meta"),
        ("Is smoking allowed in the yard?", "No. In the yard smoking is not allowed.", "factual"),
        ("Is smoking allowed in the yard?", "Yes. Smoking is not allowed in the yard.", "factual"),
        ("Is smoking allowed in the yard?", "Yes. The yard closes at 9 pm.", "factual"),
        ("Is smoking allowed in the yard?", "Yes.", "factual"),
        ("No, the revenue was 2.4m.", "You are right, sorry. The revenue was 2.4m.", "meta"),
        ("No, the revenue was 2.4m.", "Sorry, you're right. The revenue was 2.4m.", "meta"),
        ("Was the revenue 2.4bn?", "You are right, sorry. The figure is in the report.", "factual"),
        ("The revenue was 2.4bn, right?", "You are right, sorry. The figure is in the report.", "factual"),
        ("No, the revenue was 2.4m.", "You are right, sorry.", "factual"),
    ],
)
def test_an_opening_that_the_next_sentence_says_again_is_no_claim(query: str, text: str, expected: str) -> None:
    assert extract_claims(text, segment(text), (), query)[0].kind == expected
