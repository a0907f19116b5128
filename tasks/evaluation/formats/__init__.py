"""The files of public benchmarks: one reader a data set."""

from collections.abc import Callable
from pathlib import Path

from schemas.errors import UsageError
from tasks.evaluation.formats.agnews import read_agnews
from tasks.evaluation.formats.cikqa import read_cikqa
from tasks.evaluation.formats.curatedtrec import read_curatedtrec
from tasks.evaluation.formats.esnli import read_esnli
from tasks.evaluation.formats.exams import read_medqa, read_mmlu
from tasks.evaluation.formats.fever import read_fever
from tasks.evaluation.formats.hotpotqa import read_hotpotqa
from tasks.evaluation.formats.lettered import read_arc, read_commonsenseqa, read_openbookqa
from tasks.evaluation.formats.metaqa import read_metaqa
from tasks.evaluation.formats.midtermqa import read_midtermqa
from tasks.evaluation.formats.mirage import read_mirage
from tasks.evaluation.formats.nlpcc import read_nlpcc, read_nlpcc_mh
from tasks.evaluation.formats.open_questions import read_nq, read_triviaqa, read_webquestions
from tasks.evaluation.formats.pathquestion import read_pathquestion
from tasks.evaluation.formats.popqa import read_popqa, read_wikidyk
from tasks.evaluation.formats.questions_file import read_questions_file
from tasks.evaluation.formats.thrust_files import read_thrust_files
from tasks.evaluation.formats.yes_no import read_boolq, read_strategyqa
from tasks.evaluation.question import Benchmark

READERS: dict[str, Callable[[Path], Benchmark]] = {
    "metaqa": read_metaqa,
    "pathquestion": read_pathquestion,
    "nlpcc": read_nlpcc,
    "nlpcc-mh": read_nlpcc_mh,
    "hotpotqa": read_hotpotqa,
    "midtermqa": read_midtermqa,
    "agnews": read_agnews,
    "esnli": read_esnli,
    "strategyqa": read_strategyqa,
    "cikqa": read_cikqa,
    "boolq": read_boolq,
    "arc": read_arc,
    "nq": read_nq,
    "webquestions": read_webquestions,
    "curatedtrec": read_curatedtrec,
    "triviaqa": read_triviaqa,
    "mirage": read_mirage,
    "popqa": read_popqa,
    "wikidyk": read_wikidyk,
    "openbookqa": read_openbookqa,
    "commonsenseqa": read_commonsenseqa,
    "medqa": read_medqa,
    "mmlu": read_mmlu,
    "fever": read_fever,
    "thrust": read_thrust_files,
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
