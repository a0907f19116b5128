"""Verbs in the present that the tagger took for nouns: "The cache stores sessions".

A sentence with a full stop but no finite verb is parsed again with a plain verb in the place of
each word that could be one. Where the parser then makes just one of them the sentence's verb, with
a subject of its number, the new tree is taken.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tasks.text.english_words import is_base_verb, verb_forms, verb_lemma

if TYPE_CHECKING:
    from spacy import Language
    from spacy.tokens import Doc, Span, Token

_FINITE = frozenset(["VBZ", "VBP", "VBD", "MD"])
_OPEN_CLASSES = frozenset(["NOUN", "PROPN", "VERB"])
_NOMINAL = frozenset(["NOUN", "PROPN", "PRON"])
_PLURAL = frozenset(["NNS", "NNPS"])
_COLUMNS = ("TAG", "POS", "LEMMA", "DEP", "HEAD")
_MOST_CANDIDATES = 6
_LONGEST = 60
_PLAIN = {"VBZ": "provides", "VBP": "provide"}


def read_hidden_verbs(nlp: "Language", doc: "Doc") -> "Doc":
    """Replace the trees of sentences whose verb was taken for a noun; return the same document."""
    changed: Any = None
    for sentence in doc.sents:
        if not _lacks_verb(sentence):
            continue
        readings = list(_readings(nlp, sentence))
        if len(readings) == 1:
            changed = doc.to_array(list(_COLUMNS)) if changed is None else changed
            changed[sentence.start : sentence.end] = readings[0].to_array(list(_COLUMNS))
    return doc if changed is None else doc.from_array(list(_COLUMNS), changed)


def _lacks_verb(sentence: "Span") -> bool:
    words = [token for token in sentence if not token.is_space]
    return (
        3 < len(words) < _LONGEST
        and words[-1].text == "."
        and words[0].text[0].isupper()
        and not any(token.tag_ in _FINITE for token in words)
        and not (sentence.root.pos_ == "VERB" and _has_subject(sentence.root))
    )


def _readings(nlp: "Language", sentence: "Span") -> Iterator["Doc"]:
    """Yield the parses in which a word that could be a verb is the verb of the sentence."""
    from spacy.tokens import Doc

    words = [token.text for token in sentence]
    spaces = [bool(token.whitespace_) for token in sentence]
    starts: list[bool | int | None] = [place == 0 for place in range(len(words))]
    sure, tried = _has_subject(sentence.root), 0
    for place, token in enumerate(sentence):
        tag = _present_tag(token) if place else ""
        if not tag or tried == _MOST_CANDIDATES or (sure and token != sentence.root):
            continue
        tried += 1
        plain = [*words[:place], _PLAIN[tag], *words[place + 1 :]]
        again = nlp(Doc(nlp.vocab, words=plain, spaces=spaces, sent_starts=starts))
        if _is_verb_of_sentence(again[place], tag):
            yield again


def _present_tag(token: "Token") -> str:
    """Return the tag that a word would have as a verb in the present, empty if it is none."""
    word = token.text
    if token.pos_ not in _OPEN_CLASSES or not (word.isalpha() and word.islower()):
        return ""
    if is_base_verb(word):
        return "VBP"
    return "VBZ" if word in verb_forms(verb_lemma(word, "VBZ"), "VBZ") else ""


def _is_verb_of_sentence(verb: "Token", tag: str) -> bool:
    """Whether a word is a sentence's verb, says something, and has a subject of its number."""
    subject = _subject(verb)
    if verb.dep_ != "ROOT" or verb.tag_ != tag or subject is None:
        return False
    if all(t.is_punct for t in verb.rights) or any(t.dep_ == "mark" for t in verb.lefts):
        return False
    first = verb.doc[0].lower_
    if subject.i and (first == "to" or is_base_verb(first)):
        return False  # an instruction: "Place positive comment cards"
    plural = subject.tag_ in _PLURAL or any(t.dep_ == "conj" for t in subject.rights)
    return subject.pos_ in _NOMINAL and plural == (tag == "VBP")


def _has_subject(root: "Token") -> bool:
    """Whether the top of a sentence is a verb by its subject; a participle may have another's."""
    return root.tag_ != "VBG" and _subject(root) is not None


def _subject(verb: "Token") -> "Token | None":
    return next((token for token in verb.lefts if token.dep_ in ("nsubj", "nsubj:pass")), None)
