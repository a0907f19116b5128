"""`almanac doctor`: checks the installation, the models and the home, with a finding per check."""

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from flows import terminal
from flows.jobs import Call, Command, Runner
from flows.orchestration import configure, names_server
from schemas.errors import AlmanacError, BusyError
from schemas.extras import E5_SMALL, INSTALL_MINILM, MINILM, missing_extras, pip_command
from schemas.ontology import ONTOLOGY_FILE
from schemas.settings import Settings, load_settings
from tasks.text.english_words import counted
from warehouse.disk_errors import refusal_in_words

if TYPE_CHECKING:
    from warehouse.home import Home

ROOT = Path(__file__).resolve().parents[2]
NEEDED_EXTENSIONS = {"core_functions", "icu", "json", "parquet"}
LITTLE_SPACE = 5 << 30  # an edition of a million passages
NO_SPACE = 500 << 20


@dataclass(frozen=True)
class Finding:
    """What one check found, and what to do about it."""

    check: str
    state: Literal["ok", "warn", "fail"]
    words: str


class Doctor(Command):
    """Check the installation, the models and the home."""

    def work(self, runner: Runner) -> list[dict[str, Any]]:
        """Return the finding of every check."""
        return [asdict(finding) for finding in examine(self.place)]

    def run(self, call: Call) -> int:
        """Print one line per check, as it is done; return exit code 1 if any check failed."""
        findings = []
        for finding in examine(self.place):
            findings.append(finding)
            if not call.json:
                terminal.show(f"{finding.state:<4}  {finding.check:<9} {finding.words}")
        if call.json:
            terminal.show_json([asdict(finding) for finding in findings])
        return int(any(finding.state == "fail" for finding in findings))


def examine(home: "Home") -> Iterator[Finding]:
    """Yield the finding of every check; no check changes anything."""
    settings, finding = _settings(home)
    yield finding
    checks: dict[str, Callable[[], Finding]] = {
        "ontology": lambda: _ontology(home),
        "python": _python,
        "packages": _packages,
        "extras": _extras,
        "engine": lambda: _engine(settings),
        "encoder": lambda: _encoder(settings),
        "reader": _reader,
        "duckdb": _duckdb,
        "prefect": _prefect,
        "schedules": _schedules,
        "disk": lambda: _disk(home),
        "journal": lambda: _journal(home),
        "edition": lambda: _edition(home),
        "lock": lambda: _lock(home),
        "data": _data,
    }
    for name, check in checks.items():
        try:
            yield check()
        except Exception as error:  # a broken part must not hide the others
            refusal = str(error) if isinstance(error, AlmanacError) else None
            words = refusal or refusal_in_words(error, home.path)
            yield Finding(name, "fail", words or f"{type(error).__name__}: {error}")


def _settings(home: "Home") -> tuple[Settings, Finding]:
    path = home.path / "settings.toml"
    try:
        settings = load_settings(home.path)
        where = str(path) if path.exists() else "defaults, as there is no settings.toml"
    except (ValueError, OSError) as error:
        why = refusal_in_words(error, home.path) or str(error)
        words = f"{path} is invalid, so the defaults are checked instead: {why}"
        return Settings(), Finding("settings", "fail", " ".join(words.split()))
    return settings, Finding("settings", "ok", where)


def _ontology(home: "Home") -> Finding:
    """Read the ontology as a refresh does."""
    from tasks.ontology.read import read_ontology
    from tasks.publish.apply_ontology import check_gazetteer

    path = home.path / ONTOLOGY_FILE
    if not path.exists():
        return Finding("ontology", "ok", f"none, as there is no {ONTOLOGY_FILE}")
    try:
        check_gazetteer(home.journal, read_ontology(path).gazetteer)
    except AlmanacError as error:
        return Finding("ontology", "fail", str(error))
    return Finding("ontology", "ok", str(path))


def _python() -> Finding:
    return Finding("python", "ok", f"{platform.python_version()} at {sys.executable}")


