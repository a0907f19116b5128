"""Texts that experts write for questions; each is written once and then remembered."""

from collections.abc import Callable, Sequence
from threading import Lock

from schemas.settings import ExpertSettings
from tasks.experts.competence import Certainty
from tasks.experts.knowledge import question_prompt
from tasks.experts.pool import ExpertPool
from tasks.text.languages import language_of
from tasks.text.question import Question

LONGEST_SHOWN = 100  # characters of a question that is shown with its answer
ENDS = "?？!.。 \n"

_Prompt = Callable[[str], str]
_Key = tuple[str, str, int, int, float]  # expert, prompt, count, turn, temperature


class TextWriter:
    """Asks experts for texts about questions and remembers them; methods may run in any thread.

    An expert sees only the question, never what other experts wrote about it.
    """

    def __init__(self, writer: ExpertPool, settings: ExpertSettings) -> None:
        """Take the experts and the settings in [experts]; nothing is written yet."""
        self._writer, self._settings = writer, settings
        self._written: dict[_Key, list[str]] = {}
        self._lock = Lock()

    def prepare_knowledge(self, expert: str, questions: Sequence[str]) -> None:
        """Write and remember knowledge about many questions at once."""
        for prompt_of, count in self._prompts:
            self._write(expert, list(map(prompt_of, questions)), count)

    def prepare_answers(self, expert: str, questions: Sequence[str]) -> None:
        """Write and remember short answers to many questions at once."""
        prompts = list(map(as_question, questions))
        self._write(expert, prompts, 1, temperature=0.0)
        self._write(expert, prompts, self._settings.written)

    def forget(self) -> None:
        """Forget all texts."""
        with self._lock:
            self._written.clear()

    def knowledge(self, expert: str, question: str, turn: int = 0) -> list[str]:
        """Return an expert's n1 texts about a question.

        Depending on the setting `prompts`, texts answer the question in the form of the training
        texts and are returned together with it, or they continue it, or there are some of both.
        Each `turn` uses another seed.
        """
        texts: list[str] = []
        for prompt_of, count in self._prompts:
            (written,) = self._write(expert, [prompt_of(question)], count, turn)
            is_answer = prompt_of is as_question
            texts += [statement(question, text) for text in written] if is_answer else written
        return texts

    def answers(self, expert: str, question: str) -> list[str]:
        """Return an expert's short answers: the greedy one, then n1 sampled ones."""
        (likeliest,) = self._write(expert, [as_question(question)], 1, temperature=0.0)
        (sampled,) = self._write(expert, [as_question(question)], self._settings.written)
        return [short(text) for text in (*likeliest, *sampled)]

    def certainty(self, expert: str, question: Question, answers: Sequence[str]) -> Certainty:
        """Return how sure an expert is of its answers to a question."""
        with self._lock:
            return self._writer.certainty(expert, question, answers)

    @property
    def _prompts(self) -> list[tuple[_Prompt, int]]:
        """The forms of prompts, each with its number of texts; the numbers add up to n1."""
        count, chosen = self._settings.written, self._settings.prompts
        questions = {"question": count, "plain": 0, "both": (count + 1) // 2}[chosen]
        counts: list[tuple[_Prompt, int]] = [(as_question, questions), (str, count - questions)]
        return [(prompt_of, number) for prompt_of, number in counts if number]

    def _write(
        self,
        expert: str,
        prompts: Sequence[str],
        count: int,
        turn: int = 0,
        temperature: float | None = None,
    ) -> list[list[str]]:
        settings = self._settings
        heat = settings.writing_temperature if temperature is None else temperature
        with self._lock:
            keys = [(expert, prompt, count, turn, heat) for prompt in prompts]
            missing = list(dict.fromkeys(key for key in keys if key not in self._written))
            if missing:
                written = self._writer.write(
                    expert, [key[1] for key in missing], count, settings.seed + turn,
                    max_new_tokens=settings.new_tokens, temperature=heat,
                )  # fmt: skip
                self._written.update(zip(missing, written, strict=True))
            return [self._written[key] for key in keys]


def as_question(question: str) -> str:
    """Return the prompt after which an expert answers a question."""
    return question_prompt(question, language_of(question))


def short(text: str) -> str:
    """Return the answer at the beginning of a text: its first line."""
    return text.strip().partition("\n")[0].strip()


def statement(question: str, text: str) -> str:
    """Return a question and its answer as one sentence; empty without an answer.

    As two sentences, pruning could keep the question and drop the answer. A long question is left
    out, so that only the answer is returned.
    """
    answer = short(text)
    if not answer or len(question) > LONGEST_SHOWN:
        return answer
    return f"{question.rstrip(ENDS)}: {answer}"
