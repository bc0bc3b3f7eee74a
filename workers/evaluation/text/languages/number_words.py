"""Number words of languages that the library of number words does not know."""

from collections.abc import Mapping


def _table(rows: Mapping[float, str]) -> dict[str, float]:
    return {name: value for value, names in rows.items() for name in names.split()}


NUMBER_WORDS: Mapping[str, Mapping[str, float]] = {
    "pl": _table({
        2: "dwa dwie dwóch dwu dwoma dwaj dwoje", 3: "trzy trzech trzem trzema trzej troje",
        4: "cztery czterech czterem czterema czworo", 5: "pięć pięciu pięcioro", 6: "sześć sześciu",
        7: "siedem siedmiu", 8: "osiem ośmiu", 9: "dziewięć dziewięciu", 10: "dziesięć dziesięciu",
        11: "jedenaście jedenastu", 12: "dwanaście dwunastu", 13: "trzynaście trzynastu", 14: "czternaście czternastu",
        15: "piętnaście piętnastu", 16: "szesnaście szesnastu", 17: "siedemnaście siedemnastu",
        18: "osiemnaście osiemnastu", 19: "dziewiętnaście dziewiętnastu", 20: "dwadzieścia dwudziestu",
        30: "trzydzieści trzydziestu", 40: "czterdzieści czterdziestu", 50: "pięćdziesiąt pięćdziesięciu",
        60: "sześćdziesiąt sześćdziesięciu", 70: "siedemdziesiąt siedemdziesięciu",
        80: "osiemdziesiąt osiemdziesięciu", 90: "dziewięćdziesiąt dziewięćdziesięciu", 100: "sto stu", 200: "dwieście dwustu",
        300: "trzysta trzystu", 400: "czterysta czterystu", 500: "pięćset pięciuset", 600: "sześćset sześciuset",
        700: "siedemset siedmiuset", 800: "osiemset ośmiuset", 900: "dziewięćset dziewięciuset",
        1e3: "tysiąc tysiące tysięcy", 1e6: "milion miliony milionów",
    }),
    "ru": _table({
        2: "два две двух двум двумя двое", 3: "три трёх трех трём трем тремя трое", 4: "четыре четырёх четырех четырьмя",
        5: "пять пяти пятью", 6: "шесть шести", 7: "семь семи", 8: "восемь восьми", 9: "девять девяти",
        10: "десять десяти", 11: "одиннадцать одиннадцати", 12: "двенадцать двенадцати",
        13: "тринадцать тринадцати", 14: "четырнадцать четырнадцати", 15: "пятнадцать пятнадцати",
        16: "шестнадцать шестнадцати", 17: "семнадцать семнадцати", 18: "восемнадцать восемнадцати",
        19: "девятнадцать девятнадцати", 20: "двадцать двадцати", 30: "тридцать тридцати", 40: "сорок сорока",
        50: "пятьдесят пятидесяти", 60: "шестьдесят шестидесяти", 70: "семьдесят семидесяти",
        80: "восемьдесят восьмидесяти", 90: "девяносто девяноста", 100: "сто ста", 200: "двести двухсот",
        300: "триста трёхсот трехсот", 400: "четыреста четырёхсот", 500: "пятьсот пятисот", 600: "шестьсот шестисот",
        700: "семьсот семисот", 800: "восемьсот восьмисот", 900: "девятьсот девятисот",
        1e3: "тысяча тысячи тысяч тысячу", 1e6: "миллион миллиона миллионов",
    }),
    "ar": _table({
        2: "اثنان اثنين اثنتان اثنتين اثنا اثني اثنتا اثنتي", 3: "ثلاثة ثلاث", 4: "أربعة أربع", 5: "خمسة خمس", 6: "ستة ست", 7: "سبعة سبع",
        8: "ثمانية ثمان ثماني", 9: "تسعة تسع", 10: "عشرة عشر", 20: "عشرون عشرين", 30: "ثلاثون ثلاثين",
        40: "أربعون أربعين", 50: "خمسون خمسين", 60: "ستون ستين", 70: "سبعون سبعين", 80: "ثمانون ثمانين",
        90: "تسعون تسعين", 100: "مئة مائة", 200: "مئتان مئتين مائتان مائتين", 300: "ثلاثمئة ثلاثمائة",
        400: "أربعمئة أربعمائة", 500: "خمسمئة خمسمائة", 600: "ستمئة ستمائة", 700: "سبعمئة", 800: "ثمانمئة",
        900: "تسعمئة", 1e3: "ألف آلاف ألفا", 2e3: "ألفان ألفين", 1e6: "مليون ملايين",
    }),
}  # fmt: skip
"""Values by lower-case word; one is left out, since it is an article or pronoun more often than a number."""
ONE: Mapping[str, tuple[str, ...]] = {
    "pl": ("jeden", "jedna", "jedno", "jednego", "jedną"),
    "ru": ("один", "одна", "одно", "одну", "одного", "одной"),
    "ar": ("واحد", "واحدة", "أحد", "إحدى", "احد", "احدى"),
}
"""Words for one by language, which count beside another number word: "dwadzieścia jeden" is 21."""


def compose(written: str, words: Mapping[str, float]) -> str:
    """Return consecutive number words as digits: "dwadzieścia pięć" is 25; words that do not compose stay."""
    values = [words.get(word) or words.get(word.removeprefix("و"), 0.0) for word in written.lower().split()]
    if len(values) == 1 and values[0] >= 1e3:
        return written  # "тысяча" behind a figure is a scale, and alone it is vague
    total = current = 0.0
    for value in values:
        if value >= 1e3:
            total, current = total + (current or 1.0) * value, 0.0
        else:
            current += value
    return f"{total + current:.0f}"
