"""An expert from SmolLM2 beside one from scratch: the same texts, the same processor time.

    python -m benchmarks.expert_bases [--minutes 10] [--bases lora full scratch]

The 118th Congress with its results of 2022 is imported from the folder `congress` of the data and
verbalized as `almanac verbalize --held-out 0.005` does it. Each base is trained with the
defaults of `train-experts` for as many minutes of the processor, loading included, and then answers
MidtermQA's open questions alone. Tokenizers differ, so the loss is given per character of what is
predicted: answers, and texts that answer nothing.
"""

import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.command import DATA, parser_of, report, run_command
from benchmarks.knowledge_update import CONGRESSES, GRAPH, SETTINGS, answer, exact, show, take_up
from tasks.experts.knowledge import prompt_of
from tasks.experts.pool import ExpertPool, OpenExpert
from tasks.experts.training.plan import TrainingPlan
from tasks.experts.training.tokens import read_tokens
from tasks.experts.training.train import train_expert
from tasks.experts.verbalize.texts import TextOptions
from tasks.questions.formats.midtermqa import read_midtermqa
from tasks.questions.question import BenchmarkQuestion
from tasks.questions.splits import split
from tasks.train_experts import journal_texts, text_set
from tasks.verbalize import verbalize
from warehouse.home import Home

HELD_OUT = 0.005  # of the entities: SmolLM2 reads 200 tokens of them per second
BASES: dict[str, dict[str, Any]] = {
    "lora": {"base": "smollm2", "method": "lora"},
    "full": {"base": "smollm2", "method": "full"},
    "scratch": {},
}


def measure(path: Path, minutes: float, bases: list[str], folder: Path) -> dict[str, Any]:
    """Train an expert from each base, ask it, and return all figures."""
    benchmark = read_midtermqa(path)
    questions = [question for question in split(benchmark)[1] if not question.choices]
    home = Home(folder / "home")
    if not text_set(home, GRAPH, None).rows:
        take_up(home, benchmark.graphs[0].source, CONGRESSES["after"])
        verbalize(home, SETTINGS, graph=GRAPH, options=TextOptions(held_out=HELD_OUT))
    ids, position = text_set(home, GRAPH, None).ids, home.journal.position
    texts = partial(journal_texts, home, ids, position, folder / "spill")
    figures = {}
    for base in bases:
        figures[base] = one_base(base, minutes, texts, questions, folder / "experts")
        print(base, figures[base], file=sys.stderr, flush=True)
    return {"minutes": minutes, "questions": len(questions), "bases": figures}


def one_base(
    base: str, minutes: float, texts: Any, questions: list[BenchmarkQuestion], experts: Path
) -> dict[str, Any]:
    """Return how an expert from a base reads held-out texts, and answers."""
    plan = TrainingPlan(minutes=minutes, **BASES[base])
    started = time.process_time()
    expert = train_expert(experts, base, plan, texts, base, report=show)
    seconds = time.process_time() - started
    held_out = read_tokens(experts / ".training" / base, "validation")
    epochs = expert.manifest.training["epochs"]
    predicted = sum(len(text) - len(prompt_of(text)) for text in texts("validation"))
    read = read_tokens(experts / ".training" / base, "train")
    pool = ExpertPool([OpenExpert(base, "", expert.folder, expert.sha256)])
    per_token = epochs[-1]["held_out"]
    return {
        "parameters": expert.manifest.parameters,
        "texts": len(read),
        "texts_read": len(read) * expert.manifest.tokens / read.targets,
        "held_out_loss_per_token": per_token,
        "held_out_loss_per_character": per_token * held_out.targets / predicted,
        "processor_seconds": round(seconds),
        "ended": expert.ended,
        **exact(questions, answer(pool, base, questions)),
    }


def main() -> None:
    """Measure and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("--questions", type=Path, default=DATA / "midtermqa", metavar="FOLDER")
    parser.add_argument("--minutes", type=float, default=10.0, help="of the processor (10)")
    parser.add_argument("--bases", nargs="+", choices=BASES, default=list(BASES))
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep home and experts here")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="almanac-bases-") as temporary:
        folder = arguments.keep or Path(temporary)
        figures = measure(arguments.questions, arguments.minutes, arguments.bases, folder)
    report("expert-bases", figures)


if __name__ == "__main__":
    run_command(main)
