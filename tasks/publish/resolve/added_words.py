"""Names with a word too much, found by counts over the corpus.

A text without spaces, or a sentence's first word, gives a name a neighbour that is no part of it.
The name then stands once or twice with that word, and much more often alone.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tasks.publish.resolve.local_entities import voted_kind
from tasks.text.chinese_words import HAN_OR_ZERO, STOP_WORDS, segmenter, tag_of
from tasks.text.english_words import is_base_verb, is_never_noun
from tasks.text.languages import word_set
from tasks.text.names import MINOR_WORDS, is_acronym_of, normalise_name
from tasks.text.relations.forms import MODALS

_SELDOM = 2  # mentions of a name with its neighbour, at most
_TIMES_ALONE = 8  # as often the name stands alone, at least
_SEVERAL = 3  # names with one neighbour: it is no part of any
_NO_PART = word_set("v d p c")  # verbs, adverbs, prepositions, conjunctions
_BEFORE = _NO_PART | {"f"}  # 中 and 上
_OWN_NAMES = word_set("work event")  # titles may have verbs
_SURNAMES = word_set("司马 欧阳 上官 诸葛 皇甫 慕容 令狐 长孙 宇文 公孙 尉迟 夏侯 独孤 完颜 耶律")


# "Push & Pull", "ISO/T 4711"; words with a stroke between them are mostly two names.
_JOINTS = re.compile(r"\s*&\s*|/(?=\w\b)|\b(?<=\b\w)/")
_AS_OFTEN = 2  # times as often as the whole name is mentioned a piece of it, at most


class _Known(NamedTuple):
    """How a name is written, how often it is mentioned, and its kind."""

    name: str
    mentions: int
    kind: str


def names_with_added_words(rows: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return the name that is meant for each name with an added word.

    Rows have `name`, `kind` and `mentions`.
    """
    known = _known(rows)
    splits = [
        (whole, base, added, before)
        for norm, whole in known.items()
        if whole.mentions <= _SELDOM and whole.kind not in _OWN_NAMES
        for base, added, before in _splits(norm, known)
    ]
    beside = Counter((added, before) for _, _, added, before in splits)
    sure = [
        (whole, base)
        for whole, base, added, before in splits
        if _is_no_part(added, whole, base, before)
        or (beside[added, before] >= _SEVERAL and _is_no_part_of_several(added, whole, base))
    ]
    # A person's name that had other words beside it is whole: one more character is of no given
    # name, and what is more than one word (not a museum named after the person) of no name at all.
    whole_names = Counter(base.name for _, base in sure if base.kind == "person")
    sure += [
        (whole, base)
        for whole, base, added, before in splits
        if whole_names[base.name] > 1 and not before and HAN_OR_ZERO.search(added)
        if (whole.kind == "person" and len(added) == 1)
        or (whole.kind not in ("organisation", "thing") and len(segmenter().cut(added)) > 1)
    ]
    meant: dict[str, _Known] = {}
    for whole, base in sure:
        best = meant.get(whole.name, base)
        meant[whole.name] = max(best, base, key=lambda name: (name.mentions, name.name))
    return {name: base.name for name, base in meant.items()}


def _is_no_part_of_several(added: str, whole: _Known, base: _Known) -> bool:
    """Whether words that several names have beside them leave what is named the same: 地区."""
    if base.kind != whole.kind:
        return False
    return base.kind == "person" or (
        base.kind == "place" and len(added) > 1 and tag_of(added) == "n"
    )


def _known(rows: Iterable[dict[str, Any]]) -> dict[str, _Known]:
    written: dict[str, Counter[str]] = defaultdict(Counter)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        norm = normalise_name(row["name"])
        written[norm][row["name"]] += row["mentions"]
        kinds[norm][row["kind"]] += row["mentions"]
    return {
        norm: _Known(
            min(names, key=lambda name: (-names[name], name)),
            names.total(),
            voted_kind(kinds[norm]),
        )
        for norm, names in written.items()
    }


