"""Readers for the files of public benchmarks, one per data set."""

from collections.abc import Callable
from pathlib import Path

from schemas.errors import UsageError
from tasks.questions.formats import classification, multiple_choice, open_questions
from tasks.questions.formats.metaqa import read_metaqa
from tasks.questions.formats.midtermqa import read_midtermqa
from tasks.questions.formats.nlpcc import read_nlpcc, read_nlpcc_mh
from tasks.questions.formats.pathquestion import read_pathquestion
from tasks.questions.formats.questions_file import read_questions_file
from tasks.questions.question import Benchmark

READERS: dict[str, Callable[[Path], Benchmark]] = {
    "metaqa": read_metaqa,
    "pathquestion": read_pathquestion,
    "nlpcc": read_nlpcc,
    "nlpcc-mh": read_nlpcc_mh,
    "hotpotqa": open_questions.read_hotpotqa,
    "musique": open_questions.read_musique,
    "2wiki": open_questions.read_2wiki,
    "midtermqa": read_midtermqa,
    "agnews": classification.read_agnews,
    "esnli": classification.read_esnli,
    "lun": classification.read_lun,
    "strategyqa": classification.read_strategyqa,
    "cikqa": multiple_choice.read_cikqa,
    "boolq": classification.read_boolq,
    "arc": multiple_choice.read_arc,
    "nq": open_questions.read_nq,
    "webquestions": open_questions.read_webquestions,
    "curatedtrec": open_questions.read_curatedtrec,
    "triviaqa": open_questions.read_triviaqa,
    "mirage": multiple_choice.read_mirage,
    "popqa": open_questions.read_popqa,
    "wikidyk": open_questions.read_wikidyk,
    "openbookqa": multiple_choice.read_openbookqa,
    "commonsenseqa": multiple_choice.read_commonsenseqa,
    "medqa": multiple_choice.read_medqa,
    "mmlu": multiple_choice.read_mmlu,
    "fever": classification.read_fever,
    "thrust": multiple_choice.read_thrust_files,
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
