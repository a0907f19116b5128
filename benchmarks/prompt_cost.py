"""What the extraction prompt costs: calls and tokens, all forms in one call against one call each.

    python -m benchmarks.prompt_cost [--documents 40] [--tokens 1000] [--exact]

Documents of about --tokens tokens are cut from pages of the World Factbook. Requests are made as a
refresh makes them, answers are the mock endpoint's; both are counted. `beyond_the_text` is whatever
is sent besides the passages themselves: instructions, example, title, separators, and the schema of
the reply. `--exact` counts with tiktoken's o200k vocabulary, which the project does not depend on.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from benchmarks.command import data, parser_of, report, run_command
from benchmarks.planned import planned_requests
from schemas.settings import EngineSettings, ModelSettings, Settings
from tasks.extract.by_model.passages import read_extraction_text
from tasks.mock_endpoint.answers import Extractor, written
from tasks.models.strict_schema import strict_schema
from tasks.models.tokens import estimate_tokens

Count = Callable[[str], int]


def write_documents(folder: Path, documents: int, tokens: int) -> None:
    """Write documents of about this many tokens each, paragraph by paragraph."""
    folder.mkdir(parents=True)
    pages = sorted(data("factbook").rglob("*.md"))
    paragraphs = (p for page in pages for p in page.read_text(encoding="utf-8").split("\n\n"))
    text: list[str] = []
    made = used = 0
    for paragraph in paragraphs:
        plain = " ".join(paragraph.split())
        if plain.startswith("#") or len(plain) < 80:
            continue
        text.append(plain)
        used += estimate_tokens(plain)
        if used >= tokens:
            (folder / f"{made:03}.txt").write_text("\n\n".join(text), encoding="utf-8")
            text, used, made = [], 0, made + 1
            if made == documents:
                return


def counted(folder: Path, source: Path, forms: str, count: Count) -> dict[str, Any]:
    """Return calls and tokens of a refresh that asks for the forms together or separately."""
    model = ModelSettings(name="mock-model", forms=forms)
    settings = Settings(engine=EngineSettings(engine="openai", encoder="none", model=model))
    requests = planned_requests(folder, source, settings)
    extractor = Extractor()
    documents = len(list(source.iterdir()))
    words = sum(len(path.read_text(encoding="utf-8").split()) for path in source.iterdir())
    shown = [read_extraction_text(request.user)[1] for request in requests]
    passages = [" ".join(words for part in parts for _, words in part) for parts in shown]
    text = sum(map(count, passages)) / (len(requests) / documents)
    users = sum(count(r.user) for r in requests)
    messages = users + sum(count(r.system) for r in requests)
    schemas = sum(count(orjson.dumps(strict_schema(r.reply)).decode()) for r in requests)
    replies = sum(count(written(r.purpose, r.user, extractor)) for r in requests)
    return {
        "calls": len(requests),
        "calls_a_document": round(len(requests) / documents, 3),
        "text_tokens_a_document": round(text / documents, 1),
        "beyond_the_text": round((messages + schemas - text) / text, 3),
        "beyond_the_text_without_schema": round((messages - text) / text, 3),
        "beyond_the_text_without_fixed_part": round((users - text) / text, 3),
        "calls_per_thousand_words": round(1000 * len(requests) / words, 3),
        "prompt_tokens_per_thousand_words": round(1000 * (messages + schemas) / words),
        "reply_tokens_per_thousand_words": round(1000 * replies / words),
    }


def exact_count() -> Count:
    """Return a count by tiktoken, whose vocabulary must be in its cache."""
    import tiktoken

    encoding = tiktoken.get_encoding("o200k_base")
    return lambda text: len(encoding.encode_ordinary(text))


def main() -> None:
    """Count and write the figures."""
    arguments = parser_of(__doc__, documents=40, tokens=1000, exact=False).parse_args()
    count = exact_count() if arguments.exact else estimate_tokens
    with tempfile.TemporaryDirectory(prefix="almanac-prompt-cost-") as place:
        source = Path(place) / "documents"
        write_documents(source, arguments.documents, arguments.tokens)
        figures = {
            forms: counted(Path(place) / forms, source, forms, count)
            for forms in ("together", "apart")
        }
    exact = {"counted_by": "o200k" if arguments.exact else "our estimate"}
    report("prompt-cost", {**exact, **figures})


if __name__ == "__main__":
    run_command(main)
