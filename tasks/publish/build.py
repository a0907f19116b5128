"""Build the next edition as a pure function of the journal, and seal it beside the others."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from schemas.imports import IMPORTED
from schemas.learning import CALIBRATED, EXPERT_ROWS, PolicyTraining
from schemas.observations import (
    EXTRACTED,
    Content,
    EntityAnchor,
    Extraction,
    Override,
    Read,
    RelationName,
    SplitPassage,
)
from schemas.ontology import Ontology
from schemas.row import Row
from schemas.verdicts import Verdict
from tasks.extract.extracted import STATED
from tasks.ingest.formats.likeness import near_duplicates, with_a_common_band
from tasks.ontology.read import ontology_sha
from tasks.progress import Report
from tasks.publish.recalibrate import recalibrations
from tasks.text.relations.vocabulary import single_valued
from tasks.version import DERIVATION_VERSION, code_version
from warehouse.derivation import Derivation, build_database
from warehouse.editions import Building, Edition
from warehouse.home import Home
from warehouse.labels import source_marks
from warehouse.manifest import describe_tables, same_content

if TYPE_CHECKING:
    from tasks.graphs.build import GraphFolders
    from tasks.publish.resolve.entities import Resolution

SOURCES: tuple[type[Row], ...] = (
    Read,
    Content,
    SplitPassage,
    Extraction,
    *EXTRACTED,
    Override,
    Verdict,
    *IMPORTED,
    *CALIBRATED,
    *EXPERT_ROWS,
    PolicyTraining,
)
Encode = Callable[[list[str]], np.ndarray]


@dataclass(frozen=True)
class Recipe:
    """The versions of everything that decides an edition, apart from the journal."""

    engine: str
    prompt_sha: str
    splitter: str
    encoder: str | None
    min_confidence: float
    ontology: Ontology | None = None
    min_usefulness: float = 0.0

    def facts(self) -> dict[str, Any]:
        """Return the recipe's entries for the manifest."""
        return {
            "engine": self.engine,
            "prompt_sha": self.prompt_sha,
            "splitter": self.splitter,
            "encoder": self.encoder,
            "min_confidence": self.min_confidence,
            "min_usefulness": self.min_usefulness,
            "ontology": ontology_sha(self.ontology),
            "derivation": DERIVATION_VERSION,
        }


@dataclass(frozen=True)
class Decisions:
    """What a build decided between the SQL steps."""

    resolution: "Resolution"
    relation_names: pa.Table  # new ones, as RelationName


def build(
    home: Home,
    recipe: Recipe,
    encode: Encode | None,
    index: Callable[[Building], None],
    report: Report,
    reject: Callable[[pa.Table], None] = lambda self_loops: None,
) -> Edition | None:
    """Build and seal an edition from the whole journal.

    `index` builds the edition's search index. Returns None, and leaves nothing behind, if the
    tables would equal those of the current edition, which has vectors of the same encoder. If that
    is so of the newest candidate, returns it. `reject` takes the triples of a language model that
    would relate a thing to itself: document_id, passage_id, ordinal, head, relation, tail and the
    thing's name.
    """
    position = home.journal.position
    fingerprint = _fingerprint(home, recipe, position)
    parent = home.editions.newest_whole()
    # An edition that is damaged, or of an older version, is built anew if nothing else changed.
    current = home.editions.pointer()["edition"]
    whole = parent is not None and parent.id == current and parent.is_of_this_version
    if parent and whole and home.editions.is_result_of(parent, fingerprint):
        return None
    candidate = home.editions.candidate_from(parent)
    if candidate and home.editions.is_result_of(candidate, fingerprint):
        return candidate
    from tasks.graphs.build import GraphFolders  # a refresh with nothing to do loads none of it

    with home.editions.building(fingerprint, parent) as building:
        derivation = Derivation(home.journal, position, home.scratch)
        corrections = _corrections_hash(home, position)
        decisions = derive(derivation, home, recipe, building, encode, report, corrections)
        reject(derivation.table("self_loops"))
        with GraphFolders(building, home.scratch) as graphs:
            derivation.write(building.folder, graphs.rows(home.journal, position))
            derivation.close()
            tables = describe_tables(building.folder)
            for known in filter(None, (parent if whole else None, candidate)):
                has_vectors = known.manifest.get("encoder") == recipe.encoder
                if has_vectors and same_content(tables, known.manifest["tables"]):
                    graphs.stop()
                    home.editions.note_result(known, fingerprint)
                    return candidate if known is candidate else None
            report("build", 3, 4)
            index_all(building, graphs, index)
        report("build", 4, 4)
        _keep(home, building, decisions)
        facts = {
            "journal_position": position,
            "fingerprint": fingerprint,
            "overrides": corrections,
            "code_version": code_version(),
            **recipe.facts(),
        }
        building.hashes.update({table["file"]: table["sha256"] for table in tables.values()})
        return home.editions.seal(building, facts)


