"""Generate records and claims about them: right, wrong, or not decidable by the record.

Answers over records go wrong in ways of their own: a field that says no is told as yes, hours are read in another way,
a field that the record lacks is made up. Names, values and wordings are drawn from lists; the shapes are those that
registers of businesses, machines and bookings have: nested objects, yes and no as booleans or as text, missing and null.
"""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from training.pairs import CONTRADICTED, SUPPORTED, UNSUPPORTED, RawPair

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FIRST = [
    "Harbour",
    "Cedar",
    "Copper",
    "Maple",
    "Granite",
    "Willow",
    "Silver",
    "Orchard",
    "Lantern",
    "Juniper",
    "Falcon",
    "Meadow",
    "Amber",
    "Summit",
    "Tidal",
]
SECOND = [
    "Kitchen",
    "Grill",
    "Bakery",
    "House",
    "Corner",
    "Works",
    "Table",
    "Garden",
    "Lodge",
    "Market",
    "Cafe",
    "Studio",
    "Workshop",
    "Tavern",
    "Inn",
]
STREETS = ("Mill Lane", "Station Road", "Quay Street", "Chapel Hill", "Ferry Road", "Market Square", "Elm Avenue")
CITIES = ("Port Ellery", "Ashford Bay", "Lindow", "Carrow", "Stonehaven Mills", "Westbrook", "Millbrae", "Old Harrow")
CATEGORIES: tuple[str, ...] = (
    "Bakery",
    "Burgers",
    "Seafood",
    "Pizza",
    "Coffee & Tea",
    "Vegetarian",
    "Bars",
    "Breakfast & Brunch",
)
CATEGORIES += ("Italian", "Mexican", "Sandwiches", "Desserts", "Juice Bars", "Barbeque", "Thai", "Delis")
SUBJECTS = ("The restaurant", "The business", "It", "This place", "The establishment", "{name}")


@dataclass(frozen=True, slots=True)
class Feature:
    """Describe a yes/no field of a record and the phrases that state it."""

    keys: tuple[str, ...]
    yes: tuple[str, ...]
    no: tuple[str, ...]


FEATURES = (
    Feature(
        ("OutdoorSeating", "outdoor_seating"),
        ("offers outdoor seating", "has seats outside", "lets guests sit outdoors"),
        ("has no outdoor seating", "does not offer outdoor seating", "only seats guests inside"),
    ),
    Feature(
        ("RestaurantsReservations", "takes_reservations"),
        ("takes reservations", "accepts bookings", "allows guests to book a table in advance"),
        ("does not take reservations", "accepts no bookings", "serves walk-ins only"),
    ),
    Feature(
        ("RestaurantsDelivery", "delivery"),
        ("delivers", "offers delivery", "brings orders to the door"),
        ("does not deliver", "has no delivery service"),
    ),
    Feature(
        ("RestaurantsTakeOut", "take_out"),
        ("offers takeout", "has food to go", "provides takeaway"),
        ("does not offer takeout", "has no food to go"),
    ),
    Feature(
        ("RestaurantsGoodForGroups", "good_for_groups"),
        ("is good for groups", "suits larger parties", "is a fit for groups"),
        ("is not suited to groups", "is not recommended for large parties"),
    ),
    Feature(
        ("GoodForKids", "good_for_kids"),
        ("is family-friendly", "is good for kids", "welcomes children"),
        ("is not suited to children", "is not a place for kids"),
    ),
    Feature(
        ("WheelchairAccessible", "wheelchair_accessible"),
        ("is wheelchair accessible", "can be entered by wheelchair"),
        ("is not wheelchair accessible", "has no access for wheelchairs"),
    ),
    Feature(
        ("DogsAllowed", "dogs_allowed"),
        ("allows dogs", "welcomes dogs", "is pet-friendly"),
        ("does not allow dogs", "asks guests to leave dogs at home"),
    ),
    Feature(("HasTV", "has_tv"), ("has a TV", "has televisions"), ("has no TV", "does not have a television")),
    Feature(
        ("BusinessAcceptsCreditCards", "credit_cards"),
        ("accepts credit cards", "takes cards"),
        ("does not accept credit cards", "is cash only"),
    ),
    Feature(("HappyHour", "happy_hour"), ("has a happy hour", "offers a happy hour"), ("has no happy hour",)),
    Feature(("Caters", "catering"), ("caters events", "offers catering"), ("does not cater", "offers no catering")),
)
PARKING = ("garage", "street", "lot", "valet", "validated")
AMBIENCE = ("romantic", "intimate", "touristy", "hipster", "divey", "classy", "trendy", "upscale", "casual")
OUT_OF_RECORD = (
    "offers live music on weekends", "has a rooftop terrace", "bakes its bread on site", "won a local award last year",
    "has a children's menu", "offers a loyalty card", "sources its produce from nearby farms", "has been run by one family for decades",
    "has a private dining room", "runs cooking classes", "offers gluten-free options", "has vegan options", "is known for its friendly staff",
    "has a wide selection of craft beers", "offers seasonal specials", "has charging points for cars",
)  # fmt: skip
OPINIONS: tuple[str, ...] = (
    "We came on a Tuesday and will be back.",
    "Not what I had hoped for.",
    "The food was fine.",
    "Lovely evening.",
)
OPINIONS += ("Service took its time.", "A friend told me to go.", "Second visit this month.")


