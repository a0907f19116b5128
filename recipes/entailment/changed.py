"""Changes of a parsed sentence that its words alone do not show: roles, causes, details, doubts.

Where a change can be made to the evidence as well, the same claim is also supported, so that the
claim alone does not tell the verdict.
"""

import re
from collections.abc import Iterator
from random import Random
from typing import Any

from recipes.entailment.pair import Verdict

Made = tuple[str, str, Verdict, str]  # evidence, claim, verdict, what was done
_BECAUSE = ("because", "since", "as")
_JOINED = re.compile(r"(?:,|\band\b|\bor\b|\s)*", re.IGNORECASE)
_VERBS = {
    " is ": " may be ", " are ": " may be ", " was ": " may have been ", " were ": " could be ",
    " has ": " probably has ", " will ": " might ", " had ": " is said to have had ",
}  # fmt: skip
_ALL, _SOME = ("All ", "Every one of the "), ("Some ", "Most ", "Many ", "A few ")


def exchanged_roles(evidence: str, claim: str, span: Any, random: Random) -> Iterator[Made]:
    """Yield pairs in which two names of one kind, or subject and object, change their places."""
    for one, other in _partners(span, claim, random)[:1]:
        wrong, changed = _exchange(claim, one, other), _exchange(evidence, one, other)
        if wrong != claim:
            yield evidence, wrong, "refute", "roles"
            yield changed, wrong, "support", "roles"
            yield changed, claim, "refute", "roles"
            yield evidence, claim, "support", "roles"


def invented_cause(evidence: str, claim: str, reason: str, random: Random) -> Iterator[Made]:
    """Yield pairs in which a claim has a cause that its evidence has, has not, or reverses."""
    word, start, inner = random.choice(_BECAUSE), claim.rstrip("."), lower_first(reason)
    caused = f"{start} {word} {inner.rstrip('.')}."
    first = (
        f"{random.choice(('Because', 'Since', 'As'))} {inner.rstrip('.')}, {lower_first(start)}."
    )
    result = random.choice((f"{start}. As a result, {inner}", f"{start}, so {inner}"))
    yield evidence, random.choice((caused, first)), "unknown", "cause"
    yield f"{evidence} {reason}", caused, "unknown", "cause"
    yield first, caused, "support", "cause"
    yield caused, first, "support", "cause"
    yield result, caused, "refute", "cause"
    yield caused, claim, "support", "cause"


def invented_detail(evidence: str, claim: str, detail: str, random: Random) -> Iterator[Made]:
    """Yield pairs in which a claim has a phrase of another sentence, and its evidence may not."""
    if detail in evidence:
        return
    ends = f"{claim.rstrip('.')} {detail}."
    begins = f"{detail[:1].upper()}{detail[1:]}, {lower_first(claim)}"
    yield evidence, random.choice((ends, begins)), "unknown", "detail"
    yield ends, begins, "support", "detail"
    yield ends, claim, "support", "detail"
    yield claim, ends, "unknown", "detail"


def mixed(first: Any, second: Any, claims: tuple[str, str], random: Random) -> Iterator[Made]:
    """Yield pairs of two sentences with a claim of one, or with subject and verb from each."""
    subjects = [subject_of(span) for span in (first, second)]
    both = f"{first.text.strip()} {second.text.strip()}"
    one, other = subjects
    if not one or not other or one.lower() == other.lower() or not claims[1].startswith(other):
        return
    yield both, one + claims[1][len(other) :], "unknown", "mixed"
    yield both, claims[1], "support", "mixed"
    yield both, claims[0], "support", "mixed"


def doubted(evidence: str, claim: str, random: Random) -> Iterator[Made]:
    """Yield pairs in which evidence or claim is only possible, or says some for all."""
    for plain, doubt in _VERBS.items():
        if claim.count(plain) == 1 and evidence.count(plain) == 1:
            unsure, unsure_claim = evidence.replace(plain, doubt), claim.replace(plain, doubt)
            yield unsure, claim, "unknown", "doubt"
            yield unsure, unsure_claim, "support", "doubt"
            yield evidence, claim, "support", "doubt"
            return
    if re.match(r"(?:The )?[A-Z]?[a-z]+s (?:are|were|have|can)\b", claim):
        noun = lower_first(claim.removeprefix("The "))
        every, some = f"{random.choice(_ALL)}{noun}", f"{random.choice(_SOME)}{noun}"
        yield some, every, "unknown", "all"
        yield every, some, "support", "all"
        yield some, some, "support", "all"


def moved_phrase(claim: str, span: Any) -> str | None:
    """Return a claim with its last phrase of place or time in front, if it has one."""
    for phrase in phrases_of(span):
        if claim.rstrip(".").endswith(f" {phrase}"):
            rest = claim.rstrip(".").removesuffix(f" {phrase}")
            return f"{phrase[:1].upper()}{phrase[1:]}, {lower_first(rest)}."
    return None


def phrases_of(span: Any) -> list[str]:
    """Return the prepositional phrases of a sentence's root, of two to six words."""
    parts = [child for child in span.root.children if child.dep_.startswith("obl")]
    texts = [[token.text for token in part.subtree] for part in parts]
    return [" ".join(words) for words in texts if 2 <= len(words) <= 6 and words[0].islower()]


def subject_of(span: Any) -> str:
    """Return the subject of a sentence's root, empty without one."""
    for child in span.root.children:
        if child.dep_.startswith("nsubj"):
            return " ".join(token.text for token in child.subtree)
    return ""


def lower_first(sentence: str) -> str:
    """Return a sentence that goes on in the middle of another; a name keeps its capital."""
    first = sentence.split(" ", 1)[0]
    known = ("The", "A", "An", "It", "He", "She", "They", "This", "In", "On", "At", "There", "His")
    return sentence[:1].lower() + sentence[1:] if first in known else sentence


def _partners(span: Any, claim: str, random: Random) -> list[tuple[str, str]]:
    names = [entity for entity in span.ents if claim.count(entity.text) == 1]
    pairs = [
        (one.text, other.text)
        for place, one in enumerate(names)
        for other in names[place + 1 :]
        if one.label_ == other.label_ and not _is_list(claim, one.text, other.text)
    ]
    objects = [c for c in span.root.children if c.dep_ in ("obj", "obl")]
    for child in objects:
        other = " ".join(token.text for token in child.subtree)
        subject = subject_of(span)
        if subject and claim.count(subject) == claim.count(other) == 1 and child.dep_ == "obj":
            pairs.append((subject, other))
    random.shuffle(pairs)
    return [pair for pair in pairs if pair[0] not in pair[1] and pair[1] not in pair[0]]


def _is_list(claim: str, one: str, other: str) -> bool:
    begin, end = sorted((claim.index(one), claim.index(other)))
    between = claim[begin:end].removeprefix(one).removeprefix(other)
    return bool(_JOINED.fullmatch(between))


def _exchange(text: str, one: str, other: str) -> str:
    swapped = re.sub(
        f"{re.escape(one)}|{re.escape(other)}", lambda m: other if m[0] == one else one, text
    )
    return swapped[:1].upper() + swapped[1:]