def _splits(norm: str, known: dict[str, _Known]) -> Iterator[tuple[_Known, str, bool]]:
    """Yield each much more frequent name in a name, the rest, and if the rest stands before."""
    spaced = not HAN_OR_ZERO.search(norm)
    for at in range(1, len(norm)):
        if spaced and norm[at] != " ":
            continue
        first, last = norm[:at].strip(), norm[at:].strip()
        for part, rest, before in ((first, last, False), (last, first, True)):
            base = known.get(part)
            if len(part) > 1 and base and base.mentions >= _TIMES_ALONE * known[norm].mentions:
                yield base, rest, before


def _is_no_part(added: str, whole: _Known, base: _Known, before: bool) -> bool:
    """Whether the words beside a name are verbs and the like, which are part of no such name."""
    if not HAN_OR_ZERO.search(added):
        # Will X, Configure X, X Apply; but X Consulting, X DELETE and x_banned are names.
        act = is_never_noun(added) and (before or is_base_verb(added))
        written = added.capitalize() in whole.name.split()
        return written and base.kind != "person" and (act or (before and added in MODALS))
    words = segmenter().cut(added)
    tag = tag_of(words[-1 if before else 0])
    if HAN_OR_ZERO.search(base.name):
        fitting = ("person", "place") if before else ("person",)
        if base.kind not in fitting or base.name in _SURNAMES:
            return False
    elif before and tag == "v":
        return False
    return tag in (_BEFORE if before else _NO_PART) or added in STOP_WORDS


def pieces_of_names(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the whole name for each piece that a name with `/` or `&` was cut into.

    A piece stands in no document without the whole name, and not much more often.
    """
    documents: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        documents[row["name"]].add(row["document_id"])
    known = {entry.name: entry for entry in _known(rows).values()}
    wholes: dict[str, _Known] = {}
    for name, whole in known.items():
        for piece in sorted(_pieces(name) & known.keys()):
            own = known[piece]
            if (
                own.kind not in ("person", "place")
                and own.mentions <= _AS_OFTEN * whole.mentions
                and documents[piece] <= documents[name]
            ):
                best = wholes.get(piece, whole)
                wholes[piece] = max(best, whole, key=lambda known: (known.mentions, known.name))
    return {piece: whole.name for piece, whole in wholes.items()}


def _pieces(name: str) -> set[str]:
    """Return what stands before and after a joint in a name: the words next to it, and more."""
    pieces = set()
    for joint in _JOINTS.finditer(name):
        before, after = name[: joint.start()].split(), name[joint.end() :].split()
        pieces |= {" ".join(before[at:]) for at in range(len(before))}
        pieces |= {" ".join(after[: at + 1]) for at in range(len(after))}
    return {piece for piece in pieces if len(piece) > 1}


def pieces_of_long_forms(
    rows: list[dict[str, Any]], stated: list[dict[str, Any]]
) -> dict[str, str]:
    """Return the long form for each piece of it, where an acronym stands for it in parentheses.

    Only long forms count that were cut everywhere, so that no mention has them as a whole. Where
    the piece stands, the acronym stands, too, and the piece not much more often.
    """
    documents: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        documents[row["name"]].add(row["document_id"])
    known = {entry.name: entry for entry in _known(rows).values()}
    wholes = {}
    for row in stated:
        name, acronym = row["name"], known.get(row["alias"])
        if name in documents or acronym is None or not is_acronym_of(row["alias"], name):
            continue
        words = name.split()
        joints = [at for at, word in enumerate(words) if word in MINOR_WORDS]
        for at in joints:
            for piece in (" ".join(words[:at]), " ".join(words[at + 1 :])):
                own = known.get(piece)
                if (
                    own is not None
                    and own.mentions <= _AS_OFTEN * acronym.mentions
                    and documents[piece] <= documents[acronym.name]
                ):
                    wholes[piece] = name
    return wholes
