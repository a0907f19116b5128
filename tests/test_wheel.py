"""The built wheel: everything is below `almanac`, beside a user's modules with our names."""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hatch_build import PACKAGES, with_imports_below_almanac
from tests.test_flows import servers_of

TEXT = "Marie Curie was born in Warsaw. Marie Curie founded the Radium Institute in 1909.\n"
FOREIGN = "raise ImportError('this module is of the user')\n"
ASKING = """
import json, sys
from importlib.metadata import entry_points
from importlib.resources import files
import yaml
import almanac
from almanac.tasks.questions.formats import midtermqa
from prefect.flows import load_flow_from_entrypoint

BORN = "select tail from triples where (head, relation) = ('Marie Curie', 'born in')"
with almanac.open("home") as kb:
    found = {
        "unchanged": not kb.refresh("texts").published,
        "answer": kb.ask("Where was Marie Curie born?").answer,
        "rows": kb.sql(BORN).to_pylist(),
        "kind": kb.entity("Marie Curie").kind,
    }
from almanac.flows.commands.schedule import Schedule
schedule = Schedule(home="home", command="refresh texts", cron="17 3 * * *")
scheduled = schedule.deployment(schedule.job())
[command] = entry_points(group="console_scripts", name="almanac")
deployments = yaml.safe_load(files(almanac).joinpath("prefect.yaml").read_text())["deployments"]
found |= {
    "command": command.load().__module__,
    "flows": [load_flow_from_entrypoint(d["entrypoint"]).name for d in deployments],
    "scheduled": load_flow_from_entrypoint(scheduled.entrypoint).name,
    "examples": files(almanac).joinpath("examples", "questions.jsonl").is_file(),
    "mapping": midtermqa._MAPPING.is_file(),
    "foreign": sorted({"schemas", "warehouse", "tasks", "flows"} & set(sys.modules)),
}
print(json.dumps(found))
"""
USER = """
import almanac
from almanac import Answer, EntityPage, Evidence


def places(answer: Answer) -> list[str]:
    return [evidence.uri or "" for evidence in answer.evidence]


def first(evidence: list[Evidence]) -> str:
    return evidence[0].text


with almanac.open("home") as kb:
    print(kb.refresh("texts").published)
    answer = kb.ask("Where was Marie Curie born?")
    print(answer.answers, places(answer), first(answer.evidence), answer.evidense)
    print(kb.sql("select tail from triples").to_pylist())
    page: EntityPage = kb.entity("Marie Curie")
    print(page.name, page.aliases)
"""
# No type of ours comes from these; reading them would take a minute.
UNREAD = (
    "torch transformers spacy prefect dask distributed openai trafilatura matplotlib scipy peft "
    "sentence_transformers huggingface_hub sqlalchemy IPython prompt_toolkit mcp cryptography "
    "openlineage hypothesis rich markdown_it fastapi starlette uvicorn werkzeug PIL"
)


@dataclass
class Installed:
    """An environment with the wheel, and a folder in which the user's own modules lie."""

    python: Path
    folder: Path

    def run(self, *arguments: str) -> tuple[Any, str]:
        """Run the environment's Python in the folder; return its JSON and its messages."""
        done = subprocess.run(
            [self.python, *arguments], cwd=self.folder, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), done.stderr


@pytest.fixture(scope="module")
def installed(
    repository: Path, tiny_corpus: Path, tmp_path_factory: pytest.TempPathFactory
) -> Installed:
    """Build the wheel and unpack it before the libraries of this environment."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=repository, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    venv.create(folder / "env", with_pip=False, symlinks=True)
    ours = {"base": str(folder / "env"), "platbase": str(folder / "env")}
    packages = Path(sysconfig.get_path("purelib", "venv", ours))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    # A line of a .pth file adds a folder, whose own .pth files (the editable one) are not read.
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    user = folder / "user"
    shutil.copytree(tiny_corpus, user / "texts")
    for name in ("schemas", "flows", "warehouse", "home"):
        (user / name).mkdir()
    settings = 'workers = 1\n\n[engine]\nencoder = "none"\n'
    (user / "home" / "settings.toml").write_text(settings, encoding="utf-8")
    (user / "texts" / "curie.md").write_text(f"# Marie Curie\n\n{TEXT}", encoding="utf-8")
    packages_of_user = (user / name / "__init__.py" for name in ("schemas", "flows", "warehouse"))
    for path in (user / "tasks.py", *packages_of_user):
        path.write_text(FOREIGN, encoding="utf-8")
    return Installed(folder / "env" / "bin" / "python", user)


@pytest.fixture(autouse=True)
def _no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path to the repository would let its own packages be found."""
    monkeypatch.delenv("PYTHONPATH", raising=False)


