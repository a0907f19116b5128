"""The embedded engine: facts from English and Chinese text by rules, without an LLM."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schemas.settings import EngineSettings
from tasks.extract.english_pipeline.load import SHIPPED_MODEL
from tasks.extract.extracted import Extracted
from tasks.models.encoders.minilm import has_minilm
from tasks.ontology.read import ontology_sha
from tasks.text.languages import HAN_CLASS, language_of

__all__ = ["Extracted", "RulesEngine"]

_READABLE = re.compile(f"[A-Za-z{HAN_CLASS}]")


class RulesEngine:
    """Extracts by rules over a dependency parse (English) or a word segmentation (Chinese)."""

    name = "rules"

    def __init__(self, settings: EngineSettings | None = None) -> None:
        """Keep the settings; no pipeline is loaded before the first passage."""
        self.settings = settings or EngineSettings()
        self._is_typed = self.settings.typed and has_minilm()
        ontology = self.settings.ontology
        self._ontology = ontology if ontology and ontology.relations and has_minilm() else None
        self.prompt_sha = _sources_sha(
            self.settings, typed=self._is_typed, ontology=ontology_sha(self._ontology)
        )

    def extract(self, passages: list[dict[str, Any]]) -> Iterator[Extracted]:
        """Yield one result per passage, in order; each depends only on its own passage."""
        routes = [_language_of(passage) for passage in passages]
        about = {
            "speaker": self.settings.speaker,
            "audience": self.settings.audience,
            "typed": self._is_typed,
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
            yield next(running[route])

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


def _sources_sha(settings: EngineSettings, *, typed: bool, ontology: str) -> str:
    """Return a hash of everything that decides a result: rules, imports, models and settings."""
    pipeline = settings.english_pipeline
    decided = (pipeline or "", settings.speaker, settings.audience, str(typed), ontology)
    sha = hashlib.sha256("\0".join(decided).encode())
    for path in [
        *sources(ontology=bool(ontology)),
        *_files(Path(pipeline) if pipeline else SHIPPED_MODEL),
    ]:
        sha.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return sha.hexdigest()[:16]


def sources(*, ontology: bool = True) -> list[Path]:
    """Return the source files that decide a result; some do so only with an ontology."""
    extract = Path(__file__).parent.parent
    text = extract.parent / "text"
    encoders = extract.parent / "models" / "encoders"
    for_ontology = [
        extract / "ontology_facts.py",
        *_files(extract.parent / "models" / "span_reader"),
        *(encoders / name for name in ("stored_weights.py", "vocabulary.py")),
        encoders / "chinese_model" / "characters.txt",
        *(extract.parent / "ontology" / f"{name}.py" for name in ("fit", "kinds", "read")),
        text / "stems.py",
        text / "word_families.txt",
    ]
    return [
        *(for_ontology if ontology else []),
        *_files(extract / "rules"),
        *_files(extract / "typed" / "model"),
        *(extract / "typed" / f"{name}.py" for name in ("facts", "features", "model")),
        *_files(text / "values"),
        *(
            extract.parent / "ingest" / f"{name}.py"
            for name in ("blocks", "front_matter", "prose", "subject")
        ),
        *(
            text / f"{name}.py"
            for name in (
                "chinese_words",
                "common_relations",
                "english_words",
                "function_words",
                "excerpt",
                "importing",
                "languages",
                "names",
                "plain_yaml",
                "sentences",
            )
        ),
        extract / "english_pipeline" / "load.py",
        extract / "extracted.py",
        text / "chinese_mended_tags.toml",
        text / "relations.toml",
        *(encoders / f"{name}.py" for name in ("minilm", "minilm_graph")),
    ]


def _files(folder: Path) -> list[Path]:
    """Return the files below a folder in order, without `__pycache__`; none if it is no folder."""
    if not folder.is_dir():
        return []
    paths = (path for path in folder.rglob("*") if "__pycache__" not in path.parts)
    return sorted(path for path in paths if path.is_file())