def index_all(
    building: Building, graphs: "GraphFolders", index: Callable[[Building], None]
) -> None:
    """Build what an edition is read by from its tables: database, graph of the corpus, index."""
    with ThreadPoolExecutor(1) as executor:  # the two hardly compete for the processor
        database = executor.submit(build_database, building.folder)
        graphs.add_corpus()
        index(building)
        graphs.finish()
        database.result()


def derive(
    derivation: Derivation,
    home: Home,
    recipe: Recipe,
    building: Building,
    encode: Encode | None,
    report: Report,
    corrections: str,
) -> "Decisions":
    """Run the SQL steps, and between them the decisions that SQL cannot make.

    What earlier editions decided, and what changed since the last one, may tell of hidden texts:
    an edition for one reader has nothing of either.
    """
    from tasks.publish.apply_ontology import check_fit, with_stated_kinds
    from tasks.publish.bylines import without_bylines
    from tasks.publish.capitalised_words import capitalised_words
    from tasks.publish.relation_names import name_relations, new_names
    from tasks.publish.resolve.entities import resolve
    from tasks.publish.themes import find_themes

    open_to_all = derivation.reader.reads_everything
    parent = building.parent if open_to_all else None
    derivation.settings(
        edition=building.edition_id,
        parent=parent.id if parent else None,
        parent_position=parent.manifest["journal_position"] if parent else -1,
        engine=recipe.engine,
        prompt_sha=recipe.prompt_sha,
        splitter=recipe.splitter,
        stated_confidence=STATED,
        min_confidence=recipe.min_confidence,
        min_usefulness=recipe.min_usefulness,
        ontology_min_confidence=(recipe.ontology or Ontology()).least_confidence(
            recipe.min_confidence
        ),
        strict=bool(recipe.ontology and recipe.ontology.mode == "strict"),
        gazetteer=bool(
            recipe.ontology and recipe.ontology.mode != "open" and recipe.ontology.gazetteer
        ),
        overrides_changed=bool(parent and parent.manifest["overrides"] != corrections),
        code_changed=bool(parent and not recipe.facts().items() <= parent.manifest.items()),
    )
    derivation.step("inputs")
    derivation.hand_over("near_duplicates", _near_duplicates(derivation))
    derivation.step("verdicts")
    derivation.hand_over("recalibrations", recalibrations(derivation.table("judged_facts")))
    derivation.step("documents")
    listed = sorted(recipe.ontology.relations) if recipe.ontology else []
    derivation.hand_over(
        "ontology_relations", pa.table({"relation": pa.array(listed, pa.string())})
    )
    derivation.step("statements")
    derivation.step("names")
    report("build", 1, 4)
    resolution = resolve(
        derivation.table("local_names"),
        derivation.table("local_aliases"),
        _decided(home, EntityAnchor, open_to_all),
        derivation.table("overrides"),
        encode,
        derivation.table("moved_documents"),
        derivation.table("distinct_names"),
    )
    derivation.hand_over("assignment", resolution.assignment)
    derivation.hand_over("resolved_entities", resolution.entities)
    resolution = resolution.without(capitalised_words(derivation))
    derivation.hand_over("assignment", resolution.assignment)
    entities = with_stated_kinds(derivation, resolution.entities, recipe.ontology)
    derivation.hand_over("resolved_entities", entities)
    derivation.hand_over("entity_aliases", without_bylines(derivation, resolution.aliases))
    derivation.hand_over("new_redirects", resolution.redirects)
    derivation.hand_over("single_valued", _single_valued(recipe.ontology))
    derivation.step("relations")
    known = _decided(home, RelationName, open_to_all)
    # Editions of earlier versions kept corrected names, too.
    corrected = pc.is_in(known["relation"], home.journal.table(Override)["object"].combine_chunks())
    named = partial(
        name_relations,
        derivation.table("stated_relations"),
        known.filter(pc.invert(corrected)),
        labels_beside=derivation.table("labels_beside")["labels"].to_pylist(),
    )
    overrides = derivation.table("overrides")
    names = named(overrides, recipe.ontology or Ontology())
    derivation.hand_over("relation_names", names)
    derivation.compare_with(parent)
    report("build", 2, 4)
    derivation.step("facts")
    check_fit(derivation, home.journal, recipe.ontology)
    for step in ("yields", "entities", "changes", "gates", "experts", "path_policies"):
        derivation.step(step)
    derivation.hand_over("theme_facts", find_themes(derivation))
    # Corrections and the ontology may be taken back, so later editions keep to names without them.
    lasting = named(overrides[:0], Ontology()) if len(overrides) or recipe.ontology else names
    return Decisions(resolution, new_names(lasting, known, building.edition_id))


