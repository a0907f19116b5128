"""Which words English has besides names, from LemmInflect's dictionary (the SPECIALIST Lexicon)."""

from functools import lru_cache


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
