"""Pairs in which the same words say who did what to whom, or why, in either order.

A few hundred of them teach a model to read the order of words (Min et al. 2020).
"""

from collections.abc import Iterator
from random import Random

from recipes.entailment.facts import invented_name
from recipes.entailment.pair import Pair, Verdict, in_reported_half

_VERBS = (
    "founded", "bought", "defeated", "taught", "hired", "replaced", "sued", "visited",
    "painted", "discovered", "designed", "led", "sold", "invited", "rescued", "followed", "praised",
    "criticised", "advised", "appointed", "succeeded", "preceded", "funded", "supplied", "employed",
    "built", "renamed", "acquired", "commissioned", "trained", "elected", "arrested", "nominated",
)  # fmt: skip
_COMPARED = (
    ("larger", "smaller"), ("older", "younger"), ("faster", "slower"), ("taller", "shorter"),
    ("richer", "poorer"), ("heavier", "lighter"), ("deeper", "shallower"), ("earlier", "later"),
)  # fmt: skip
_ROSE = ("rose", "grew", "climbed"), ("fell", "sank", "dropped")
_THINGS = ("Wages", "Prices", "The fee", "Membership", "The output", "Attendance", "The rent")
_UNITS = ("", " pounds", " per cent", " members", " tonnes", " a week")
_WORKS = ("the opera", "the report", "the garden", "the bridge", "the play", "the survey")
_CLAUSES = (
    "the road was closed", "the river rose", "the owner moved away", "the mill burned down",
    "the council ran out of money", "the harbour froze", "the director fell ill",
    "the school was enlarged", "the contract ended", "visitors complained", "the law changed",
    "the bridge was unsafe", "the price of coal fell", "the archive was moved",
    "the festival was cancelled", "the machine broke", "the harvest failed", "the staff resigned",
)  # fmt: skip
_TAILS = (
    "",
    " in {y}",
    " after {y}",
    " for two years",
    ", which is in {c}",
    " with the help of {c}",
)

Made = tuple[str, str, Verdict]


def role_pairs(count: int, seed: int = 0) -> Iterator[Pair]:
    """Yield pairs of sentences from patterns, with invented names, three of each draw."""
    random = Random(seed)
    for _ in range(count):
        pattern = random.choice((_done, _done, _done, _compared, _changed, _shared, _caused))
        made = list(pattern(random))
        for evidence, claim, verdict in random.sample(made, min(3, len(made))):
            yield Pair(evidence, claim, verdict, "patterns", in_reported_half(evidence))


def _done(random: Random) -> Iterator[Made]:
    one, other, third = (invented_name(random) for _ in range(3))
    verb, second = random.sample(_VERBS, 2)
    tail = random.choice(_TAILS).format(y=random.randint(1700, 2020), c=third)
    active, passive = f"{one} {verb} {other}", f"{other} was {verb} by {one}"
    turned, turned_passive = f"{other} {verb} {one}", f"{one} was {verb} by {other}"
    for evidence in (active, passive):
        for claim in (active, passive, f"It was {one} who {verb} {other}"):
            yield f"{evidence}{tail}.", f"{claim}.", "support"
        for claim in (turned, turned_passive, f"It was {other} who {verb} {one}"):
            yield f"{evidence}{tail}.", f"{claim}.", "refute"
            yield f"{evidence}{tail}.", f"{claim}{tail}.", "refute"
        yield f"{evidence}.", f"{one} {second} {other}.", "unknown"
        yield f"{evidence}. {third} {second} {other}.", f"{third} {verb} {other}.", "unknown"
        yield f"{evidence}. {third} {second} {one}.", f"{third} {second} {one}.", "support"


def _compared(random: Random) -> Iterator[Made]:
    one, other = (invented_name(random) for _ in range(2))
    more, less = random.choice(_COMPARED)
    forms = f"{one} is {more} than {other}.", f"{other} is {less} than {one}."
    turned = f"{other} is {more} than {one}.", f"{one} is {less} than {other}."
    for evidence in forms:
        for claim in forms:
            yield evidence, claim, "support"
        for claim in turned:
            yield evidence, claim, "refute"


def _changed(random: Random) -> Iterator[Made]:
    low, high = sorted(random.sample(range(2, 900), 2))
    up, down = (random.choice(words) for words in _ROSE)
    thing, unit = random.choice(_THINGS), random.choice(_UNITS)
    evidence = f"{thing} {up} from {low} to {high}{unit}."
    yield evidence, f"{thing} {random.choice(_ROSE[0])} to {high}{unit}.", "support"
    yield evidence, f"{thing} {up} from {low} to {high}{unit}.", "support"
    yield evidence, f"{thing} {up} from {high} to {low}{unit}.", "refute"
    yield evidence, f"{thing} {down} from {high} to {low}{unit}.", "refute"
    yield evidence, f"{thing} {up} to {low}{unit}.", "refute"


def _shared(random: Random) -> Iterator[Made]:
    one, other, third = (invented_name(random) for _ in range(3))
    verb, second = random.sample(_VERBS, 2)
    work, role = random.choice(_WORKS), random.choice(("as director", "as chair", "as conductor"))
    evidence = f"{one} {verb} {third} and {other} {second} {work}."
    yield evidence, f"{other} {second} {work}.", "support"
    yield evidence, f"{one} {second} {work}.", "refute"
    yield evidence, f"{other} {verb} {third} and {one} {second} {work}.", "refute"
    helped = f"{one} {verb} {work} with the help of {other}."
    yield helped, f"{one}, whom {other} helped, {verb} {work}.", "support"
    yield helped, f"{other} {verb} {work} with the help of {one}.", "refute"
    followed = f"{other} succeeded {one} {role} in {random.randint(1900, 2020)}."
    yield followed, f"{one} was succeeded by {other} {role}.", "support"
    yield followed, f"{one} succeeded {other} {role}.", "refute"


def _caused(random: Random) -> Iterator[Made]:
    effect, cause, other = random.sample(_CLAUSES, 3)
    as_told = f"{_sentence(effect)} because {cause}.", f"{_sentence(cause)}, so {effect}."
    for evidence in as_told:
        yield evidence, random.choice(as_told), "support"
        yield evidence, f"{_sentence(cause)} because {effect}.", "refute"
        yield evidence, f"{_sentence(effect)} because {other}.", "refute"
    apart = f"{_sentence(effect)}. {_sentence(cause)}."
    yield apart, f"{_sentence(effect)} because {cause}.", "unknown"
    yield f"{_sentence(effect)}.", f"{_sentence(effect)} because {cause}.", "unknown"
    yield apart, f"{_sentence(cause)} and {effect}.", "support"


def _sentence(clause: str) -> str:
    return clause[:1].upper() + clause[1:]
