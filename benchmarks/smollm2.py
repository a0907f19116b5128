"""SmolLM2 on this machine: how fast it reads and writes, and which choices it takes.

    python -m benchmarks.smollm2 speed [--precisions fp32 bf16]
    python -m benchmarks.smollm2 choices [--questions 400]

`speed` takes turns between fp32 and bf16: reading 512 tokens; after a prompt of 32, writing 24
tokens alone and writing 24 tokens in each of 8 rows; best of three rounds. Beside tokens per second
stand tokens per second of processor time, which other processes disturb less, and how many times as
many of these a batch writes.

`choices` measures CommonsenseQA dev by likelihood, with and without the prior of the choice, the
question laid out as a conversation or as plain text; 95 % bootstrap intervals.
"""

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.command import DATA, parser_of, report, run_command
from benchmarks.scored_model import NOTHING_ASKED, ChoiceQuestion, ScoredModel
from schemas.settings import ModelSettings
from tasks.evaluate.metrics import summarise
from tasks.models.likelihood import Choices, log_likelihoods
from tasks.models.loaded_model import LoadedModel, has_bfloat16, load_model
from tasks.questions.formats import read_benchmark

READ, WRITTEN, ROWS = 512, 24, 8
ALONE, BATCHED = "write alone", f"write in batches of {ROWS}"
PRECISIONS = {"fp32": "float32", "bf16": "bfloat16"}


def main() -> None:
    """Measure one of the two and write the results."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["speed", "choices"])
    parser.add_argument("--questions", type=int, metavar="N", help="choices (all)")
    parser.add_argument("--rounds", type=int, default=3, help="speed (3)")
    parser.add_argument("--precisions", nargs="+", choices=PRECISIONS, default=list(PRECISIONS))
    arguments = parser.parse_args()
    if arguments.what == "speed":
        figures = speed(arguments.rounds, arguments.precisions)
    else:
        figures = choices(arguments.questions)
    report(f"smollm2-{arguments.what}", figures)


def speed(rounds: int, precisions: Sequence[str]) -> dict[str, Any]:
    """Return tokens per second in each precision, by the clock and by processor time."""
    import torch

    loaded = load_model("smollm2", "cpu")
    text = "The harbour was built in 1911 and lies on the fjord. " * READ
    prompt = loaded.tokenizer(text)["input_ids"][:READ]
    best: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name in precisions:
            loaded.model.to(getattr(torch, PRECISIONS[name]))
            for what, rows, tokens, written in [
                ("read", 1, prompt, 0),
                (ALONE, 1, prompt[:32], WRITTEN),
                (BATCHED, ROWS, prompt[:32], WRITTEN),
            ]:
                rates = _tokens_per_second(loaded, [tokens] * rows, written)
                key = f"{name}, {what}"
                best[key] = [max(pair) for pair in zip(rates, best.get(key, rates), strict=True)]
    figures: dict[str, Any] = {"threads": torch.get_num_threads(), "load": os.getloadavg()[0]}
    figures["runs_in"] = "bf16" if has_bfloat16() else "fp32"
    figures["times as many in batches"] = {
        name: round(best[f"{name}, {BATCHED}"][1] / best[f"{name}, {ALONE}"][1], 2)
        for name in precisions
    }
    figures |= {
        key: {"per_second": round(wall, 1), "per_processor_second": round(processor, 1)}
        for key, (wall, processor) in best.items()
    }
    return figures


def _tokens_per_second(
    loaded: LoadedModel, prompts: list[list[int]], written: int
) -> tuple[float, float]:
    """Return tokens read, or written if any are to be, per second and per processor second."""
    import torch

    ids = torch.tensor(prompts)
    mask = torch.ones_like(ids)
    wall, processor = time.perf_counter(), time.process_time()
    with torch.inference_mode():
        if written:
            most = {"max_new_tokens": written, "min_new_tokens": written}
            loaded.model.generate(input_ids=ids, attention_mask=mask, **most)
        else:
            loaded.model(input_ids=ids, attention_mask=mask)
    tokens = len(prompts) * (written or len(prompts[0]))
    return tokens / (time.perf_counter() - wall), tokens / (time.process_time() - processor)


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
