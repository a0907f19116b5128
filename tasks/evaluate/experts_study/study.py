"""The study of a home's experts: asks the questions, and records and draws the figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.settings import Settings
from tasks.evaluate.experts_study.configurations import GROUPS
from tasks.evaluate.experts_study.measure import drawn, model_name, run_study, with_model
from tasks.evaluate.experts_study.report import (
    by_dataset,
    record_study,
    study_tables,
    write_report,
)
from tasks.progress import Report, Warn
from tasks.questions.formats import read_benchmark
from warehouse.disk_errors import warned_of_refusals
from warehouse.editions import Edition
from warehouse.home import Home


@dataclass(frozen=True)
class Study:
    """The scope of a study.

    `models` answer the same questions: embedded, endpoint:NAME, or a local one; by default it is
    the settings' model. `groups` selects groups of rows and `datasets` data sets, all by default;
    `limit` is the maximum number of questions per data set. The report and its pictures are written
    into `folder`.
    """

    models: Sequence[str] = ()
    groups: Sequence[str] = GROUPS
    datasets: Sequence[str] = ()
    limit: int | None = None
    folder: Path | None = None


def study_experts(
    home: Home,
    edition: Edition,
    path: Path,
    format: str,
    study: Study,
    settings: Settings,
    report: Report,
    warn: Warn,
) -> dict[str, Any]:
    """Return the tables of CooK's figures 2 to 9 by data set, and record them as live records.

    Raises UsageError if the edition has no experts, or for an unknown group or data set.
    """
    benchmark = read_benchmark(path, format)
    questions = drawn(benchmark.questions, study.limit, study.datasets)
    of_models = [with_model(settings, name) for name in study.models] or [settings]
    with edition.pinned():
        rows = run_study(home, edition, questions, of_models, study.groups, report)
    record_study(home, benchmark.name, edition.id, rows, warn)
    tables = {name: study_tables(part) for name, part in by_dataset(rows).items()}
    if study.folder:
        with warned_of_refusals(study.folder, "the report was not written.", warn):
            write_report(study.folder, f"Experts on {benchmark.name}", tables)
    return {
        "dataset": benchmark.name,
        "models": [model_name(each.engine) for each in of_models],
        "edition": edition.id,
        "tables": tables,
    }
