"""What stands beside the packages: the lock file, the image, the citation, the documentation."""

import re
import tomllib
from pathlib import Path
from pydoc import locate

import yaml

from flows.commands import COMMANDS
from flows.commands.serve import COMMAND as SERVE
from flows.parsing import entries

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def named(requirement: str) -> str:
    """Return the normalised name of a requirement (PEP 503)."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()


def test_the_lock_has_what_is_pinned_with_hashes_and_no_host() -> None:
    lines = read("requirements.lock").splitlines()
    pins = [line for line in lines if not line.startswith(" ")]
    locked = {named(line): line.split("==")[1].split()[0] for line in pins}
    assert "://" not in "".join(lines)
    assert all(line.endswith("\\") for line in pins), "each has a hash"
    constrained = dict(line.split("==") for line in read("constraints.txt").splitlines())
    assert {n: v for n, v in constrained.items() if locked.get(named(n), v) != v} == {}
    assert {named(requirement) for requirement in PROJECT["dependencies"]} <= locked.keys()


def test_the_image_runs_commands_that_exist() -> None:
    dockerfile = read("Dockerfile")
    copied = re.findall(r"-r (\S+)", dockerfile)
    assert [name for name in copied if not (ROOT / name).is_file()] == []
    assert 'CMD ["prefect", "worker", "start", "--pool", "almanac"]' in dockerfile
    (command, options) = re.findall(r"`almanac (\w+)((?: --\w+ \S+)*)`", dockerfile)[0]
    assert command in COMMANDS
    flags = {entry.flag for entry in entries(SERVE)}
    assert set(re.findall(r"--\w+", options)) <= flags


def test_the_citation_names_this_release() -> None:
    citation = yaml.safe_load(read("CITATION.cff"))
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])


def test_the_pages_of_the_interface_name_modules_that_exist() -> None:
    described = re.findall(r"^::: (\S+)$", read("docs/api.md"), re.MULTILINE)
    assert len(described) > 3 and [name for name in described if not locate(name)] == []
