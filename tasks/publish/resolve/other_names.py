"""Which names of an entity are other names, and which only spell or bend its own."""

from tasks.extract.rules.english_words import is_word
from tasks.text.names import LEGAL_FORMS, normalise_name, strip_titles

_GENERATIONS = frozenset({"jr", "sr", "ii", "iii", "iv"})


def is_other_name(form: str, name: str, kind: str) -> bool:
    """Tell whether a form is the name itself or another one of what is called so.

    It is none if it differs in spelling or number alone, or is a legal form or one plain word of a
    longer name ("Program"); of a person, if it has a title or more words around the name, or lacks
    the last of several.
    """
    if form == name:
        return True
    norm, own = normalise_name(form), normalise_name(name)
    if norm == own or norm in LEGAL_FORMS or norm in (f"{own}s", own.removesuffix("s")):
        return False
    if kind == "person":
        rest = own.removeprefix(f"{norm} ")
        cut = " " in norm and rest != own and rest not in _GENERATIONS
        return not cut and f" {own} " not in f" {norm} " and strip_titles(form) == form
    return not (norm in own.split() and is_word(norm) and not form.isupper())
