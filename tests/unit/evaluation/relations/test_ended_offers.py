"""Check what a claim offers today and the evidence says has ended."""

import pytest

from workers.evaluation.relations.times.ended_offers import is_offer_current

PDF = ["Quill exports documents to HTML and Markdown.", "PDF export was removed in version 3."]


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("Quill exports documents to HTML, Markdown and PDF.", PDF),
        ("PDF export is available.", PDF),
        ("You can sign in with Facebook.", ["Sign-in with Facebook was discontinued in May 2024."]),
        ("The hotel has a gym and a sauna.", ["The sauna was closed for good in 2022."]),
        ("We offer phone support.", ["Phone support is no longer offered."]),
        ("The kiosk sells paper tickets.", ["The kiosk no longer sells paper tickets."]),
        ("Tilo supports Excel files.", ["The team dropped support for Excel files."]),
        ("There is a discount for students.", ["The student discount was withdrawn in 2023."]),
    ],
)
def test_what_has_ended_is_not_offered(claim: str, sentences: list[str]) -> None:
    assert is_offer_current(claim, sentences) is False


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        ("Quill exports documents to HTML and Markdown.", PDF),
        ("PDF export was available in version 2.", PDF),
        ("PDF export is no longer available.", PDF),
        ("The hotel has a sauna.", ["The old sauna was closed for good in 2022."]),
        (
            "You can take the night train.",
            ["The night train was withdrawn in December.", "The night train runs again."],
        ),
        ("The hotel has a sauna.", ["The sauna was closed for good.", "In 2024 the hotel opened a sauna on the roof."]),
        ("The ship can carry 300 people.", ["The ship was withdrawn in 1998."]),
        ("The pump has a filter.", ["The filter was removed from the pump."]),
        ("The café sells soup.", ["Soup is not available on Mondays."]),
    ],
)
def test_what_is_there_or_came_back_is_no_contradiction(claim: str, sentences: list[str]) -> None:
    assert is_offer_current(claim, sentences) is None
