"""Read `ontology.yaml` of a home."""

import hashlib
from pathlib import Path

import orjson
from pydantic import ValidationError

from schemas.errors import AlmanacError, UsageError
from schemas.ontology import ONTOLOGY_FILE, Ontology
from schemas.settings import Settings
from tasks.text.plain_yaml import parse_yaml

MOST_BYTES = 1_000_000


def read_ontology(path: Path) -> Ontology:
    """Return the ontology in a file; raise UsageError that says what to correct."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path} is larger than {MOST_BYTES:,} bytes.")
        content = parse_yaml(path.read_bytes(), str(path))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except AlmanacError as error:
        raise UsageError(str(error)) from None
    if not isinstance(content, dict):
        raise UsageError(f"{path} must hold `mode`, `kinds` and `relations`.")
    try:
        return Ontology.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        words = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{path} is invalid{f' at {place}' if place else ''}: {words}.") from None


def with_ontology(settings: Settings, folder: Path) -> Settings:
    """Return the settings with the ontology of a home's folder."""
    ontology = read_ontology(folder / ONTOLOGY_FILE)
    engine = settings.engine.model_copy(update={"ontology": ontology})
    return settings.model_copy(update={"engine": engine})


def ontology_sha(ontology: Ontology | None) -> str:
    """Return a hash of what an ontology says, empty for none."""
    if ontology is None:
        return ""
    return hashlib.sha256(orjson.dumps(ontology.model_dump(mode="json"))).hexdigest()[:16]
