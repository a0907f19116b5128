"""Find which of a question's choices the answers refer to."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from tasks.programs.knowledge_bases.protocol import KnowledgeBase
from tasks.text.languages import is_chinese
from tasks.text.name_likeness import likest
from tasks.text.names import normalise_name

LEAST_LINKED = 0.5  # linking score below which a choice is not taken to name an entity
LEAST_LIKE = 60.0  # likeness, of 100, below which a choice and an answer have different names
MOST_ANSWERS = 100  # answers that choices are compared with


def meant_choice(
    question: str,
    choices: Sequence[str],
    answers: Sequence[str],
    knowledge_bases: Iterable[KnowledgeBase],
) -> str:
    """Return the choice that the answers refer to, empty if there is none.

    It is the choice with an answer's name; else the choice that a knowledge base links to an
    answer's entity; else the only choice that stands in an answer, as a year does in a date; else
    the choice whose name is most similar to an answer's.
    """
    answers = answers[:MOST_ANSWERS]
    named = {normalise_name(choice): choice for choice in choices}
    same = next((named[name] for name in map(normalise_name, answers) if name in named), "")
    if same or not answers:
        return same
    linked: dict[str, str] = {}
    for base, choice in product(knowledge_bases, choices):
        candidates = base.entity_linking(question, [choice])
        if candidates and candidates[0].score >= LEAST_LINKED:
            linked.setdefault(candidates[0].entity.name, choice)
    meant = next((linked[answer] for answer in answers if answer in linked), "")
    meant = meant or next(filter(None, (_only_inside(answer, named) for answer in answers)), "")
    best = max(choices, key=lambda choice: likest(choice, answers))
    return meant or (best if likest(best, answers) >= LEAST_LIKE else "")


def _only_inside(answer: str, named: Mapping[str, str]) -> str:
    """Return the choice whose name an answer holds as whole words; empty if it holds several."""
    words = normalise_name(answer)
    inside = [choice for name, choice in named.items() if _holds(words, name)]
    return inside[0] if len(inside) == 1 else ""


def _holds(words: str, name: str) -> bool:
    if is_chinese(name):  # a single character may be part of another word
        return len(name) > 1 and name in words
    return f" {name} " in f" {words} "
