"""An answer whose figure follows from the operands that its question names is supported; another figure is flagged."""

import pytest

from tests.harness.whole_answers import is_warned_of

SHIPBUILDER = (
    "Tomas Brandvold (3 November 1842 – 19 March 1911) was a Norwegian shipbuilder. His yard launched forty schooners."
)
BOTANIST = "Ilse Marten (born 9 June 1920 in Kiel; died 30 August 2004 in Bremen) was a German botanist."
RACE = "Marit Sand was born on 2 May 1990. She won the Lofoten race on 14 July 2015."
CLUB = "The rowing club had 320 members in 2021 and 400 members in 2023."
PIE = "Fish pie. 1) Peel and boil the potatoes for 20 minutes. 2) Poach the fish for 15 minutes. 3) Assemble and bake for 40 minutes."
HIKE = (
    "Stage 1: Bellau to Hochegg, 12 km. Stage 2: Hochegg to Rieder Hut, 9 km. Stage 3: Rieder Hut to Thalbach, 14 km."
)
POWER = (
    "The power failed in the whole quarter at 23:15 on Tuesday when a transformer burned, and it came back at 01:40."
)
MUSEUM = "The museum closed for renovation in 1998. It opened its doors again in 2006."
FLATS = "The building has 80 flats, of which 20 are rented out and 4 stand empty."
HALL = "The hall has 600 seats. On Saturday 450 of them were taken."
BOOKS = "| Month | Books lent | Books returned |\n|---|---|---|\n| July | 210 | 190 |\n| August | 180 | 205 |\n| September | 240 | 231 |"
TOWNS = "Orlen has 48,200 inhabitants; Vask has 31,700."
PEAKS = "Mount Arel rises to 2,940 metres. Mount Bost is 2,615 metres high."
DOSE = "Adults take one 400 mg tablet of ibunol three times a day after meals. Do not take it for more than five days."
STAY = "She was admitted on 28 May and discharged on 4 June."
FILE = "The file is 600 MB. The connection transfers 20 MB per second."
NODES = "Each of the six nodes costs 140 dollars a month. Storage is billed separately."
SALES = "Marlow Foods took in 230 million euros in 2023, compared with 200 million in 2022. Costs stayed flat."
TABLETS = "Take two tablets twice a day for seven days."
COURSE = "The course has 24 places. 17 people have enrolled so far."


@pytest.mark.parametrize(
    ("question", "context", "right", "wrong"),
    [
        ("At what age did Tomas Brandvold die?", SHIPBUILDER, "He died at the age of 68.", "He died at the age of 69."),
        ("How old was Tomas Brandvold when he died?", SHIPBUILDER, "68", "69"),
        ("How old did Ilse Marten become?", BOTANIST, "She lived to be 84.", "She lived to be 83."),
        ("How old was Marit Sand when she won the race?", RACE, "She was 25.", "She was 24."),
        ("By what percentage did the membership rise?", CLUB, "It rose 25%, from 320 to 400 members.", "It rose 20%, from 320 to 400 members."),
        ("By how much did the membership rise?", CLUB, "By a quarter.", "By a third."),
        ("How long does the whole preparation take?", PIE, "One hour and fifteen minutes in total.", "One hour and twenty-five minutes in total."),
        ("How long does the whole preparation take?", PIE, "An hour and a quarter.", "An hour and a half."),
        ("How long is the whole hike?", HIKE, "The three stages add up to 35 km.", "The three stages add up to 36 km."),
        ("For how long was the power out?", POWER, "Two hours and twenty-five minutes, from 23:15 until 01:40.", "Three hours and twenty-five minutes, from 23:15 until 01:40."),
        ("How long was the museum closed?", MUSEUM, "For eight years, from 1998 to 2006.", "For seven years, from 1998 to 2006."),
        ("What share of the flats is rented out?", FLATS, "A quarter of the flats, that is 25%.", "A fifth of the flats, that is 20%."),
        ("What share of the flats is rented out?", FLATS, "One in four flats is rented out.", "One in five flats is rented out."),
        ("What percentage of the seats was taken?", HALL, "Three quarters.", "Two thirds."),
        ("How many books did the library lend?", BOOKS, "Over the three months, 630 books were lent.", "Over the three months, 626 books were lent."),
        ("How many more people live in Orlen than in Vask?", TOWNS, "Orlen has 16,500 more inhabitants than Vask.", "Orlen has 15,500 more inhabitants than Vask."),
        ("How much higher is Mount Arel than Mount Bost?", PEAKS, "It is 325 metres higher.", "It is 335 metres higher."),
        ("How many places are still free?", COURSE, "Seven places are still free.", "Eight places are still free."),
        ("How much of the drug does an adult take in a day?", DOSE, "That makes 1,200 mg a day.", "That makes 1,600 mg a day."),
        ("How many tablets are needed for the whole course?", TABLETS, "28 tablets.", "32 tablets."),
        ("How long was the patient in hospital?", STAY, "She spent seven days in hospital.", "She spent ten days in hospital."),
        ("How long does the download take?", FILE, "It takes 30 seconds.", "It takes 25 seconds."),
        ("How much does the cluster cost per month?", NODES, "840 dollars a month.", "740 dollars a month."),
        ("By what percentage did the revenue of Marlow Foods grow?", SALES, "It grew 15%, from 200 to 230 million euros.", "It grew 13%, from 200 to 230 million euros."),
        ("What share of the flats is rented out?", FLATS, "A quarter of the dwellings, that is 25%.", "A fifth of the dwellings, that is 20%."),
    ],
)  # fmt: skip
def test_the_figure_that_follows_is_supported_and_another_is_flagged(
    question: str, context: str, right: str, wrong: str
) -> None:
    assert not is_warned_of(right, question, context)
    assert is_warned_of(wrong, question, context)