@dataclass(frozen=True, slots=True)
class Said:
    """Describe a statement about a record and its truth."""

    text: str
    label: str


def written_records(seed: int, records: int) -> Iterator[RawPair]:
    """Generate pairs over records.

    Args:
        seed: of all choices.
        records: how many; each gives some six pairs.
    """
    rng = random.Random(seed)
    for number in range(records):
        record = _record(rng)
        content = json.dumps(record, ensure_ascii=False)
        for place in range(6):
            claim, label, spans = _claim(record, rng)
            yield RawPair(f"records-{number}-{place}", "records", (content,), claim, label, False, spans=spans)


def _record(rng: random.Random) -> dict[str, Any]:
    style = rng.random() < 0.6
    record: dict[str, Any] = {
        "name": f"{rng.choice(FIRST)} {rng.choice(SECOND)}",
        "address": f"{rng.randint(1, 980)} {rng.choice(STREETS)}",
        "city": rng.choice(CITIES),
        "categories": ", ".join(rng.sample(CATEGORIES, rng.randint(1, 4))),
        "hours": _hours(rng, short=style) if rng.random() < 0.85 else None,
        "attributes": {},
        "business_stars": rng.choice([2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0]),
    }
    if rng.random() < 0.8:
        told = rng.sample(OUT_OF_RECORD, rng.randint(1, 5))
        record["review_info"] = [
            {"review_stars": rng.randint(1, 5), "review_text": f"{rng.choice(OPINIONS)} {record['name']} {text}."}
            for text in told
        ]
    attributes = record["attributes"]
    for feature in rng.sample(FEATURES, rng.randint(4, len(FEATURES))):
        value: Any = rng.random() < 0.5
        attributes[feature.keys[0 if style else 1]] = (
            rng.choice([value, str(value), None]) if rng.random() < 0.3 else value
        )
    if rng.random() < 0.7:
        attributes["BusinessParking" if style else "parking"] = {kind: rng.random() < 0.4 for kind in PARKING}
    if rng.random() < 0.7:
        attributes["WiFi"] = rng.choice(["free", "no", "paid"])
    if rng.random() < 0.5:
        chosen = rng.choice(AMBIENCE)
        attributes["Ambience"] = {kind: kind == chosen for kind in rng.sample(AMBIENCE, 6)} | {chosen: True}
    return record


