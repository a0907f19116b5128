"""What several test files share: the benchmark data, a small almanac, hypothesis' profile."""

import fcntl
import gc
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from hypothesis import HealthCheck, settings

from tests.command_line import CommandLine
from tests.copied_home import copied_home
from tests.documents import write_texts
from tests.knowledge_server import World, running
from tests.remote_bases import RemoteBases
from warehouse.home import Home

if TYPE_CHECKING:
    from tests.mock_endpoint import Running
    from tests.object_server import Bucket

# Compiled modules save each of the many processes half a second, and pytest, which compiles its
# own form of the tests, ten seconds a worker; so these are written whatever the environment says.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Test processes share the cores; threads of one that wait for each other hold up the others.
os.environ.setdefault("OMP_NUM_THREADS", "1")
multiprocessing.get_context("forkserver").set_forkserver_preload(["tests.preloaded"])

# As commands do; what is collected and loaded stays, and looking through it takes seconds.
gc.set_threshold(20_000)

REPOSITORY = Path(__file__).resolve().parent.parent

# Thousands of small homes are written and removed; in memory that takes a twentieth of all work
# less, and waits for no disk. Unless told otherwise, tests do so where there is plenty.
MEMORY, PLENTY = Path("/dev/shm"), 8 << 30  # bytes
if (
    "TMPDIR" not in os.environ
    and MEMORY.is_dir()
    and min(shutil.disk_usage(MEMORY).free, psutil.virtual_memory().available) > PLENTY
):
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

# Files with few, long tests, of which one at the end would keep a single process busy.
LONG = {
    f"test_{name}"
    for name in ("crash", "flows", "notebooks", "studies", "telemetry", "train_experts", "wheel")
}

