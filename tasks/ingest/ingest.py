"""Bring the journal up to date with the sources: read changed files, note removed inputs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from schemas.errors import AlmanacError, HeldError, NotFoundError
from schemas.observations import ContainerRead, Read
from schemas.settings import ReadSettings, Settings
from tasks.ingest.formats.inputs import Item, Outcome, ReadText, Reason, Refusal, Removal
from tasks.ingest.formats.likeness import content_id
from tasks.ingest.formats.picture import can_read_pictures
from tasks.ingest.formats.read import read_item
from tasks.ingest.formats.records import version_order
from tasks.ingest.formats.sources import NOTES, NOTES_SOURCE, opened_ahead, scan, scan_notes
from tasks.ingest.observe import Observations, metadata_json
from tasks.progress import Each, in_order
from tasks.version import code_version
from warehouse.home import Home

# The environment failed, not the input: the earlier text stays valid, and the next run tries again.
TRANSIENT = {Reason.UNREADABLE, Reason.TIMEOUT, Reason.OUT_OF_MEMORY, Reason.CRASHED}

FILES_EACH = 32  # files that a worker reads at a time
SHOWN = 6  # endings of refused files
LARGE = 8_000_000  # bytes of a file that may hold many records, which are read one by one

# What is compared with an input's last row, to see whether it has changed.
STATE = ["uri", "container", "outcome", "version", "sha256", "content_id", "metadata", "run_id"]


@dataclass
class KnownSource:
    """The journal's state of one source: its files and their inputs."""

    fingerprints: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    by_container: dict[str, set[str]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)  # files of which an input was, when last read

    def ingested_from(self, container: str) -> list[str]:
        """Return the inputs that one file holds, sorted, without those of a change feed."""
        uris = self.by_container.get(container, set())
        own = (uri for uri in uris if _is_held(uri, container))
        return sorted(uri for uri in own if self.inputs[uri]["outcome"] == "ingested")


def read_all_here(
    number: int, settings: ReadSettings, items: list[Item]
) -> tuple[int, list[list[Outcome] | None]]:
    """Return the number and each file's inputs; None for a large one, or one that is not here."""
    return number, [list(read_item(i, settings)) if _is_small_here(i) else None for i in items]


def _is_small_here(item: Item) -> bool:
    """Tell whether this machine has the file, and may hold all its texts in memory."""
    if "://" in item.root or item.size > LARGE:
        return False
    path = Path(item.root) / item.path
    return path.is_file() and path.stat().st_size == item.size


