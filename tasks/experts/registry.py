"""The experts of a home, according to the journal, and their folders.

An expert is stored in `experts/NAME/SHA12` within the home, where SHA12 is from the SHA-256 of its
manifest, and never changes there. Its state is given by its last event in the journal.
"""

import os
import re
import shutil
import stat
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from schemas.errors import UsageError
from schemas.learning import Expert, ExpertEvent
from tasks.experts.check import CheckQuestion, check_expert, keeps_its_word, reads_plain_language
from tasks.experts.manifest import (
    FROM_FILES,
    LARGEST,
    MANIFEST,
    NEEDED,
    OPTIONAL,
    WEIGHTS,
    Manifest,
    UnsafeExpertError,
    check_contents,
    checked_manifest,
    sha_of,
    unsafe,
    write_manifest,
)
from tasks.experts.pool import ExpertPool, OpenExpert
from tasks.models.weight_files import is_pickle
from warehouse import durable
from warehouse.editions import Edition
from warehouse.home import Home

Action = Literal["train", "add", "describe", "quarantine", "restore", "remove"]
FAILED = "Failed its check: "  # begins the reason of an expert that is inactive for that
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def check_name(name: str) -> None:
    """Raise UsageError if a text cannot be the name of an expert."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be an expert's name: up to 64 letters a to z, digits, - and _ can."
        )


def experts_folder(home: Home) -> Path:
    """Return the folder with the experts of a home."""
    return home.path / "experts"


def current_experts(home: Home) -> dict[str, dict[str, Any]]:
    """Return the last event of each expert that has not been removed, by name."""
    last = {row["expert"]: row for row in home.journal.table(ExpertEvent).to_pylist()}
    return {name: last[name] for name in sorted(last) if last[name]["action"] != "remove"}


def active_experts(home: Home, edition: Edition) -> list[OpenExpert]:
    """Return the experts of an edition that may be asked, without those in quarantine."""
    if not edition.rows(Expert):
        return []
    return [
        OpenExpert(
            row["expert"],
            row["description"],
            home.path / row["path"],
            row["sha256"],
            row["parent"],
            tuple(row["languages"] or ()),
        )
        for row in edition.table(Expert).to_pylist()
        if row["status"] == "active"
    ]


def fields_of(home: Home, name: str, folder: Path, manifest: Manifest) -> dict[str, Any]:
    """Return the columns of the table `experts` that follow from a new, checked folder."""
    return {
        **manifest.model_dump(exclude={"format", "files", "training", "competence"}),
        "expert": name,
        "path": home.relative(folder),
        "sha256": sha_of(folder),
        "stale": False,
        "trained_at": datetime.now(UTC),
        "share_right": manifest.competence.right if manifest.competence else None,
        "languages": list(manifest.competence.languages) if manifest.competence else [],
    }


def event(action: Action, run_id: str, values: Mapping[str, Any]) -> ExpertEvent:
    """Return an event of an expert, with a new id and the current time; `values` are columns."""
    own = {
        "event_id": uuid4().hex,
        "action": action,
        "run_id": run_id,
        "happened_at": datetime.now(UTC),
    }
    return ExpertEvent(**{**values, **own})


def status_columns(earlier: Mapping[str, Any], failure: str | None) -> dict[str, Any]:
    """Return status and reason of a new model: inactive if it failed its check.

    A quarantine by people stays as it is; `earlier` is the expert's last event, if there is one.
    """
    reason = earlier.get("reason")
    by_people = earlier.get("status") == "quarantined" and not str(reason).startswith(FAILED)
    if by_people:
        return {"status": "quarantined", "reason": reason}
    if failure is None:
        return {"status": "active", "reason": None}
    return {"status": "quarantined", "reason": f"{FAILED}{failure}"}


def failure_of(manifest: Manifest) -> str | None:
    """Return how an expert failed its check; None if it passed, or was not asked anything."""
    found = manifest.competence
    if found is None or found.is_enough:
        return None
    right = round(100 * found.right)  # each different answer counts alike
    return f"it answers {right} of 100 questions about what it should know"


def inactive_notes(name: str, columns: Mapping[str, Any]) -> list[str]:
    """Return what users should know of an expert that its check left inactive; else nothing."""
    reason = columns["reason"] or ""
    if columns["status"] == "active" or not reason.startswith(FAILED):
        return []
    return [
        f"The expert {name} is not asked, since {reason.removeprefix(FAILED)}. Train it longer, or "
        f"have it asked all the same with `almanac experts restore {name}`"
    ]


def check_parent(experts: Mapping[str, Mapping[str, Any]], name: str, parent: str | None) -> None:
    """Raise UsageError if `parent` is no expert, or is the expert `name` or a part of it."""
    above = parent
    while above is not None:
        if above == name:
            raise UsageError(f"{name} cannot be part of {parent}, which is part of {name}.")
        if above not in experts:
            raise UsageError(f"There is no expert {above!r} that {name} could be part of.")
        above = experts[above]["parent"]


def check_description(description: str | None) -> None:
    """Raise UsageError for an empty text, because experts are chosen by their descriptions."""
    if description is not None and not description.strip():
        raise UsageError("An expert needs a description that says what it knows about.")


# -- folders that others made ------------------------------------------------------------------


def import_folder(
    home: Home,
    source: Path,
    name: str,
    licence: str,
    questions: Sequence[CheckQuestion] = (),
    names: Sequence[str] = (),
) -> tuple[Path, list[str], str | None]:
    """Copy a contributed expert into the home, and check what it knows.

    Returns its folder, the names that were left out, and how it failed its check, if it did. A
    folder with a manifest must match it exactly. From a folder without one, only the files of a
    model are copied, and a manifest is written. The expert is asked `questions` about `names`, else
    those that its manifest says it can answer, else it must read plain language. Raises
    UnsafeExpertError with the reason, AlmanacError if it computes no probabilities; in either case
    no copy remains.
    """
    source = source.resolve()
    if (source / MANIFEST).is_file():
        checked_manifest(source)
    experts = experts_folder(home)
    aside = experts / f".adding.{os.getpid()}"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    try:
        left_out = _copy(source, aside)
        if (aside / MANIFEST).exists():
            checked_manifest(aside)
        else:
            check_contents(aside)
            write_manifest(aside, licence=licence)
        copied = ExpertPool([OpenExpert(name, "", aside, sha_of(aside))], device="cpu")
        copied.write(name, [name], max_new_tokens=1)
        failure = _failure(aside, questions, names)
        sha256 = sha_of(aside)
        folder = experts / name / sha256[:12]
        if not folder.exists():
            durable.sync_tree(aside)
            folder.parent.mkdir(parents=True, exist_ok=True)
            durable.replace(aside, folder)
        return folder, left_out, failure
    except UnsafeExpertError as error:
        raise UnsafeExpertError(str(error).replace(str(aside), str(source))) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _failure(folder: Path, questions: Sequence[CheckQuestion], names: Sequence[str]) -> str | None:
    """Check an expert that was copied; return how it failed, None if it passed."""
    manifest = checked_manifest(folder)
    if questions:
        about = manifest.model_dump(exclude=set(FROM_FILES))
        return failure_of(check_expert(folder, about, questions, names, "cpu"))
    if manifest.competence is not None:
        keeps_it = keeps_its_word(folder, manifest.competence)
        return (
            None if keeps_it else "it does not answer the questions that its manifest says it can"
        )
    if reads_plain_language(folder):
        return None
    return (
        "it reads plain language no better than chance, and no graph or set of texts has its name, "
        "by which it could be asked what it knows"
    )


def _copy(source: Path, aside: Path) -> list[str]:
    """Copy the files of a model, if ordinary and not too large; return the names of all others."""
    if not source.is_dir():
        raise UsageError(f"There is no folder {source}.")
    names = sorted(path.name for path in source.iterdir())
    allowed = [name for name in names if name in (MANIFEST, *NEEDED, *OPTIONAL)]
    for name in allowed:
        path = source / name
        info = path.lstat()
        if not stat.S_ISREG(info.st_mode):
            raise unsafe(source, f"{name} is not an ordinary file; copy what it leads to")
        if info.st_size > LARGEST[name]:
            raise unsafe(source, f"{name} has {info.st_size} bytes, which is too many")
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file, (aside / name).open("wb") as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
    left_out = [name for name in names if name not in allowed]
    if missing := [name for name in NEEDED if name not in allowed]:
        why = f"{missing[0]} is missing"
        if missing[0] == WEIGHTS and any(map(is_pickle, left_out)):
            why += ", and other files of weights can run code when they are read"
        elif missing[0] == WEIGHTS and any(name.endswith(".safetensors") for name in left_out):
            why += "; save the weights as one file (max_shard_size)"
        raise unsafe(source, why)
    return left_out


def remove_unused(home: Home) -> None:
    """Remove folders of experts that no edition and no current expert uses.

    The caller must hold the lease, so that no other run is about to use one of them.
    """
    used = {row["path"] for row in current_experts(home).values()}
    for edition in home.editions.all():
        if edition.rows(Expert):
            used |= set(edition.table(Expert)["path"].to_pylist())
    for folder in experts_folder(home).glob("*/*"):
        if folder.is_dir() and not folder.parent.name.startswith("."):
            trained = experts_folder(home) / ".training" / folder.parent.name  # not journalled
            if home.relative(folder) in used or trained.exists():
                continue
            shutil.rmtree(folder, ignore_errors=True)
            folder.with_suffix(".png").unlink(missing_ok=True)
