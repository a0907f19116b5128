"""The edition that a reader with some labels sees: derived as if the other documents were not.

It is in the folder of the editions, as an ordinary edition of the same position of the journal,
and goes with the edition that it was made for.
"""

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from pathlib import Path

import orjson
from filelock import FileLock

from schemas.errors import UsageError
from schemas.labels import SENSITIVE
from schemas.ontology import ONTOLOGY_FILE
from schemas.settings import Settings, load_settings
from tasks.models.encoders.load import load_encoder
from tasks.models.encoders.store import VectorStore
from tasks.ontology.read import with_ontology
from tasks.progress import silent
from tasks.publish.build import derive, index_all
from tasks.publish.publish import recipe
from tasks.retrieval.index import build_index
from tasks.version import code_version
from warehouse.derivation import Derivation, Reader
from warehouse.editions import Building, Edition, Editions
from warehouse.home import Home
from warehouse.labels import graph_labels, known_labels, source_marks
from warehouse.scratch import Scratch


def edition_for(home: Home, edition: Edition, labels: Collection[str] | None) -> Edition:
    """Return what a reader who holds these labels sees of an edition; None sees everything.

    They see a document if they hold all labels that it and its source have, and `sensitive` if the
    source is marked so. Graphs, and what was learned from one, are seen in the same way. If nothing
    is hidden that is the edition itself; else one of its own, which is built at the first call. In
    a home that cannot be written to, each process builds one, which goes when it ends.
    Raises UsageError for a label that nothing in the home has.
    """
    if labels is None:
        return edition
    known = known_labels(home, edition)
    check_labels(labels, known)
    held = frozenset(labels) & known
    if held == known:
        return edition
    of_graphs = graph_labels(home.journal)
    imported = {name for name in _graphs(home, edition) if held.issuperset(of_graphs.get(name, []))}
    reader = Reader(held, frozenset(imported))
    key = _key(home, reader)
    beside = home.editions.for_readers(edition)
    name = f"{edition.id}.{key}"
    with edition.pinned():
        if made := beside.find(name):
            return made
        beside = _writable(beside.folder)
        beside.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(beside.folder / "lock"):
            if made := beside.find(name):
                return made
            shutil.rmtree(beside.folder / name, ignore_errors=True)  # it lost its manifest
            with beside.building(key, edition) as building:
                named = replace(building, edition_id=name, sequence=edition.sequence)
                return _build(home, edition, reader, named)


@cache
def _writable(folder: Path) -> Editions:
    """Return the editions in a folder; if it cannot be written, until the end in one that can."""
    if not os.access(next(p for p in (folder, *folder.absolute().parents) if p.exists()), os.W_OK):
        folder = Path(tempfile.mkdtemp(prefix=f"almanac-{folder.name}-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Editions(folder)


def check_labels(labels: Collection[str], known: Collection[str]) -> None:
    """Raise UsageError if one of the labels is not among the known ones."""
    unknown = sorted(set(labels) - set(known) - {SENSITIVE})
    if unknown:
        there = ", ".join(sorted(known)) or "none"
        raise UsageError(f"There is no label {unknown[0]!r} here. The labels: {there}.")


def _graphs(home: Home, edition: Edition) -> list[str]:
    """Return the names of the graphs that were imported when an edition was made."""
    from tasks.graphs.imported import current_imports

    position = edition.manifest["journal_position"]
    return [row["graph"] for row in current_imports(home.journal, position)]


def _key(home: Home, reader: Reader) -> str:
    """Return the hash of what decides, beside the edition, what the reader sees of it."""
    assert reader.labels is not None
    decides = [sorted(reader.labels), sorted(reader.graphs), source_marks(home.journal)]
    return hashlib.sha256(orjson.dumps(decides)).hexdigest()[:12]


def _build(home: Home, edition: Edition, reader: Reader, building: Building) -> Edition:
    """Derive and seal the reader's edition; its memory and files are no other build's."""
    from tasks.graphs.build import GraphFolders

    settings, made = _settings(home), edition.manifest
    engine = settings.engine
    chosen = map(load_encoder, (engine.encoder, engine.chinese_encoder, engine.name_encoders[0]))
    stores = [encoder and VectorStore(home.journal, encoder) for encoder in chosen]
    english, chinese, of_names = stores
    ids = dict.fromkeys(store.id for store in stores if store)
    of_edition = {name: made[name] for name in ("engine", "prompt_sha", "splitter")}
    rules = replace(
        recipe(settings, " + ".join(ids) or None),
        min_confidence=made.get("min_confidence", settings.publish.min_confidence),
        min_usefulness=made.get("min_usefulness", settings.publish.min_usefulness),
        **of_edition,
    )
    spill = building.folder.with_name(".building-spill")
    scratch, position = Scratch(spill), made["journal_position"]
    derivation = Derivation(home.journal, position, scratch, reader=reader)
    encode = of_names.encode if of_names else None
    derive(derivation, home, rules, building, encode, silent, made["overrides"])
    with GraphFolders(building, scratch) as graphs:
        derivation.write(building.folder, graphs.rows(home.journal, position, reader))
        derivation.close()
        index_all(building, graphs, lambda b: build_index(b.folder, english, chinese, scratch, b))
    scratch.close()
    shutil.rmtree(spill, ignore_errors=True)
    facts = {
        "parent": None,  # what changed since would tell of hidden texts
        "of": edition.id,
        "labels": sorted(reader.labels or ()),
        "journal_position": position,
        "fingerprint": made["fingerprint"],
        "overrides": made["overrides"],
        "code_version": code_version(),
        **rules.facts(),
    }
    return Editions(building.folder.parent).seal(building, facts)


def _settings(home: Home) -> Settings:
    """Return the home's settings, with its ontology if it has one."""
    try:
        settings = load_settings(home.path)
    except ValueError as error:
        raise UsageError(f"{home.path / 'settings.toml'} is invalid: {error}") from error
    has_own = settings.engine.ontology or not (home.path / ONTOLOGY_FILE).exists()
    return settings if has_own else with_ontology(settings, home.path)