def _hours(rng: random.Random, *, short: bool) -> dict[str, str]:
    opens, closes = rng.choice([7, 8, 9, 10, 11, 12, 16]), rng.choice([15, 17, 18, 20, 21, 22, 23])
    closes = max(closes, opens + 4)
    half = rng.choice([0, 0, 30])
    first = rng.choice([0, 0, 0, 1, 2])
    hours = {}
    for place, day in enumerate(DAYS):
        if place >= first:
            until = closes - (2 if place == 6 and rng.random() < 0.4 else 0)
            hours[day] = f"{opens}:{half}-{until}:0" if short else f"{opens:02}:{half:02}-{until:02}:00"
    return hours


def _claim(record: dict[str, Any], rng: random.Random) -> tuple[str, str, tuple[tuple[int, int], ...]]:
    """Join one to three statements in a sentence; the worst statement sets its verdict."""
    makers: list[Callable[[dict[str, Any], random.Random], Said | None]] = [
        _feature, _feature, _feature, _parking, _wifi, _hours_said, _hours_said, _stars, _place, _category, _ambience,
        _outside,
    ]  # fmt: skip
    wanted = rng.choice([1, 1, 1, 2, 2, 3])
    parts: list[Said] = []
    right = rng.random() < 0.5
    for _ in range(40):
        said = rng.choice(makers)(record, rng)
        # Of a wrong sentence only one part is wrong, as answers have it.
        wrong_one = not right and not any(part.label != SUPPORTED for part in parts)
        if said and (said.label == SUPPORTED or wrong_one) and all(part.text != said.text for part in parts):
            parts.append(said)
        if len(parts) == wanted and (right or any(part.label != SUPPORTED for part in parts)):
            break
        if len(parts) == wanted:
            parts.pop(rng.randrange(len(parts)))
    subject = rng.choice(SUBJECTS).format(name=record["name"])
    texts = [part.text for part in parts] or ["is a business"]
    joined = texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + f" and {texts[-1]}"
    claim = f"{subject} {joined}."
    labels = [part.label for part in parts]
    label = CONTRADICTED if CONTRADICTED in labels else UNSUPPORTED if UNSUPPORTED in labels else SUPPORTED
    wrong = [part.text for part in parts if part.label != SUPPORTED]
    spans = tuple((claim.index(text), claim.index(text) + len(text)) for text in wrong)
    return claim, label, spans


def _judged(*, is_so: bool) -> str:
    return SUPPORTED if is_so else CONTRADICTED


def _feature(record: dict[str, Any], rng: random.Random) -> Said | None:
    feature = rng.choice(FEATURES)
    value = next((record["attributes"][key] for key in feature.keys if key in record["attributes"]), None)
    says_yes = rng.random() < 0.6
    text = rng.choice(feature.yes if says_yes else feature.no)
    if value is None:
        return Said(text, UNSUPPORTED)
    return Said(text, _judged(is_so=says_yes == (str(value) == "True")))


def _parking(record: dict[str, Any], rng: random.Random) -> Said | None:
    parking = record["attributes"].get("BusinessParking") or record["attributes"].get("parking")
    kind = rng.choice(("garage", "street", "lot", "valet"))
    if parking is None:
        return Said(f"has {kind} parking", UNSUPPORTED)
    if rng.random() < 0.2:
        return Said("has no parking of its own", _judged(is_so=not any(parking.values())))
    if rng.random() < 0.3:
        return Said(f"does not have {kind} parking", _judged(is_so=not parking[kind]))
    return Said(rng.choice(["has {} parking", "offers {} parking"]).format(kind), _judged(is_so=parking[kind]))


def _wifi(record: dict[str, Any], rng: random.Random) -> Said | None:
    value = record["attributes"].get("WiFi")
    said, so = rng.choice([("offers free WiFi", "free"), ("has no Wi-Fi", "no"), ("provides Wi-Fi", None)])
    if value is None:
        return Said(said, UNSUPPORTED)
    return Said(said, _judged(is_so=value == so if so else value != "no"))