def _packages() -> Finding:
    """Compare installed versions with constraints.txt, the set that was tested together."""
    pinned = ROOT / "constraints.txt"
    if not pinned.exists():
        return Finding("packages", "ok", "installed without a checkout, so nothing to compare with")
    same, different = 0, []
    for name, wanted in (line.split("==") for line in pinned.read_text().split()):
        try:
            installed = metadata.version(name).partition("+")[0]
        except metadata.PackageNotFoundError:
            continue  # an extra's, which the next check looks for
        same += installed == wanted
        if installed != wanted:
            different.append(f"{name} {installed} instead of {wanted}")
    if different:
        advice = "`pip install -c constraints.txt -e '.[all,dev]'` puts that right"
        return Finding("packages", "warn", f"{', '.join(different)}; {advice}")
    return Finding("packages", "ok", f"{same} as in constraints.txt")


def _extras() -> Finding:
    """Say which commands lack their libraries; who does not call them misses nothing."""
    lacking = [f"{extra} lacks {', '.join(missing)}" for extra, missing in missing_extras()]
    advice = f"{'; '.join(lacking)}. {pip_command('NAME')} installs one"
    return Finding("extras", "ok", advice if lacking else "all are installed")


def _engine(settings: Settings) -> Finding:
    """Let the engine read one sentence."""
    from tasks.extract.batches import load_engine

    if settings.engine.engine != "rules":
        return _model(settings)
    engine = load_engine(settings.engine)
    passage = {
        "passage_id": "doctor",
        "text": "Ada Lovelace was born in London in 1815.",
        "title": "Ada Lovelace",
        "headings": "",
        "subject": "",
        "language": "en",
    }
    extracted = next(iter(engine.extract([passage])))
    if extracted.failed or not extracted.triples:
        reason = extracted.failed or "it found nothing in a plain sentence"
        return Finding("engine", "fail", f"{engine.name}: {reason}; install Almanac anew")
    return Finding("engine", "ok", f"{engine.name}, version {engine.prompt_sha[:12]}")


def _model(settings: Settings) -> Finding:
    """Check the model's settings without calling the model, which may cost money."""
    from tasks.extract.batches import identity
    from tasks.models.endpoint import Endpoint
    from tasks.models.packaged import PACKAGED, packaged_folder

    engine = settings.engine
    try:
        name, version = identity(engine)
        where = Endpoint(engine.model).endpoint if name == "openai" else "on this machine"
        if name == "transformers" and engine.model.name in PACKAGED:
            packaged_folder(engine.model.name)
    except AlmanacError as error:
        return Finding("engine", "fail", str(error))
    return Finding("engine", "ok", f"{name}, {engine.model.name} at {where}, version {version}")


def _encoder(settings: Settings) -> Finding:
    from tasks.models.encoders.load import load_encoder

    name = settings.engine.encoder
    if name == "none":
        advice = "" if find_spec(MINILM) else f"; {INSTALL_MINILM} adds vectors"
        return Finding("encoder", "warn", f"none is set, so search uses words alone{advice}")
    loaded = map(load_encoder, (name, settings.engine.chinese_encoder))
    words = (f"{encoder.id}, {encoder.dimensions} dimensions" for encoder in loaded if encoder)
    return Finding("encoder", "ok", "; ".join(words))


def _reader() -> Finding:
    from tasks.models.encoders.e5 import e5_is_installed

    if not find_spec(MINILM):
        lacking = f"there is none, so no passage is read; {INSTALL_MINILM} adds one"
        return Finding("reader", "warn", lacking)
    if e5_is_installed():
        return Finding("reader", "ok", f"minilm and {E5_SMALL}, tuned to read")
    advice = f"`almanac model install {E5_SMALL}` adds a second network, which reads more"
    return Finding("reader", "ok", f"minilm, tuned to read; {advice}")


def _duckdb() -> Finding:
    import duckdb

    query = "select extension_name from duckdb_extensions() where loaded"
    with duckdb.connect(":memory:") as connection:
        loaded = {name for (name,) in connection.execute(query).fetchall()}
    if missing := NEEDED_EXTENSIONS - loaded:
        words = f"{duckdb.__version__} lacks {', '.join(sorted(missing))}; install it from PyPI"
        return Finding("duckdb", "fail", words)
    return Finding("duckdb", "ok", f"{duckdb.__version__} with {', '.join(sorted(loaded))}")


