"""Find names that include a word too many, by counts over the corpus.

In text without spaces, and at the start of a sentence, a neighbouring word may be taken for a part
of a name. The name then occurs once or twice with that word, and much more often without it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from tasks.extract.rules.kinds import kind_of_noun
from tasks.extract.rules.lexicon import OFFICES, POSTS
from tasks.publish.resolve.local_entities import voted_kind
from tasks.text.chinese_words import HAN_OR_ZERO, STOP_WORDS, segmenter, tag_of
from tasks.text.english_words import is_base_verb, is_never_noun
from tasks.text.languages import word_set
from tasks.text.names import MINOR_WORDS, TITLES, is_acronym_of, normalise_name
from tasks.text.relations.forms import BEFORE_VERBS

_SELDOM = 2  # most mentions of a name with an added word
_TIMES_ALONE = 8  # least ratio of its mentions without and with the added word
_SEVERAL = 3  # a word added to at least this many names is part of none of them
_NO_PART = word_set("v d p c")  # verbs, adverbs, prepositions, conjunctions
_BEFORE = _NO_PART | {"f"}  # localisers such as 中 and 上
_OWN_NAMES = word_set("work event")  # titles may contain verbs
_OFFICES = OFFICES | POSTS | TITLES
_SURNAMES = word_set("司马 欧阳 上官 诸葛 皇甫 慕容 令狐 长孙 宇文 公孙 尉迟 夏侯 独孤 完颜 耶律")


# "Push & Pull", "ISO/T 4711"; a slash between whole words mostly separates two names.
_JOINTS = re.compile(r"\s*&\s*|/(?=\w\b)|\b(?<=\b\w)/")
_AS_OFTEN = 2  # a piece is mentioned at most this many times as often as the whole name


class KnownName(NamedTuple):
    """A name in its commonest spelling, its number of mentions, and its kind."""

    name: str
    mentions: int
    kind: str


def names_with_added_words(known: dict[str, KnownName]) -> dict[str, KnownName]:
    """Return, for each name that includes an added word, the name without it and its sure kind."""
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
    # A person's name that occurs with several added words is complete: one more character is no
    # part of a given name, and two or more words are part of no name (but of a museum's).
    whole_names = Counter(base.name for _, base in sure if base.kind == "person")
    sure += [
        (whole, base)
        for whole, base, added, before in splits
        if whole_names[base.name] > 1 and not before and HAN_OR_ZERO.search(added)
        if (whole.kind == "person" and len(added) == 1)
        or (whole.kind not in ("organisation", "thing") and len(segmenter().cut(added)) > 1)
    ]
    meant: dict[str, KnownName] = {}
    others = ((whole, base._replace(kind="unknown")) for whole, base in sure)
    for whole, base in chain(_after_offices(known), others):
        best = meant.get(whole.name, base)
        meant[whole.name] = max(best, base, key=lambda name: (name.mentions, name.name))
    return meant


def _after_offices(known: dict[str, KnownName]) -> Iterator[tuple[KnownName, KnownName]]:
    """Yield each name that ends in a person's full name after an office, and that name.

    A recogniser takes "Norwich Port Warden Ida Moe" for a body; "Office of Warden Ida Moe" is one.
    """
    for norm, whole in known.items():
        words = norm.split()
        for at in range(1, len(words) - 1):
            base, office = known.get(" ".join(words[at:])), words[at - 1]
            held = office in _OFFICES or kind_of_noun(office) == "person"
            plain = whole.kind not in _OWN_NAMES and MINOR_WORDS.isdisjoint(words[:at])
            if base and base.kind == "person" and held and plain:
                yield whole, base


def _is_no_part_of_several(added: str, whole: KnownName, base: KnownName) -> bool:
    """Tell whether a word added to several names leaves the entity the same, as 地区 does."""
    if base.kind != whole.kind:
        return False
    return base.kind == "person" or (
        base.kind == "place" and len(added) > 1 and tag_of(added) == "n"
    )


def known_names(rows: Iterable[dict[str, Any]]) -> dict[str, KnownName]:
    """Return the names of a corpus by their normal forms; rows have name, kind and mentions."""
    written: dict[str, Counter[str]] = defaultdict(Counter)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        norm = normalise_name(row["name"])
        written[norm][row["name"]] += row["mentions"]
        kinds[norm][row["kind"]] += row["mentions"]
    return {
        norm: KnownName(
            min(names, key=lambda name: (-names[name], name)),
            names.total(),
            voted_kind(kinds[norm]),
        )
        for norm, names in written.items()
    }


def _splits(norm: str, known: dict[str, KnownName]) -> Iterator[tuple[KnownName, str, bool]]:
    """Yield each much commoner name at an end of a name, the rest, and if the rest precedes it."""
    spaced = not HAN_OR_ZERO.search(norm)
    for at in range(1, len(norm)):
        if spaced and norm[at] != " ":
            continue
        first, last = norm[:at].strip(), norm[at:].strip()
        for part, rest, before in ((first, last, False), (last, first, True)):
            base = known.get(part)
            if len(part) > 1 and base and base.mentions >= _TIMES_ALONE * known[norm].mentions:
                yield base, rest, before


def _is_no_part(added: str, whole: KnownName, base: KnownName, before: bool) -> bool:
    """Tell whether the added words are verbs, function words or others that are in no such name."""
    if not HAN_OR_ZERO.search(added):
        # Will X, Configure X, X Apply; but X Consulting, X DELETE and x_banned are names.
        act = is_never_noun(added) and (before or is_base_verb(added))
        written = added.capitalize() in whole.name.split()
        return written and base.kind != "person" and (act or (before and added in BEFORE_VERBS))
    words = segmenter().cut(added)
    tag = tag_of(words[-1 if before else 0])
    if HAN_OR_ZERO.search(base.name):
        fitting = ("person", "place") if before else ("person",)
        if base.kind not in fitting or base.name in _SURNAMES:
            return False
    elif before and tag == "v":
        return False
    return tag in (_BEFORE if before else _NO_PART) or added in STOP_WORDS


def pieces_of_names(
    names: dict[str, KnownName], places: Iterable[dict[str, Any]]
) -> dict[str, str]:
    """Return the whole name for each piece into which a name with `/` or `&` was split.

    A piece occurs in no document without the whole name, and not much more often. `places` have
    name and document_id.
    """
    known = {entry.name: entry for entry in names.values()}
    likely = [
        (piece, whole)
        for name, whole in known.items()
        for piece in sorted(_pieces(name) & known.keys())
        if known[piece].kind not in ("person", "place")
        and known[piece].mentions <= _AS_OFTEN * whole.mentions
    ]
    documents = _documents_of(
        {name for piece, whole in likely for name in (piece, whole.name)}, places
    )
    wholes: dict[str, KnownName] = {}
    for piece, whole in likely:
        if documents[piece] <= documents[whole.name]:
            best = wholes.get(piece, whole)
            wholes[piece] = max(best, whole, key=lambda known: (known.mentions, known.name))
    return {piece: whole.name for piece, whole in wholes.items()}


def _documents_of(names: set[str], places: Iterable[dict[str, Any]]) -> dict[str, set[str]]:
    """Return the documents of some names: those of all names would take much memory."""
    documents: dict[str, set[str]] = defaultdict(set)
    for row in places if names else ():
        if row["name"] in names:
            documents[row["name"]].add(row["document_id"])
    return documents


def _pieces(name: str) -> set[str]:
    """Return the word sequences that end before or begin after a joint in a name."""
    pieces = set()
    for joint in _JOINTS.finditer(name):
        before, after = name[: joint.start()].split(), name[joint.end() :].split()
        pieces |= {" ".join(before[at:]) for at in range(len(before))}
        pieces |= {" ".join(after[: at + 1]) for at in range(len(after))}
    return {piece for piece in pieces if len(piece) > 1}


def pieces_of_long_forms(
    names: dict[str, KnownName], places: Iterable[dict[str, Any]], stated: list[dict[str, Any]]
) -> dict[str, str]:
    """Return, for each piece of a long form with a stated acronym, the whole long form.

    Only long forms count that were split everywhere, so that no mention has them as a whole. A
    piece occurs in no document without the acronym, and not much more often.
    """
    known = {entry.name: entry for entry in names.values()}
    likely = []
    for row in stated:
        name, acronym = row["name"], known.get(row["alias"])
        if acronym is None or not is_acronym_of(row["alias"], name):
            continue
        words = name.split()
        joints = [at for at, word in enumerate(words) if word in MINOR_WORDS]
        for at in joints:
            for piece in (" ".join(words[:at]), " ".join(words[at + 1 :])):
                own = known.get(piece)
                if own is not None and own.mentions <= _AS_OFTEN * acronym.mentions:
                    likely.append((piece, acronym.name, name))
    documents = _documents_of({name for one in likely for name in one}, places)
    return {
        piece: name
        for piece, acronym, name in likely
        if name not in documents and documents[piece] <= documents[acronym]
    }
