"""Readers for the files of public benchmarks, one per data set."""

from collections.abc import Callable
from pathlib import Path

from schemas.errors import UsageError
from tasks.questions.formats import classification, multiple_choice, open_questions  # noqa: F401
from tasks.questions.formats.metaqa import read_metaqa
from tasks.questions.formats.midtermqa import read_midtermqa
from tasks.questions.formats.nlpcc import read_nlpcc, read_nlpcc_mh
from tasks.questions.formats.pathquestion import read_pathquestion
from tasks.questions.formats.questions_file import read_questions_file
from tasks.questions.formats.rows import READERS as READERS_OF_ROWS
from tasks.questions.question import Benchmark

READERS: dict[str, Callable[[Path], Benchmark]] = {
    "metaqa": read_metaqa,
    "pathquestion": read_pathquestion,
    "nlpcc": read_nlpcc,
    "nlpcc-mh": read_nlpcc_mh,
    "midtermqa": read_midtermqa,
    **READERS_OF_ROWS,
    "jsonl": read_questions_file,
}


def read_benchmark(path: Path, name: str) -> Benchmark:
    """Return the questions in a file, or in all question files of a folder, and their graphs.

    Raises UsageError for an unknown format, a missing path, or a path without questions, and
    AlmanacError for a file that is not in its format.
    """
    if name not in READERS:
        raise UsageError(f"There is no format {name!r}. The formats: {', '.join(READERS)}.")
    if not path.exists():
        raise UsageError(f"{path} does not exist.")
    benchmark = READERS[name](path)
    if not benchmark.questions:
        raise UsageError(f"There are no questions of the format {name} in {path}.")
    return benchmark
