"""Read Chinese numerals: 三百二十万, 一九一二, 1.4亿."""

import re

DIGIT_VALUES = {
    **{character: number for number, character in enumerate("零一二三四五六七八九")},
    "〇": 0,
    "○": 0,
    "两": 2,
    "兩": 2,
    "俩": 2,
    "壹": 1,
    "贰": 2,
    "叁": 3,
}
SMALL_SCALES = {"十": 10, "百": 100, "千": 1_000}
LARGE_SCALES = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
DIGIT_CHARACTERS = "零〇○一二三四五六七八九"
NUMERAL_CHARACTERS = "".join((*DIGIT_VALUES, *SMALL_SCALES, *LARGE_SCALES))
TOKENS = re.compile(rf"[0-9]+(?:\.[0-9]+)?|[{NUMERAL_CHARACTERS}]")
NUMERAL = re.compile(rf"(?:[0-9]++(?:\.[0-9]++)?|[{NUMERAL_CHARACTERS}]|点)+")


def read_numeral(text: str) -> float | None:
    """Return the number in Chinese numerals, Arabic figures or both; None if there is none.

    Figures may have separators and a scale (1.4亿, 3,200万); 三点五 is 3.5.
    """
    text = text.replace(",", "").replace("，", "")
    if len(text) > 24 or not NUMERAL.fullmatch(text):
        return None
    if "点" in text:
        return _read_point(text)
    total, section, last = 0.0, 0.0, 0
    digit: float | None = None
    for token in TOKENS.findall(text):
        if token in DIGIT_VALUES or token[0].isascii():
            if digit:
                return None
            digit = float(DIGIT_VALUES.get(token, token))
        elif token in SMALL_SCALES:
            section += (1 if digit is None else digit) * SMALL_SCALES[token]
            digit = None
        else:
            section += digit or 0
            scale = LARGE_SCALES[token]
            # 三千万亿 multiplies what stands before it, 一亿三千万 adds to it.
            total = (total + section) * scale if scale > last else total + section * scale
            section, digit, last = 0, None, scale
    return total + section + (digit or 0)


def _read_point(text: str) -> float | None:
    """Read decimals such as 三点一四 and 一点五亿."""
    scale = LARGE_SCALES.get(text[-1], 1)
    whole, _, part = text.rstrip("".join(LARGE_SCALES)).partition("点")
    digits = [DIGIT_VALUES.get(character) for character in part]
    units = read_numeral(whole)
    if units is None or not digits or None in digits or "点" in part:
        return None
    return float(f"{units:.0f}.{''.join(map(str, digits))}") * scale
