"""The examples of conversations and runs show what their notes say."""

from schemas.answers import GeneratedAnswer
from tests.harness.paths import ROOT
from workers.evaluation.grounding.grounding_evaluator import evaluate_grounding
from workers.evaluation.grounding.prepared_grounding import prepare_grounding
from workers.evaluation.thresholds import GroundingThresholds


def test_the_examples_of_conversations_and_runs_show_what_they_are_for() -> None:
    lines = (ROOT / "examples" / "conversations.jsonl").read_bytes().splitlines()
    found = {}
    for line in lines:
        answer = GeneratedAnswer.from_bytes(line)
        found[answer.answer_id] = evaluate_grounding(prepare_grounding(answer), GroundingThresholds())
    follow_up, said, opposed, run = found.values()
    assert follow_up.query is not None
    assert follow_up.query.text == "What interest do I get on the fixed deposit over 90 days?"
    assert [claim.verdict for claim in follow_up.claims] == ["supported"]
    assert follow_up.earlier_contradictions == []
    assert [claim.verdict for claim in said.claims] == ["supported", "said_before"]
    assert [each.earlier.turn for each in opposed.earlier_contradictions] == [2]
    assert [(claim.verdict, claim.step) for claim in run.claims] == [("contradicted", 3)]
