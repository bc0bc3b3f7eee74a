"""A statement that a source calls untrue supports no answer that repeats it, and its denial is right."""

from collections.abc import Callable

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.budget import Budget, spending
from workers.evaluation.facts.forms.refuted_statements import (
    PARSED,
    calls_items_untrue,
    read_ruled_row,
    restore_refuted,
)

CONTRACT = (
    "## Myths about the new contract\n\n1. The notice period was extended to six months. It remains at three.\n"
    "2. Overtime is no longer paid.\n3. Part-time staff lose their bonus.\n\n## What changed\n\n- Leave rises to 30 days."
)
BRIDGE = (
    '[{"claim": "The bridge closes in May", "verdict": "false", "source": "city"},'
    ' {"claim": "The toll rises in June", "verdict": "true", "source": "city"}]'
)
BACKUP = (
    "| Statement | True or false |\n|---|---|\n| The backup runs hourly. | False |\n| The backup is encrypted. | True |"
)
COLDS = (
    "| Myth | Fact |\n|---|---|\n| Cold weather causes colds. | Viruses cause colds. |\n"
    "| Eating carrots gives perfect eyesight. | Carrots contain vitamin A. |\n| Milk makes mucus. | Milk coats the throat. |"
)
BLEACH = "The following statements are false:\n- Bleach and vinegar may be mixed for cleaning.\n- Bleach removes rust."
BATTERY = (
    "## Common misconceptions\n\n- The battery must be empty before charging.\n- Charging overnight destroys it.\n\n"
    "## Facts\n\n- The charger stops at 100 %."
)
KNUCKLES = "Myth: Cracking your knuckles causes arthritis. Fact: Studies found no link between cracking and arthritis."
GIFTS = "It is a myth that you can reclaim VAT on gifts."
FUND = "The claim that the fund guarantees returns is false."
BOLTS = "Wrong: Tighten the bolts by hand.\nRight: Tighten the bolts with a torque wrench."
SLEEP = "Snoring is not harmless: it may be a sign of apnoea. Alcohol does not improve sleep."


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("It is a myth that cracking your knuckles causes arthritis.", "Cracking your knuckles does not cause arthritis."),
        ("It's not true that bleach may be mixed with vinegar.", "Bleach may not be mixed with vinegar."),
        ("Myth: The battery must be empty.", "The battery does not have to be empty."),
        ("Myth 3: Lightning never strikes twice.", "Lightning strikes twice."),
        ("Myth: You can't get sunburned on a cloudy day.", "You can get sunburned on a cloudy day."),
        ("Myth: There is no cure.", "There is some cure."),
        ("That antibiotics work against viruses is a common misconception.", "Antibiotics do not work against viruses."),
        ("However, it is untrue that the fee was refunded.", "However, the fee was not refunded."),
        ("It is false that we pay weekly; we pay monthly.", "We do not pay weekly; we pay monthly."),
        ("Bleach removes rust (false).", "Bleach does not remove rust"),
        ("Wrong: Tighten the bolts by hand.", "Do not tighten the bolts by hand."),
        ("Myth: Everyone needs eight glasses.", "Not everyone needs eight glasses."),
        ("Myth: Vaccines always contain mercury.", "Vaccines do not always contain mercury."),
        ("Misconception: Bats are blind.", "Bats are not blind."),
        ("Many people wrongly believe that bats are blind.", "Bats are not blind."),
        ("Many people wrongly believe that bats are blind.", "Bats are not blind."),
        ("It is a myth that only smokers get it.", "It is not true that only smokers get it."),
    ],
)  # fmt: skip
def test_what_is_called_untrue_is_denied_at_its_verb(text: str, denied: str) -> None:
    assert restore_refuted(text) == denied