def _prefect() -> Finding:
    """Check two pinned versions: with later ones flows die or schedules never run."""
    if not find_spec("prefect"):
        return Finding("prefect", "ok", f"not installed; {pip_command('prefect')} adds it")
    versions = {name: metadata.version(name) for name in ("prefect", "fastapi", "sqlalchemy")}
    numbers = {n: tuple(map(int, v.split(".")[:2])) for n, v in versions.items()}
    if numbers["fastapi"] >= (0, 151) or numbers["sqlalchemy"] >= (2, 1):
        words = f"{versions}: flows or schedules break; use the versions of constraints.txt"
        return Finding("prefect", "fail", words)
    use = "not used unless --prefect is given"
    if names_server():
        where = os.environ.get("PREFECT_API_URL") or "the server of the Prefect profile"
        use = f"runs are recorded on {where}"
    return Finding("prefect", "ok", f"{versions['prefect']}; {use}")


def _schedules() -> Finding:
    """Ask the Prefect server whether what is scheduled can run."""
    if not (find_spec("prefect") and names_server()):
        return Finding("schedules", "ok", "none, as no Prefect server is named")
    configure()
    from prefect.client.orchestration import get_client

    from flows.scheduled import scheduled, troubles

    with get_client(sync_client=True) as client:
        if client.api_healthcheck():
            words = f"nothing answers at {client.api_url}; `prefect server start` starts a server"
            return Finding("schedules", "fail", words)
        found = list(scheduled(client))
        faults = list(troubles(client, found))
    if faults:
        return Finding("schedules", "warn", ". ".join(faults))
    return Finding(
        "schedules", "ok", f"{counted(len(found), 'deployment')}, with all that they need"
    )


def _disk(home: "Home") -> Finding:
    path = home.path.resolve()
    place = next(p for p in (path, *path.parents) if p.exists())
    free = shutil.disk_usage(place).free
    words = f"{free / (1 << 30):.1f} GiB free at {place}"
    if free >= LITTLE_SPACE:
        return Finding("disk", "ok", words)
    words += "; `almanac editions prune` frees some"
    return Finding("disk", "fail" if free < NO_SPACE else "warn", words)


def _journal(home: "Home") -> Finding:
    if not home.exists:
        words = f"there is no almanac in {home.address} yet; `almanac refresh SOURCE` makes one"
        return Finding("journal", "warn", words)
    if damaged := [*home.journal.damaged(), *home.live.damaged()]:
        words = f"damaged: {', '.join(damaged)}; restore these files from a backup"
        return Finding("journal", "fail", words)
    return Finding("journal", "ok", f"intact, {counted(home.journal.position, 'commit')}")


def _edition(home: "Home") -> Finding:
    edition = home.editions.current()
    if edition is None:
        return Finding("edition", "warn", "none is published yet")
    edition.check_version()
    if damaged := edition.damaged():
        words = f"{edition.id} is damaged: {', '.join(damaged)}; the next refresh builds a new one"
        return Finding("edition", "fail", words)
    if home.stored and (damaged := home.stored.editions.damaged_in_store()):
        words = f"{home.address} lacks all or part of {', '.join(damaged)}"
        return Finding("edition", "fail", f"{words}; put earlier versions of these objects back")
    if hold := home.editions.pointer()["hold"]:
        words = f"publishing is held ({hold['reason']}); `almanac editions publish` ends that"
        return Finding("edition", "warn", words)
    if not home.editions.is_led_to(edition):
        words = f"{home.path / 'current'} does not lead to {edition.id}; the next refresh leads it"
        return Finding("edition", "warn", f"{words} there")
    return Finding("edition", "ok", f"{edition.id}, all checksums correct")


def _lock(home: "Home") -> Finding:
    from warehouse.lease import lease

    if not home.exists:
        return Finding("lock", "ok", "free")
    try:
        with lease(home.path, "doctor"):
            return Finding("lock", "ok", "free")
    except BusyError as busy:
        return Finding("lock", "warn", str(busy))
    except (AlmanacError, OSError) as error:
        return Finding("lock", "fail", refusal_in_words(error, home.path) or str(error))


def _data() -> Finding:
    named = os.environ.get("ALMANAC_DATA")
    folder = Path(named or ROOT.parent / "shared" / "data")
    if folder.is_dir():
        return Finding("data", "ok", str(folder))
    words = f"no benchmark data in {folder}; only benchmarks and some tests need it (ALMANAC_DATA)"
    return Finding("data", "warn" if named else "ok", words if named else "none, nor is any needed")


COMMAND = Doctor
