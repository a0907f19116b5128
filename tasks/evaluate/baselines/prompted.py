"""Baselines that prompt a language model for knowledge, as CooK compares with (arXiv 2305.09955).

Each baseline yields texts; the model answers from each of them with the prompt of `ask --route
experts`, and the most frequent answer counts. Texts from memory are decoded as usual rather than
sampled; to make several texts differ, each request lists those written before.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from uuid import uuid4

from schemas.documents import Passage
from schemas.settings import Settings
from tasks.ask.phrasing import phrased_answer
from tasks.ask.route import AskOptions, Resources
from tasks.evaluate.answerer import BenchmarkAnswerer, Prediction
from tasks.experts.filters.evidence import EditionEvidence
from tasks.experts.integrate.decisions import fit_knowledge
from tasks.experts.integrate.model_decider import one_line
from tasks.experts.knowledge import KnowledgeText
from tasks.models.client import BlockingClient
from tasks.models.prompts import load_prompt
from tasks.models.prompts.replies import Recalled
from tasks.models.transports import open_client
from tasks.programs.knowledge_bases.edition_graph import edition_graphs
from tasks.programs.written_program import Conversation
from tasks.questions.normalise import bare_words
from tasks.questions.question import BenchmarkQuestion
from tasks.retrieval.search_edition import open_searcher
from tasks.text.question import Question, analyse
from warehouse.editions import Edition
from warehouse.home import Home

WRITTEN = 3  # statements and passages per question; the papers sample 20
ROOM = 320  # tokens of a text from memory, enough for one of 300 characters to end
_WANTED = {
    "en": {
        "fact": "a fact",
        "title": "the title of an encyclopedia's article that answers it",
        "passage": "the passage of the article “{}” that answers it",
        "document": "a background document",
        "other": "{}, other than: {}",
    },
    "zh": {
        "fact": "一个事实",
        "title": "能回答它的百科条目标题",
        "passage": "条目“{}”中能回答它的段落",
        "document": "一篇背景资料",
        "other": "{}，但不同于：{}",
    },
}
_HIDDEN_TRIPLES = "select triple_id from triples where sensitivity = 'sensitive'"
_HIDDEN_PASSAGES = "select passage_id from passages where sensitivity = 'sensitive'"

Paths = list[list[str]]  # for each answer, the texts that it is read from


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of a question's knowledge: the model's memory, and an edition's search."""

    question: Question
    conversation: Conversation
    search: Callable[[str], list[str]]

    def recalled(self, form: str, *named: str) -> list[str]:
        """Return a list of the text that the model writes from memory in a form, empty if none.

        The forms are fact, title, passage and document.
        """
        return self._written(_WANTED[self.question.language][form].format(*map(one_line, named)))

    def several(self, form: str) -> list[str]:
        """Return several distinct texts that the model writes from memory in a form."""
        words = _WANTED[self.question.language]
        texts: list[str] = []
        for _ in range(WRITTEN):
            before = "; ".join(map(one_line, texts))
            wanted = words["other"].format(words[form], before) if texts else words[form]
            new = [text for text in self._written(wanted) if text not in texts]
            if not new:
                break
            texts += new
        return texts

    def _written(self, wanted: str) -> list[str]:
        prompt = load_prompt("recall", self.question.language)
        values = {"question": one_line(self.question.text), "wanted": wanted}
        reply = self.conversation.ask(prompt.request(values, most_tokens=ROOM), Recalled)
        return [reply.text] if reply and reply.text else []


def alone(sources: Sources) -> Paths:
    """Let the model answer from its own knowledge."""
    return [[]]


def generated_knowledge(sources: Sources) -> Paths:
    """Let the model write statements; answer with each and without (Liu et al. 2022, section 2).

    In the paper the likeliest of all answers counts. Endpoints do not report the probabilities of
    answers, so here the most frequent one counts.
    """
    return [*([fact] for fact in sources.several("fact")), []]


