"""Train experts on sets of training texts, or change them, and publish an edition with them.

Training takes long and holds no lease, so that refreshes can run meanwhile. An expert exists once
its event is in the journal; a training that was killed resumes when the same command is given.
"""

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import orjson

from schemas.errors import AlmanacError, UsageError
from schemas.extras import check_extra
from schemas.knowledge import Relation
from schemas.learning import ExpertEvent, Verbalization, VerbalizedText
from schemas.settings import Settings
from tasks.cluster import Cluster
from tasks.experts.check import CheckQuestion, check_expert, journal_questions
from tasks.experts.manifest import checked_manifest
from tasks.experts.registry import (
    Action,
    check_description,
    check_name,
    check_parent,
    current_experts,
    event,
    experts_folder,
    failure_of,
    fields_of,
    import_folder,
    inactive_notes,
    remove_unused,
    status_columns,
)
from tasks.experts.training.plan import SCRATCH, TrainingPlan
from tasks.experts.training.train import TrainedExpert, forget_training, train_expert
from tasks.experts.verbalize.texts import TextOptions, Verbalizer
from tasks.graphs.graph import graphs_of
from tasks.progress import Each, Report, RunStage, run_plainly, silent
from tasks.publish.publish import PUBLISHING
from tasks.run import RunReport, Stages, Work, publishing_run, run_stages
from tasks.verbalize import verbalize
from tasks.worker_pool import PoolOfWorkers, in_this_process
from warehouse.home import Home
from warehouse.journal_views import register

PATIENCE = 600.0  # seconds that a finished training waits for the lease at least
DESCRIBED = 8  # relations that a description names
READ_ROWS = 10_000  # texts in memory at once


@dataclass(frozen=True)
class About:
    """What users say about an expert; None keeps the value from an earlier training."""

    description: str | None = None
    parent: str | None = None
    licence: str | None = None


@dataclass(frozen=True)
class TextSet:
    """A set of training texts: its current verbalizations, by row of the journal."""

    expert: str
    rows: tuple[dict[str, Any], ...]
    only: str | None  # the only graph whose texts are used; None for all graphs

    @property
    def ids(self) -> list[str]:
        """The verbalizations' ids, sorted."""
        return sorted(row["verbalization_id"] for row in self.rows)

    @property
    def graphs(self) -> list[str]:
        """The graphs that the texts are about."""
        return sorted(row["graph"] for row in self.rows)


def train_experts(
    home: Home,
    names: Sequence[str],
    settings: Settings,
    *,
    graph: str | None = None,
    plan: TrainingPlan | None = None,
    about: About | None = None,
    report: Report = silent,
    run_stage: RunStage = run_plainly,
    each: Each | None = None,
) -> tuple[RunReport, list[dict[str, Any]]]:
    """Train experts, in parallel if the settings have several workers, and publish them.

    Each is trained on the texts under its name; `graph` restricts them to one graph. Texts that are
    missing, or whose graph has changed, are made first: from `graph`, else from the graph with the
    expert's name. Returns the run and a summary of each expert. Raises UsageError, before anything
    is trained, if a name, the parent or the graph is wrong, or the plan would have no effect.
    """
    check_extra("experts")
    plan, about = plan or TrainingPlan(), about or About()
    if plan.base == SCRATCH and plan.method == "lora":
        raise UsageError("LoRA adapts a trained model: name one with --base.")
    if plan.patience and plan.all_texts:
        raise UsageError("Patience needs held-out texts, and with all texts there are none.")
    experts = current_experts(home)
    for name in names:
        check_name(name)
        check_parent(experts, name, about.parent)
    before = RunReport(run_id="")
    work = _TrainingRun(
        home,
        settings,
        before,
        report,
        names=tuple(names),
        graph=graph,
        plan=plan,
        about=about,
        each=each,
    )
    run_stages(work, TRAINING, run_stage)
    with publishing_run(home, "train_experts", settings, PATIENCE) as run:
        run.seconds, run.counts, work.run = before.seconds, before.counts, run
        run_stages(work, REGISTERING, run_stage)
        remove_unused(home)
    return run, [_summary(home, expert) for expert in work.trained]


