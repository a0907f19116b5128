"""Which choices SmolLM2 takes: `python -m benchmarks.smollm2 choices [--questions 400]`.

CommonsenseQA dev by likelihood, with and without the prior of the choice, the question laid out as
a conversation or as plain text; 95 % bootstrap intervals.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.command import DATA, parser_of, report, run_command
from benchmarks.scored_model import NOTHING_ASKED, ChoiceQuestion, ScoredModel
from schemas.settings import ModelSettings
from tasks.evaluate.metrics import summarise
from tasks.models.likelihood import Choices, log_likelihoods
from tasks.questions.formats import read_benchmark


def main() -> None:
    """Measure the choices and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["choices"])
    parser.add_argument("--questions", type=int, metavar="N", help="(all)")
    report("smollm2-choices", choices(parser.parse_args().questions))


def choices(most: int | None) -> dict[str, Any]:
    """Return the accuracy of four ways to choose, with intervals."""
    path = DATA / "commonsenseqa" / "dev.jsonl.gz"
    questions = read_benchmark(path, "commonsenseqa").questions[:most]
    model = ScoredModel(ModelSettings(name="smollm2"))
    choice_questions = [
        ChoiceQuestion(question.question, question.choices) for question in questions
    ]
    scores = {
        "conversation": model.likelihoods(choice_questions),
        "conversation, prior taken off": model.gains(choice_questions),
    }
    plain = "Question: {}\nAnswer:"
    prompts = [Choices(plain.format(q.question), _spaced(q.choices)) for q in choice_questions]
    scores["plain text"] = log_likelihoods(model.loaded, prompts)
    every = list(dict.fromkeys(choice for q in choice_questions for choice in _spaced(q.choices)))
    [logs] = log_likelihoods(model.loaded, [Choices(plain.format(NOTHING_ASKED), every)])
    prior = dict(zip(every, logs, strict=True))
    scores["plain text, prior taken off"] = [
        likelihoods - np.array([prior[choice] for choice in prompt.continuations])
        for likelihoods, prompt in zip(scores["plain text"], prompts, strict=True)
    ]
    rows = [
        {
            way: float(question.choices[int(found[n].argmax())] in question.answers)
            for way, found in scores.items()
        }
        for n, question in enumerate(questions)
    ]
    clusters = [str(n) for n in range(len(rows))]
    return {"questions": len(rows), **summarise(rows, clusters)}


def _spaced(choices: Sequence[str]) -> list[str]:
    return [f" {choice}" for choice in choices]


if __name__ == "__main__":
    run_command(main)