class Ingestion:
    """One source being brought up to date within one run."""

    def __init__(
        self,
        home: Home,
        source: str,
        run_id: str,
        settings: Settings,
        *,
        sensitive: bool,
        labels: list[str] | None = None,
        each: Each | None = None,
    ) -> None:
        """List the source and compare it with the journal; `each` may read files elsewhere."""
        self.settings, self._each = settings, each
        notes = source == NOTES_SOURCE
        self.listing = (
            scan_notes(home.path / NOTES) if notes else scan(source, settings.read.exclude)
        )
        self.source = self.listing.source
        self.known = _known(home, self.source)
        sensitivity = "sensitive" if sensitive else "normal"
        self.observed = Observations(home, run_id, self.listing, sensitivity, labels)
        self.counts: Counter[str] = Counter(files=len(self.listing.items))
        self.refusals: dict[Reason, Counter[str]] = defaultdict(Counter)  # by endings of names
        self.examples: dict[Reason, Refusal] = {}
        self._gone = frozenset(self.gone)
        self._moved: set[str] = set()  # inputs whose text is under another uri now
        self._home = home

    @cached_property
    def _owners(self) -> dict[str, tuple[str, str]]:
        """The first input with each text; read when the first text is noted, after other sources.

        So a text that an earlier source of the same run brought is known, and a refresh that finds
        nothing new does not pay for it.
        """
        return _owners(self._home)

    @property
    def changed(self) -> list[Item]:
        """The files that are new or have changed."""
        return [item for item in self.listing.items if not self._is_known(item)]

    def _is_known(self, item: Item) -> bool:
        known = self.known.fingerprints.get(item.uri)
        if known == item.fingerprint:  # older versions noted it although they refused an input
            return item.uri not in self.known.refused
        return known == self._fingerprint_of_refused(item)

    @property
    def gone(self) -> list[str]:
        """The known files that a complete listing lacks; an incomplete listing proves nothing."""
        if not self.listing.complete:
            return []
        return sorted(self.known.fingerprints.keys() - {i.uri for i in self.listing.items})

    def check_listing(self) -> None:
        """Stop before anything is written if the source, or too much of it, has vanished.

        Raises AlmanacError when nothing could be listed, NotFoundError if it is a path that was
        never read or a pattern that never matched; HeldError when more than the share
        `publish.max_delete` of its documents, and more of them than `publish.free_deletions`,
        would be deleted.
        """
        if not self.listing.complete and not len(self.listing.items):
            is_lost = self.known.inputs or "://" in self.source
            failure = AlmanacError if is_lost else NotFoundError
            reason = str(self.listing.error).removesuffix(".")
            raise failure(f"{reason}. Nothing was read and nothing was deleted.")
        if self.listing.unmatched and not self.known.inputs:
            raise NotFoundError(f"Nothing matches {self.source}, so nothing was read.")
        known = self.known.inputs.items()
        held = {uri: row["content_id"] for uri, row in known if row["outcome"] == "ingested"}
        lost = {uri for container in self.gone for uri in self.known.ingested_from(container)}
        documents = len(set(held.values()))  # inputs of one text are one document
        going = documents - len({held[uri] for uri in held.keys() - lost})
        allowed = self.settings.publish.max_delete
        if going > self.settings.publish.free_deletions and going > allowed * documents:
            raise HeldError(
                f"{going} of {documents} documents of {self.source} are gone, more than the "
                f"{allowed:.0%} that --max-delete allows. Nothing was changed. If that is "
                f"meant, refresh again with --max-delete 1."
            )

    def read_all(self) -> Iterator[int]:
        """Read and journal the changed files; after each, yield how many are done."""
        changed = self.changed
        self.counts["unchanged_files"] = len(self.listing.items) - len(changed)
        for done, (item, outcomes) in enumerate(self._outcomes(changed), 1):
            self._read_file(item, outcomes)
            self.observed.commit_if_large()
            yield done
        for container in self.gone:
            self._remove_missing(container, set(), "gone")
            self.observed.container(container, "gone")
        self.observed.scanned()

    def _outcomes(self, items: list[Item]) -> Iterator[tuple[Item, Iterable[Outcome]]]:
        """Yield the files in order, each with its inputs: small local ones are read elsewhere."""
        settings = self.settings.read
        if self._each is None or len(items) < FILES_EACH or "://" in self.listing.source:
            for item, opens in opened_ahead(items):
                yield item, read_item(item, settings, opens)
            return
        groups = [items[start : start + FILES_EACH] for start in range(0, len(items), FILES_EACH)]
        batches = ((n, settings, group) for n, group in enumerate(groups))
        for group, read in zip(groups, in_order(self._each(read_all_here, batches)), strict=True):
            for item, outcomes in zip(group, read, strict=True):
                yield item, read_item(item, settings) if outcomes is None else outcomes

    def _read_file(self, item: Item, outcomes: Iterable[Outcome]) -> None:
        seen: set[str] = set()
        broken: Reason | None = None
        fingerprint = item.fingerprint
        for outcome in outcomes:
            seen.add(outcome.uri)
            if isinstance(outcome, Refusal):
                fingerprint = self._fingerprint_of_refused(item)
            if isinstance(outcome, Refusal) and outcome.uri == item.uri:
                broken = outcome.reason
            self._note(outcome, item)
            self.observed.commit_if_large()
        # The rest of a file that broke off is unknown, so its records do not count as gone.
        if broken is None or (broken not in TRANSIENT and seen == {item.uri}):
            self._remove_missing(item.uri, seen, "not_in_file")
        fingerprint = "" if broken in TRANSIENT else fingerprint
        self.observed.container(item.uri, "read", fingerprint, len(seen))

    def _fingerprint_of_refused(self, item: Item) -> str:
        """Return the fingerprint of a file that holds a refused input.

        It names the settings and the version, since the file is read again once they, or the extra
        for pictures, may allow more.
        """
        return f"{item.fingerprint} refused under {self._settings_sha[:16]}"

    @cached_property
    def _settings_sha(self) -> str:
        allowed = f"{self.settings.read.model_dump_json()} pictures: {can_read_pictures()}"
        allowed += f" version: {code_version()}"
        return sha256(allowed.encode()).hexdigest()

    def _note(self, outcome: Outcome, item: Item) -> None:
        """Journal the outcome of one input; exactly one of the counts goes up."""
        before = self.known.inputs.get(outcome.uri, {})
        if isinstance(outcome, Refusal):
            self.counts["left_out" if outcome.reason is Reason.LEFT_OUT else "refused"] += 1
            self.refusals[outcome.reason][Path(item.uri).suffix.lower()] += 1
            self.examples.setdefault(outcome.reason, outcome)
            self.observed.rejection(outcome)
            if outcome.reason not in TRANSIENT and _is_held(outcome.uri, item.uri):
                self.observed.refused(outcome, item)
            return
        is_change = not _is_held(outcome.uri, item.uri)
        new, known = outcome.version, before.get("version", "")
        if is_change and new and known and version_order(new) < version_order(known):
            self.counts["unchanged"] += 1
        elif isinstance(outcome, Removal):
            self._note_removal(outcome, item, before)
        else:
            self._note_text(outcome, item, before)

    def _note_removal(self, removal: Removal, item: Item, before: dict[str, Any]) -> None:
        held = before.get("outcome") == "ingested"
        self.counts["removed" if held else "unchanged"] += 1
        # Also where no text is held: one of an older version may be read after its removal.
        if held or removal.version != before.get("version", ""):
            self.observed.removed(removal.uri, item.uri, "feed", removal.version)
            state = {"container": item.uri, "outcome": "removed", "version": removal.version}
            self.known.inputs[removal.uri] = state

    def _note_text(self, text: ReadText, item: Item, before: dict[str, Any]) -> None:
        if item.labels:
            labels = sorted({*item.labels, *text.metadata.get("labels", ())})
            text = replace(text, metadata={**text.metadata, "labels": labels})
        identity = content_id(text.title, text.text)
        state = {
            "container": item.uri,
            "outcome": "ingested",
            "content_id": identity,
            "sha256": text.sha256,
            "version": text.version,
            "metadata": metadata_json(text),
        }
        if all(before.get(name) == value for name, value in state.items()):
            self.counts["unchanged"] += 1
            return
        self.known.inputs[text.uri] = state
        self.observed.ingested(text, item, identity)
        owner = (self.source, text.uri)
        if identity not in self._owners:
            self.observed.content(identity, text)
        keys = _identities(text.uri, state)
        owners = {self._owners.setdefault(key, owner) for key in keys}
        own = (uri for source, uri in owners if source == self.source)
        left = {uri for uri in own if self.known.inputs[uri]["container"] in self._gone}
        if left:
            self._moved |= left
            self._owners.update(dict.fromkeys(keys, owner))
        self.counts["ingested" if owners == {owner} else "moved" if left else "duplicate"] += 1

    def _remove_missing(self, container: str, seen: set[str], reason: str) -> None:
        for uri in self.known.ingested_from(container):
            if uri not in seen:
                self.counts["removed"] += uri not in self._moved
                self.observed.removed(uri, container, reason)