# Shared machines stall for seconds, which says nothing about the code under test.
settings.register_profile(
    "almanac", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("almanac")

CORPUS = {
    "ada.md": """# Ada Lovelace

Ada Lovelace was an English mathematician. Ada Lovelace was born in London in 1815. Ada Lovelace
worked with Charles Babbage. She died on 27 November 1852.

## Education

Her mother hired tutors in mathematics. Augustus De Morgan taught Ada Lovelace from 1840.
""",
    "babbage.md": """# Charles Babbage

Charles Babbage was an English inventor. He designed the Analytical Engine. Charles Babbage was
born in London in 1791. He was a founder of the Royal Astronomical Society (RAS).
""",
    "engine.md": """# Analytical Engine

The Analytical Engine was a mechanical computer. It was designed by Charles Babbage in 1837.
""",
    "london.md": "# London\n\nLondon is the capital of England. London lies on the Thames.\n",
    "gale-one.md": "# Anna Gale\n\nAnna Gale was a painter.\n\n"
    "Anna Gale was born in Bergen in 1901.\n",
    "gale-two.md": "# Painters\n\nAnna Gale was born in Oslo in 1903. Anna Gale painted ships.\n",
    "hostile.md": "# Mallory\n\nMallory \x1b[31mwas a\x07 sailor. Mallory was born in Perth.\n",
    "changjiang.md": "# 长江\n\n长江是中国最长的河流。长江全长约6300公里，发源于青藏高原。\n",
    "luxun.md": "# 鲁迅\n\n鲁迅是中国作家。鲁迅出生于浙江绍兴。\n",
    "binary.txt": "\x00\x01\x02\x00",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, and look for no garbage in what is collected."""
    items.sort(key=lambda item: item.path.stem not in LONG)
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _power_stays_on() -> Iterator[None]:
    """Wait for no disk in this process: what a killed process wrote is there without it, too.

    Child processes wait, and tests of the order of syncs or of a full disk put their own here.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: os.fstat(descriptor) and None)
        yield


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def almanac_data() -> Path:
    data = Path(os.environ.get("ALMANAC_DATA") or REPOSITORY.parent / "shared" / "data")
    if not data.is_dir():
        pytest.skip(f"no benchmark data in {data}; set ALMANAC_DATA")
    return data


@pytest.fixture(scope="session")
def tiny_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten small documents: some refer to each other, two disagree, two are in Chinese."""
    return write_texts(tmp_path_factory.mktemp("versions") / "corpus", CORPUS)


@pytest.fixture(scope="session")
def small_home(tiny_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two editions of the tiny corpus; read it, or work on a copy of it."""
    from schemas.settings import load_settings
    from tasks.refresh import refresh

    home = Home(tmp_path_factory.mktemp("small") / "home")
    home.path.mkdir()
    text = 'workers = 1\n\n[engine]\nencoder = "none"\n'
    (home.path / "settings.toml").write_text(text, encoding="utf-8")
    corpus = tmp_path_factory.mktemp("versions") / "corpus"
    shutil.copytree(tiny_corpus, corpus)
    refresh(home, [str(corpus)], load_settings(home.path))
    (corpus / "london.md").write_text("# London\n\nLondon lies on the Thames.\n", encoding="utf-8")
    refresh(home, [str(corpus)], load_settings(home.path))
    return home.path


@pytest.fixture(scope="session")
def small_report(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the report of the small home."""
    from tasks.report.write import write_report

    home = Home(small_home)
    folder = tmp_path_factory.mktemp("report")
    write_report(home, home.require_edition(), folder)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, driven by an event loop that tests of other modules must not find running."""
    chromium = Path("/usr/bin/chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed.")
    if not chromium.exists():
        pytest.skip(f"There is no {chromium}.")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=str(chromium), args=["--no-sandbox", "--disable-gpu"]
        )
        yield opened
        opened.close()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home that is not there yet."""
    return Home(tmp_path / "home")


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> "Iterator[Bucket]":
    """An S3 bucket on this machine, which the environment names."""
    from tests.object_server import object_server

    with object_server() as (endpoint, served):
        for name, value in {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "KEYOFTHETEST",
            "AWS_SECRET_ACCESS_KEY": "SECRETKEYOFTHETEST",
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("warehouse.object_store.FIRST_WAIT", 0.001)
        yield served


@pytest.fixture
def own_home(small_home: Path, tmp_path: Path) -> Path:
    """A copy of the small home, to be changed."""
    return copied_home(small_home, tmp_path / "home")


@pytest.fixture
def almanac(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line: `almanac(home, "sql", "select 1")` gives exit code, output and errors."""
    return CommandLine(capsys)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A server with an invented world that speaks like the remote knowledge bases."""
    monkeypatch.setattr("tasks.programs.knowledge_bases.web.FIRST_PAUSE", 0.05)
    with running() as world:
        yield world


@pytest.fixture
def open_remote(tmp_path: Path, world: World) -> Iterator[Callable[..., RemoteBases]]:
    """Return a function that opens a home's remote knowledge bases with changed settings."""
    opened: list[RemoteBases] = []

    def open_with(**changes: Any) -> RemoteBases:
        opened.append(RemoteBases(tmp_path, world, **changes))
        return opened[-1]

    yield open_with
    for remote in opened:
        remote.web.close()


@pytest.fixture
def remote(open_remote: Callable[..., RemoteBases]) -> RemoteBases:
    """Knowledge bases of a home that ask this server."""
    return open_remote()


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Running]":
    """A mock endpoint without faults."""
    from tests import mock_endpoint

    with mock_endpoint.running(tmp_path_factory.mktemp("mock") / "ledger.jsonl") as up:
        yield up


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Path | None]
) -> Path:
    """Return a folder, or what is made of it, that one worker makes; read it, or copy it."""
    base = factory.getbasetemp()
    common = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (common / f"{name}.place").open("a+", encoding="utf-8") as place:
        fcntl.flock(place, fcntl.LOCK_EX)
        place.seek(0)
        if made := place.read():
            return Path(made)
        folder = factory.mktemp(name)
        folder = make(folder) or folder
        place.write(str(folder))
        return folder


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of models with random weights: `chat`, `plain` (it has no template), `encoding`."""
    from tests.tiny_models import make_chat_model, make_encoding_model

    def make(folder: Path) -> None:
        make_chat_model(folder / "chat")
        make_chat_model(folder / "plain", template=None)
        make_encoding_model(folder / "encoding")

    folder = made_once(tmp_path_factory, "models", make)
    return {name: folder / name for name in ("chat", "plain", "encoding")}


@pytest.fixture(scope="session")
def tiny_expert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an expert of some 50,000 weights; read it, or work on a copy of it."""
    from tasks.experts.training.train import train_expert
    from tests.expert_texts import texts, tiny_plan

    def make(experts: Path) -> Path:
        return train_expert(experts, "people", tiny_plan(epochs=20), texts, "people-1").folder

    return made_once(tmp_path_factory, "experts", make)


@pytest.fixture(scope="session")
def clocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an expert that knows who keeps four clocks, and was asked about them."""
    from tests.expert_texts import trained_on_clocks

    return made_once(tmp_path_factory, "clocks", trained_on_clocks)
