"""Find which of a question's choices the answers refer to."""

from collections.abc import Iterable, Sequence
from itertools import product

from tasks.programs.knowledge_bases.protocol import KnowledgeBase
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
    answer's entity; else the choice whose name is most similar to an answer's.
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
    best = max(choices, key=lambda choice: likest(choice, answers))
    return meant or (best if likest(best, answers) >= LEAST_LIKE else "")
