"""English words and the forms of verbs, from LemmInflect's dictionary (the SPECIALIST Lexicon).

Relations are named after verbs, so "wrote", "written" and "writes" must all become "write". A form
that the dictionary lacks stays as the text has it: a guessed one ("permited") is worse than none.
"""

import gzip
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from tasks.text.importing import without

_CONTRACTED = {"'s": "be", "'re": "be", "'m": "be", "'ve": "have", "'d": "have"}
_FINITE_BASES = frozenset(["am", "are", "is", "has"])


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with words that agree: `1 fact is`, `1,200 facts are`.

    Without words for `many`, an s is added to those for one.
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


@lru_cache(maxsize=1 << 16)
def is_word(word: str) -> bool:
    """Return whether a lower-case word is in the dictionary, in any form and not only as a name."""
    return word in _stop_words() or bool(_dictionary().getAllLemmas(word).keys() - {"PROPN"})


@lru_cache(maxsize=1 << 14)
def is_base_verb(word: str) -> bool:
    """Return whether a lower-case word is a verb's base form, with which instructions begin."""
    return word in _lemmas(word)


@lru_cache(maxsize=1 << 14)
def is_inflected_verb(word: str) -> bool:
    """Return whether a lower-case word is a verb form other than the base (designing, supports)."""
    return bool(_lemmas(word)) and word not in _lemmas(word)


@lru_cache(maxsize=1 << 14)
def is_never_noun(word: str) -> bool:
    """Return whether a lower-case word can only be a verb form (apply, not visit)."""
    return _dictionary().getAllLemmas(word).keys() == {"VERB"}


def is_adjective(word: str) -> bool:
    """Return whether a lower-case word may be an adjective and no noun (capable, not capital)."""
    return "ADJ" in (kinds := _dictionary().getAllLemmas(word)) and "NOUN" not in kinds


@lru_cache(maxsize=1 << 14)
def verb_lemma(form: str, tag: str) -> str:
    """Return the base form, in lower case, of a verb with a Penn tag; an unknown verb unchanged."""
    form = form.lower()
    if form in _CONTRACTED:
        return _CONTRACTED[form]
    if tag in ("VB", "VBP", "MD") and form not in _FINITE_BASES:
        return form
    lemmas = _lemmas(form)
    return next((lemma for lemma in lemmas if form in verb_forms(lemma, tag)), (*lemmas, form)[0])


@lru_cache(maxsize=1 << 14)
def verb_forms(lemma: str, tag: str) -> tuple[str, ...]:
    """Return the forms of a verb for a Penn tag, the commonest first; none for an unknown verb."""
    forms = _dictionary().getAllInflections(lemma, "VERB")
    fitting = forms.get(tag) or (forms.get("VBD", ()) if tag == "VBN" else ())
    return tuple(form for form in fitting if form.isalpha())


@lru_cache(maxsize=1 << 14)
def is_past_form(word: str) -> bool:
    """Return whether a word is a simple past or past participle that differs from the base form."""
    lemmas = (lemma for lemma in _lemmas(word) if lemma != word)
    return any(word in verb_forms(lemma, tag) for lemma in lemmas for tag in ("VBD", "VBN"))


@lru_cache(maxsize=1 << 14)
def noun_lemma(word: str, *, known: bool = False) -> str:
    """Return the singular of a lower-case noun; an unknown one unchanged, or empty if `known`."""
    return (*_dictionary().getAllLemmas(word, "NOUN").get("NOUN", ()), "" if known else word)[0]


@lru_cache(maxsize=1 << 14)
def is_plural(noun: str) -> bool:
    """Return whether a noun may be a plural in -s (menus, species, CPUs), as bonus may not.

    The dictionary decides; an unknown noun may be one unless it ends in -ss, -us or -is.
    """
    bare, word = noun.removesuffix("s"), noun.lower()
    if bare == noun or (len(bare) > 1 and bare.isupper()):
        return bare != noun
    if lemma := noun_lemma(word, known=True):
        return lemma != word or word.endswith("ies")  # of series, both forms are the same
    return not word.endswith(("ss", "us", "is"))


def _lemmas(form: str) -> tuple[str, ...]:
    return _dictionary().getAllLemmas(form, "VERB").get("VERB", ())


@cache
def _dictionary() -> Any:
    """Return LemmInflect without its extension of spaCy, which takes three seconds to load.

    It would also parse 150,000 lines for the first word that is looked up.
    """
    with without("spacy"):
        import lemminflect
        from lemminflect.codecs.InflectionLUCodec import InflectionLUCodec
        from lemminflect.codecs.LemmaLUCodec import LemmaLUCodec
        from lemminflect.core.LexicalUtils import categoryToUPos

    def lemmas(line: str) -> dict[str, tuple[str, ...]]:
        _, category, forms = LemmaLUCodec.fromString(line)
        return {categoryToUPos(category): forms}

    def inflections(line: str) -> dict[str, tuple[str, ...]]:
        return InflectionLUCodec.fromString(line)[2]

    known, inflected = lemminflect.Lemmatizer(), lemminflect.Inflections()
    known.lemma_dict = _Entries(known.lemma_lu_fn, lemmas)
    entries = _Entries(inflected.infl_lu_fn, inflections)
    inflected.infl_dict = InflectionLUCodec.updateForAuxMod(entries)
    return lemminflect


class _Entries(dict[str, Any]):
    """The entries of a compressed word list, whose lines are parsed when a word is looked up."""

    def __init__(self, path: str, parsed: Callable[[str], dict[str, tuple[str, ...]]]) -> None:
        self._parsed = parsed
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file.read().splitlines():
                word = line.partition(",")[0]
                self[word] = f"{self[word]}\n{line}" if word in self else line

    def get(self, word: str, default: Any = None) -> Any:
        """Return the entry of a word."""
        entry = super().get(word, default)
        if isinstance(entry, str):
            lines, entry = entry.splitlines(), {}
            for line in lines:
                entry |= self._parsed(line)
            self[word] = entry
        return entry


@cache
def _stop_words() -> frozenset[str]:
    """Return spaCy's stop words from their file alone: the package takes seconds to load."""
    package = find_spec("spacy")
    assert package is not None and package.origin is not None
    path = Path(package.origin).parent / "lang" / "en" / "stop_words.py"
    spec = spec_from_file_location("stop_words", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return frozenset(module.STOP_WORDS)
