"""Reduce words to stems, for matching questions with sentences."""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from tasks.text.languages import HAN

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# One family per line: irregular verbs and nouns whose forms the stemmer does not unite, and a few
# nouns with the verb they derive from. The first form represents the family.
_FAMILIES = Path(__file__).with_name("word_families.txt")


@cache
def _stemmer() -> Any:
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    builder = TextAnalyzerBuilder(Tokenizer.raw()).filter(Filter.lowercase())
    return builder.filter(Filter.stemmer("english")).build()


def english_stem(word: str) -> str:
    """Return the Snowball stem of a word in lower case, as in the word indexes."""
    stems = _stemmer().analyze(word)
    return str(stems[0]) if stems else word


@cache
def _families() -> dict[str, str]:
    lines = _FAMILIES.read_text(encoding="utf-8").splitlines()
    families = [list(map(english_stem, line.split())) for line in lines]
    return {member: family[0] for family in families for member in family}


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the form that a word shares with its inflections."""
    bare = english_stem(word.lower().replace("’", "'").removesuffix("'s"))
    return _families().get(bare, bare)


def stems_of(text: str, *, cut_chinese: bool = True) -> list[tuple[int, int, str]]:
    """Return the stems of a text's words, each with its span.

    Without `cut_chinese` a run of Chinese is one word, and the dictionary is not loaded.
    """
    stems = []
    for match in _WORD.finditer(text):
        if cut_chinese and HAN.search(match.group()):
            stems += _chinese(match.group(), match.start())
        else:
            stems.append((*match.span(), stem(match.group())))
    return stems


@lru_cache(maxsize=1 << 14)
def words_of(text: str, *, cut_chinese: bool = True) -> frozenset[str]:
    """Return the stems of a short text's words, without their spans (see `stems_of`)."""
    return frozenset(word for _, _, word in stems_of(text, cut_chinese=cut_chinese))


def _chinese(run: str, offset: int) -> list[tuple[int, int, str]]:
    from tasks.text.chinese_words import chinese_words, simplified

    run, words, end = simplified(run), [], 0
    for word in chinese_words(run):
        # A short word may lie inside the long one that came before it.
        start = run.find(word, max(0, end - 4))
        if start >= 0:
            end = start + len(word)
            words.append((offset + start, offset + end, word))
    return words
