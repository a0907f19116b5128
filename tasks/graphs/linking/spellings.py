"""Forms for fuzzy look-ups of names: character n-grams, initials and acronyms.

All functions take normal forms (`tasks.text.names.normalise_name`): words in lower case, separated
by single spaces.
"""

from tasks.text.languages import HAN
from tasks.text.names import MINOR_WORDS

GRAM = 3  # characters per n-gram
LONGEST = 120  # characters of a name that are cut into n-grams
MOST_WORDS = 12  # words of a name that has short forms


def padded(normal: str) -> str:
    """Return a normal form with a space at both ends, as it is cut into n-grams."""
    return f" {normal[:LONGEST]} "


def pieces(normal: str) -> list[str]:
    """Return the distinct n-grams of a normal form, in order."""
    text = padded(normal)
    return list(dict.fromkeys(text[at : at + GRAM] for at in range(len(text) - GRAM + 1)))


def han_of(normal: str) -> str:
    """Return the runs of Chinese characters in a name, separated by spaces."""
    return " ".join(HAN.findall(normal[:LONGEST]))


def han_pieces(text: str) -> list[str]:
    """Return the distinct pairs of neighbouring Chinese characters; a lone one stays single."""
    pairs = []
    for run in HAN.findall(text):
        pairs += [run[at : at + 2] for at in range(len(run) - 1)] or [run]
    return list(dict.fromkeys(pairs))


def short_forms(normal: str) -> list[str]:
    """Return the acronyms and initialled forms of a name of several words.

    `john ronald reuel tolkien` gives the acronym `jrrt`, and with its last word in full
    `jrr tolkien` and `j tolkien`; `university of california` gives `uoc` and `uc`.
    """
    words = normal.split()
    if not 2 <= len(words) <= MOST_WORDS or not normal[:1].isalpha():
        return []
    acronym = "".join(word[0] for word in words)
    major = "".join(word[0] for word in words if word not in MINOR_WORDS)
    forms = [form for form in (acronym, major) if len(form) > 1]
    if len(words) <= 5 and len(words[-1]) > 1:
        initials = acronym[:-1]
        forms += [f"{initials} {words[-1]}", f"{initials[0]} {words[-1]}"]
    return [form for form in dict.fromkeys(forms) if form != normal]
