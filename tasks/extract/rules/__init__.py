"""The embedded engine: facts from English and Chinese text by rules, without an LLM."""

import hashlib
import re
from collections.abc import Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from schemas.settings import EngineSettings
from tasks.extract.extracted import Extracted, or_failed
from tasks.extract.rules.linked_tails import link_tails
from tasks.extract.rules.usefulness import rated
from tasks.models.encoders.minilm import has_minilm
from tasks.ontology.read import ontology_sha
from tasks.text.languages import HAN_CLASS, language_of

__all__ = ["RULES_VERSION", "Extracted", "RulesEngine"]

# Raise it whenever the rules or their models extract something else from some passage; the next
# refresh then extracts from every passage again. `tests/test_versions.py` notices a change.
RULES_VERSION = 17
_READABLE = re.compile(f"[A-Za-z{HAN_CLASS}]")


class RulesEngine:
    """Extracts by rules over a dependency parse (English) or a word segmentation (Chinese)."""

    name = "rules"

    def __init__(self, settings: EngineSettings | None = None) -> None:
        """Keep the settings; no pipeline is loaded before the first passage."""
        self.settings = settings or EngineSettings()
        ontology = self.settings.ontology
        self._ontology = ontology if ontology and ontology.relations and has_minilm() else None
        self.prompt_sha = _version(self.settings, ontology_sha(self._ontology))

    def extract(self, passages: list[dict[str, Any]]) -> Iterator[Extracted]:
        """Yield one result per passage, in order; each depends only on its own passage."""
        routes = [_language_of(passage) for passage in passages]
        about = {
            "speaker": self.settings.speaker,
            "audience": self.settings.audience,
            "ontology": self._ontology,
        }
        running: dict[str, Iterator[Extracted]] = {}
        for passage, route in zip(passages, routes, strict=True):
            if route == "none":
                yield Extracted(passage["passage_id"], empty_because="unsupported_language")
                continue
            if route not in running:
                mine = [{**about, **p} for p, r in zip(passages, routes, strict=True) if r == route]
                running[route] = self._extract_in(route, mine)
            finish = partial(self._finished, next(running[route]), passage, route)
            yield or_failed(passage["passage_id"], finish)

    def _finished(self, extracted: Extracted, passage: dict[str, Any], language: str) -> Extracted:
        """Return a passage's facts with what only the whole of them tells."""
        own = frozenset(self._ontology.relations) if self._ontology else frozenset()
        return rated(link_tails(extracted, passage["text"], own), passage, language)

    def _extract_in(self, language: str, passages: list[dict[str, Any]]) -> Iterator[Extracted]:
        if language == "zh":
            from tasks.extract.rules.chinese import extract_chinese

            return extract_chinese(passages)
        from tasks.extract.rules.english import extract_english

        return extract_english(passages, self.settings.english_pipeline)


def _language_of(passage: dict[str, Any]) -> str:
    language = passage["language"]
    if language in ("en", "zh"):
        return language
    if language != "und" or not _READABLE.search(passage["text"]):
        return "none"
    return language_of(passage["text"])


def _version(settings: EngineSettings, ontology: str) -> str:
    """Return the version of the results: the rules' number, and a hash of what the user sets."""
    pipeline = settings.english_pipeline
    decided = [settings.speaker, settings.audience, ontology]
    decided += [pipeline, _identity_of(pipeline)] if pipeline else []
    sha = hashlib.sha256("\0".join(decided).encode()).hexdigest()[:16]
    return f"{RULES_VERSION}-{sha}"


def _identity_of(pipeline: str) -> str:
    """Return the hash of a pipeline's folder, or the version of an installed one."""
    folder = Path(pipeline)
    if not folder.is_dir():
        try:
            return version(pipeline)
        except PackageNotFoundError:
            return ""  # loading it will say what is wrong
    sha = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if "__pycache__" not in path.parts:
            sha.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return sha.hexdigest()
