"""The questions that the whole query is measured on, and how routes are asked once."""

import pytest

from benchmarks.islands import Archipelago
from benchmarks.whole_query import Remembered, thirds
from tasks.ask.route import AnswerRoute, QuestionHints, QuestionState, RouteResult
from tasks.text.question import Question, analyse


def names(world: Archipelago) -> set[str]:
    return {name for head, relation, tail in world.triples for name in (head, tail)}


def test_what_is_asked_about_one_archipelago_cannot_be_answered_from_the_other():
    cargoes = {tail for _, relation, tail in Archipelago(0).triples if relation == "cargo"}
    assert names(Archipelago(0)) & names(Archipelago(1)) <= cargoes


def test_each_question_has_an_answer_of_its_own_kind_among_its_choices():
    kinds = {tail: relation for _, relation, tail in Archipelago(0).triples}
    for question in Archipelago(0).questions(with_choices=True):
        [answer] = question.answers
        assert answer in question.choices
        assert {kinds[choice] for choice in question.choices} == {kinds[answer]}


def test_a_subject_is_taught_measured_or_asked():
    parts = thirds(Archipelago(0).questions(with_choices=False))
    subjects = [{question.split_key for question in part} for part in parts]
    assert all(subjects) and sum(map(len, subjects)) == len(set().union(*subjects))


class Counting(AnswerRoute):
    """Counts what it is asked."""

    asked = 0

    def answer(self, question: Question, state: QuestionState) -> RouteResult:
        """Return an answer with its number."""
        self.asked += 1
        return RouteResult("text", [str(self.asked)])


@pytest.mark.parametrize(("choices", "times"), [((), 1), (("a", "b"), 2)])
def test_a_route_is_asked_once_a_question_and_its_choices(choices, times):
    route = Counting()
    remembered = Remembered(route, {})
    question, offered = analyse("Who?"), QuestionState(QuestionHints(choices=choices))
    given = [remembered.answer(question, state) for state in (QuestionState(), offered, offered)]
    assert route.asked == times
    assert given[1] is given[2]
