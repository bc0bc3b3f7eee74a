"""The form of labelled answers: claims, length and kind of evidence."""

import json

from workers.evaluation.grounding.calibration import shipped_calibration
from workers.measurement.answer_forms import rows_by_form
from workers.measurement.labelled_answers import LabelledRow
from workers.measurement.measured_answers import MeasuredRow, measure_row


def measured(answer: str, context: str = "The pump moves 40 litres.") -> MeasuredRow:
    return measure_row(LabelledRow("1", "made", "qa", "", (context,), answer, False, None), shipped_calibration())


def test_answers_are_grouped_by_claims_length_and_evidence() -> None:
    record = json.dumps({"name": "Cafe Alba", "hours": {"Monday": "9:0-17:0"}, "attributes": {"WiFi": "free"}})
    sentence = "The pump number {} moves forty litres of water every single minute of the day. "
    rows = [
        measured("The pump moves 40 litres."),
        measured("The pump moves 40 litres. The pump is green."),
        measured("Cafe Alba has free WiFi.", record),
        measured("".join(sentence.format(number) for number in range(10, 20))),
    ]
    assert rows_by_form(rows) == {
        "1 claim": [0, 2],
        "2 claims": [1],
        "over 5 claims": [3],
        "up to 25 words": [0, 1, 2],
        "100 words or more": [3],
        "texts": [0, 1, 3],
        "records": [2],
    }


def test_an_answer_without_claims_has_a_length_and_no_number_of_claims() -> None:
    assert rows_by_form([measured("Hello!")]) == {"up to 25 words": [0], "texts": [0]}
