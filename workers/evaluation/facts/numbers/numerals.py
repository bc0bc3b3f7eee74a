"""Write the numbers of all scripts with the digits 0 to 9, so that they can be compared."""

import re
import unicodedata

_CJK_DIGITS = {
    character: value
    for value, characters in enumerate(("〇零", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"))
    for character in characters
}
_CJK_POWERS = {"十": 10, "百": 100, "千": 1000}
_CJK_GROUPS = {"万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8}
_CJK_NUMBER = "[" + "".join((*_CJK_DIGITS, *_CJK_POWERS, *_CJK_GROUPS)) + "]"
_COUNTER = "[名人元円年月日個个台本枚件階层歳岁米周週天時时分秒冊章ヶか]"
_CJK_RUN = re.compile(rf"{_CJK_NUMBER}{{2,12}}|{_CJK_NUMBER}(?={_COUNTER})")
_NARROW = {"，": ",", "．": ".", "％": "%", "＄": "$", "￥": "¥", "：": ":", "٫": ".", "٬": ","}
_FULL_WIDTH = re.compile(rf"(?<=\d)[{''.join(_NARROW)}](?=\d)|(?<=\d)％|[＄￥](?=\d)")
_SCALED = re.compile(
    r"(\d{1,6}(?:,\d{3})*(?:\.\d{1,4})?)\s?([十百千]?[万萬億亿])(?:\s?(\d{1,4})\s?([百千]?[万萬]))?"
    rf"(?:\s?(\d{{1,4}})(?![\d.,]|\s?[万萬千百])(?=\s?{_COUNTER}))?|(\d{{1,3}}(?:\.\d{{1,2}})?)\s?千(?=\s?{_COUNTER})"
)
_VULGAR = re.compile(r"(?<![\w.,])(?:(\d{1,4})\s?)?([¼½¾⅓⅔⅛⅜⅝⅞])")
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_BEFORE = re.compile(rf"(?<=[{_UNSPACED}])(?=\d)")
_BEHIND = re.compile(rf"(?<=\d)\s?([かヶカ]月|[个個]月|개월|시간|時間|[{_UNSPACED}])")


def plain_numerals(text: str) -> str:
    """Return a text with digits 0 to 9, numbers written in ideographs as digits, and spaces around digits."""
    if text.isascii():
        return text
    text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c for c in text)
    text = _VULGAR.sub(lambda match: f"{int(match[1] or 0) + unicodedata.numeric(match[2]):g}", text)
    text = _FULL_WIDTH.sub(lambda match: _NARROW[match[0]], text)
    text = _SCALED.sub(_multiplied, text)
    text = _CJK_RUN.sub(_value, text)
    return _BEHIND.sub(r" \1 ", _BEFORE.sub(" ", text))


def _multiplied(match: re.Match[str]) -> str:
    if match[6]:
        return f"{float(match[6]) * 1000:.0f}"
    parts = ((match[1].replace(",", ""), match[2]), (match[3] or "0", match[4] or "万"))
    return f"{sum(float(number) * _group(group) for number, group in parts) + float(match[5] or 0):.0f}"


def _group(written: str) -> int:
    """Return the value of a group with or without a power before it: 千万 is ten million."""
    power = _CJK_POWERS[written[0]] if len(written) == 2 else 1
    return power * _CJK_GROUPS[written[-1]]


def _value(match: re.Match[str]) -> str:
    written = match[0]
    if all(character in _CJK_DIGITS for character in written):
        return "".join(str(_CJK_DIGITS[character]) for character in written)
    total = section = digit = 0
    for character in written:
        if character in _CJK_DIGITS:
            digit = _CJK_DIGITS[character]
        elif character in _CJK_POWERS:
            section, digit = section + (digit or 1) * _CJK_POWERS[character], 0
        else:
            total, section, digit = total + (section + digit or 1) * _CJK_GROUPS[character], 0, 0
    return str(total + section + digit)
