"""The house rules: layers, names, sizes, light imports, and documents that match the code."""

import ast
import importlib
import importlib.util
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
import yaml

import schemas
from schemas.dictionary import dictionary
from schemas.observations import JOURNAL

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("schemas", "warehouse", "tasks", "flows", "almanac")
FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
UNPACKAGED = [
    path
    for name in ("tests", "benchmarks", "recipes")
    for path in sorted((ROOT / name).rglob("*.py"))
]
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in FILES
}
LONGEST = 500
HEAVY = {
    "torch", "transformers", "spacy", "sentence_transformers", "onnxruntime", "tantivy",
    "rjieba", "opencc",
    "prefect", "dask", "distributed", "duckdb", "pyarrow", "pydantic", "rich", "openai",
}  # fmt: skip


def test_layers_hold():
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("folders", "apart"),
    [
        (PACKAGES, "recipes|benchmarks|tests"),
        (["recipes"], "benchmarks|tests"),
        (["tests"], "benchmarks"),
    ],
)
def test_the_product_needs_no_recipe_and_tests_need_no_benchmark(folders, apart):
    imported = re.compile(rf"^\s*(?:from|import) (?:{apart})\b", re.MULTILINE)  # in functions, too
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert paths
    assert not [path for path in paths if imported.search(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("package", PACKAGES)
def test_package_is_ours(package):
    spec = importlib.util.find_spec(package)
    assert spec and spec.origin
    assert Path(spec.origin).is_relative_to(ROOT)


def test_files_have_names_of_their_own_and_one_subject():
    taken = (sys.stdlib_module_names | {"utils", "helpers", "common", "misc"}) - {"__main__"}
    paths = [*FILES, *UNPACKAGED]
    assert [path for path in paths if path.stem in taken] == []
    assert [p for p in paths if len(p.read_text("utf-8").splitlines()) > LONGEST] == []


def test_one_file_says_which_characters_are_chinese():
    ranges = re.compile(r"\\u(?:4e00|3400|9fff)")
    offenders = [path for path in FILES if ranges.search(path.read_text("utf-8"))]
    assert offenders == [ROOT / "tasks" / "text" / "languages.py"]


def imports_of(path: Path) -> set[str]:
    """Return the modules of ours that a file imports, wherever in the file."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            members = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= (members & MODULES.keys()) or {node.module}
    return names & MODULES.keys()


def test_no_module_imports_itself_through_others():
    graph = {module: imports_of(path) for module, path in MODULES.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(" <- ".join(circle.args[1]))


def modules_after(statement: str) -> set[str]:
    """Return what is loaded once a fresh interpreter has run the statement."""
    program = f"{statement}; import sys; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_command_line_is_light():
    loaded = modules_after("import flows.__main__; flows.__main__.build_parser()")
    assert not loaded & HEAVY


def test_sql_starts_no_server_and_loads_no_model():
    loaded = modules_after("import flows.commands.sql, flows.home, warehouse.sql_session")
    assert not loaded & (HEAVY - {"duckdb", "pyarrow", "pydantic", "rich"})


@pytest.mark.parametrize(
    "module", ["tasks.reader.passage_reader", "tasks.refresh", "flows.commands.ask"]
)
def test_work_loads_models_only_when_they_are_used(module):
    loaded = modules_after(f"import {module}")
    heavy = {"torch", "transformers", "spacy", "sentence_transformers", "prefect", "dask"}
    assert not loaded & heavy


def test_every_table_and_column_is_explained():
    for row in (*schemas.EDITION, *schemas.VIEWS, *schemas.LIVE, *schemas.LIVE_VIEWS, *JOURNAL):
        assert row.__doc__, row
        assert row.key, row
        for name, info in row.model_fields.items():
            assert info.description, f"{row.table}.{name}"


def test_dictionary_is_up_to_date():
    written = (ROOT / "schemas" / "README.md").read_text(encoding="utf-8")
    assert written == dictionary(), "run `make dictionary`"


def test_deployments_lead_to_flows():
    from prefect import Flow
    from prefect.events import DeploymentEventTrigger

    from flows.deployed import JOBS
    from flows.flow_record import HELD, PUBLISHED

    writing = {job.flow_name: job.writes for job in JOBS}
    config = yaml.safe_load((ROOT / "prefect.yaml").read_text(encoding="utf-8"))
    for deployment in config["deployments"]:
        module, _, name = deployment["entrypoint"].rpartition(".")
        assert "/" not in module
        flow = getattr(importlib.import_module(module), name)
        assert isinstance(flow, Flow)
        triggers = [DeploymentEventTrigger(**row) for row in deployment.get("triggers", ())]
        assert all(trigger.expect <= {PUBLISHED, HELD} for trigger in triggers)
        assert set(deployment["parameters"]) <= set(flow.parameters.properties)
        missing = set(flow.parameters.required or []) - set(deployment["parameters"])
        runs_by_itself = bool(deployment["schedules"] or triggers)
        assert runs_by_itself != bool(missing), "what can run by itself is scheduled"
        queue = deployment["work_pool"].get("work_queue_name")
        assert (queue == "almanac-home") == writing[flow.name], "what writes a home shares a queue"
        limit = deployment.get("concurrency_limit")
        assert not limit or limit["collision_strategy"] == "ENQUEUE", "a run waits and is not lost"


def test_constraints_hold_names_and_versions_only():
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        name, _, version = line.partition("==")
        assert name and version, line
        assert "/" not in line and "@" not in line and "+" not in line