@dataclass
class _TrainingRun(Work):
    """The state that the stages of a training share."""

    names: tuple[str, ...] = ()
    graph: str | None = None
    plan: TrainingPlan = field(default_factory=TrainingPlan)
    about: About = field(default_factory=About)
    sets: list["TextSet"] = field(default_factory=list)
    trained: list[TrainedExpert] = field(default_factory=list)

    def verbalize(self) -> None:
        """Make the texts of each expert that are missing or out of date."""
        self.sets = [
            _fresh_set(self.home, name, self.graph, self.settings, self.report)
            for name in dict.fromkeys(self.names)
        ]

    def train(self) -> None:
        """Train on each set of texts: on a cluster, in worker processes, or in this process."""
        settings, sets = self.settings, self.sets
        beside = min(settings.workers, len(sets))
        elsewhere = settings.runner == "dask" or beside > 1
        each: Each = in_this_process
        if elsewhere:
            clustered = settings.runner == "dask"
            each = Cluster(settings, self.report) if clustered else PoolOfWorkers(beside)
        work = partial(
            train_one,
            plan=self.plan,
            position=self.home.journal.position,
            licence=self.about.licence,
            device=settings.engine.model.device,
            threads=1 if elsewhere else None,  # further threads would wait for the others' cores
            report=silent if elsewhere else self.report,
        )
        home = self.home.path.absolute()
        trainings = ((home, texts.expert, tuple(texts.ids)) for texts in sets)
        trained = []  # anew, should the stage be tried again
        for expert in (self.each or each)(work, trainings):
            trained.append(expert)
            if elsewhere:  # progress of other processes is not seen here
                self.report("train", len(trained), len(sets))
        self.trained = sorted(trained, key=lambda expert: expert.name)
        self.run.counts["train"] = {
            "experts": len(self.trained),
            "texts": sum(expert.manifest.texts for expert in self.trained),
            "tokens": sum(expert.manifest.tokens for expert in self.trained),
        }

    def register(self) -> None:
        """Make the experts known by one event each."""
        experts = current_experts(self.home)
        by_name = {expert.name: expert for expert in self.trained}
        events = [self._event(texts, by_name[texts.expert], experts) for texts in self.sets]
        self.home.journal.append({ExpertEvent: ExpertEvent.to_table(events)})
        for one in events:
            self.run.notes += inactive_notes(one.expert, one.model_dump())
        for expert in self.trained:
            forget_training(experts_folder(self.home), expert.name)

    def _event(
        self, texts: TextSet, expert: TrainedExpert, experts: dict[str, dict[str, Any]]
    ) -> ExpertEvent:
        earlier = experts.get(expert.name, {})
        described = self.about.description or earlier.get("description")
        values = {
            **fields_of(self.home, expert.name, expert.folder, expert.manifest),
            "description": described or _description(self.home, texts),
            "parent": self.about.parent or earlier.get("parent"),
            **status_columns(earlier, failure_of(expert.manifest)),
            "sources": sorted({row["source_sha"] for row in texts.rows}),
            "graph": texts.only,
            "trained_on": max(texts.rows, key=lambda row: row["made_at"])["edition"],
        }
        return event("train", self.run.run_id, values)


TRAINING: Stages[_TrainingRun] = (  # holds no lease, since it takes long
    ("verbalize", _TrainingRun.verbalize, "graphs -> current training texts of each expert"),
    ("train", _TrainingRun.train, "texts -> packed rows -> weights, with their held-out loss"),
)
REGISTERING: Stages[_TrainingRun] = (
    ("register", _TrainingRun.register, "weights -> experts in the journal"),
    *PUBLISHING,
)


def text_set(home: Home, name: str, graph: str | None) -> TextSet:
    """Return the current training texts under a name, from one graph or all; perhaps none."""
    last = {
        (row["expert"], row["graph"]): row for row in home.journal.table(Verbalization).to_pylist()
    }
    return TextSet(
        name,
        tuple(
            row
            for (expert, its_graph), row in last.items()
            if expert == name and graph in (None, its_graph) and row["action"] == "make"
        ),
        graph,
    )


