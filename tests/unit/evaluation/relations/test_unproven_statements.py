"""A statement that the evidence leaves open is not supported as a fact, and what stands beside it is."""

from collections.abc import Sequence

import pytest

from tests.harness.whole_answers import verdicts_on
from workers.evaluation.relations.unproven_statements import is_statement_proven


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("", "There is no evidence that zinc shortens colds.", "It is not proven that zinc shortens colds.", "Zinc shortens colds."),
        ("Does zinc shorten colds?", "There is no evidence that zinc shortens colds.", "No, there is no evidence that zinc shortens colds.", "Yes, zinc shortens colds."),
        ("", "There is no proof that the minister knew of the payments.", "It has not been proven that the minister knew of the payments.", "The minister knew of the payments."),
        ("", "There was no sign that the lock had been forced.", "Nothing showed that the lock had been forced.", "The lock had been forced."),
        ("", "It is not known whether the vaccine protects infants.", "Whether the vaccine protects infants is unknown.", "The vaccine protects infants."),
        ("", "Researchers doubt that the diet lowers cholesterol.", "Researchers doubt that the diet lowers cholesterol.", "The diet lowers cholesterol."),
        ("", "No study has shown that magnets relieve pain.", "It has not been shown that magnets relieve pain.", "Magnets relieve pain."),
        ("", "It is unclear whether the new law applies to freelancers.", "It is not clear whether the new law applies to freelancers.", "The new law applies to freelancers."),
        ("", "The audit found no indication that funds were misused.", "The audit found no indication that funds were misused.", "Funds were misused."),
        ("", "There is no evidence of life on Mars.", "No life on Mars has been found.", "There is life on Mars."),
        ("", "Scientists have not been able to confirm that the fossil belongs to a new species.", "It is not confirmed that the fossil belongs to a new species.", "The fossil belongs to a new species."),
        ("", "It has not been proven that mobile phones cause cancer.", "There is no proof that mobile phones cause cancer.", "Mobile phones cause cancer."),
        ("", "The company denied that it had sold customer data.", "The company denied that it had sold customer data.", "The company sold customer data."),
        ("", "Little evidence supports the claim that vitamin C prevents colds.", "There is little evidence that vitamin C prevents colds.", "Vitamin C prevents colds."),
        ("", "The police have no evidence that the fire was started deliberately.", "There is no evidence that the fire was started deliberately.", "The fire was started deliberately."),
        ("Did the tablets improve memory?", "The trial did not show that the tablets improve memory.", "The trial did not show that the tablets improve memory.", "Yes, the tablets improve memory."),
        ("", "Whether the bonus will be paid in 2025 has not been decided.", "It is undecided whether the bonus will be paid in 2025.", "The bonus will be paid in 2025."),
        ("", "Currently there is not enough evidence to show that magnesium prevents migraine.", "There is not enough evidence that magnesium prevents migraine.", "Magnesium prevents migraine."),
        ("", "The inspectors found no signs of mould in the basement.", "No mould was found in the basement.", "There is mould in the basement."),
        ("", "It remains uncertain whether the supplier will deliver in March.", "Whether the supplier will deliver in March is uncertain.", "The supplier will deliver in March."),
        ("", "Economists doubt whether the tax cut boosts investment.", "Economists doubt that the tax cut boosts investment.", "The tax cut boosts investment."),
        ("", "It is a myth that carrots improve night vision.", "It is a myth that carrots improve night vision.", "Carrots improve night vision."),
        ("Is the painting by Vermeer?", "Experts could not confirm that the painting is by Vermeer.", "Experts could not confirm that.", "Yes, the painting is by Vermeer."),
        ("", "No trial has demonstrated that the device reduces snoring.", "It has not been demonstrated that the device reduces snoring.", "The device reduces snoring."),
        ("", "The coach denied having paid the referee.", "The coach denied having paid the referee.", "The coach paid the referee."),
        ("", "The manufacturer has not yet decided whether the model will be sold in Europe.", "It is not decided whether the model will be sold in Europe.", "The model will be sold in Europe."),
        ("", "Contrary to a widespread belief, it is not true that bulls hate red.", "It is not true that bulls hate red.", "Bulls hate red."),
        ("", "We do not know whether the samples were contaminated.", "It is not known whether the samples were contaminated.", "The samples were contaminated."),
        ("", "There is no clear evidence that remote work lowers productivity.", "There is no clear evidence for that.", "Remote work lowers productivity."),
    ],
)  # fmt: skip
def test_an_open_statement_is_not_supported_as_a_fact(question: str, context: str, right: str, wrong: str) -> None:
    assert verdicts_on(question, context, right) == {"supported"}
    assert "supported" not in verdicts_on(question, context, wrong)


