"""English words and the forms of verbs, from LemmInflect's dictionary (the SPECIALIST Lexicon).

Relations are named after verbs, so "wrote", "written" and "writes" must all become "write". A form
that the dictionary lacks stays as the text has it: a guessed one ("permited") is worse than none.
"""

from functools import lru_cache

_CONTRACTED = {"'s": "be", "'re": "be", "'m": "be", "'ve": "have", "'d": "have"}
_FINITE_BASES = frozenset(["am", "are", "is", "has"])


@lru_cache(maxsize=1 << 16)
def is_word(word: str) -> bool:
    """Whether a word in lower case stands in the dictionary, in any form; no mere name does."""
    # Slow to import: they import spaCy.
    from lemminflect import getAllLemmas
    from spacy.lang.en.stop_words import STOP_WORDS

    return word in STOP_WORDS or bool(getAllLemmas(word).keys() - {"PROPN"})


@lru_cache(maxsize=1 << 14)
def is_base_verb(word: str) -> bool:
    """Whether a word in lower case is a verb's base form, by which an instruction begins."""
    from lemminflect import getAllLemmas

    return word in getAllLemmas(word, "VERB").get("VERB", ())


@lru_cache(maxsize=1 << 14)
def is_never_noun(word: str) -> bool:
    """Whether a word in lower case is a verb's form and nothing else (apply, not visit)."""
    from lemminflect import getAllLemmas

    return getAllLemmas(word).keys() == {"VERB"}


@lru_cache(maxsize=1 << 14)
def verb_lemma(form: str, tag: str) -> str:
    """Return the base form of a verb in lower case by its Penn tag; unknown ones are left alone."""
    form = form.lower()
    if form in _CONTRACTED:
        return _CONTRACTED[form]
    if tag in ("VB", "VBP", "MD") and form not in _FINITE_BASES:
        return form
    lemmas = _lemmas(form)
    return next((lemma for lemma in lemmas if form in verb_forms(lemma, tag)), (*lemmas, form)[0])


@lru_cache(maxsize=1 << 14)
def verb_forms(lemma: str, tag: str) -> tuple[str, ...]:
    """Return the forms of a verb for a Penn tag, the commonest first; none of an unknown verb."""
    from lemminflect import getAllInflections

    forms = getAllInflections(lemma, "VERB")
    fitting = forms.get(tag) or (forms.get("VBD", ()) if tag == "VBN" else ())
    return tuple(form for form in fitting if form.isalpha())


@lru_cache(maxsize=1 << 14)
def is_past_form(word: str) -> bool:
    """Whether a word is a simple past or a past participle that differs from the base form."""
    lemmas = (lemma for lemma in _lemmas(word) if lemma != word)
    return any(word in verb_forms(lemma, tag) for lemma in lemmas for tag in ("VBD", "VBN"))


@lru_cache(maxsize=1 << 14)
def noun_lemma(word: str, *, known: bool = False) -> str:
    """Return a noun in lower case in the singular; an unknown one as it is, or empty if `known`."""
    from lemminflect import getAllLemmas

    return (*getAllLemmas(word, "NOUN").get("NOUN", ()), "" if known else word)[0]


def _lemmas(form: str) -> tuple[str, ...]:
    # Slow to import: it imports spaCy.
    from lemminflect import getAllLemmas

    return getAllLemmas(form, "VERB").get("VERB", ())
