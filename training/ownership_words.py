"""Hold the names, things and values that fill the passages of ``training.ownership``."""

import random
from collections.abc import Callable

FIRST = [
    "Anna",
    "Ben",
    "Clara",
    "David",
    "Elif",
    "Farid",
    "Grace",
    "Hana",
    "Ivan",
    "Julia",
    "Kofi",
    "Lena",
    "Marco",
    "Nadia",
    "Omar",
    "Petra",
    "Quentin",
    "Rosa",
    "Samir",
    "Tara",
    "Uwe",
    "Vera",
    "Wei",
    "Yara",
    "Zoe",
    "Mehmet",
    "Ingrid",
    "Pablo",
    "Aisha",
    "Tomas",
]
LAST = [
    "Adler",
    "Bianchi",
    "Castro",
    "Dahl",
    "Eriksen",
    "Fischer",
    "Gomez",
    "Hoffmann",
    "Ito",
    "Jansen",
    "Kovacs",
    "Lopez",
    "Meyer",
    "Novak",
    "Okafor",
    "Petrov",
    "Quist",
    "Rossi",
    "Silva",
    "Tanaka",
    "Ulrich",
    "Vogel",
    "Weber",
    "Xu",
    "Yilmaz",
    "Zeman",
    "Brandt",
    "Costa",
    "Duval",
    "Egger",
]
PLACES = [
    "Oslo",
    "Porto",
    "Graz",
    "Lyon",
    "Turin",
    "Bergen",
    "Malmo",
    "Ghent",
    "Basel",
    "Krakow",
    "Leeds",
    "Bilbao",
    "Sofia",
    "Riga",
    "Vilnius",
    "Tartu",
    "Cork",
    "Nantes",
    "Parma",
    "Linz",
    "Dresden",
    "Utrecht",
    "Aarhus",
    "Tampere",
    "Split",
    "Bruges",
    "Verona",
    "Cadiz",
    "Kiel",
    "Essen",
]
STEMS = [
    "Nor",
    "Vel",
    "Quan",
    "Bry",
    "Tal",
    "Zen",
    "Mar",
    "Orb",
    "Lum",
    "Fen",
    "Kor",
    "Sil",
    "Dra",
    "Pax",
    "Ver",
    "Hel",
    "Nim",
    "Cas",
    "Rho",
    "Ul",
]
ENDS = ["tex", "dal", "vik", "ora", "ista", "mere", "don", "lyn", "ex", "um", "ax", "era", "ion", "ova", "eta"]
NOUNS = {
    "building": "Tower|House|Hall|Bridge|Library|Museum|Centre|Station|Mill|Palace",
    "company": "Ltd|Inc|AG|Group|Labs|Foods|Systems|Motors||",
    "product": "Pro|Mini|Max|X2|500|Plus|Lite|S|printer|pump|drill|camera|kettle|lamp|heater|phone",
    "team": "Tigers|Rovers|United|team|Hawks|squad|department|group",
    "plan": "plan|tariff|package|tier|contract|licence",
    "project": "project|programme|migration|study|campaign",
    "server": "node|service|cluster|gateway|replica|database|worker",
    "drug": "|||",
    "room": "room|hall|studio|suite",
    "river": "||river",
    "country": "|||",
    "book": "|||",
}
PLAIN = {
    "product": "blue lamp|red lamp|old pump|new pump|small kettle|large kettle|desk chair|oak table|steel door|glass door|diesel version|petrol version|electric model|first edition|second edition|black case|white case|outer pipe|inner pipe|left valve|right valve|front tyre|rear tyre",
    "plan": "basic plan|starter plan|family plan|premium plan|business plan|student tariff|standard contract|annual licence|monthly licence|free tier|gold tier",
    "room": "north room|south room|upper hall|lower hall|lecture hall|meeting room|board room|reading room|library|cafeteria|gym|pool",
    "server": "primary|replica|ingester|querier|scheduler|load balancer|message broker|cache|build server|test server|mail server|web server|compactor|distributor",
    "team": "sales team|support team|design team|night shift|day shift|first squad|second squad|research group|legal department|finance department",
    "project": "east wing|west wing|pilot phase|second phase|data migration|website relaunch|audit|field study|annual report|tax return",
    "person": "landlord|tenant|buyer|seller|manager|assistant|first witness|second witness|nurse|surgeon|teacher|pupil|editor|author|younger sister|older sister|treasurer|secretary",
    "building": "old town hall|new town hall|city museum|railway station|north tower|south tower|main building|annex|parish church|covered market",
    "city": "capital|port|old town|northern district|southern district",
    "drug": "first medicine|second medicine|syrup|tablet|ointment|injection",
    "company": "bank|insurer|supplier|wholesaler|manufacturer|parent company|subsidiary",
}
WORDS = {
    "role": "marketing|the Berlin office|logistics|the legal team|human resources|procurement|the night shift|quality control|the west region|customer service|the data team|sales|research|security|training",
    "task": "the manual|the first chapter|the budget|the contract|the press release|the audit report|the proposal|the survey|the appendix|the summary|the user guide|the preface",
    "dish": "soup|salad|the lamb|the pasta|tea|coffee|fish|the risotto|a sandwich|pancakes|dumplings|rice",
    "colour": "red|blue|green|yellow|black|white|grey|purple|orange|brown|silver|beige",
    "room": "room 12|room 7|the annex|the east wing|room 301|the basement|the attic|office 4|the lab",
    "rank": "first|second|third|fourth|fifth|sixth|last",
    "drug": "aspirin|ibuprofen|insulin|codeine|heparin|morphine|metformin|lithium|cortisone|warfarin",
    "allergen": "penicillin|peanuts|latex|pollen|nausea|headaches|dizziness|rashes|milk|wheat|fever|fatigue|shellfish",
    "vehicle": "a van|the lorry|a bicycle|a motorcycle|the blue car|a tractor|the old bus|a scooter|a pickup",
    "language": "French|German|Turkish|Polish|Korean|Arabic|Dutch|Greek|Hindi|Welsh",
    "weekday": "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday",
    "goods": "tyres|shoes|furniture|batteries|glass|paper|chocolate|bicycles|pumps|lenses|carpets|tools|cement|toys",
    "material": "steel|oak|glass|brass|cotton|leather|plastic|aluminium|wool|copper|bamboo|concrete",
    "status": "finished|delayed|cancelled|approved|on hold|in progress|rejected|suspended|archived|running",
    "river": "Avon|Elbe|Loire|Po|Douro|Tisza|Oder|Main|Ebro|Shannon|Drava|Neckar",
    "floor": "first floor|second floor|third floor|ground floor|top floor|fourth floor|fifth floor",
}