def recitation(sources: Sources) -> Paths:
    """Let the model recite passages and answer from each; the answers vote (Sun et al. 2022).

    As in the paper's section 3.3, passages differ because the model first names the source of each.
    """
    titles = sources.several("title")
    recited = [sources.recalled("passage", title) for title in titles]
    return [texts for texts in recited if texts] or [[]]


def generate_then_read(sources: Sources) -> Paths:
    """Let the model write one background document and read it (Yu et al. 2022, section 3.1)."""
    return [sources.recalled("document")]


def retrieve_then_read(sources: Sources) -> Paths:
    """Let the model read the triples and passages that the edition's search finds."""
    return [sources.search(sources.question.text)]


PROMPTED: dict[str, Callable[[Sources], Paths]] = {
    "model": alone,
    "generated_knowledge": generated_knowledge,
    "recitation": recitation,
    "generate_then_read": generate_then_read,
    "retrieve_then_read": retrieve_then_read,
}


def most_frequent(answers: Sequence[str]) -> str:
    """Return the answer with the most votes, the earliest among equals; empty ones do not vote."""
    votes = Counter(bare_words(answer) for answer in answers if answer)
    return max((a for a in answers if a), key=lambda answer: votes[bare_words(answer)], default="")


class PromptedAnswerer(BenchmarkAnswerer):
    """Answers with the model of the settings, from the texts that a baseline yields."""

    def __init__(self, name: str, home: Home, edition: Edition, settings: Settings) -> None:
        """Take the baseline's name (`PROMPTED`); nothing is opened or asked yet."""
        self.name = f"{name} {settings.engine.model.name}"
        self._paths = PROMPTED[name]
        self._home, self._edition, self._settings = home, edition, settings
        self._encode = Resources(home, edition, settings, AskOptions("none"), {}).encode
        self._lock = Lock()

    def answer_all(self, questions: Sequence[BenchmarkQuestion]) -> list[Prediction]:
        """Return the most frequent answer to each question; one of its choices, if it has any."""
        client = open_client(self._home, self._settings.engine, f"evaluate-{uuid4().hex[:12]}")
        workers = client.settings.concurrency
        try:
            with BlockingClient(client) as model, ThreadPoolExecutor(workers) as pool:
                return list(pool.map(lambda question: self._answer(model, question), questions))
        finally:
            self._home.ledger.seal()

    def _answer(self, model: BlockingClient, asked: BenchmarkQuestion) -> Prediction:
        question, conversation = analyse(asked.question), Conversation(model)
        paths = self._paths(Sources(question, conversation, self._search))
        room = self._settings.experts.knowledge_tokens
        answers = [
            phrased_answer(
                conversation,
                question,
                asked.choices,
                _fitted(texts, room),
                self._encode,
                demonstrations=asked.demonstrations,
            )
            for texts in paths
        ]
        answer = most_frequent(answers)
        return Prediction([answer] if answer else [], {"answer": bool(answer)})

    def _search(self, question: str) -> list[str]:
        with self._lock:  # several questions are answered at once
            return self._evidence.find(question)

    @cached_property
    def _evidence(self) -> EditionEvidence:
        """The edition's evidence, without what must not be sent to the model's endpoint."""
        edition, engine = self._edition, self._settings.engine
        hides, con = engine.withholds_sensitive, edition.connect()
        triples, passages = (
            {row[0] for row in con.execute(query).fetchall()} if hides else set()
            for query in (_HIDDEN_TRIPLES, _HIDDEN_PASSAGES)
        )
        return EditionEvidence(
            con,
            open_searcher(edition, engine) if edition.rows(Passage) else None,
            [graph.arrays for graph in edition_graphs(edition, open_only=hides).values()],
            excluded_triples=triples,
            excluded_passages=passages,
        )


def _fitted(texts: Sequence[str], room: int) -> list[str]:
    """Return the first texts that together have at most `room` tokens, but at least one."""
    fitted = fit_knowledge([KnowledgeText("", text) for text in texts], room)
    return [text.text for text in fitted if text.dropped is None]
