"""Words to search by: Chinese is cut by jieba's search mode, everything else is left to tantivy."""

import logging
import re
from functools import cache
from typing import Any

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
WORD = re.compile(r"[^\W_]+")


def is_chinese(text: str) -> bool:
    """Tell whether a text is written in Chinese: a fifth of its letters, or more, are Han."""
    han = sum(len(run) for run in HAN.findall(text))
    return han > 0 and 5 * han >= sum(map(str.isalpha, text))


def words_outside_chinese(text: str) -> str:
    """Return the words of a text that are not Chinese, in lower case, a space between them."""
    return " ".join(WORD.findall(HAN.sub(" ", text).lower()))


def chinese_words(text: str) -> str:
    """Return the Chinese words of a text, short ones inside long ones too, a space between them."""
    runs = HAN.findall(text)
    return " ".join(word for run in runs for word in _jieba().cut_for_search(run)) if runs else ""


@cache
def _jieba() -> Any:
    import jieba

    jieba.setLogLevel(logging.WARNING)
    return jieba
