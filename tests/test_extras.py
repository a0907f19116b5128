"""A command whose optional library is not installed names the extra that adds it."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import almanac
from flows.__main__ import main
from flows.commands.doctor import examine
from schemas.extras import EXTRAS, INSTALL_MINILM, MINILM, pip_command
from schemas.settings import EngineSettings, ModelSettings, Settings
from tests.copied_home import copied_home
from warehouse.home import Home

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DISTRIBUTIONS = {
    "sklearn": "scikit-learn",
    "distributed": "dask",
    "prometheus_client": "prometheus_client",
    "llama_index": "llama-index-core",
    "openlineage": "openlineage-python",
    "opentelemetry": "opentelemetry-sdk",
}
# What one machine need not have: object stores, scans, and what other tools bring Almanac for.
APART = {"smollm2", "ocr", "s3", "gcs", "langchain", "llamaindex", "lineage", "tracing"}
QUESTIONS = str(ROOT / "examples" / "graphs" / "moons-questions.jsonl")

Hide = Callable[[str], None]


@pytest.fixture
def hide(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hide]:
    """Yield a function that makes a library appear not to be installed."""
    before = set(sys.modules)

    def hidden(library: str) -> None:
        loaded = [name for name in sys.modules if name.startswith(f"{library}.")]
        for name in (library, *loaded):
            monkeypatch.setitem(sys.modules, name, None)

    yield hidden
    # A library that was loaded meanwhile knows itself without the hidden one.
    libraries = {library for libraries in EXTRAS.values() for library in libraries}
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in libraries:
            del sys.modules[name]


def test_arrow_loads_pandas_for_its_tables_alone():
    program = (
        "import sys, pyarrow as pa\n"
        "from schemas.extras import leave_out_pandas\n"
        "leave_out_pandas()\n"
        "table = pa.table({'year': [1815, None]})\n"
        "print('pandas' in sys.modules, table.to_pandas().year.count())\n"
        "import pandas\n"
        "print(pa.array(pandas.Series([1815.0, None])).null_count)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "1", "1"], done.stderr


@pytest.fixture(scope="module")
def moons(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with texts and the graph of moons."""
    home = tmp_path_factory.mktemp("moons") / "home"
    copied_home(small_home, home)
    graph = ROOT / "examples" / "graphs" / "moons.tsv"
    assert main(["import-graph", str(graph), "--name", "moons", "--home", str(home)]) == 0
    return home


def brought(requirements: list[str]) -> set[str]:
    """Return the distributions that requirements name, with those of other extras of ours."""
    names: set[str] = set()
    for requirement in requirements:
        if ours := re.fullmatch(rf"{PROJECT['name']}\[(.+)\]", requirement):
            for extra in ours[1].split(","):
                names |= brought(PROJECT["optional-dependencies"][extra])
        else:
            names |= set(re.findall(r"^[\w.-]+", requirement))
    return names


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_the_libraries_that_errors_promise(extra: str) -> None:
    declared = brought(PROJECT["optional-dependencies"][extra])
    names = {DISTRIBUTIONS.get(name, name.replace("_", "-")) for name in EXTRAS[extra]}
    assert names <= declared
    assert not names & brought(PROJECT["dependencies"])


def test_the_extra_all_has_what_commands_need_on_one_machine() -> None:
    everything = brought(PROJECT["optional-dependencies"]["all"])
    for extra in EXTRAS.keys() - APART:
        assert brought(PROJECT["optional-dependencies"][extra]) <= everything


