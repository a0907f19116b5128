"""Any order of changes, refreshes and corrections: each edition is what a plain dict says."""

import hashlib
import json
import multiprocessing
import os
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import schemas
from schemas.errors import AlmanacError, BusyError, HeldError
from schemas.operations import Evaluation
from schemas.settings import EngineSettings, Settings
from tasks.ingest import ingest
from tasks.refresh import refresh
from tests.documents import write_texts
from warehouse.editions import Edition
from warehouse.home import Home
from warehouse.lease import lease
from warehouse.live import record
from warehouse.overrides import make_override

SETTINGS = Settings(engine=EngineSettings(encoder="none"), workers=1)
# A server without threads forks the processes: a fork of this one could find a lock of Arrow taken.
SERVER = multiprocessing.get_context("forkserver")
FILES = ["a.md", "b.md", "c.txt", "d.md"]
TOWNS = ["Belmora", "Castro", "Dornelas", "Estrelha"]
RIVERS = ["Tavo", "Mira", "Sado"]


def text_of(town: str, river: str) -> str:
    return f"# {town}\n\n{town} is a town in Portugal. {town} lies on the river {river}.\n"


def hashes(edition: Edition) -> dict[str, str]:
    return {
        str(path.relative_to(edition.path)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(edition.path.rglob("*"))
        if path.is_file() and not path.name.startswith(".tantivy")
    }


class Almanac(RuleBasedStateMachine):
    """A source, a home, and a dict that says what the source holds."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="almanac-")
        self.source = Path(self.folder.name) / "corpus"
        self.source.mkdir()
        self.home = Home(Path(self.folder.name) / "home")
        self.model: dict[str, str] = {}
        self.sealed: dict[str, dict[str, str]] = {}
        self.seen_ids: dict[str, str] = {}
        self.rejected: dict[str, str] = {}
        self.held = False
        self.appended = 0

    def teardown(self) -> None:
        self.folder.cleanup()

    # -- the source changes ---------------------------------------------------------------

    @initialize()
    def begin(self) -> None:
        self.write("a.md", "Belmora", "Tavo")
        self.write("b.md", "Castro", "Mira")
        self.refresh()

    @rule(name=st.sampled_from(FILES), town=st.sampled_from(TOWNS), river=st.sampled_from(RIVERS))
    def write(self, name: str, town: str, river: str) -> None:
        """Add a document, change one, bring one back, or make one the duplicate of another."""
        self.model[name] = text_of(town, river)
        (self.source / name).write_text(self.model[name])

    @precondition(lambda self: len(self.model) > 1)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.model)))
        del self.model[name]
        (self.source / name).unlink()

    @rule(data=st.data())
    def rename(self, data: st.DataObject) -> None:
        old = data.draw(st.sampled_from(sorted(self.model)))
        new = data.draw(st.sampled_from(FILES))
        self.model[new] = self.model.pop(old)
        (self.source / old).replace(self.source / new)

    # -- what people and other programs do ------------------------------------------------

    @rule()
    def refresh(self) -> None:
        before = self.home.editions.current()
        if self.held:
            with suppress(HeldError):
                assert refresh(self.fresh(), [str(self.source)], SETTINGS).outcome == "unchanged"
            after = self.home.editions.current()
            assert after is not None and before is not None and after.id == before.id
        else:
            refresh(self.fresh(), [str(self.source)], SETTINGS)
            self.check(before)
        for edition in self.home.editions.all():
            self.sealed.setdefault(edition.id, hashes(edition))

    @rule()
    def refresh_with_a_listing_that_fails(self) -> None:
        """Nothing that was listed before is taken for gone, whatever the listing misses."""
        if self.held:
            return
        before = self.documents()
        real = ingest.scan

        def failing(*given: Any) -> Any:
            found = real(*given)
            kept = type(found.items)(list(found.items)[:1])
            return type(found)(found.source, kept, False, "The share broke off")

        ingest.scan = failing
        try:
            with suppress(AlmanacError):
                refresh(self.fresh(), [str(self.source)], SETTINGS)
        finally:
            ingest.scan = real
        now = {uri for d in self.documents() for uri in (d["uri"], *d["duplicates"])}
        assert {uri for d in before for uri in (d["uri"], *d["duplicates"])} <= now

    @precondition(lambda self: not self.held)
    @rule()
    def reject(self) -> None:
        edition = self.current()
        facts = [t["triple_id"] for t in edition.table(schemas.Triple).to_pylist()]
        if facts:
            override = make_override(self.home, edition, "reject", min(facts))
            self.rejected[override.override_id] = override.subject

    @precondition(lambda self: self.rejected)
    @rule()
    def withdraw(self) -> None:
        override, _ = self.rejected.popitem()
        make_override(self.home, self.current(), "withdraw", override)

    @rule()
    def roll_back(self) -> None:
        editions = self.home.editions
        published = [e for e in editions.all() if editions.state(e) != "candidate"]
        editions.roll_back(published[0], hold="checking")
        self.held = True

    @precondition(lambda self: self.held)
    @rule()
    def release(self) -> None:
        self.home.editions.release()
        self.held = False
        self.refresh()

    @rule()
    def another_process_writes_live_rows(self) -> None:
        given = (str(self.home.path), str(self.appended))
        writer = SERVER.Process(target=append_live_row, args=given)
        writer.start()
        writer.join()
        assert writer.exitcode == 0
        self.appended += 1
        assert self.home.live.table(Evaluation).num_rows == self.appended

    # -- what must hold -------------------------------------------------------------------

    def fresh(self) -> Home:
        """A home as a new process sees it."""
        return Home(self.home.path)

    def current(self) -> Edition:
        return self.home.require_edition()

    def documents(self) -> list[dict[str, Any]]:
        return self.current().table(schemas.Document).to_pylist()

    def check(self, before: Edition | None) -> None:
        """Compare the edition with the model, and its changes with the edition before."""
        edition = self.current()
        documents = self.documents()
        assert {uri for d in documents for uri in (d["uri"], *d["duplicates"])} == set(self.model)
        for d in documents:
            for uri in (d["uri"], *d["duplicates"]):
                assert d["text"] == self.model[uri], uri
        there = {d["document_id"]: d for d in documents}
        triples = edition.table(schemas.Triple).to_pylist()
        mentions = edition.table(schemas.Mention).to_pylist()
        assert {m["document_id"] for m in mentions} <= set(there)
        assert {t["triple_id"] for t in triples}.isdisjoint(self.rejected.values())
        for row in (schemas.Triple, schemas.Description, schemas.Aspect):
            for fact in edition.table(row).to_pylist():
                assert fact["document_id"] in there
        self.check_ids(edition)
        if before and before.id != edition.id:
            self.check_changes(before, edition)

    def check_ids(self, edition: Edition) -> None:
        """The town of an unchanged document is the entity it always was."""
        ids: dict[str, str] = {}
        for entity in edition.table(schemas.Entity).to_pylist():
            assert entity["name"] not in ids, "one town became two"
            ids[entity["name"]] = entity["entity_id"]
        redirects = edition.table(schemas.EntityRedirect).to_pylist()
        moved = {row["old_entity_id"]: row["entity_id"] for row in redirects}
        for town in TOWNS:
            if town in ids:
                known = self.seen_ids.setdefault(town, ids[town])
                assert ids[town] == known or moved.get(known) == ids[town], town

    def check_changes(self, before: Edition, edition: Edition) -> None:
        changes = edition.table(schemas.Change).to_pylist()
        for row, kind, key in (
            (schemas.Document, "document", "document_id"),
            (schemas.Triple, "triple", "triple_id"),
            (schemas.Entity, "entity", "entity_id"),
        ):
            old, new = (set(e.table(row)[key].to_pylist()) for e in (before, edition))
            listed: dict[str, set[str]] = {c: set() for c in ("added", "gone", "moved", "changed")}
            for change in changes:
                if change["fact_kind"] == kind:
                    assert (change["edition"], change["parent"]) == (edition.id, before.id)
                    listed[change["kind"]].add(change["fact_id"])
            assert listed["added"] | listed["moved"] == new - old, kind
            assert listed["gone"] <= old - new, kind
            assert listed["gone"] or listed["moved"] or not old - new, kind
            assert listed["changed"] <= old & new, kind

    @invariant()
    def editions_never_change(self) -> None:
        for edition in self.home.editions.all():
            if edition.id in self.sealed:
                assert hashes(edition) == self.sealed[edition.id]


def append_live_row(home: str, dataset: str) -> None:
    values = {"system": "test", "metric": "n", "value": 1.0, "items": 1}
    row = Evaluation(dataset=dataset, measured_at=datetime.now(UTC), **values)
    record(Home(Path(home)).live, row)


def test_any_order_of_changes_and_refreshes_agrees_with_the_model():
    run_state_machine_as_test(
        Almanac,
        settings=settings(
            max_examples=6,
            stateful_step_count=8,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


# --- two refreshes at once ----------------------------------------------------------------


def test_entities_keep_their_ids_when_a_files_name_is_passed_on_to_another_text():
    state = Almanac()
    try:
        state.begin()
        for old, new in (("b.md", "d.md"), ("a.md", "b.md")):
            state.model[new] = state.model.pop(old)
            (state.source / old).replace(state.source / new)
        state.refresh()
        assert len(state.seen_ids) == 2
    finally:
        state.teardown()


def _refresh(home: str, source: str, wait: float, said: Any) -> None:
    try:
        run = refresh(Home(Path(home)), [source], SETTINGS, patience=wait)
        said.put((os.getpid(), run.outcome, run.counts["extraction"]["passages"]))
    except BusyError as busy:
        said.put((os.getpid(), "busy", str(busy)))


def race(home: Path, source: Path, waits: list[float]) -> list[tuple[int, str, Any]]:
    """Start refreshes in processes of their own at the same time; return what became of each."""
    outcomes: Any = SERVER.Queue()
    workers = [
        SERVER.Process(target=_refresh, args=(str(home), str(source), wait, outcomes))
        for wait in waits
    ]
    for worker in workers:
        worker.start()
    ended = [outcomes.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join(60)
    return ended


@pytest.fixture
def source(tmp_path: Path) -> Path:
    pairs = zip(TOWNS, RIVERS, strict=False)
    texts = {f"{town}.md": text_of(town, river) for town, river in pairs}
    return write_texts(tmp_path / "corpus", texts)


def test_of_refreshes_at_once_one_works_and_the_others_say_who(source, tmp_path):
    home = tmp_path / "home"
    ended = race(home, source, [0, 0, 0])
    done = [one for one in ended if one[1] == "done"]
    busy = [one for one in ended if one[1] == "busy"]
    # One that begins after the first has ended finds nothing to do.
    assert len(done) == 1 and len(done) + len(busy) + sum(o[1] == "unchanged" for o in ended) == 3
    for _, _, words in busy:
        assert str(done[0][0]) in words or "has just begun" in words
    assert len(Home(home).editions.all()) == 1


def test_with_wait_both_work_one_after_the_other_and_nothing_is_done_twice(source, tmp_path):
    ended = race(tmp_path / "home", source, [60, 60])
    assert sorted(one[1] for one in ended) == ["done", "unchanged"]
    assert sorted(one[2] > 0 for one in ended) == [False, True]
    assert len(Home(tmp_path / "home").editions.all()) == 1


def test_one_that_waits_in_vain_says_who_holds_the_lease(source, tmp_path):
    started = time.monotonic()
    with lease(tmp_path / "home", "the-first"), pytest.raises(BusyError, match="the-first"):
        refresh(Home(tmp_path / "home"), [str(source)], SETTINGS, patience=0.2)
    assert time.monotonic() - started < 5


def test_what_the_dead_wrote_aside_is_cleaned_and_what_the_living_write_is_not(source, tmp_path):
    home = tmp_path / "home"
    refresh(Home(home), [str(source)], SETTINGS)
    dead = 4_194_305  # above the largest process id that Linux gives
    left = [
        home / f".refresh.holder.json.{dead}.tmp",
        home / "journal" / f"reads-0123456789abcdef.{dead}.tmp",
        home / "live" / f"runs-0123456789abcdef.{dead}.tmp",
        home / "editions" / f".current.json.{dead}.tmp",
        home / "editions" / f".building-{dead}" / "triples.parquet",
        home / ".spill" / "duckdb_temp_storage.tmp",
    ]
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half")
    living = home / "live" / f"runs-fedcba9876543210.{os.getppid()}.tmp"
    living.write_bytes(b"half")
    (source / "new.md").write_text(text_of("Fontoura", "Sado"))
    refresh(Home(home), [str(source)], SETTINGS)
    assert [path for path in left if path.exists()] == []
    assert living.exists()
    assert json.loads((home / "editions" / "current.json").read_bytes())["hold"] is None
