"""Right statements whose words stand elsewhere in real texts, too, are given to nobody else."""

import pytest

from workers.evaluation.clauses.clause_comparison import clause_mismatches
from workers.evaluation.clauses.clause_matches import match_clauses
from workers.evaluation.clauses.clause_reader import Phrase, read_clauses
from workers.evaluation.clauses.phrase_relations import Relation, relation


def mismatches(claim: str, *evidence: str) -> tuple[str, ...]:
    return clause_mismatches([clause for clause in read_clauses(claim) if clause.is_main], evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Exposure to Roundup can cause burns of the skin.", ["Exposure to Roundup can result in burns of the skin."]),
        (
            "You can use Recta Transfer to copy songs.",
            ["Recta Transfer copies songs to a phone.", "Use Cordis for Windows."],
        ),
        (
            "Cusco, Peru has a mild climate.",
            ["Peru restored the old town in 1972.", "Cusco has a mild climate."],
        ),
        (
            "The cousins arrived in Lyon.",
            [
                "Survivors spoke about the Lyon attack.",
                "The cousins arrived at Lyon's Bellecour International Airport.",
            ],
        ),
        (
            "The levy will rise to 45,600.",
            ["Pensions will grow by more than 60.", "The levy on income will increase."],
        ),
        (
            "The main difference between the isles is their exposure to the north wind.",
            ["The north wind is a storm.", "The difference is small."],
        ),
        ("Kim has not signed the contract.", ["Kim plans to sign the contract."]),
        ("Kim has not accepted the plan yet.", ["Han will stay until Kim accepts the plan."]),
    ],
)
def test_a_right_statement_is_given_to_no_other_subject_or_act(claim: str, evidence: list[str]) -> None:
    assert not {"subject", "role", "negation"} & set(mismatches(claim, *evidence))


@pytest.mark.parametrize(
    ("claim", "evidence", "kind"),
    [
        ("Ben sued Anna.", ["Anna sued Ben."], "role"),
        ("The hall opened in 2019.", ["The hall opened in 2011 and was renovated in 2019."], "role"),
        ("Dr. Ortiz assisted.", ["Dr. Ortiz performed the operation, assisted by Dr. Lund."], "role"),
        ("Kim has not signed the contract.", ["Kim signed the contract."], "negation"),
    ],
)
def test_a_wrong_statement_of_the_kind_is_noticed(claim: str, evidence: list[str], kind: str) -> None:
    assert kind in mismatches(claim, *evidence)


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        (Phrase("to", "wind", frozenset({"wind"})), Phrase("attribute", "exposure", frozenset({"exposure", "wind"})), Relation.POSSIBLE),
        (Phrase("subject", "cousin", frozenset({"cousin"})), Phrase("subject", "group", frozenset({"group", "cousin"})), Relation.SAME),
        (Phrase("subject", "rain", frozenset({"rain"})), Phrase("object", "mm", frozenset({"mm", "rain"})), Relation.SAME),
        (Phrase("subject", "pump", frozenset({"pump"})), Phrase("subject", "pump", frozenset({"old", "pump"})), Relation.SAME),
    ],
)  # fmt: skip
def test_a_phrase_is_a_longer_one_with_its_main_word_alone(one: Phrase, two: Phrase, expected: Relation) -> None:
    assert relation(one, two) is expected
    assert relation(two, one) is expected


def test_a_level_keeps_no_bound_of_a_change() -> None:
    level = Phrase("to", "45600", frozenset({"45600"}), numbers=frozenset({"45600"}))
    growth = Phrase("over", "60", frozenset({"60"}), numbers=frozenset({"60"}), bound=1)
    notice = Phrase("object", "day", frozenset({"28", "day"}), numbers=frozenset({"28"}))
    minimum = Phrase("object", "day", frozenset({"25", "day"}), numbers=frozenset({"25"}), bound=1)
    assert relation(level, growth) is not Relation.SAME
    assert relation(notice, minimum) is Relation.SAME


def test_a_level_is_no_change() -> None:
    (level,), (change,) = read_clauses("Sales rose to 5 %."), read_clauses("Sales rose by 5 %.")
    (match,) = match_clauses(level, [change])
    assert Relation.SAME not in match.relations[1:]