def refusal_notes(ingestions: Sequence[Ingestion], run_id: str) -> Iterator[str]:
    """Yield how many inputs were refused for each reason, with an example, and where all are."""
    refusals: dict[Reason, Counter[str]] = defaultdict(Counter)
    examples: dict[Reason, Refusal] = {}
    for ingestion in ingestions:
        for reason, endings in ingestion.refusals.items():
            refusals[reason].update(endings)
        examples = ingestion.examples | examples
    for reason, endings in sorted(refusals.items(), key=lambda refused: -refused[1].total()):
        example = examples[reason]
        how = "left out" if reason is Reason.LEFT_OUT else f"refused as {reason}"
        yield (
            f"{endings.total()} {how}{_listed(endings)}, such as {example.uri}: "
            f"{example.text.rstrip('.')}"
        )
    if refusals:
        query = f"select item_id, text from rejections where run_id = '{run_id}'"
        yield f"all that were refused: `almanac sql \"{query} and stage = 'read'\"`"


def _listed(endings: Counter[str]) -> str:
    """Return the most common endings with their counts in brackets; "" if there is only one."""
    if len(endings) < 2:
        return ""
    most = endings.most_common(SHOWN)
    listed = [f"{count} {ending or 'without an ending'}" for ending, count in most]
    if others := endings.total() - sum(count for _, count in most):
        listed.append(f"{others} of others")
    return f" ({', '.join(listed)})"


def _is_held(uri: str, container: str) -> bool:
    """Tell whether a file itself holds an input; a feed lists changes of what no file holds."""
    return uri == container or uri.startswith(f"{container}#")


def _known(home: Home, source: str) -> KnownSource:
    """Return the last state of every file and input of a source."""
    known = KnownSource()
    of_source, runs = pc.field("source") == source, {}
    for row in home.journal.table(ContainerRead).filter(of_source).to_pylist():
        known.fingerprints[row["container"]] = row["fingerprint"]
        runs[row["container"]] = row["run_id"]
        if row["outcome"] == "gone":
            del known.fingerprints[row["container"]]
    for row in home.journal.table(Read).filter(of_source).select(STATE).to_pylist():
        known.inputs[row["uri"]] = row
        if row["outcome"] == "refused" and row["run_id"] == runs.get(row["container"]):
            known.refused.add(row["container"])
        known.by_container.setdefault(row["container"], set()).add(row["uri"])
    return known


def _owners(home: Home) -> dict[str, tuple[str, str]]:
    """Map each text and each file's bytes in the current corpus to the first input with it."""
    columns = ["source", "uri", "container", "content_id", "sha256"]
    rows = home.journal.table(Read).select(columns).to_pylist()
    current = {(row["source"], row["uri"]): row for row in rows}
    owners: dict[str, tuple[str, str]] = {}
    for owner, row in current.items():
        if row["content_id"]:
            for key in _identities(row["uri"], row):
                owners.setdefault(key, owner)
    return owners


def _identities(uri: str, state: dict[str, Any]) -> list[str]:
    """Return the keys of an input's text and bytes, which duplicates share (`inputs.sql`)."""
    keys = [state["content_id"]]
    if state["sha256"] and uri.startswith(state["container"]):
        keys.append(f"{state['sha256']} {uri.removeprefix(state['container'])}")
    return keys