def _fresh_set(
    home: Home,
    name: str,
    graph: str | None,
    settings: Settings,
    report: Report,
) -> TextSet:
    """Return the current training texts under a name; make them if missing or out of date."""
    texts, edition = text_set(home, name, graph), home.editions.current()
    old = {row["graph"]: row for row in texts.rows}
    needed: dict[str, TextOptions] = {} if old else {graph or name: TextOptions()}
    for its_graph, row in old.items():
        if edition is None:
            break
        facts = orjson.loads(row["options"])
        options = TextOptions(**{**facts, "methods": tuple(facts["methods"])})
        with Verbalizer(edition, its_graph, name, options) as verbalizer:
            if verbalizer.source_sha() != row["source_sha"]:
                needed[its_graph] = options
    for its_graph, options in needed.items():
        verbalize(home, settings, graph=its_graph, expert=name, options=options, report=report)
    return text_set(home, name, graph)


def journal_texts(
    home: Home, ids: Sequence[str], position: int, spill: Path, split: str
) -> Iterator[str]:
    """Yield the texts of verbalizations that belong to a split, ordered by their ids."""
    config: dict[str, Any] = {"memory_limit": "1GB", "temp_directory": str(spill)}
    with home.journal.pinned(), duckdb.connect(":memory:", config=config) as con:
        register(home.journal, [VerbalizedText], con, position)
        rows = con.sql(
            "select text from j_verbalized_texts where verbalization_id in (select unnest($ids)) "
            "and split = $split order by text_id, verbalization_id",
            params={"ids": list(ids), "split": split},
        )
        for batch in rows.to_arrow_reader(READ_ROWS):
            yield from batch["text"].to_pylist()


def train_one(
    home_folder: Path,
    expert: str,
    ids: tuple[str, ...],
    *,
    plan: TrainingPlan,
    position: int,
    licence: str | None,
    device: str | None,
    threads: int | None,
    report: Report,
) -> TrainedExpert:
    """Train an expert on verbalizations of a home, perhaps in another process or elsewhere.

    Raises AlmanacError if that does not see the home.
    """
    if not home_folder.is_dir():
        raise AlmanacError(
            f"The worker on {socket.gethostname()} does not see {home_folder}, where the texts "
            "are and the expert goes. Mount it there under the same path, or leave out --dask."
        )
    home = Home(home_folder)
    folder = experts_folder(home)
    spill = folder / ".training" / f"{expert}.spill"
    splits = ("train", "validation") if plan.all_texts else ("train",)
    questions, names = journal_questions(home, ids, position, splits)
    return train_expert(
        folder,
        expert,
        plan,
        partial(journal_texts, home, ids, position, spill),
        " ".join(ids),
        licence=licence,
        device=device,
        threads=threads,
        check=partial(check_expert, questions=questions, names=names, device=device),
        report=report,
    )


def _description(home: Home, texts: TextSet) -> str:
    """Return a description of an expert: its graphs and their most frequent relations."""
    edition = home.editions.current()
    rows = edition.table(Relation).to_pylist() if edition else []
    mine = [row for row in rows if row["graph"] in texts.graphs]
    mine.sort(key=lambda row: (-row["triples"], row["relation"]))
    relations = list(dict.fromkeys(row["relation"] for row in mine))[:DESCRIBED]
    about = f": {', '.join(relations)}" if relations else ""
    return f"Facts of {' and '.join(texts.graphs)}{about}."


def _summary(home: Home, expert: TrainedExpert) -> dict[str, Any]:
    """Return the summary of a trained expert that commands print."""
    manifest = expert.manifest
    return {
        "expert": expert.name,
        "method": manifest.method,
        "parameters": manifest.parameters,
        "texts": manifest.texts,
        "tokens": manifest.tokens,
        "loss": manifest.loss,
        "perplexity": manifest.perplexity,
        "right": manifest.competence.right if manifest.competence else None,
        "ended": expert.ended,
        "seconds": round(expert.seconds, 1),
        "path": home.relative(expert.folder),
        "picture": home.relative(expert.picture),
    }


