"""Check claims that all went well, extremes of a counted whole, and values alone, against results."""

import pytest

from workers.evaluation.tools.computed.states import says_all_succeeded
from workers.evaluation.tools.results.tool_results import ToolResults
from workers.evaluation.tools.tool_claims import check_claim

JOBS = (
    '[{"job": "backup-db", "status": "completed", "size_gb": 84.2}, {"job": "backup-files", "status": "failed", "retries": 2},'
    ' {"job": "backup-mail", "status": "completed", "size_gb": 12.7}]'
)
LAPTOPS = (
    '[{"name": "Veloce Air 13", "weight_kg": 1.12}, {"name": "Norda Slim 14", "weight_kg": 0.98},'
    ' {"name": "Castor Pro 15", "weight_kg": 1.64}]'
)


def verdict(claim: str, question: str, content: str) -> str | None:
    finding = check_claim(claim, question, ToolResults([content], [], [question]))
    return None if finding is None else finding.verdict


@pytest.mark.parametrize(
    ("claim", "is_wrong"),
    [
        ("Yes, all three jobs went through last night.", True),
        ("Every job finished without errors.", True),
        ("Yes, everything ran fine.", True),
        ("Not all jobs went through.", False),
        ("All jobs but the backup of files went through.", False),
        ("All jobs except backup-files finished.", False),
        ("The backup-db job completed.", False),
        ("backup-db finished without errors.", False),
    ],
)
def test_all_went_well_only_without_a_failure(claim: str, is_wrong: bool) -> None:
    assert (verdict(claim, "Did the backup run last night?", JOBS) == "contradicted") is is_wrong


def test_one_thing_without_errors_is_not_all_of_them() -> None:
    # The row is named in other words, so that no row is known to be meant.
    assert not says_all_succeeded("The database backup finished without errors.", (), ToolResults([JOBS], [], []))


def test_an_extreme_of_as_many_as_there_are_is_one_of_all() -> None:
    question = "Which is the lightest?"
    assert verdict("The Veloce Air 13 is the lightest of the three at 1.12 kg.", question, LAPTOPS) == "contradicted"
    assert verdict("The Norda Slim 14 is the lightest of the three at 0.98 kg.", question, LAPTOPS) == "supported"
