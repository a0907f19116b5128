"""Names with a genitive inside, "Let's Encrypt" and "McDonald's", which are one word to the parser.

A word with 's owns what follows. Where nothing can be owned, because a finite verb, a full stop or
a preposition follows, 's belongs to the name.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks.text.english_words import is_past_form, is_word
from tasks.text.languages import word_set

if TYPE_CHECKING:
    from spacy import Language
    from spacy.tokens import Doc

_GENITIVE = re.compile(r"\b((?:[A-Z][\w.-]+ (?:& )?)*)([A-Z][\w-]+)['’]s\b")
_LETS = re.compile(r"\bLet['’]s [A-Z]\w++(?! [A-Z])")
_LETS_WITHIN = re.compile(r"(?<=[\w,] )Let['’]s [A-Z]\w++")
_WORDS_AFTER = re.compile(r"[ \n]+(\w+)(?:[ \n]+(\w+))?")
_WORD_BEFORE = re.compile(r"(\w+)[ \n]+\Z")
_OPENS = re.compile(r"(?:^|[.!?:]\s+|\n\s*)\Z")
_ENDS = re.compile(r"[.;,)]?\s*\Z|[.;,)](?! ?\w+['’]s\b)")
_SENTENCE = re.compile(r"[.!?]\s|\n\s*\n")
_FINITE = word_set(
    "is was are were has had have will would can could may might must should does did says"
)
_AROUND = word_set("at by for from via")
_PREPOSITIONS = word_set("at by for from in into on to with during since until after before as")
_CLOSED = word_set(
    "a an the this that these those its his her their our all some more most two three in on at to "
    "into for from with by it him them us"
)
# The pipeline knows this name from its texts; a parsed name gets the features of its letters.
_LIKE = "NASA"


def join_genitive_names(nlp: "Language", doc: "Doc") -> None:
    """Make one token of each name with 's inside; the pipeline sees an organisation's name."""
    text = doc.text
    if "'s" not in text and "’s" not in text:
        return
    spans = [doc.char_span(start, end) for start, end in _names(text)]
    with doc.retokenize() as retokenizer:
        for span in spans:
            if span is not None and len(span) > 1:
                retokenizer.merge(span)
                name, like = nlp.vocab[span.text], nlp.vocab[_LIKE]
                name.norm_, name.shape_ = like.norm_, like.shape_
                name.prefix_, name.suffix_ = like.prefix_, like.suffix_


def _names(text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a text that are such names."""
    lets = {match.span() for form in (_LETS, _LETS_WITHIN) for match in form.finditer(text)}
    yield from lets
    genitives = [
        match
        for match in _GENITIVE.finditer(text)
        if not is_word(match[2].lower())
        and not any(start <= match.start() < end for start, end in lets)
    ]
    shown = {match[2] for match in genitives if _owns_nothing(text, match)}
    for match in genitives:
        bare = re.search(rf"\b{re.escape(match[1] + match[2])}\b(?!['’]s\b)", text)
        if match[2] in shown and not bare:
            yield match.start(2), match.end()


def _owns_nothing(text: str, genitive: re.Match[str]) -> bool:
    """Whether what follows shows that 's marks no owner, and no contraction of "is" or "has"."""
    before = text[: genitive.start()]
    sentence = max((end.end() for end in _SENTENCE.finditer(before)), default=0)
    if _GENITIVE.search(before, sentence):
        return False  # "Texas's coast is long, Alaska's is longer"
    after = _WORDS_AFTER.match(text, genitive.end())
    first, second = (after[1], after[2] or "") if after else ("", "")
    if first in _FINITE:
        return True
    if is_past_form(first) and (second in _CLOSED or second[:1].isupper() or second.isdigit()):
        return True
    preposition = _WORD_BEFORE.search(before)
    if preposition is None or preposition[1].lower() not in _AROUND:
        return False
    return first in _PREPOSITIONS or _ENDS.match(text, genitive.end()) is not None
