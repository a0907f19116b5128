"""Answers with citations: the sample corpus' 40 questions by a strong model's recorded replies.

    python -m benchmarks.cited_answers [--home demo-home] [--limit N]
    python -m benchmarks.cited_answers --home HOME --questions FILE --model NAME

The replies (`replies/sample.jsonl`, `recorded_model.py`) were written by hand in the role of a
strong model, by readers who saw nothing but the prompts. A question is right if one of the accepted
answers stands in the text or the short answers; where the corpus has no answer, if the model says
so. With --model, the endpoint of OPENAI_BASE_URL answers a file of questions about another home
instead.
"""

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson

from benchmarks.command import parser_of, report, run_command
from benchmarks.questions import EXAMPLES
from benchmarks.recorded_model import read_replies, recorded_endpoint
from schemas.answers import Answer
from schemas.settings import EngineSettings, ModelSettings, Settings
from tasks.ask.asker import Asker
from tasks.models.prompts import load_prompt
from tasks.models.tokens import estimate_tokens
from tasks.refresh import refresh
from warehouse.home import Home

REPLIES = Path(__file__).parent / "replies" / "sample.jsonl"


def is_right(answer: Answer, accepted: list[str]) -> bool:
    """Return whether an answer holds an accepted one; without these, whether there is none."""
    if not accepted:
        return not answer.answerable
    return answer.answerable and states([answer.answer or "", *answer.answers], accepted)


def states(texts: list[str], accepted: list[str]) -> bool:
    """Return whether an accepted answer stands in a text; case, commas and spaces do not count."""
    return any(_bare(one) in _bare(text) for one in accepted for text in texts)


def _bare(text: str) -> str:
    return "".join(text.casefold().replace(",", "").split())


def measure(home: Home, questions: list[dict[str, Any]], model: ModelSettings) -> dict[str, Any]:
    """Return how questions were answered, what it took, and how claims were borne out."""
    settings = Settings(engine=EngineSettings(answer_model=model))
    with Asker(home, home.require_edition(), settings) as asker:
        answers = asker.answer_all([question["question"] for question in questions])
    pairs = [
        (answer, question.get("answers", []))
        for answer, question in zip(answers, questions, strict=True)
    ]
    posed = [pair for pair in pairs if pair[1]]
    ways = [answer.way for answer in answers if answer.way]
    fixed = estimate_tokens(load_prompt("cited", "en", style="", memory="", catalogue="").system)
    calls = sum(answer.usage.calls for answer in answers)
    count = len(answers)
    claims = sum(way.claims for way in ways)
    return {
        "questions": len(posed),
        "right": sum(is_right(*pair) for pair in posed),
        "wrong": sum(one.answerable and not is_right(one, accepted) for one, accepted in posed),
        "without an answer": count - len(posed),
        "refused": sum(is_right(*pair) for pair in pairs if not pair[1]),
        "calls a question": round(calls / count, 2),
        "prompt tokens a question": round(sum(a.usage.tokens_in for a in answers) / count),
        "of these in the fixed part": round(fixed * calls / count),
        "quotations": sum(way.quotations for way in ways),
        "quotations located": sum(way.located for way in ways),
        "claims": claims,
        "claims borne out": claims - sum(len(answer.unsupported) for answer in answers),
        "not right": [
            f"{one.question} -> {one.answer}"
            for one, accepted in pairs
            if not is_right(one, accepted)
        ],
    }


def main() -> None:
    """Run the benchmark and write its results."""
    parser = parser_of(__doc__)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--questions", type=Path, default=EXAMPLES / "questions.jsonl")
    parser.add_argument("--model")
    parser.add_argument("--limit", type=int)
    arguments = parser.parse_args()
    lines = arguments.questions.read_bytes().splitlines()[: arguments.limit]
    questions = [orjson.loads(line) for line in lines]
    with ExitStack() as stack:
        home = Home(
            arguments.home
            or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="almanac-cited-")))
        )
        if not arguments.home:
            refresh(home, [str(EXAMPLES / "corpus")], Settings())
        if arguments.model:
            model = ModelSettings(name=arguments.model)
        else:
            os.environ.setdefault("OPENAI_API_KEY", "none")
            address = stack.enter_context(recorded_endpoint(read_replies(REPLIES)))
            model = ModelSettings(name="recorded", base_url=address)
        figures = measure(home, questions, model)
    report("cited-answers", figures)


if __name__ == "__main__":
    run_command(main)