def test_it_refreshes_on_dask_in_a_flow_with_a_server_of_its_own_and_answers(
    installed: Installed,
) -> None:
    options = ["--dask", "local", "--prefect", "--home", "home", "--json"]
    report, progress = installed.run("-m", "almanac", "refresh", "texts", *options)
    assert report["published"] and report["counts"]["extraction"]["extractions"] >= 10
    assert "read: 11 of 11" in progress and "Warning" not in progress
    assert "leaked" not in progress, "the workers end quietly"
    assert (installed.folder / "home" / "prefect" / "prefect.db").exists()
    assert not list(servers_of(installed.folder))
    (installed.folder / "asking.py").write_text(ASKING, encoding="utf-8")
    found, _ = installed.run("asking.py")
    assert (found["answer"], found["kind"], found["unchanged"]) == ("Warsaw", "person", True)
    assert found["rows"] == [{"tail": "Warsaw"}]
    assert found["command"] == "almanac.flows.__main__"
    assert "refresh-knowledge" in found["flows"] and len(found["flows"]) > 5
    assert found["scheduled"] == "refresh-knowledge"
    assert found["examples"] and found["mapping"] and not found["foreign"]


def test_a_strict_check_of_a_users_script_finds_the_misspelt_attribute(
    installed: Installed, tmp_path: Path
) -> None:
    script, config = tmp_path / "script.py", tmp_path / "mypy.ini"
    script.write_text(USER, encoding="utf-8")
    unread = ",".join(f"{library}.*" for library in UNREAD.split())
    ini = f"[mypy]\nstrict = True\n[mypy-{unread}]\nfollow_imports = skip\n"
    config.write_text(ini, encoding="utf-8")
    options = ["--config-file", config, "--cache-dir", tmp_path / "cache", "--no-error-summary"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--python-executable", installed.python, script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    [error] = done.stdout.splitlines()
    assert '"Answer" has no attribute "evidense"; maybe "evidence"?' in error


@pytest.mark.parametrize("package", [*PACKAGES, "almanac"])
def test_an_editable_installation_is_typed_too(repository: Path, package: str) -> None:
    assert (repository / package / "py.typed").is_file()


@pytest.mark.parametrize(
    ("written", "in_the_wheel"),
    [
        ("from tasks.ask import asker\n", "from almanac.tasks.ask import asker\n"),
        ("import schemas\n", "from almanac import schemas\n"),
        ("import schemas as s\n", "from almanac import schemas as s\n"),
        ("import tasks.run as run\n", "import almanac.tasks.run as run\n"),
        ("é = 1; from flows import jobs\n", "é = 1; from almanac.flows import jobs\n"),
        ("def f():\n    from flows import a\n", "def f():\n    from almanac.flows import a\n"),
        ("x = '''\nfrom tasks import y\n'''\n", "x = '''\nfrom tasks import y\n'''\n"),
        ("from . import tasks\n", "from . import tasks\n"),
        ("import json, tasks_of_others\n", "import json, tasks_of_others\n"),
    ],
)
def test_imports_alone_are_rewritten(written: str, in_the_wheel: str) -> None:
    assert with_imports_below_almanac(written.encode(), "x.py") == in_the_wheel.encode()


@pytest.mark.parametrize("written", ["import tasks.run\n", "import schemas, json\n"])
def test_an_import_that_would_bind_another_name_stops_the_build(written: str) -> None:
    with pytest.raises(SyntaxError, match="x.py, line 1"):
        with_imports_below_almanac(written.encode(), "x.py")


def test_no_text_names_a_module_of_ours(repository: Path) -> None:
    paths = [path for package in PACKAGES for path in (repository / package).rglob("*.py")]
    modules = {".".join(path.relative_to(repository).with_suffix("").parts) for path in paths}
    named = re.compile(rf"""["']((?:{"|".join(PACKAGES)})\.[\w.]+)["']""")
    opened = re.compile(rf"""\b(files|import_module)\(f?"({"|".join(PACKAGES)})\b""")
    for path in paths:
        source = path.read_text(encoding="utf-8")
        assert not modules & set(named.findall(source)) and not opened.search(source), path
