"""Short answers by the experts themselves, for use without an answering language model.

Answers with the same words are one candidate. Each expert that is sure enough of its commonest
answer has one vote, which is split among its answers. The weight of a vote grows with the
probability that the answer is right, and with the similarity of the expert's description to the
question.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.experts.competence import Certainty, commonest, shares_of
from tasks.experts.filters.selection import Encode, cosines
from tasks.experts.integrate.decisions import Record, expert_likeness, text_decision
from tasks.experts.integrate.filter_chain import Filters
from tasks.experts.integrate.writing import statement
from tasks.experts.knowledge import KnowledgeText
from tasks.questions.normalise import bare_words, token_f1

SHARPNESS = 10.0  # a cosine that is higher by 0.1 gives e times the weight
NEARLY = 0.9  # share of the best score that other answers need to be kept
LEAST_WEIGHT = 1e-6  # so that weights can be divided by their sum
EVIDENCE_WEIGHT = 0.5  # evidence that refutes halves a score
WORDS_WEIGHT = 0.5  # of partly shared words; an answer that equals a choice has weight one

WriteAnswers = Callable[[str, str], list[str]]  # expert, question
Sure = Callable[[str, list[str]], Certainty]  # expert, answers


@dataclass(frozen=True, slots=True)
class ExpertAnswer:
    """A short answer with its share of votes, its score and its probability, all 0 to 1.

    The probability is that of the surest expert that gives this answer: for its commonest answer
    the one it is sure by, for others their share of what is left.
    `text` is the question with the answer, as written by the expert with the most votes for it.
    """

    answer: str
    votes: float
    score: float
    text: KnowledgeText
    probability: float = 0.0


def answer_by_votes(
    question: str,
    descriptions: Mapping[str, str],
    write: WriteAnswers,
    sure: Sure,
    filters: Filters,
    record: Record,
    *,
    encode: Encode,
    most: int,
) -> list[ExpertAnswer]:
    """Return the best answer and those nearly as good, the best first.

    There is none if no expert is sure enough of an answer.

    The score is the share of votes, raised if evidence supports the answer and lowered if evidence
    refutes it. Only the `most` answers with the most votes are checked and may be returned. The
    decision on each answer is recorded.
    """
    likeness = expert_likeness(encode, question, descriptions)
    ballots = [
        _Ballot(name, answers, sure(name, answers), float(alike))
        for (name, alike) in zip(descriptions, likeness, strict=True)
        if (answers := write(name, question))
    ]
    for ballot in ballots:
        if not ballot.certainty.is_enough:
            text = KnowledgeText(ballot.expert, statement(question, commonest(ballot.answers)[0]))
            record(text_decision(replace(text, score=ballot.certainty.probability).drop("unsure")))
    candidates = _by_votes(question, [b for b in ballots if b.certainty.is_enough])
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


def best_choice(answers: Mapping[str, float], choices: Sequence[str], encode: Encode) -> str:
    """Return the choice that shares most words with the answers, else the one most like the first.

    `answers` have their scores.
    """

    def shared(answer: str, choice: str) -> float:
        is_same = bare_words(answer) == bare_words(choice)
        return 1.0 if is_same else WORDS_WEIGHT * token_f1(answer, choice)

    scores = [sum(n * shared(words, choice) for words, n in answers.items()) for choice in choices]
    if not any(scores):
        vectors = encode([next(iter(answers)), *choices])
        scores = cosines(vectors[0], vectors[1:]).tolist()
    return choices[int(np.argmax(scores))]


@dataclass(frozen=True, slots=True)
class _Ballot:
    """What one expert answers, how sure it is, and how like the question its description is."""

    expert: str
    answers: list[str]
    certainty: Certainty
    likeness: float


def _by_votes(question: str, ballots: Sequence[_Ballot]) -> list[ExpertAnswer]:
    """Return the candidates of these experts, those with most votes first."""
    if not ballots:
        return []
    likeness = np.array([ballot.likeness for ballot in ballots])
    weights = np.exp(SHARPNESS * (likeness - likeness.max()))
    weights *= [max(ballot.certainty.probability, LEAST_WEIGHT) for ballot in ballots]
    votes: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    sure: dict[str, float] = defaultdict(float)
    forms: dict[str, str] = {}
    for ballot, weight in zip(ballots, weights / weights.sum(), strict=True):
        for key, (answer, share) in shares_of(ballot.answers).items():
            is_best = answer == commonest(ballot.answers)[0]
            probability = ballot.certainty.probability
            sure[key] = max(sure[key], probability if is_best else (1 - probability) * share)
            forms.setdefault(key, answer)
            votes[key][ballot.expert] += float(weight) * share
    candidates = []
    for key, by_expert in votes.items():
        share = sum(by_expert.values())
        expert = max(by_expert, key=by_expert.__getitem__)
        text = KnowledgeText(expert, statement(question, forms[key]))
        candidates.append(ExpertAnswer(forms[key], share, share, text, sure[key]))
    return sorted(candidates, key=lambda candidate: -candidate.votes)


def _score(votes: float, text: KnowledgeText) -> float:
    speaks = (text.support or 0.0) - (text.refute or 0.0)
    return min(1.0, votes * (1 + EVIDENCE_WEIGHT * speaks))
