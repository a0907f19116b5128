"""The route `experts`: small language models write what a question needs (CooK)."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

from schemas.answers import Evidence, ExpertText
from schemas.errors import AlmanacError, UsageError
from schemas.knowledge import CORPUS
from tasks.ask.brief_decider import BriefDecider
from tasks.ask.context import Item
from tasks.ask.expert_tools import ExpertTools
from tasks.ask.parts import load_learned_query, reader_name
from tasks.ask.phrasing import phrased_answer
from tasks.ask.route import AnswerRoute, QuestionState, Resources, RouteResult
from tasks.ask.text_route import TextRoute
from tasks.experts.integrate.consult import bottom_up, top_down
from tasks.experts.integrate.decisions import Decision, nearest_experts
from tasks.experts.integrate.filter_chain import Filters
from tasks.experts.integrate.model_decider import ModelDecider
from tasks.experts.integrate.own_answers import answer_by_votes, best_choice
from tasks.experts.integrate.writing import TextWriter
from tasks.experts.knowledge import KnowledgeText, NeedExample
from tasks.experts.pool import OpenExpert
from tasks.experts.registry import active_experts
from tasks.programs.written_program import Conversation
from tasks.text.question import Question, with_choices
from warehouse.editions import Edition
from warehouse.home import Home

LEAST_VOTES = 0.5  # share of an answer's votes, where no experts were asked for


class ExpertsRoute(AnswerRoute):
    """Answers by experts; with a language model, the model answers from what they wrote.

    An expert is asked in its own languages alone, unless it is named. Without a model, the experts'
    own short answers count, of which those of unsure experts are left out. Bottom-up, all experts
    answer. Top-down, passages are read first; only if they have no answer, the expert whose
    description is most like the question is asked, and after it those whose field contains its own.
    """

    def __init__(self, resources: Resources) -> None:
        """Open nothing yet."""
        self._tools, self._encode = ExpertTools(resources), resources.encode
        self._text_route = TextRoute(resources)
        self._resources, self._settings = resources, resources.settings.experts
        self._named = resources.options.route == "experts" or bool(resources.options.expert)
        self._failed: dict[str, str] = {}

    @property
    def warnings(self) -> Sequence[str]:
        """Which experts could not be asked, and why."""
        return [
            f"The expert {name} was not asked. {reason}" for name, reason in self._failed.items()
        ]

    def prepare(self, questions: Sequence[Question]) -> None:
        """Have all experts write for all questions at once, if all are to answer."""
        self._writer.forget()
        if self._settings.mode != "bottom_up":
            return
        alone, writer = self._resources.speaks_for_itself, self._writer
        prepare = writer.prepare_answers if alone else writer.prepare_knowledge
        for expert in self._experts:
            self._asking(prepare, expert, [q.text for q in questions if self._speaks(expert, q)])

    def answer(self, question: Question, state: QuestionState) -> RouteResult:
        """Return the answer found with the experts' help, with all decisions on the way."""
        asked, record = self._asked(question), state.decisions.append
        if not asked:
            return RouteResult("experts")
        if state.conversation is not None and not self._resources.speaks_for_itself:
            return self._by_model(question, state, state.conversation)
        if self._settings.mode == "bottom_up":
            return self._by_votes(question, state, asked)
        if self._named:  # else the route `text` was asked
            read = self._text_route.answer(question, state)
            if read.answerable:
                record(Decision("need", "no", "passages", score=read.evidence[0].score))
                return read
            record(Decision("need", "yes", "passages"))
        result = RouteResult("experts")
        way = nearest_experts(self._encode, question.text, asked, self._parents)
        for name, likeness in reversed(way):
            record(Decision("expert", name, "nearest", name, likeness))
            result = self._by_votes(question, state, {name: asked[name]})
            if result.answerable:
                break
        return result

    def items(self, question: Question, state: QuestionState) -> list[Item]:
        """Return the texts of experts that the filters keep, for a model that reads."""
        if not self._asked(question) or state.conversation is None:
            return []
        texts = self._knowledge(question, state, state.conversation)
        return [
            Item(text.words, _evidence(text), "experts", f"Written by the expert {text.expert}")
            for text in texts
        ]

    def _by_votes(
        self, question: Question, state: QuestionState, experts: dict[str, str]
    ) -> RouteResult:
        answers = answer_by_votes(
            question.text,
            experts,
            partial(self._asking, self._writer.answers),
            lambda expert, answers: self._writer.certainty(expert, question, answers),
            self._filters,
            state.decisions.append,
            encode=self._encode,
            most=self._settings.relevant,
        )
        if not answers or (answers[0].votes < LEAST_VOTES and not self._named):
            return RouteResult("experts")
        words = [answer.answer for answer in answers]
        if state.hints.choices:
            scores = {answer.answer: answer.score for answer in answers}
            words = [best_choice(scores, state.hints.choices, self._encode)]
        evidence = [_evidence(answer.text, answer.score) for answer in answers]
        return RouteResult("experts", words, evidence, answers[0].probability)

    def _by_model(
        self, question: Question, state: QuestionState, conversation: Conversation
    ) -> RouteResult:
        """Return the model's answer from the experts' texts; the route is `none` without any."""
        hints, texts = state.hints, self._knowledge(question, state, conversation)
        answer = phrased_answer(
            conversation,
            question,
            hints.choices,
            [text.words for text in texts],
            self._encode,
            demonstrations=hints.demonstrations,
        )
        return RouteResult(
            "experts" if texts else "none",
            [answer] if answer else [],
            [_evidence(text) for text in texts],
        )

    def _knowledge(
        self, question: Question, state: QuestionState, conversation: Conversation
    ) -> list[KnowledgeText]:
        """Return the texts that the model sees; experts get the question without its choices."""
        settings, record = self._settings, state.decisions.append
        write = partial(self._asking, self._writer.knowledge)
        if settings.mode == "bottom_up":
            experts = list(self._asked(question))
            return bottom_up(question.text, experts, write, self._filters, record)
        return top_down(
            with_choices(question, state.hints.choices).text,
            self._asked(question),
            self._parents,
            self._decider(question, conversation),
            lambda expert, _, turn: write(expert, question.text, turn),
            self._filters,
            record,
            mode=settings.mode,
            encode=self._encode,
            iterations=settings.iterations,
        )

    def _decider(self, question: Question, conversation: Conversation) -> ModelDecider:
        if conversation.model_is_small:
            return BriefDecider(conversation.ask, question, self._examples)
        return ModelDecider(
            conversation.ask, question.language, self._settings.paraphrases, self._examples
        )

    # -- experts -------------------------------------------------------------------------------

    @cached_property
    def _experts(self) -> dict[str, OpenExpert]:
        """The experts that may be asked, by name."""
        experts = chosen_experts(
            self._resources.home, self._resources.edition, self._resources.options.expert
        )
        return {expert.name: expert for expert in experts}

    @cached_property
    def _parents(self) -> dict[str, str]:
        """The expert that contains another, by the other's name."""
        return {name: expert.parent for name, expert in self._experts.items() if expert.parent}

    def _speaks(self, expert: str, question: Question) -> bool:
        """Return whether an expert is asked in a question's language; one that is named always."""
        is_named = self._resources.options.expert is not None
        return is_named or self._experts[expert].speaks(question.language)

    def _asked(self, question: Question) -> dict[str, str]:
        """Return the descriptions of the experts that did not fail and know the language.

        Unless experts are requested, one is not asked for its own answer if the edition has the
        graph that it learned from: what that does not say, the expert can only invent.
        """
        beside = set(self._resources.graphs) - {CORPUS}
        speaks = not self._named and self._resources.speaks_for_itself
        return {
            name: expert.description
            for name, expert in self._experts.items()
            if name not in self._failed
            and self._speaks(name, question)
            and not (speaks and name in beside)
        }

    def _asking(self, write: Callable[..., Any], expert: str, *about: Any) -> Any:
        """Return what an expert writes; one that fails writes nothing, and is not asked again.

        Its error is raised if experts were requested and none is left.
        """
        try:
            return write(expert, *about)
        except AlmanacError as error:
            self._failed[expert] = str(error)
            if self._named and len(self._failed) == len(self._experts):
                raise
            return []

    # -- tools ---------------------------------------------------------------------------------

    @cached_property
    def _writer(self) -> TextWriter:
        return TextWriter(self._tools.writer, self._settings)

    @cached_property
    def _filters(self) -> Filters:
        return self._tools.filters(self._settings)

    @cached_property
    def _examples(self) -> Sequence[NeedExample]:
        resources = self._resources
        return load_learned_query(resources.home, reader_name(resources.settings)).needs


def chosen_experts(home: Home, edition: Edition, name: str | None) -> list[OpenExpert]:
    """Return the experts that may be asked, or the one that is named.

    Raises UsageError, with what to do, if there is none.
    """
    experts = active_experts(home, edition)
    if name is None:
        return experts
    chosen = [expert for expert in experts if expert.name == name]
    if not chosen:
        known = ", ".join(expert.name for expert in experts) or "none"
        raise UsageError(
            f"There is no expert {name!r} that may be asked. The experts: {known}. "
            "`almanac experts` lists all, with those in quarantine."
        )
    return chosen


def _evidence(text: KnowledgeText, score: float | None = None) -> Evidence:
    if score is None:
        score = text.relevance if text.score is None else text.score
    return Evidence(
        text=text.words,
        kind="expert",
        graph=text.expert,
        score=min(1.0, max(0.0, score or 0.0)),
        expert=ExpertText(expert=text.expert, written=text.text, **text.measures),
    )