@pytest.mark.parametrize(
    ("library", "command", "extra"),
    [
        ("distributed", ["refresh", "{new}", "--dask", "local"], "dask"),
        ("torch", ["learn", QUESTIONS, "--graph", "moons"], "learn"),
        ("torch", ["train-paths", QUESTIONS, "--graph", "moons"], "paths"),
        ("torch", ["train-experts", "moons", "--graph", "moons"], "experts"),
        ("torch", ["refresh", "{new}", "--engine", "transformers", "--model", "m"], "llm"),
        ("sklearn", ["calibrate-gate", QUESTIONS, "--task", "moons"], "learn"),
        ("gguf", ["model", "install", "smollm2"], "smollm2"),
        ("s3fs", ["refresh", "s3://bucket/texts"], "s3"),
    ],
)
def test_a_command_names_the_extra_that_it_lacks(
    library: str,
    command: list[str],
    extra: str,
    moons: Path,
    hide: Hide,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ALMANAC_MODELS", str(tmp_path / "models"))
    (tmp_path / "new.md").write_text("# Oslo\n\nOslo lies in Norway.\n", encoding="utf-8")
    hide(library)
    arguments = [word.format(new=tmp_path / "new.md") for word in command]
    assert main([*arguments, "--home", str(moons)]) == 1
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert f"`pip install '.[{extra}]'`" in message
    assert "Traceback" not in message and "unexpected" not in message


@pytest.mark.parametrize(
    ("library", "command", "advice"),
    [
        (MINILM, ["demo"], INSTALL_MINILM),
        ("peft", ["train-experts", "moons"], pip_command("experts")),
        ("scipy", ["train-paths", QUESTIONS, "--graph", "moons"], pip_command("paths")),
        ("scipy", ["learn", QUESTIONS, "--paths", "--graph", "moons"], pip_command("paths")),
        ("scipy", ["learn", QUESTIONS, "--graph", "moons"], pip_command("learn")),
    ],
)
def test_what_is_missing_is_said_before_the_work(
    library: str,
    command: list[str],
    advice: str,
    hide: Hide,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hide(library)
    assert main([*command, "--home", str(tmp_path)]) == 1  # nor is there an edition yet
    [said] = capsys.readouterr().err.splitlines()
    assert advice in said
    assert Home(tmp_path).editions.current() is None


def test_without_prefect_the_work_is_done_and_a_warning_names_the_extra(
    own_home: Path, hide: Hide, capsys: pytest.CaptureFixture[str]
) -> None:
    hide("prefect")
    assert main(["verbalize", "--prefect", "--home", str(own_home)]) == 0
    assert "`pip install '.[prefect]'`" in capsys.readouterr().err


def test_from_python_the_error_names_the_extra(own_home: Path, hide: Hide, tmp_path: Path) -> None:
    (tmp_path / "new.md").write_text("# Oslo\n\nOslo lies in Norway.\n", encoding="utf-8")
    engine = EngineSettings(engine="transformers", model=ModelSettings(name="m"), encoder="none")
    hide("torch")
    kb = almanac.open(own_home, Settings(engine=engine))
    with pytest.raises(almanac.AlmanacError, match=r"pip install '\.\[llm\]'"):
        kb.refresh(tmp_path / "new.md")


def test_a_graph_is_asked_without_the_libraries_that_learn(
    moons: Path, hide: Hide, capsys: pytest.CaptureFixture[str]
) -> None:
    for library in {MINILM, *(name for libraries in EXTRAS.values() for name in libraries)}:
        hide(library)
    question = ["ask", "Which moons orbit Mars?", "--graph", "moons", "--home", str(moons)]
    assert main(question) == 0
    assert {"Phobos", "Deimos"} <= set(re.findall(r"\w+", capsys.readouterr().out))


def test_without_its_weights_search_uses_words(
    hide: Hide, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hide(MINILM)
    hide("peft")
    (tmp_path / "oslo.md").write_text("# Oslo\n\nOslo lies in Norway.\n", encoding="utf-8")
    assert (EngineSettings().encoder, EngineSettings().chinese_encoder) == ("none", "none")
    assert main(["refresh", str(tmp_path / "oslo.md"), "--home", str(tmp_path / "home")]) == 0
    assert "by words alone; `almanac model install minilm`" in capsys.readouterr().out
    findings = {finding.check: finding for finding in examine(Home(tmp_path / "home"))}
    assert findings["extras"].state == "ok"
    assert "experts lacks peft; " in findings["extras"].words
    assert findings["encoder"].state == "warn"
    assert "`almanac model install minilm` adds vectors" in findings["encoder"].words
