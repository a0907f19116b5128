"""Whether the letters that a file gives can be words, or why they cannot."""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

_WORD = re.compile(r"[^\W\d_]+")
_VOWEL = re.compile(r"[aeiouy]|[^\x00-\x7f]", re.IGNORECASE)
_NO_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd]")
# Bytes of another charset taken for accented letters.
_ACCENTED = re.compile("[\u00c0-\u024f]{4,}")
_UNPARTED = re.compile("[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff]{31,}")
# First words of the Unicode names of letters that stand beside those of any script.
_ANYWHERE = re.compile(
    "CJK|KANGXI|IDEOGRAPHIC|HIRAGANA|KATAKANA.*|HANGUL|BOPOMOFO|FULLWIDTH|HALFWIDTH|"
    "MICRO|MODIFIER|FEMININE|MASCULINE|OHM|KELVIN|ANGSTROM|MATHEMATICAL|"
)
_FEWEST = 12  # letters from which words without spaces, or doubled ones, tell of a fault
_SHORTEST = 8  # characters of a line that may repeat itself
_MOSTLY = 0.5
_OFTEN = 0.3


def fault_of_letters(text: str) -> str:
    """Return what shows that a text is no words, as a clause about it; empty if nothing does."""
    if len(_NO_CHARACTER.findall(text)) > _OFTEN * len(text):
        return "many of its characters have no meaning"
    words = _WORD.findall(text)
    letters = sum(map(len, words))
    if not text.isascii():
        foreign = (word for word in words if not word.isascii())
        odd = sum(len(word) for word in foreign if _ACCENTED.search(word) or _mixes_scripts(word))
        if odd > _OFTEN * letters:
            return "its letters are of scripts that do not fit together"
    if letters < _FEWEST:
        return ""
    if sum(map(len, _UNPARTED.findall(text))) > _MOSTLY * letters:
        return "its words have no spaces between them"
    doubled = sum(len(word) for word in words if len(word) > 3 and word[::2] == word[1::2])
    lines = [line for line in map(str.strip, text.splitlines()) if len(line) >= _SHORTEST]
    repeating = sum(len(line) for line in lines if line in (line + line)[1:-1])
    if doubled > _MOSTLY * letters or repeating > _MOSTLY * len(text):
        return "its letters stand there several times"
    return ""


def looks_like_words(text: str) -> bool:
    """Tell whether most characters of a text are in words that can be spoken."""
    words = [word for word in _WORD.findall(text) if _VOWEL.search(word)]
    return sum(map(len, words)) > _MOSTLY * sum(not c.isspace() for c in text)


def _mixes_scripts(word: str) -> bool:
    """Tell whether the script changes more than once; Chinese and Japanese mix with any other."""
    scripts = [script for script in map(_script, word) if script]
    return sum(one != other for one, other in pairwise(scripts)) > 1


@lru_cache(maxsize=1 << 12)
def _script(letter: str) -> str:
    """Return the script of a letter by its name in Unicode; empty if it mixes with others."""
    script = unicodedata.name(letter, "").partition(" ")[0]
    return "" if _ANYWHERE.fullmatch(script) else script
