"""Write the numbers, dates, times and units of Chinese, Japanese and Korean as English has them."""

import re
from collections.abc import Callable

from workers.evaluation.text.languages.calendar_names import DAYS, MONTHS, spell_out_days

_IDEOGRAPHS = {
    **{c: n for n, cs in enumerate(("〇零", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九")) for c in cs},
}
_POWERS = {"十": 10, "百": 100, "千": 1000}
_GROUPS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_NUMBER = "[" + "".join((*_IDEOGRAPHS, *_POWERS, *_GROUPS)) + "]"
_COUNTED = (
    r"[名人元円年月日個个台本枚件階层歳岁米周週天時时点分秒冊章ヶか割成斤公克毫升块塊折位套间份张条次倍号楼晚夜顿頓项班页回度代泊席室便杯]|"
    r"小时|小時|星期|キロ|グラム|メートル|リットル|パーセント|センチ"
)
_SINGLE = re.compile(rf"(?!一[時个個])(?!十分(?!钟|鐘))(?<![每同统統]){_NUMBER}(?=\s?(?:{_COUNTED}))")
_RUN = re.compile(rf"{_NUMBER}{{2,12}}")
_GROUPED = re.compile(
    r"(\d[\d,]{0,11}(?:\.\d{1,4})?)\s?([万萬亿億])\s?(?:(\d[\d,]{0,8}(?:\.\d{1,4})?)\s?(千?[万萬]|千)?)?(?:\s?(\d[\d,]{0,4})(?=[元円]))?"
)
_THOUSANDS = re.compile(r"(\d{1,3}(?:\.\d)?)\s?千(?=[人名円元個个台冊册本枚件点頭社])")
_KOREAN_GROUPED = re.compile(
    r"(\d[\d,]{0,11}(?:\.\d{1,4})?)\s?(조|억|만|천)(?:\s?(\d[\d,]{0,8})\s?(억|만|천|백)?)?(?:\s?(\d[\d,]{0,4})(?=\s?원))?"
)
_KOREAN_VALUES = {"조": 10**12, "억": 10**8, "만": 10**4, "천": 10**3, "백": 100}
_SINO = {c: n for n, c in enumerate("영일이삼사오육칠팔구")} | {"십": 10, "백": 100, "천": 1000, "만": 10**4}
_SINO_RUN = re.compile(
    r"(?<![가-힣\d])(?<!\d\s)([일이삼사오육칠팔구]?[십백천만](?:[일이삼사오육칠팔구]?[십백천만])*[일이삼사오육칠팔구]?|[이삼사오육칠팔구](?=\s(?:년|개월|분|층|호|원|킬로|미터)|개월))(?=\s?(?:명|석|원|년|월|일|개월|분|층|호|세|퍼센트|미터|킬로|그램|리터|회|권|대|장|점|주|시간|$|[^가-힣]))"
)
_NATIVE_ONES = {
    "하나": 1, "한": 1, "두": 2, "둘": 2, "세": 3, "셋": 3, "석": 3, "네": 4, "넷": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8,
    "아홉": 9,
}  # fmt: skip
_NATIVE_TENS = {"열": 10, "스물": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60, "일흔": 70, "여든": 80, "아흔": 90}
_NATIVE = {
    **_NATIVE_ONES, **_NATIVE_TENS, "스무": 20,
    **{ten + one: _NATIVE_TENS[ten] + _NATIVE_ONES[one] for ten in _NATIVE_TENS for one in _NATIVE_ONES},
}  # fmt: skip
_NATIVE_NUMBER = re.compile(
    rf"(?<![가-힣])({'|'.join(sorted(_NATIVE, key=len, reverse=True))})"
    r"(?=\s?(?:명|개|시|살|달|번|시간|마리|권|대|장|잔|병|가지|사람|곳|군데|주|배|판|채|켤레|그루|차례|과목)"
    r"(?:(?![가-힣]{3})|입니다|이었|이며|이고|이라|이상|이하|이내|동안|까지|마다|부터))"
)
"""A native number before its counter, which is no part of a longer word, but may have an ending."""
_KO_ORDINALS = {"첫째": 1, "둘째": 2, "셋째": 3, "넷째": 4, "다섯째": 5, "첫": 1}
_ORDINAL = re.compile("|".join(sorted(_KO_ORDINALS, key=len, reverse=True)))

_PART = r"(?P<p>午前|午後|上午|下午|中午|晚上|傍晚|早上|凌晨|夜|朝|夕方|오전|오후|저녁|밤|아침|새벽)?の?\s?"
_TIME = re.compile(
    rf"{_PART}(?<!\d)(?P<h>[01]?\d|2[0-4])\s?(?:時(?!間)|时(?!间)|点(?!数|分)|點|시(?!간))\s?(?:(?P<i>[0-5]?\d)\s?(?:分(?!钟|鐘|間)|분)|(?P<half>半|반))?"
)
_CLOCK = re.compile(rf"{_PART}(?<![\d:])(?P<h>\d{{1,2}}):(?P<i>\d{{2}})(?![\d:])")
_AFTERNOON = frozenset(("午後", "下午", "晚上", "傍晚", "夜", "夕方", "오후", "저녁", "밤"))

_Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]


def _date(match: re.Match[str]) -> str:
    year, month, day = match["y"], int(match["m"]), match["d"]
    if not 1 <= month <= 12:
        return match[0]
    if year and day:
        return f" {year}-{month:02}-{int(day):02} "
    return f" {day} {MONTHS[month - 1]} " if day else f" {MONTHS[month - 1]} {year or ''} "


def _weekday(match: re.Match[str]) -> str:
    return f" {DAYS['一二三四五六日'.index(match[1].replace('天', '日'))]} "


def _youbi(match: re.Match[str]) -> str:
    return f" {DAYS['月火水木金土日'.index(match[1])]} "


def _yoil(match: re.Match[str]) -> str:
    return f" {DAYS['월화수목금토일'.index(match[1])]} "


_DATES: tuple[_Rule, ...] = (
    (
        re.compile(
            r"(?:(?P<y>\d{4})\s?[年년]\s?)?(?<!\d)(?P<m>\d{1,2})\s?[月월](?!\s?間)(?:\s?(?P<d>\d{1,2})\s?[日号號일])?"
        ),
        _date,
    ),
    (re.compile(r"(\d{4})\s?[年년](?!間|间)度?"), r" \1 "),
    (re.compile(r"(?:星期|周|週|礼拜)([一二三四五六日天])(?![年月周])"), _weekday),
    (re.compile(r"([月火水木金土日])曜日?"), _youbi),
    (re.compile(r"([월화수목금토일])요일"), _yoil),
)
_UNITS: tuple[tuple[str, str], ...] = (
    (r"\s?(?:分钟|分鐘|分間)", " minutes "),
    (r"\s?(?:個小時|个小时|小时|小時|時間|시간|个钟头|钟头)", " hours "),
    (r"\s?(?:天|日間|일간)", " days "),
    (r"\s?(?:個星期|个星期|星期|週間|周(?!年)|週|주일|주간|주(?![가-힣]))", " weeks "),
    (
        r"\s?(?:個月|个月|か月|ヶ月|カ月|ヵ月|ケ月|箇月|개월|달(?:(?![가-힣])|(?=입니다|이며|이고|동안|이내|이상|이하|까지|마다|간)))",
        " months ",
    ),
    (r"\s?(?:年間|年(?!度)|년간?)", " years "),
    (r"\s?(?:分(?![之])|분(?![가-힣]))", " minutes "),
    (r"\s?(?:秒|초(?![가-힣]))", " seconds "),
    (r"\s?(?:日|일)(?=\s?[以内前後后目まで이전후내까동])", " days "),
    (r"\s?(?:パーセント|퍼센트|프로(?![가-힣]))", "% "),
    (r"\s?(?:元|块钱|块|人民币)", " cny "),
    (r"\s?원", " krw "),
    (r"\s?(?:公斤|千克|キログラム|キロ(?!メートル)|킬로그램|킬로(?!미터))", " kg "),
    (r"\s?(?:公里|千米|キロメートル|キロ|킬로미터|㎞)", " km "),
    (r"\s?(?:厘米|センチメートル|センチ|센티미터|센티)", " cm "),
    (r"\s?(?:毫米|ミリメートル|밀리미터)", " mm "),
    (r"\s?(?:毫升|ミリリットル|밀리리터)", " ml "),
    (r"\s?(?:克|グラム|그램)", " g "),
    (r"\s?(?:米|メートル|미터)", " m "),
    (r"\s?(?:升|リットル|리터)", " l "),
)
_UNIT_RULES = tuple((re.compile(rf"(?<=\d)(?:{pattern})"), english) for pattern, english in _UNITS)
_TENTHS = re.compile(r"(?<![\d.])(\d)\s?(?:割(?:(\d)分)?|成(?!立|本|功|员|人|分|果))")
_HALF_MORE = re.compile(r"(?<=\d)\s?(斤|年|時間|小时|个小时|个月|시간|개월)\s?(?:半|반)")
_HALF_OF = re.compile(r"(?:半|반)\s?(小时|个小时|年|天|時間|日|시간|个月|년)")
_PERCENT = re.compile(r"(?:百分之|百分の)(\d+(?:\.\d+)?)")
_JIN = re.compile(r"(\d+(?:\.\d+)?)\s?斤")
_CHANGE_OF_SCRIPT = re.compile(r"(?<=[぀-ヿ㐀-鿿가-힯])(?=\d)")


def east_asian_forms(text: str, language: str) -> str:
    """Return a text in Chinese, Japanese or Korean with its figures as English has them."""
    text = _korean_numbers(text) if language == "ko" else _ideographs(text)
    text = _HALF_OF.sub(r"0.5\1", _HALF_MORE.sub(r".5\1", text))
    text = _PERCENT.sub(r" \1%", _TENTHS.sub(_percent, text))
    text = _JIN.sub(lambda match: f" {500 * float(match[1]):g} g ", text)
    for pattern, replacement in _DATES:
        text = pattern.sub(replacement, text)
    text = spell_out_days(text)
    text = _CLOCK.sub(_time, _TIME.sub(_time, text))
    for pattern, english in _UNIT_RULES:
        text = pattern.sub(english, text)
    return _CHANGE_OF_SCRIPT.sub(" ", text)


def _time(match: re.Match[str]) -> str:
    groups = match.groupdict()
    hour, minute = int(groups["h"]), 30 if groups.get("half") else int(groups["i"] or 0)
    if groups["p"] in _AFTERNOON and hour < 12:
        hour += 12
    return f" {hour}:{minute:02} " if hour < 25 and minute < 60 else match[0]


def _percent(match: re.Match[str]) -> str:
    return f" {10 * int(match[1]) + int(match[2] or 0)}%"


def _ideographs(text: str) -> str:
    # Figures with a power first: the 千万 of "1億2千万" is no number of its own.
    text = _THOUSANDS.sub(lambda match: f"{1000 * float(match[1]):.0f}", _GROUPED.sub(_grouped, text))
    text = _RUN.sub(lambda match: _value(match[0]), text)
    text = _SINGLE.sub(lambda match: _value(match[0]), text)
    return _GROUPED.sub(_grouped, text)


def _value(written: str) -> str:
    if all(character in _GROUPS for character in written):
        return written
    if all(character in _IDEOGRAPHS for character in written):
        return "".join(str(_IDEOGRAPHS[character]) for character in written)
    return str(_composed(written, _IDEOGRAPHS, _POWERS, _GROUPS))


def _composed(written: str, digits: dict[str, int], powers: dict[str, int], groups: dict[str, int]) -> int:
    total = section = digit = 0
    for character in written:
        if character in digits:
            digit = digits[character]
        elif character in powers:
            section, digit = section + (digit or 1) * powers[character], 0
        else:
            total, section, digit = total + (section + digit or 1) * groups[character], 0, 0
    return total + section + digit


def _grouped(match: re.Match[str]) -> str:
    total = _plain(match[1]) * _GROUPS[match[2]]
    if match[3]:
        total += _plain(match[3]) * _times(match[4] or "")
    return f"{total + _plain(match[5] or '0'):.0f}"


def _times(written: str) -> int:
    """Return the factor of 万, 千 or 千万; 1 for an empty text."""
    return (1000 if written.startswith("千") else 1) * _GROUPS.get(written[-1:], 1)


def _plain(written: str) -> float:
    return float(written.replace(",", "").strip() or 0)


def _korean_numbers(text: str) -> str:
    text = _ORDINAL.sub(lambda match: f"{_KO_ORDINALS[match[0]]}번째 ", text) if "째" in text else text
    text = _SINO_RUN.sub(_sino, text)
    text = _NATIVE_NUMBER.sub(lambda match: str(_NATIVE[match[1]]), text)
    return _KOREAN_GROUPED.sub(_korean_grouped, text)


def _sino(match: re.Match[str]) -> str:
    digits = {c: n for c, n in _SINO.items() if n < 10}
    return str(_composed(match[1], digits, {"십": 10, "백": 100, "천": 1000}, {"만": 10**4}))


def _korean_grouped(match: re.Match[str]) -> str:
    total = _plain(match[1]) * _KOREAN_VALUES[match[2]]
    if match[3]:
        total += _plain(match[3]) * _KOREAN_VALUES.get(match[4] or "", 1)
    return f"{total + _plain(match[5] or '0'):.0f}"