@pytest.mark.parametrize(
    "text",
    [
        "It is not wrong that the pump is loud.",
        "It was wrong that he left.",
        "Verbose (false)",
        "false: output is hidden",
        "Wrong: 12",
        "Myth: Apple",
        "The myth of the Minotaur tells that Theseus killed it.",
        "The pump is loud.",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert restore_refuted(text) == text


@pytest.mark.parametrize(
    ("line", "is_heading", "expected"),
    [
        ("Common misconceptions", True, True),
        ("Five popular myths about charging", True, True),
        ("Two common myths:", False, True),
        ("The following statements are false:", False, True),
        ("Myths", True, False),  # may be those of a people
        ("Myths and facts", True, False),
        ("Two common myths are discussed below.", False, False),
        ("Which of the following statements are false:", False, False),
        ("The request fails if any of the following is not true:", False, False),
        ("The following settings are required:", False, False),
    ],
)
def test_lines_that_call_their_items_untrue(line: str, *, is_heading: bool, expected: bool) -> None:
    assert calls_items_untrue(line, is_heading=is_heading) is expected


@pytest.mark.parametrize("read", [restore_refuted, read_ruled_row])
@pytest.mark.parametrize("time", ["first", "again"])
def test_a_parse_is_counted_on_the_budget_also_of_a_kept_result(read: Callable[[str], object], time: str) -> None:
    text = {restore_refuted: "Wrong: twelve of the pumps", read_ruled_row: "Claim: The pump leaks; Verdict: false"}[
        read
    ]
    if time == "again":
        read(text)
    budget = Budget()
    with spending(budget):
        read(text)
    assert budget.spent >= len("The pump leaks") * PARSED


def test_a_row_without_a_verdict_rules_nothing() -> None:
    assert read_ruled_row("Claim: The pump leaks; Number: 12") is None
    assert read_ruled_row("Myth: Atlas carries the sky; Origin: Greece") is None


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        (CONTRACT, "The notice period was extended to six months."),
        (CONTRACT, "Overtime is no longer paid."),
        (BRIDGE, "The bridge closes in May."),
        (BACKUP, "The backup runs hourly."),
        (COLDS, "Cold weather causes colds."),
        (COLDS, "Eating carrots gives perfect eyesight."),
        (COLDS, "Milk makes mucus."),
        (BLEACH, "Bleach and vinegar may be mixed for cleaning."),
        (BATTERY, "The battery must be empty before charging."),
        (KNUCKLES, "Cracking your knuckles causes arthritis."),
        (GIFTS, "You can reclaim VAT on gifts."),
        ('[{"claim": "Free entry", "verdict": "false"}]', "Entry is free."),
        (SLEEP, "| Myth | Fact |\n|---|---|\n| Alcohol does not improve sleep. | Alcohol improves sleep. |"),
        (FUND, "The fund guarantees returns."),
        (BOLTS, "Tighten the bolts by hand."),
        ("Mythos: Nächtliches Laden beschädigt den Akku. Tatsache: Die Elektronik beendet es.", "Nächtliches Laden beschädigt den Akku."),
        ("Mito: La carga nocturna daña la batería. Realidad: El cargador se apaga.", "La carga nocturna daña la batería."),
        ("Regular sleep improves memory.", "It is a myth that regular sleep improves memory."),
    ],
)  # fmt: skip
def test_an_answer_that_repeats_it_is_not_supported(source: str, answer: str) -> None:
    assert "supported" not in verdicts_on("What is known of it?", source, answer)


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        (CONTRACT, "Leave rises to 30 days."),
        (CONTRACT, "Part-time staff do not lose their bonus."),
        (BRIDGE, "The toll rises in June."),
        (BACKUP, "The backup is encrypted."),
        (COLDS, "Viruses cause colds."),
        (BLEACH, "Bleach does not remove rust."),
        (BATTERY, "The charger stops at 100 %."),
        (KNUCKLES, "Cracking your knuckles does not cause arthritis."),
        (KNUCKLES, "It is a myth that cracking your knuckles causes arthritis."),
        (GIFTS, "You cannot reclaim VAT on gifts."),
        (FUND, "The fund does not guarantee returns."),
        (BOLTS, "Tighten the bolts with a torque wrench."),
        (SLEEP, "Myth: Alcohol improves sleep.\nFact: Alcohol does not improve sleep."),
        (SLEEP, "- Snoring is not harmless."),
        (SLEEP, "| Myth | Fact |\n|---|---|\n| Alcohol improves sleep. | Alcohol does not improve sleep. |"),
        (SLEEP, "| Myth | Fact |\n|---|---|\n| Alcohol improves sleep. | Alcohol does not improve sleep. |"),
        ("The request fails if any of the following is not true:\n- The token is valid.", "The token must be valid."),
    ],
)
def test_what_is_right_stays_supported(source: str, answer: str) -> None:
    assert verdicts_on("What is known of it?", source, answer) == {"supported"}


def test_myths_that_an_answer_lists_are_compared_as_denials() -> None:
    listed = "Two common myths:\n\n- Snoring is harmless.\n- Alcohol improves sleep."
    assert verdicts_on("What is known of sleep?", SLEEP, listed) == {"not_checked", "supported"}


@pytest.mark.parametrize(("answer", "verdict"), [("Yes.", "contradicted"), ("No, that is not true.", "supported")])
def test_a_question_for_yes_or_no_is_answered_by_the_denial(answer: str, verdict: str) -> None:
    assert verdicts_on("Is it true that you can reclaim VAT on gifts?", GIFTS, answer) == {verdict}