# -- changes by people ----------------------------------------------------------------------------


def add_expert(
    home: Home,
    folder: Path,
    name: str,
    settings: Settings,
    *,
    description: str | None = None,
    parent: str | None = None,
    licence: str = "",
    report: Report = silent,
) -> RunReport:
    """Check an expert that somebody contributed, and copy it into the home.

    It is asked what it should know, by the training texts or the graph of its name, if there are
    any; if it fails, it is added but not asked, and a note says why. Raises UnsafeExpertError with
    the reason if it is refused. An earlier expert of that name is replaced, and its quarantine
    stays.
    """
    check_name(name)
    check_description(description)

    def make(experts: Mapping[str, dict[str, Any]], run: RunReport) -> ExpertEvent:
        check_parent(experts, name, parent)
        questions, names = _questions_about(home, name)
        there, left_out, failure = import_folder(home, folder, name, licence, questions, names)
        if left_out:
            run.notes.append(f"Left out, since no model needs it: {', '.join(left_out)}")
        values = {
            **fields_of(home, name, there, checked_manifest(there)),
            "method": "added",
            "description": description or f"An expert on {name.replace('_', ' ')}.",
            "parent": parent,
            **status_columns(experts.get(name, {}), failure),
            "trained_on": "",
        }
        run.notes += inactive_notes(name, values)
        return event("add", run.run_id, values)

    return _publish_change(home, settings, make, report)


def _questions_about(home: Home, name: str) -> tuple[list[CheckQuestion], list[str]]:
    """Return questions by which an expert of this name can be checked, and all names it may know.

    They are from the set of training texts of that name, else from the graph of that name; there
    are none without either.
    """
    ids, position = text_set(home, name, None).ids, home.journal.position
    questions, names = journal_questions(home, ids, position, ("train", "validation"))
    if questions:
        return questions, names
    edition = home.editions.current()
    if edition is None or name not in graphs_of(edition):
        return [], []
    options = TextOptions(methods=("question",), held_out=0.0)
    with Verbalizer(edition, name, name, options) as verbalizer:
        rows = [text for some in verbalizer.texts() for text in some]
    asked = [CheckQuestion(row["text"], row["subject"]) for row in rows if row["split"] == "check"]
    return asked, sorted({row["subject"] for row in rows})


def change_expert(
    home: Home,
    name: str,
    action: Action,
    settings: Settings,
    *,
    report: Report = silent,
    **changes: Any,
) -> RunReport:
    """Describe, quarantine, restore or remove an expert; `changes` are columns of `experts`.

    Raises UsageError if there is no such expert, nothing to change, or an empty description.
    """
    check_description(changes.get("description"))
    statuses = {"quarantine": "quarantined", "restore": "active"}
    if action in statuses:
        changes = {"reason": None, **changes, "status": statuses[action]}

    def make(experts: Mapping[str, dict[str, Any]], run: RunReport) -> ExpertEvent:
        if name not in experts:
            known = ", ".join(experts) or "none"
            raise UsageError(f"There is no expert {name!r}; there are: {known}.")
        children = [other for other, row in experts.items() if row["parent"] == name]
        if action == "remove" and children:
            raise UsageError(f"{name} contains {', '.join(children)}; remove or move these first.")
        check_parent(experts, name, changes.get("parent"))
        return event(action, run.run_id, {**experts[name], **changes})

    return _publish_change(home, settings, make, report)


def _publish_change(
    home: Home,
    settings: Settings,
    make: Callable[[Mapping[str, dict[str, Any]], RunReport], ExpertEvent],
    report: Report,
) -> RunReport:
    with publishing_run(home, "curate_experts", settings) as run:
        made = make(current_experts(home), run)
        home.journal.append({ExpertEvent: ExpertEvent.to_table([made])})
        run_stages(Work(home, settings, run, report), PUBLISHING)
        remove_unused(home)
    return run
