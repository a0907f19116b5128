"""The files of public benchmarks: one reader a data set."""

from collections.abc import Callable
from pathlib import Path

from schemas.errors import UsageError
from tasks.evaluation.formats.curatedtrec import read_curatedtrec
from tasks.evaluation.formats.hotpotqa import read_hotpotqa
from tasks.evaluation.formats.metaqa import read_metaqa
from tasks.evaluation.formats.midtermqa import read_midtermqa
from tasks.evaluation.formats.mirage import read_mirage
from tasks.evaluation.formats.nlpcc import read_nlpcc, read_nlpcc_mh
from tasks.evaluation.formats.pathquestion import read_pathquestion
from tasks.evaluation.formats.popqa import read_popqa, read_wikidyk
from tasks.evaluation.formats.questions_file import read_questions_file
from tasks.evaluation.question import Benchmark

READERS: dict[str, Callable[[Path], Benchmark]] = {
    "metaqa": read_metaqa,
    "pathquestion": read_pathquestion,
    "nlpcc": read_nlpcc,
    "nlpcc-mh": read_nlpcc_mh,
    "hotpotqa": read_hotpotqa,
    "midtermqa": read_midtermqa,
    "mirage": read_mirage,
    "popqa": read_popqa,
    "wikidyk": read_wikidyk,
    "curatedtrec": read_curatedtrec,
    "jsonl": read_questions_file,
}


def read_benchmark(path: Path, name: str) -> Benchmark:
    """Return the questions of a file, or of all question files in a folder, and their graphs.

    Raises UsageError for an unknown format, for a path that is not there, and where there are no
    questions; AlmanacError for a file that is not of its format.
    """
    if name not in READERS:
        raise UsageError(f"There is no format {name!r}. The formats: {', '.join(READERS)}.")
    if not path.exists():
        raise UsageError(f"{path} does not exist.")
    benchmark = READERS[name](path)
    if not benchmark.questions:
        raise UsageError(f"There are no questions of the format {name} in {path}.")
    return benchmark
