"""The closed classes of English words, and the signs of negation in both languages.

Rules and patterns take their words from here, so that a class has the same words everywhere. A list
elsewhere is of a narrower meaning, which its name says.
"""

import re
from collections.abc import Collection

from tasks.text.languages import word_set

ARTICLES = word_set("a an the")
DEMONSTRATIVES = word_set("this that these those")
POSSESSIVES = word_set("my your his her its our their")
FIRST_PERSON = word_set("i we me us my our ours mine")
SECOND_PERSON = word_set("you your yours")

FORMS_OF_BE = word_set("am is are was were be been being")
FORMS_OF_HAVE = word_set("have has had")
FORMS_OF_DO = word_set("do does did")
MODALS = word_set("can could may might must shall should will would")
AUXILIARIES = word_set("am is are was were") | FORMS_OF_HAVE | FORMS_OF_DO | MODALS
"""The finite forms, which come before the subject in a question."""

PREPOSITIONS = word_set(
    "of in on at by to for from with as into under over about against between among during near "
    "through within after before behind along around alongside onto upon across toward towards "
    "until since off out up via following including concerning regarding despite according"
)
QUESTION_WORDS = word_set("who whom whose what which when where why how")

NEGATORS = word_set("not n't never no")
"""They negate the verb or noun that they stand with."""
NEGATIONS = NEGATORS | word_set("none nor neither nobody nothing without cannot")
CONTRACTED_NEGATIONS = word_set(
    "isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't couldn't won't "
    "wouldn't shouldn't mustn't"
)
NEGATED = re.compile(
    r"\b(?:not|never|no|none|nor|neither|without|cannot)\b|n['’]t\b|[不没未非无莫勿]", re.I
)

FUNCTION_WORDS = (
    ARTICLES | DEMONSTRATIVES | POSSESSIVES | QUESTION_WORDS | CONTRACTED_NEGATIONS
    | FORMS_OF_BE | FORMS_OF_HAVE | FORMS_OF_DO | MODALS
) | word_set(
    "of in on at to for from by with and or it hers he she they them there than then as into about "
    "both same also not no much many more most some any all each other i me you we us if so such "
    "only very name called i'm we're you're they're i've we've you've i'll we'll you'll"
)  # fmt: skip
"""Words of a question that say nothing about its subject."""


def any_of(words: Collection[str]) -> str:
    """Return the pattern of any of these words, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))
