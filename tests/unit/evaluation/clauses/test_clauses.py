"""Clauses of English sentences: what is read, and where a claim says otherwise than its evidence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.evaluation.clauses.clause_comparison import are_confirmed, clause_mismatches
from workers.evaluation.clauses.clause_reader import MAX_LENGTH, Clause, is_instruction, read_clauses
from workers.evaluation.clauses.kinds.permissions import answer_of
from workers.evaluation.clauses.question_clauses import answered_clauses


def told(clause: Clause) -> tuple[str, dict[str, list[str]]]:
    phrases: dict[str, list[str]] = {}
    for phrase in clause.phrases:
        phrases.setdefault(phrase.role, []).extend(sorted(phrase.words))
    return clause.predicate, phrases


def main_clauses(text: str) -> list[Clause]:
    return [clause for clause in read_clauses(text) if clause.is_main]


@pytest.mark.parametrize(
    ("text", "predicate", "phrases"),
    [
        ("Norex was founded by Lena Vogt.", "found", {"object": ["norex"], "subject": ["lena", "vogt"]}),
        ("Lena Vogt founded Norex.", "found", {"subject": ["lena", "vogt"], "object": ["norex"]}),
        ("The patient is allergic to latex.", "allergic", {"subject": ["patient"], "to": ["latex"]}),
        ("Tenants have to pay the rent.", "pay", {"subject": ["tenant"], "object": ["rent"]}),
    ],
)
def test_a_clause_is_read_as_who_does_what(text: str, predicate: str, phrases: dict[str, list[str]]) -> None:
    assert told(main_clauses(text)[0]) == (predicate, phrases)


@pytest.mark.parametrize(
    "text",
    [
        "Ann was born in Graz and her brother Karl in Linz.",
        "The frame is made of steel and the seat of leather.",
    ],
)
def test_a_clause_without_a_verb_of_its_own_has_its_own_subject(text: str) -> None:
    first, second = read_clauses(text)[:2]
    assert first.predicate == second.predicate
    values = [{word for role in ("in", "of") for word in told(clause)[1].get(role, [])} for clause in (first, second)]
    assert not values[0] & values[1]


def test_a_text_that_is_too_long_is_not_parsed() -> None:
    assert read_clauses("It is so. " * MAX_LENGTH) == ()


OTHERWISE = [
    # A value or act of another subject.
    ("Maria Lopez leads sales, while Jonas Berg is responsible for support.", "Maria Lopez leads sales.", "Jonas Berg leads sales.", "subject"),
    ("Petra Hahn was born in Graz and her brother Karl in Linz.", "Petra Hahn was born in Graz.", "Petra Hahn was born in Linz.", "subject"),
    ("Norvale has 48,000 inhabitants. Its neighbour Eastbrook has 52,000.", "Norvale has 48,000 inhabitants.", "Norvale has 52,000 inhabitants.", "subject"),
    ('"Cold Harbour" was written by Iain Mercer; "Warm Front" is by Julia Stone.', '"Cold Harbour" was written by Iain Mercer.', '"Cold Harbour" was written by Julia Stone.', "subject"),
    ("Ramipril lowers blood pressure. Metformin lowers blood sugar.", "Ramipril lowers blood pressure.", "Metformin lowers blood pressure.", "subject"),
    ("Anna is the treasurer of the club. Tom is its chairman.", "Anna is the treasurer.", "Anna is the chairman.", "subject"),
    ("The bakery closes at 6 pm. The pharmacy closes at 8 pm.", "The pharmacy closes at 8 pm.", "The pharmacy closes at 6 pm.", "subject"),
    ("The capital of Kestria is Velm. The largest city is Oster.", "The capital of Kestria is Velm.", "The capital of Kestria is Oster.", "subject"),
    # Exchanged parts.
    ("Norex sold its shares to Veltra in June.", "Norex sold its shares to Veltra.", "Veltra sold its shares to Norex.", "role"),
    ("The architect Sana Mirza was hired by Copperfield Homes.", "Copperfield Homes hired Sana Mirza.", "Sana Mirza hired Copperfield Homes.", "role"),
    ("In the final, the Harriers beat the Comets 3-1.", "The Harriers beat the Comets 3-1.", "The Comets beat the Harriers 3-1.", "role"),
    ("The hall opened in 2011 and was renovated in 2019.", "The hall opened in 2011.", "The hall opened in 2019.", "role"),
    # Another verb.
    ("Acme signed the contract in May.", "Acme signed the contract in May.", "Acme cancelled the contract in May.", "predicate"),
    ("The company hired 40 employees in spring.", "The company employed 40 employees in spring.", "The company dismissed 40 employees in spring.", "negation"),
    # Denied or not.
    ("Cancellation is not possible after delivery.", "You cannot cancel after delivery.", "You can cancel after delivery.", "negation"),
    ("Smoking is prohibited in the lab.", "Smoking is not allowed in the lab.", "Smoking is allowed in the lab.", "negation"),
    # More than the evidence says.
    ("Only residents over 65 can apply for the pass.", "Residents over 65 can apply for the pass.", "All residents can apply for the pass.", "quantifier"),
    ("Refunds are granted if the item is unused.", "Refunds are granted if the item is unused.", "Refunds are always granted.", "quantifier"),
    ("Tenants must give notice before leaving.", "Tenants must give notice before leaving.", "Tenants may give notice before leaving.", "quantifier"),
    ("Members who have paid their fee may vote.", "Members who have paid their fee may vote.", "All members may vote.", "quantifier"),
    ("Hotel guests get a key. Other guests ring the bell.", "Hotel guests get a key.", "All guests get a key.", "quantifier"),
    ("Flex tickets can be changed online. Saver tickets are cheaper.", "All flex tickets can be changed online.", "All tickets can be changed online.", "quantifier"),
    ("The city plans to build a new bridge.", "The city plans to build a new bridge.", "The city built a new bridge.", "quantifier"),
    ("The update might fix the problem.", "The update might fix the problem.", "The update fixed the problem.", "quantifier"),
    ("The vaccine is recommended for adults.", "The vaccine is recommended for adults.", "The vaccine is mandatory for adults.", "quantifier"),
    ("The deposit is refunded if the flat is clean.", "The deposit is refunded if the flat is clean.", "The deposit is always refunded.", "quantifier"),
    ("The discount applies only to online orders.", "The discount applies only to online orders.", "The discount applies to all orders.", "quantifier"),
    # What "but not", "without" and "from … to" exclude.
    ("The software supports Linux but not macOS.", "The software supports Linux.", "The software supports macOS.", "negation"),
    ("Tickets can be exchanged but not refunded.", "Tickets can be exchanged.", "Tickets can be refunded.", "negation"),
    ("The sensor reported a fault at 02:14.", "The sensor reported a fault last night.", "The sensor reported no fault last night.", "negation"),
    ("Coffee is served with milk.", "Coffee is served with milk.", "Coffee is served without milk.", "negation"),
    ("The meeting was moved from Monday to Wednesday.", "The meeting is on Wednesday.", "The meeting is on Monday.", "negation"),
    ("Version 3 no longer supports the old format.", "Version 3 does not support the old format.", "Version 3 supports the old format.", "negation"),
    ("Paul is older than Peter.", "Paul is older than Peter.", "Peter is older than Paul.", "comparative"),
    ("Shoes can be returned within 30 days, provided that they have not been worn.", "Shoes can be returned within 30 days.", "Shoes can be returned within 30 days even if they have been worn.", "quantifier"),
]  # fmt: skip


@pytest.mark.parametrize(("evidence", "true", "false", "kind"), OTHERWISE)
def test_a_claim_that_says_otherwise_is_noticed_and_its_true_twin_is_not(
    evidence: str, true: str, false: str, kind: str
) -> None:
    sentences = evidence.split(". ")
    assert clause_mismatches(main_clauses(true), sentences) == ()
    assert kind in clause_mismatches(main_clauses(false), sentences)


SILENT = [
    # Somebody who is named otherwise, or may be meant.
    ("Tenacious is a comedy duo. The duo was formed in Dallas.", "Tenacious was formed in Dallas."),
    ("Lena Vogt is a chemist. She founded Norex in 1998.", "Lena Vogt founded Norex in 1998."),
    ("Norex acquired Alpha in 2010. In 2015 it bought Beta.", "Norex acquired Beta in 2015."),
    ("Tom Reed, the mayor of Norvale, opened the hall.", "The mayor of Norvale opened the hall."),
    # Other words for the same.
    ("A little girl is drawing at a table.", "A tiny girl is drawing at a table."),
    ("Next to it stands Meridian House, which reaches 148 metres.", "Meridian House is 148 metres tall."),
    ("Meteora is the second studio album by Buddy Guy.", "Meteora is not a rock album."),
    # A denial of one time or place is none of another.
    ("In 2019 the sensor reported a fault.", "The sensor reported no fault last night."),
    ("The kitchen serves meals.", "The kitchen serves no meals at night."),
    ("The pump was repaired.", "The pump was not repaired in March."),
    # Notes without verbs.
    ("Latency p95 412 ms, p99 1.31 s. Error budget: 40.3 minutes, 30 % left.", "p95 latency is 412 ms."),
    (
        "The maintenance technician suspects swarf from the new batch.",
        "The technician suspects swarf from the new batch.",
    ),
    (
        "Press 2: ram guide wear measured at 0.18 mm, limit 0.25 mm.",
        "The wear was 0.18 mm, below the limit of 0.25 mm.",
    ),
    # Both at once.
    ("The offices in Berlin and Paris opened in May.", "The Paris office opened in May."),
    ("Anna and Tom lead sales.", "Tom leads sales."),
    # One act on several things, and one thing by another name.
    (
        "The clinic offers vaccinations. The clinic will provide a shuttle or parking for visitors.",
        "The clinic will provide a parking space for visitors.",
    ),
    (
        "Guards cleared the halls. While guards were clearing out the rooms, the alarm rang.",
        "Guards have cleared all rooms and halls.",
    ),
    (
        "Farmers received phone messages about rain. Two years later fishers got them, too.",
        "Fishers received phone messages about rain two years later.",
    ),
    ("Guide dogs may use the lounge, and so may all other dogs.", "All dogs may use the lounge."),
    ("Club members pay ten euros a year.", "All members pay ten euros."),
    ("The Lyon native, who works with glass, won a prize on Monday.", "Delmas won a prize on Monday."),
    ("The cause of chronic ankle syndrome is unknown.", "The exact cause of CAS is unknown."),
    ("The U.N. mission opened two schools in May.", "The UN mission opened two schools in May."),
    (
        "The debate on whether Mr. Hale stays in the Senate will take place this week.",
        "The debate on his removal will take place this week.",
    ),
    (
        "A firm pays the members. In exchange, the Museum pays an equal amount into the fund.",
        "The employer pays an equal amount into the fund.",
    ),
]


@pytest.mark.parametrize(("evidence", "claim"), SILENT)
def test_what_the_evidence_may_mean_is_no_mismatch(evidence: str, claim: str) -> None:
    assert clause_mismatches(main_clauses(claim), evidence.split(". ")) == ()


ANSWERS = [
    ("Is smoking allowed in the lab?", "Smoking is not allowed in the lab.", "No.", "Yes."),
    ("Is the patient allergic to penicillin?", "The patient is allergic to penicillin and latex.", "Yes.", "No."),
    ("Is the museum open on Mondays?", "The museum is closed on Mondays.", "No.", "Yes."),
    ("Do employees have to wear helmets on site?", "All employees must wear helmets on site.", "Yes, they do.", "No, they don't have to."),
    ("Was the bridge finished before 1900?", "The bridge was finished in 1894.", "Yes.", "No."),
    ("Was the bridge finished before 1900?", "The bridge was finished in 1912.", "No.", "Yes."),
    ("Did the company make a profit in 2023?", "In 2023 the company made a loss.", "No.", "Yes."),
    ("Is breakfast included in the price?", "The price includes breakfast.", "Yes, it is.", "No, breakfast is not included."),
    ("Where does Anna live?", "Anna lives in Oslo. Ben lives in Rome.", "In Oslo.", "In Rome."),
    ("Who founded Norex?", "Norex was founded by Lena Vogt in 1998. Its head is Paul Ertl.", "Lena Vogt.", "Paul Ertl."),
    ("What is the capital of France?", "Paris is the capital of France. Berlin is the capital of Germany.", "Paris.", "Berlin."),
    ("How many rooms does the hotel have?", "The hotel has 84 rooms and 12 suites.", "84.", "12."),
    ("When was it closed?", "The mine was opened in 2011 and closed in 2019.", "In 2019.", "In 2011."),
    ("Do employees get more than 25 days of leave?", "Employees receive 28 days of annual leave.", "Yes.", "No."),
    ("Is the ticket valid in July?", "The ticket is valid until 30 June.", "No.", "Yes."),
    ("Is the road open today?", "The road is closed until Friday.", "No.", "Yes."),
    ("Can visitors enter the archive?", "Only staff can enter the archive.", "No.", "Yes."),
    ("Is Peter older than Paul?", "Paul is older than Peter.", "No.", "Yes."),
    ("Who is the captain?", "The team is coached by Sara Lind. Its captain is Mia Holm.", "Mia Holm.", "Sara Lind."),
    ("Are employees required to work on Sundays?", "Employees are not required to work on Sundays.", "No.", "Yes."),
    ("Who is the head?", "Priya Nair became the head in 2020, succeeding Marcus Webb, who now is chairman.", "Priya Nair.", "Marcus Webb."),
    ("Who bought the mill?", "Brandt bought the mill from Olsen in 1950.", "Brandt.", "Olsen."),
    ("Which plan includes SSO?", "The Basic plan includes support. The Enterprise plan includes SSO.", "Enterprise.", "Basic."),
    ("How much is the deposit?", "The rent is 900 euros; the deposit is two months' rent.", "Two months' rent.", "One month's rent."),
]  # fmt: skip


@pytest.mark.parametrize(("question", "evidence", "true", "false"), ANSWERS)
def test_a_short_answer_is_read_with_its_question(question: str, evidence: str, true: str, false: str) -> None:
    sentences = evidence.split(". ")
    assert clause_mismatches(answered_clauses(question, true), sentences, question) == ()
    assert clause_mismatches(answered_clauses(question, false), sentences, question)


@pytest.mark.parametrize(
    ("question", "evidence", "answer"),
    [
        ("May I drink alcohol with this medicine?", "The medicine must not be taken with alcohol.", False),
        ("Is a password required?", "Each user has to set a password.", True),
        ("Do guests have to pay for parking?", "Parking is free for guests.", False),
        ("Can I pay by credit card?", "The shop does not accept credit cards.", False),
        ("Can dogs use the terrace?", "Dogs are welcome on the terrace.", True),
        ("Can dogs use the terrace?", "Dogs are welcome on the terrace only on Mondays.", None),
        ("Can cats use the terrace?", "Dogs are welcome on the terrace.", None),
        ("Who may use the terrace?", "Dogs are welcome inside.", None),
    ],
)
def test_permissions_and_duties_are_found_by_the_nouns_of_the_question(
    question: str, evidence: str, answer: bool | None
) -> None:
    assert answer_of(question, [evidence]) is answer


@pytest.mark.parametrize(
    ("question", "evidence", "answer", "confirmed"),
    [
        ("Was the bridge finished before 1900?", "The bridge was finished in 1894.", "Yes.", True),
        ("Was the bridge finished before 1900?", "The bridge was finished in 1894.", "No.", False),
        ("Is smoking allowed in the lab?", "Smoking is prohibited in the lab.", "No.", True),
        ("Is smoking allowed in the lab?", "Smoking is prohibited in the office.", "No.", False),
        ("Is it open?", "It may be open.", "Certainly.", False),
    ],
)
def test_only_what_the_evidence_says_in_full_confirms_a_short_answer(
    question: str, evidence: str, answer: str, confirmed: bool
) -> None:
    assert are_confirmed(answered_clauses(question, answer), [evidence]) is confirmed


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which band is from Glastonbury, Reef or Simple Plan?", "Reef"),
        ("What did Marta study?", "Physics."),
        ("Why?", "No."),
        ("", "Yes."),
        ("Who?", ""),
    ],
)
def test_a_question_that_is_not_understood_gives_no_clause_to_compare(question: str, answer: str) -> None:
    assert clause_mismatches(answered_clauses(question, answer), ["Reef is from Glastonbury."], question) == ()


WORDS = [
    "Ann",
    "Ben",
    "Norex",
    "the firm",
    "sold",
    "was sold",
    "by",
    "in",
    "2011",
    "12 rooms",
    "not",
    "and",
    "which",
    ",",
    "is",
]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14))
def test_no_sequence_of_words_contradicts_itself(words: list[str]) -> None:
    text = " ".join(words)
    assert clause_mismatches(main_clauses(text), [text]) == ()


def test_an_instruction_is_not_compared_with_the_object_of_a_list_whose_head_is_read_as_a_subject() -> None:
    sentence = "Bolts M12, class 8.8: tighten crosswise in three passes, 30 Nm, 60 Nm, 78 Nm."
    claim = "Tighten the M12 bolts to 78 Nm in the last pass."
    assert clause_mismatches(main_clauses(claim), [sentence]) == ()


@pytest.mark.parametrize("opening", ["In addition", "As a result", "On the other hand", "For example"])
def test_what_joins_a_sentence_to_the_one_before_is_no_phrase(opening: str) -> None:
    (joined,), (alone,) = read_clauses(f"{opening}, the fee rises in May."), read_clauses("The fee rises in May.")
    assert joined.phrases == alone.phrases


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("Guests pay a deposit in addition to the fee.", "fee"),
        ("The rugs are made by hand.", "hand"),
        ("He has a scar on the hand.", "hand"),
        ("The test ended in a result.", "result"),
    ],
)
def test_what_only_looks_like_joining_words_is_a_phrase(text: str, head: str) -> None:
    assert head in {phrase.head for clause in read_clauses(text) for phrase in clause.phrases}


def test_a_number_within_a_word_counts_nothing() -> None:
    (clause,) = read_clauses("She is known for her dry one-liners.")
    assert not any(phrase.numbers for phrase in clause.phrases)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("Let the dough rest for 10 minutes.", True),
        ("After 17 minutes, pour out the water.", True),
        ("Finally, remove the steaks to a rack and let them rest.", True),
        ("The dough rests for 10 minutes.", False),
        ("The bakery opened in 1982.", False),
        ("You can open the lid.", False),
    ],
)
def test_an_instruction_is_recognised_by_its_verb(text: str, is_one: bool) -> None:
    assert is_instruction(text) is is_one


def test_a_town_with_its_country_is_the_subject() -> None:
    (clause,) = read_clauses("Cusco, Peru has a mild climate.")
    assert [(phrase.role, phrase.head) for phrase in clause.phrases] == [("subject", "cusco"), ("object", "climate")]
    for time in ("Last year", "Last Tuesday", "Christmas Day"):
        (clause,) = read_clauses(f"{time}, Peru restored it.")
        assert clause.subject is not None and clause.subject.head == "peru"
