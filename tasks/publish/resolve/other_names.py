"""Which names of an entity are other names, and which only spell or bend its own."""

from tasks.extract.rules.english_words import is_word
from tasks.text.names import LEGAL_FORMS, normalise_name, strip_titles


def is_other_name(form: str, name: str, kind: str) -> bool:
    """Tell whether a form is the name itself or another one of what is called so.

    It is none if it differs in spelling or number alone, or is a legal form or one plain word of a
    longer name ("Program"); of a person, if it has a title or more words around the name.
    """
    if form == name:
        return True
    norm, own = normalise_name(form), normalise_name(name)
    if norm == own or norm in LEGAL_FORMS or norm in (f"{own}s", own.removesuffix("s")):
        return False
    if kind == "person":
        return f" {own} " not in f" {norm} " and strip_titles(form) == form
    return not (norm in own.split() and is_word(norm) and not form.isupper())