def _read_clock(text: str) -> tuple[int, int]:
    hour, minute = text.split(":")
    return int(hour), int(minute)


def _moved(time: tuple[int, int], hours: int) -> tuple[int, int]:
    """Return another hour of the day; right claims also never have 24 or more."""
    later = time[0] + hours
    return (later if 0 < later < 24 else time[0] - hours), time[1]


def _clock(time: tuple[int, int], rng: random.Random) -> str:
    hour, minute = time
    form = rng.randrange(3)
    if form == 0:
        return f"{hour}:{minute:02}"
    noon = "AM" if hour % 24 < 12 else "PM"
    shown = (hour - 1) % 12 + 1
    return f"{shown}:{minute:02} {noon}" if form == 1 or minute else f"{shown} {noon.lower()}"


def _hours_said(record: dict[str, Any], rng: random.Random) -> Said | None:
    hours = record["hours"]
    day = rng.choice(DAYS)
    if hours is None:
        return Said(f"is open on {day}s", UNSUPPORTED)
    if day not in hours or rng.random() < 0.15:
        return Said(f"is closed on {day}s", _judged(is_so=day not in hours))
    opens, closes = (_read_clock(end) for end in hours[day].split("-"))
    is_so = rng.random() < 0.5
    if not is_so:
        moved = rng.choice([-3, -2, -1, 1, 2])
        opens, closes = rng.choice([(_moved(opens, moved), closes), (opens, _moved(closes, moved))])
    first, last = _clock(opens, rng), _clock(closes, rng)
    same = [other for other in DAYS if hours.get(other) == hours[day]]
    days = f"on {day}s"
    if len(same) > 2 and DAYS.index(same[-1]) - DAYS.index(same[0]) == len(same) - 1:
        days = f"from {same[0]} to {same[-1]}"
    return Said(f"is open {days} from {first} to {last}", _judged(is_so=is_so))


def _stars(record: dict[str, Any], rng: random.Random) -> Said | None:
    right = record["business_stars"]
    stars = right if rng.random() < 0.5 else rng.choice([2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0])
    text = rng.choice(["has a rating of {} stars", "is rated {} out of 5", "holds a {}-star rating"]).format(
        f"{stars:g}"
    )
    return Said(text, _judged(is_so=stars == right))


def _place(record: dict[str, Any], rng: random.Random) -> Said | None:
    is_so = rng.random() < 0.5
    city = record["city"] if is_so else rng.choice([other for other in CITIES if other != record["city"]])
    if rng.random() < 0.5:
        return Said(f"is located in {city}", _judged(is_so=is_so))
    return Said(f"is located at {record['address']} in {city}", _judged(is_so=is_so))


def _category(record: dict[str, Any], rng: random.Random) -> Said | None:
    category = rng.choice(CATEGORIES)
    own = record["categories"].split(", ")
    chosen = rng.choice(own) if rng.random() < 0.5 else category
    return Said(f"is listed under {chosen}", SUPPORTED if chosen in own else UNSUPPORTED)


def _ambience(record: dict[str, Any], rng: random.Random) -> Said | None:
    ambience = record["attributes"].get("Ambience")
    kind = rng.choice(AMBIENCE)
    if ambience is None or kind not in ambience:
        return Said(f"has a {kind} ambience", UNSUPPORTED)
    return Said(f"has a {kind} ambience", _judged(is_so=ambience[kind]))


def _outside(record: dict[str, Any], rng: random.Random) -> Said | None:
    told = [text for review in record.get("review_info", ()) for text in OUT_OF_RECORD if text in review["review_text"]]
    text = rng.choice(told) if told and rng.random() < 0.5 else rng.choice(OUT_OF_RECORD)
    return Said(text, SUPPORTED if text in told else UNSUPPORTED)