@pytest.mark.parametrize(
    ("question", "context", "claim"),
    [
        ("", "There is no evidence that zinc shortens colds, but it can cause nausea.", "Zinc can cause nausea."),
        ("", "There is no doubt that smoking causes cancer.", "Smoking causes cancer."),
        ("", "There is no evidence that zinc prevents colds. However, zinc shortens colds.", "Zinc shortens colds."),
        ("", "It is not known whether the vaccine protects infants. The vaccine protects adults.", "The vaccine protects adults."),
        ("", "Researchers doubt that the diet lowers cholesterol. They found that it lowers weight.", "The diet lowers weight."),
        ("", "The audit found no indication that funds were misused. It found two missing receipts.", "The audit found two missing receipts."),
        ("", "There was no sign that the lock had been forced. The window was broken.", "The window was broken."),
        ("", "There is no evidence that the drug harms the liver.", "The drug has not been shown to harm the liver."),
        ("", "Nobody knew that the pump was defective.", "The pump was defective."),
        ("", "It is unclear why the engine failed.", "The engine failed."),
        ("", "The company denied that it had sold customer data, and it published a report in May.", "The company published a report in May."),
        ("", "There is no evidence that the new rule reduces accidents in towns. On motorways the new rule reduces accidents.", "On motorways the new rule reduces accidents."),
        ("", "A 2015 review found no proof that the herb works. A 2022 trial showed that the herb works.", "A 2022 trial showed that the herb works."),
        ("", "It is not known when the castle was built, but it was rebuilt in 1480.", "The castle was rebuilt in 1480."),
        ("", "He did not know that the shop closes at six.", "The shop closes at six."),
        ("", "The report does not mention that the factory was closed.", "The factory was closed."),
        ("", "Inspectors found no signs of mould in the basement, but the attic is damp.", "The attic is damp."),
        ("", "There is no reason to doubt that the contract is valid.", "The contract is valid."),
        ("", "There is no evidence of fraud. The accounts were checked in May.", "The accounts were checked in May."),
        ("", "Experts could not confirm that the painting is by Vermeer. It was sold for 2 million euros.", "The painting was sold for 2 million euros."),
        ("", "It is a myth that carrots improve night vision. Carrots contain beta-carotene.", "Carrots contain beta-carotene."),
        ("", "In adults there is no evidence that the drug works. In children the drug works.", "In children the drug works."),
        ("", "It was long unclear whether the manuscript was genuine. In 2019 tests showed that the manuscript was genuine.", "The manuscript was genuine."),
        ("", "There is no evidence that the two events are linked.", "The events are not known to be linked."),
        ("", "The seller did not say that the car was damaged. The car was damaged in 2018.", "The car was damaged in 2018."),
        ("", "Nobody denied that the road was closed.", "The road was closed."),
        ("", "There is strong evidence that exercise lowers blood pressure and no evidence that it harms joints.", "Exercise lowers blood pressure."),
        ("", "It is not known how many people live there; the town has two schools.", "The town has two schools."),
        ("", "The study found no evidence of harm and showed that the vaccine protects infants.", "The vaccine protects infants."),
        ("", "The user does not know that the app stores his location.", "The app stores his location."),
    ],
)  # fmt: skip
def test_what_stands_beside_an_open_statement_is_supported(question: str, context: str, claim: str) -> None:
    assert verdicts_on(question, context, claim) == {"supported"}


@pytest.mark.parametrize(
    ("claim", "question", "sentences", "expected"),
    [
        ("Zinc shortens colds.", "", ["There is no evidence that zinc shortens colds."], False),
        ("It shortens colds.", "Does zinc help?", ["There is no evidence that zinc shortens colds."], False),
        ("Zinc may shorten colds.", "", ["There is no evidence that zinc shortens colds."], None),
        ("Zinc does not shorten colds.", "", ["There is no evidence that zinc shortens colds."], None),
        ("Zinc shortens colds in adults.", "", ["There is no evidence that zinc shortens colds."], None),
        ("Zinc shortens colds.", "", ["In children there is no evidence that zinc shortens colds."], None),
        ("Zinc shortens colds.", "", ["There is no evidence in children that zinc shortens colds."], None),
        ("Zinc shortens colds.", "", ["No evidence suggests that.", "A new trial showed that zinc shortens colds."], None),
        ("Zinc shortens colds.", "", ["If there is no evidence that zinc shortens colds, it is not sold."], None),
        ("Zinc is sold.", "", ["There is no evidence that zinc shortens colds in the long run."], None),
        ("Zinc shortens colds.", "", ["There is no evidence that zinc does not shorten colds."], None),
        ("Zinc shortens colds.", "", ["Nobody doubts that zinc shortens colds."], None),
        ("The bank paid the judge.", "", ["The bank denied having paid the judge."], False),
        ("The guard paid the judge.", "", ["The bank denied having paid the judge."], None),
    ],
)  # fmt: skip
def test_a_statement_is_compared_with_the_same_open_one(
    claim: str, question: str, sentences: Sequence[str], expected: bool | None
) -> None:
    assert is_statement_proven(claim, question, sentences) is expected