def _decided(home: Home, row: type[Row], open_to_all: bool) -> pa.Table:
    return home.journal.table(row) if open_to_all else row.arrow_schema().empty_table()


def _single_valued(ontology: Ontology | None) -> pa.Table:
    """Return the relations that have one tail per head at a time."""
    relations = ontology.relations.items() if ontology else ()
    own = [name for name, relation in relations if relation.single_valued]
    return pa.table({"relation": sorted({*single_valued(), *own})})


def _near_duplicates(derivation: Derivation) -> pa.Table:
    sketches = derivation.query("select content_id, minhash from current_contents")
    alike = pa.array(with_a_common_band(sketches["minhash"]))
    derivation.hand_over("alike_contents", sketches.select(["content_id"]).filter(alike))
    contents = derivation.query(
        "select content_id, text, minhash from current_contents "
        "semi join alike_contents using (content_id) order by first_commit, first_uri"
    )
    repeated = near_duplicates(contents)
    columns = {"content_id": list(repeated), "first_content_id": list(repeated.values())}
    schema = pa.schema([("content_id", pa.string()), ("first_content_id", pa.string())])
    return pa.table(columns, schema=schema)


def _keep(home: Home, building: Building, decisions: Decisions) -> None:
    """Journal this edition's entity ids and names of relations, so that they persist."""
    anchors = decisions.resolution.anchors
    edition = pa.array([building.edition_id] * len(anchors), pa.string())
    home.journal.append(
        {
            EntityAnchor: anchors.append_column("edition", edition),
            RelationName: decisions.relation_names,
        }
    )


def _fingerprint(home: Home, recipe: Recipe, position: int) -> str:
    """Return the hash of everything that the edition depends on."""
    parts = [part.sha256 for row in SOURCES for part in home.journal.parts(row, upto=position)]
    marks = source_marks(home.journal, position)
    return hashlib.sha256(orjson.dumps([sorted(parts), marks, recipe.facts()])).hexdigest()


def _corrections_hash(home: Home, position: int) -> str:
    rows = (Override, Verdict)
    parts = [part.sha256 for row in rows for part in home.journal.parts(row, upto=position)]
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:16]
