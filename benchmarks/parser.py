"""Scores, size and speed of the embedded English pipeline: `python -m benchmarks.parser`."""

import time
from pathlib import Path

from benchmarks.command import DATA, parser_of, report, run_command
from recipes.english_pipeline.scores import score_all
from recipes.english_pipeline.sentences import open_text
from tasks.extract.english_pipeline.load import SHIPPED_MODEL, load_english

_SPEED_TEXTS = 120


def factbook_texts(data: Path, most: int = _SPEED_TEXTS) -> list[str]:
    """Long paragraphs of the World Factbook, one per country."""
    texts: list[str] = []
    for file in sorted((data / "factbook").rglob("*.md"))[:most]:
        paragraphs = [line for line in open_text(file) if len(line.split()) > 40]
        texts.append("\n\n".join(paragraphs[:6]))
    return texts


def measure_speed(name: str | None, texts: list[str]) -> dict[str, float]:
    """Return the tokens per second of the whole pipeline, and without names, on one core.

    CPU seconds are what a quiet machine would need; wall seconds include waiting for others.
    """
    speeds: dict[str, float] = {}
    for title, disable in (("all", ()), ("without ner", ("ner",))):
        nlp = load_english(name, disable=disable)
        list(nlp.pipe(texts[:5]))
        cpu, wall = time.process_time(), time.perf_counter()
        tokens = sum(len(doc) for doc in nlp.pipe(texts, batch_size=32))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        speeds[f"{title}, tokens per cpu second"] = round(tokens / cpu)
        speeds[f"{title}, tokens per wall second"] = round(tokens / wall)
    return speeds


def main() -> None:
    """Measure, print, and write the results file (for the shipped pipeline only)."""
    parser = parser_of(__doc__)
    parser.add_argument("--model", help="another pipeline to measure")
    parser.add_argument("--limit", type=int, metavar="N", help="sentences of each corpus (all)")
    options = parser.parse_args()
    folder = Path(options.model) if options.model else SHIPPED_MODEL
    size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    results = {
        "scores": score_all(load_english(options.model), DATA, options.limit),
        "speed": measure_speed(options.model, factbook_texts(DATA)),
        "megabytes": round(size / 1e6, 2),
    }
    report("parser" if not options.model else f"parser-{folder.name}", results)


if __name__ == "__main__":
    run_command(main)
