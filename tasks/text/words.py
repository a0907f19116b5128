"""Words for search: Chinese words from the segmenter, all others split at punctuation."""

import re
import unicodedata

from tasks.text.languages import HAN

WORD = re.compile(r"[^\W_]+")
# Forms of letters for print: radicals, ligatures, Arabic forms, letters of full or half width, and
# those of mathematics. Other compatible characters mean something else, as ² and ½ do.
_PRINTED = re.compile(
    "[\u2f00-\u2fdf\ufb00-\ufdfb\ufe70-\ufefc\uff10-\uff19\uff21-\uff3a\uff41-\uff5a"
    "\uff66-\uff9f\U0001d400-\U0001d7ff]+"
)


def in_plain_letters(text: str) -> str:
    """Return a text with letters that have a form for print as plain ones (NFKC)."""
    if text.isascii():
        return text
    return _PRINTED.sub(lambda run: unicodedata.normalize("NFKC", run.group()), text)


def words_outside_chinese(text: str) -> str:
    """Return the words of a text that are not Chinese, in lower case, space-separated."""
    return " ".join(WORD.findall(in_plain_letters(HAN.sub(" ", text)).lower()))


def words_in_chinese(text: str) -> str:
    """Return the Chinese words of a text, including short ones inside long ones, space-separated.

    The segmenter's dictionary takes a second to load, so it is not loaded without a Han character.
    """
    runs = HAN.findall(text)
    if not runs:
        return ""
    from tasks.text.chinese_words import chinese_words

    return " ".join(chinese_words(" ".join(runs)))
