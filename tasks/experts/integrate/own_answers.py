"""Short answers by the experts themselves, for use without an answering language model.

Answers with the same words are one candidate. Each expert has one vote, which is split among its
answers; the weight of a vote grows with the similarity of the expert's description to the question.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.experts.filters.selection import cosines
from tasks.experts.integrate.decisions import (
    Encode,
    Record,
    expert_likeness,
    text_decision,
)
from tasks.experts.integrate.filter_chain import Filters
from tasks.experts.integrate.writing import statement
from tasks.experts.knowledge import KnowledgeText
from tasks.questions.normalise import bare_words, token_f1

SHARPNESS = 10.0  # a cosine that is higher by 0.1 gives e times the weight
NEARLY = 0.9  # share of the best score that other answers need to be kept
EVIDENCE_WEIGHT = 0.5  # evidence that refutes halves a score
WORDS_WEIGHT = 0.5  # of partly shared words; an answer that equals a choice has weight one

WriteAnswers = Callable[[str, str], list[str]]  # expert, question


@dataclass(frozen=True, slots=True)
class ExpertAnswer:
    """A short answer with its share of votes and its score, both 0 to 1.

    `text` is the question with the answer, as written by the expert with the most votes for it.
    """

    answer: str
    votes: float
    score: float
    text: KnowledgeText


def answer_by_votes(
    question: str,
    descriptions: Mapping[str, str],
    write: WriteAnswers,
    filters: Filters,
    record: Record,
    *,
    encode: Encode,
    most: int,
) -> list[ExpertAnswer]:
    """Return the best answer and those nearly as good, the best first; none without any answer.

    The score is the share of votes, raised if evidence supports the answer and lowered if evidence
    refutes it. Only the `most` answers with the most votes are checked and may be returned. The
    decision on each answer is recorded.
    """
    candidates = _by_votes(question, descriptions, write, encode)
    checked = filters.score(question, [candidate.text for candidate in candidates[:most]])
    scored = [
        replace(candidate, score=_score(candidate.votes, text), text=text)
        for candidate, text in zip(candidates[:most], checked, strict=True)
    ]
    scored.sort(key=lambda candidate: -candidate.score)
    kept = [c for c in scored if c.score >= NEARLY * scored[0].score]
    for candidate in kept:
        record(text_decision(candidate.text))
    for candidate in (*scored[len(kept) :], *candidates[most:]):
        record(text_decision(candidate.text.drop("votes")))
    return kept


def best_choice(answers: Sequence[ExpertAnswer], choices: Sequence[str], encode: Encode) -> str:
    """Return the choice that shares most words with the answers, else the most similar one."""
    scores = [
        sum(
            answer.score
            * (
                1.0
                if bare_words(answer.answer) == bare_words(choice)
                else WORDS_WEIGHT * token_f1(answer.answer, choice)
            )
            for answer in answers
        )
        for choice in choices
    ]
    if not any(scores):
        vectors = encode([answers[0].answer, *choices])
        scores = cosines(vectors[0], vectors[1:]).tolist()
    return choices[int(np.argmax(scores))]


def _by_votes(
    question: str, descriptions: Mapping[str, str], write: WriteAnswers, encode: Encode
) -> list[ExpertAnswer]:
    names = list(descriptions)
    likeness = expert_likeness(encode, question, descriptions)
    weights = np.exp(SHARPNESS * (likeness - likeness.max()))
    votes: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    forms: dict[str, str] = {}
    for name, weight in zip(names, weights / weights.sum(), strict=True):
        answers = write(name, question)
        for answer in answers:
            key = bare_words(answer) if any(map(str.isalnum, answer)) else ""
            if key:
                forms.setdefault(key, answer)
                votes[key][name] += float(weight) / len(answers)
    candidates = []
    for key, by_expert in votes.items():
        share = sum(by_expert.values())
        expert = max(by_expert, key=by_expert.__getitem__)
        text = KnowledgeText(expert, statement(question, forms[key]))
        candidates.append(ExpertAnswer(forms[key], share, share, text))
    return sorted(candidates, key=lambda candidate: -candidate.votes)


def _score(votes: float, text: KnowledgeText) -> float:
    speaks = (text.support or 0.0) - (text.refute or 0.0)
    return min(1.0, votes * (1 + EVIDENCE_WEIGHT * speaks))