def _fixed(words: str) -> Callable[[random.Random], str]:
    choices = words.split("|")
    return lambda rng: rng.choice(choices)


def _unit(low: int, high: int, *units: str) -> Callable[[random.Random], str]:
    return lambda rng: f"{written_number(rng, low, high)} {rng.choice(units)}"


def written_number(rng: random.Random, low: int, high: int) -> str:
    """Return a number between two bounds as people write it, small ones more often."""
    number = round(low * (high / low) ** rng.random())
    if number < 13 and rng.random() < 0.3:
        return ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"][
            max(0, number - 2)
        ]
    if number < 100 and rng.random() < 0.2:
        return f"{number}.{rng.randint(1, 9)}"
    return f"{number:,}" if rng.random() < 0.7 else str(number)


def _money(rng: random.Random) -> str:
    amount = written_number(rng, 5, 90_000)
    kind = rng.choice(["${}", "{} euros", "EUR {}", "£{}", "€{}", "${} million", "{} dollars", "{} million euros"])
    return kind.format(amount)


VALUES: dict[str, Callable[[random.Random], str]] = {
    "year": lambda rng: str(rng.randint(1700, 2025)),
    "money": _money,
    "age": _unit(18, 90, "years"),
    "count": lambda rng: written_number(rng, 2, 90_000),
    "length": _unit(3, 900, "metres", "m", "feet", "km"),
    "area": _unit(40, 9_000, "square metres", "m²", "square feet"),
    "percent": lambda rng: f"{written_number(rng, 2, 99)}{rng.choice(['%', ' %', ' percent', ' per cent'])}",
    "weight": _unit(2, 900, "kg", "grams", "kilograms", "pounds", "tonnes"),
    "duration": _unit(2, 60, "days", "months", "hours", "minutes", "years", "weeks", "seconds"),
    "memory": _unit(2, 900, "GB", "GiB", "MB", "TB"),
    "power": _unit(5, 3_000, "watts", "W", "kW"),
    "temperature": _unit(5, 400, "°C", "degrees", "°F"),
    "distance": _unit(2, 900, "km", "miles", "kilometres"),
    "version": lambda rng: f"{rng.randint(1, 15)}.{rng.randint(0, 20)}",
    "port": lambda rng: str(rng.randint(1_000, 9_999)),
    "dose": _unit(2, 900, "mg", "ml", "milligrams"),
    "hour": lambda rng: rng.choice(["{} am", "{} pm", "{}:30", "{}:15", "{} o'clock"]).format(rng.randint(1, 12)),
    "date": lambda rng: (
        f"{rng.randint(1, 28)} {rng.choice(['January', 'March', 'April', 'June', 'July', 'October', 'November'])}"
    ),
    "person": lambda rng: f"{rng.choice(FIRST)} {rng.choice(LAST)}" if rng.random() < 0.8 else rng.choice(FIRST),
    "city": lambda rng: rng.choice(PLACES),
    **{kind: _fixed(words) for kind, words in WORDS.items()},
}


def written_subject(kind: str, rng: random.Random) -> str:
    """Return a name or noun phrase for a subject of a kind."""
    if kind in PLAIN and rng.random() < (0.12 if kind in ("person", "city") else 0.35):
        return f"the {rng.choice(PLAIN[kind].split('|'))}"
    if kind in ("person", "city"):
        return VALUES[kind](rng)
    name = rng.choice(STEMS) + rng.choice(ENDS)
    if kind == "building" and rng.random() < 0.3:
        name = rng.choice(PLACES)
    noun = rng.choice(NOUNS[kind].split("|"))
    if (noun.islower() and rng.random() < 0.7) or (kind in ("building", "river") and rng.random() < 0.5):
        return f"the {name} {noun}".strip()
    return f"{name} {noun}".strip()
