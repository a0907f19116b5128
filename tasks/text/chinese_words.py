"""Split Chinese texts into words with rjieba, which has jieba's dictionary and algorithm.

The dictionary is part of the library and is loaded once; nothing is written.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from operator import ne
from pathlib import Path
from typing import Any

from tasks.text.languages import HAN, HAN_CLASS

HAN_OR_ZERO = re.compile(f"[{HAN_CLASS}〇]")  # 〇 is no letter but part of words
_PARTICLE = re.compile(rf"([{HAN_CLASS}])著(?=([{HAN_CLASS}]))")
RUN = re.compile(rf"{HAN_OR_ZERO.pattern}+|[A-Za-z0-9][A-Za-z0-9.'’-]*")

NAME_TAGS = ("nr", "ns", "nt", "nz")
"""The tags of names: of people, places, organisations, and others."""

MENDED_TAGS = Path(__file__).with_name("chinese_mended_tags.toml")

# Words without a meaning of their own: left out of coverage and of lexical matching.
_STOP_WORDS = (
    "的 了 在 是 和 与 及 以及 或 也 都 就 而 且 并 并且 但 但是 又 再 还 很 更 最 把 被 将 由 于",
    "从 自 到 向 对 为 以 因 因为 所以 由于 因此 则 即 其 他 她 它 他们 她们 它们 我 我们 你 你们",
    "这 那 这个 那个 这些 那些 这里 那里 此 该 之 之一 等 等等 着 过 上 下 中 里 内 外 前 后 时",
    "时候 以后 以前 之后 之前 期间 一 一个 一种 一些 一位 一所 一座 有 没有 不 没 可 可以 能 能够",
    "会 要 个 年 月 日 用 所 地 得 给 让 使 同 跟 比 当 如 如果 虽然 然而 后来 曾 曾经 已 已经 共",
    "约 大约 先后 一起 当时 其中 另 另外 至 来 去 说 各 每 某 本 只 仅 才 便 却 吗 呢 吧 啊 哪",
    "什么 谁 怎么 多少",
)
STOP_WORDS = frozenset(" ".join(_STOP_WORDS).split())


@cache
def segmenter() -> Any:
    """Return the segmenter with its dictionary; `cut` and `cut_for_search` return words."""
    import rjieba

    return rjieba


@lru_cache(maxsize=1 << 16)
def tag_of(word: str) -> str:
    """Return the part of speech of a word in the dictionary, in the ICTCLAS tag set, else "".

    The dictionary takes thousands of everyday words (文明, 康复) for names, and places (伊拉克) for
    persons; such tags are corrected from another dictionary. Two everyday words that it has as one
    person (独立|思考) are what their first word is, or the second after an adjective.
    """
    if not segmenter().has_word(word):
        return ""
    tag = _mended_tags().get(word) or str(segmenter().tag(word)[-1][1])
    if tag == "nr" and len(word) == 4:
        halves = tag_of(word[:2]), tag_of(word[2:])
        if all(half[:1] in ("n", "v", "a") and half[:2] not in NAME_TAGS for half in halves):
            return halves[1] if halves[0][0] == "a" else halves[0][0]
    return tag


@cache
def _mended_tags() -> dict[str, str]:
    listed = tomllib.loads(MENDED_TAGS.read_text(encoding="utf-8"))
    return {word: tag for tag, words in listed.items() for word in words.split()}


@cache
def _converter() -> Any:
    import opencc

    return opencc.OpenCC("t2s")


def simplified(text: str) -> str:
    """Return a text in simplified characters, with all offsets unchanged.

    In traditional characters 著 is also the particle 着 (隨著時間), but neither in the dictionary's
    words with 著 (著名, 編著) nor at the end of a phrase (甲著，《乙》).
    """
    if text.isascii():
        return text
    converted: str = _converter().convert(text)
    if len(converted) != len(text):
        return text
    return _PARTICLE.sub(_particle, converted) if converted != text else converted


def in_traditional(text: str) -> bool:
    """Tell whether a text is in traditional characters: a tenth of its Chinese ones differ."""
    different = sum(map(ne, text, simplified(text)))
    return 0 < sum(map(len, HAN.findall(text))) <= 10 * different


def _particle(found: re.Match[str]) -> str:
    before, after = found[1], found[2]
    is_word = any(map(segmenter().has_word, (f"{before}著", f"著{after}")))
    return f"{before}著" if is_word else f"{before}着"


def chinese_words(text: str) -> list[str]:
    """Return the words of a text for search, in order, including short words inside long ones.

    They are in simplified characters, so that a question finds a text in the other script. Runs of
    Latin letters and figures are words in lower case; everything else is left out.
    """
    words: list[str] = []
    for run in RUN.findall(simplified(text)):
        words.extend(segmenter().cut_for_search(run) if HAN_OR_ZERO.match(run) else [run.lower()])
    return words


def word_spans_of(text: str) -> frozenset[tuple[int, int]]:
    """Return the spans of a text's words, without words inside others."""
    ends = [0, *accumulate(map(len, segmenter().cut(simplified(text))))]
    return frozenset(pairwise(ends))


def nested_words(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield a text's words, simplified, that lie in no longer one, each with those inside it."""
    for run in RUN.findall(simplified(text)):
        inside: list[str] = []
        whole = iter(segmenter().cut(run))
        longest = next(whole)
        for word in segmenter().cut_for_search(run):
            if word == longest:
                yield word, inside
                inside, longest = [], next(whole, "")
            else:
                inside.append(word)
