import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.steps.claims import ExtractedClaim, extract_claims
from workers.steps.markers import find_markers
from workers.steps.segmentation import segment


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
        *((text, "factual") for text in ("The documents do not say so, but the plan costs $50 a month in total.",)),
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
            for text in ("The provided passages do not mention the cost.", "I'm sorry, I can't help with that.")
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
        "Based on yesterday's data, Grinder 5 had the highest downtime at 47 minutes, costing approximately $2,350 "
        "in lost production."
    )
    assert found[1].leans_on == found[0].plain


def test_a_lead_about_the_documents_is_no_part_of_the_claim() -> None:
    assert claims("Based on the given passages, a P60 is a summary.")[0].plain == "a P60 is a summary."


def test_headings_title_rows_and_reference_lists_claim_nothing() -> None:
    text = "# Cause of the crash\n\n| a | b |\n|---|---|\n\n## References\n\n[1] Runbook: Loki\n"
    assert [claim.kind for claim in claims(text) if claim.needs_grounding] == []


def test_a_table_row_is_one_claim_read_with_its_titles() -> None:
    found = claims("| Asset | Downtime |\n|---|---|\n| Grinder 5 | 47 min |\n")
    assert [claim.plain for claim in found] == ["Asset: Grinder 5; Downtime: 47 min"]


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
