"""Homes that cannot be written, read or named: each command says what is wrong, where, and why."""

import errno
import json
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from flows.__main__ import main
from tasks.run import last_run
from tests.command_line import CommandLine
from tests.served import COMMAND, serving
from warehouse.disk_errors import refusal_in_words
from warehouse.home import Home
from warehouse.lease import lease

QUESTION = "Where was Ada Lovelace born?"
NOBODY = 65534
READING = (
    ["sql", "select 1"],
    ["ask", QUESTION],
    ["editions", "list"],
    ["editions", "diff"],
    ["override", "list"],
    ["graphs", "list"],
    ["gates", "list"],
    ["doctor"],
)
PRUNE = ["editions", "prune", "--keep", "1"]  # last, as it makes room on a full disk
WRITING = (
    ["remember", "Perth is a city."],
    ["editions", "rollback"],
    ["editions", "publish"],
    ["override", "merge", "Ada Lovelace", "Charles Babbage"],
    ["graphs", "remove", "films"],
    ["gates", "remove", "films"],
    PRUNE,
)


@contextmanager
def mounted(folder: Path, home: Path, megabytes: int = 32) -> Iterator[Path]:
    """Put a copy of a home on a small disk of its own."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", str(folder)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only a user who may mount a disk can try a full or a read-only one")
    try:
        shutil.copytree(home, folder / "home")
        yield folder / "home"
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def open_to_everybody(folder: Path) -> None:
    """Let everybody pass through the folders above, which pytest keeps to their owner."""
    for place in (folder, *folder.parents):
        if place == Path(tempfile.gettempdir()):
            return
        place.chmod(0o755)


@pytest.fixture
def own_home(small_home: Path, tmp_path: Path) -> Path:
    """A whole copy of the small home, whose files may be closed to everybody."""
    return Path(shutil.copytree(small_home, tmp_path / "home"))


@pytest.fixture(scope="module")
def _commands_are_loaded(small_home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    spare = shutil.copytree(small_home, tmp_path_factory.mktemp("spare") / "home")
    for arguments in (*READING, *WRITING):
        with suppress(SystemExit):
            main([*arguments, "--home", str(spare)])


@pytest.fixture
def shared_home(own_home: Path, tmp_path: Path, _commands_are_loaded: None) -> Path:
    """A home that everybody can reach; all commands are loaded, as nobody may not read modules."""
    open_to_everybody(tmp_path)
    return own_home


@contextmanager
def as_nobody() -> Iterator[None]:
    """Give up the rights of root, to whom everything is allowed."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@contextmanager
def no_file_may_grow(to: int = 0) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (to, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def fill(disk: Path) -> None:
    with suppress(OSError), (disk / "filling").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def is_plain(err: str) -> bool:
    return "Something unexpected" not in err and "Traceback" not in err and "Errno" not in err


def check_reading(home: Path, almanac: CommandLine) -> None:
    """All commands that only read work; the doctor tells what is wrong with the disk."""
    for arguments in READING:
        code, out, err = almanac(home, *arguments)
        assert code == int(arguments == ["doctor"]) and is_plain(out + err), err


def test_ask_answers_from_a_disk_for_reading_only(small_home, tmp_path, almanac):
    with mounted(tmp_path / "disk", small_home) as home:
        subprocess.run(["mount", "-o", "remount,ro", str(home.parent)], check=True)
        check_reading(home, almanac)
        code, out, err = almanac(home, "ask", QUESTION, "--json")
        assert code == 0 and json.loads(out)["answer"] == "London"
        assert err.startswith("Warning: the answer was not recorded.") and "reading only" in err
        for arguments in WRITING:
            code, out, err = almanac(home, *arguments)
            assert code == 1 and "reading only" in err and str(home) in err, arguments


def test_what_hides_sensitive_texts_is_made_elsewhere_for_a_disk_for_reading_only(
    small_home, tmp_path, almanac
):
    secret = tmp_path / "secret.md"
    secret.write_text("# Grimsey\n\nGrimsey is an island.\n", encoding="utf-8")
    with mounted(tmp_path / "disk", small_home) as home:
        almanac.shown(home, "refresh", str(secret), "--sensitive")
        subprocess.run(["mount", "-o", "remount,ro", str(home.parent)], check=True)
        almanac.shown(home, "report", "--out", str(tmp_path / "report"))
        almanac.shown(home, "export", "--format", "nt", "--out", str(tmp_path / "made.nt"))
        with serving(home) as client:
            found = client.get("/v1/entities").text
    exported = (tmp_path / "made.nt").read_text(encoding="utf-8")
    assert all("Ada Lovelace" in text and "Grimsey" not in text for text in (exported, found))


def test_ask_answers_on_a_full_disk(small_home, tmp_path, almanac):
    with mounted(tmp_path / "disk", small_home) as home:
        fill(home.parent)
        check_reading(home, almanac)
        code, out, err = almanac(home, "ask", QUESTION)
        assert code == 0 and out.startswith("London  (")
        assert "not recorded" in err and "is full" in err
        for arguments in WRITING:
            code, out, err = almanac(home, *arguments)
            if arguments is PRUNE:  # what the message advises
                assert code == 0 and out.startswith("1 removed")
            else:
                assert code == 1 and "is full" in err and str(home) in err, arguments


def test_a_failed_refresh_leaves_room_for_others(own_home, tmp_path, almanac):
    more = tmp_path / "more.md"
    more.write_text("# Oslo\n\nOslo is the capital of Norway.\n", encoding="utf-8")
    files = {path for path in own_home.rglob("*") if "journal" not in path.parts}
    with no_file_may_grow(to=300_000):  # enough for the journal, too little for an edition
        code, _, err = almanac(own_home, "refresh", str(more))
    assert code == 1 and "beyond what the system allows" in err
    assert "beyond what the system allows" in last_run(Home(own_home))["error"]
    left = {path for path in own_home.rglob("*") if "journal" not in path.parts} - files
    assert all(path.parent.name == "runs" for path in left), left


def test_a_record_that_was_not_written_leaves_nothing(own_home, almanac):
    with no_file_may_grow():
        assert "not recorded" in almanac(own_home, "ask", QUESTION)[2]
    assert not list(own_home.rglob("*.tmp"))


def test_evaluate_on_a_full_disk_keeps_the_figures(small_home, tmp_path, almanac):
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"question": QUESTION, "answers": ["London"]}))
    call = ["evaluate", str(questions), "--format", "jsonl", "--graph", "corpus", "--no-learn"]
    with mounted(tmp_path / "disk", small_home) as home:
        fill(home.parent)
        out_file = str(home.parent / "answers.jsonl")
        code, out, err = almanac(home, *call, "--baselines", "none", "--out", out_file, "--json")
        assert code == 0 and json.loads(out)["metrics"]["hits@1"] == 1
        assert "the figures were not recorded" in err and "the answers were not written" in err
        assert is_plain(err) and err.count("is full") == 2


def test_ask_answers_without_permission_to_write(shared_home, almanac):
    home = shared_home
    subprocess.run(["chmod", "-R", "a+rX,a-w", str(home)], check=True)
    with as_nobody():
        code, out, err = almanac(home, "ask", QUESTION)
        assert code == 0 and out.startswith("London  (")
        assert "not recorded" in err and "no permission" in err
        for arguments in WRITING:
            code, out, err = almanac(home, *arguments)
            assert code == 1 and "no permission" in err and str(home) in err, arguments
    subprocess.run(["chmod", "-R", "u+w", str(home)], check=True)


def test_a_home_that_may_not_be_read_is_named(shared_home, almanac):
    home = shared_home
    (home / "settings.toml").unlink()
    for closed in (home / "journal", home / "editions", home):
        closed.chmod(0)
        with as_nobody():
            for arguments in READING[1:] if closed.name == "editions" else WRITING:
                code, out, err = almanac(home, *arguments)
                assert is_plain(out + err), arguments
                assert code == 0 or "no permission" in out + err, (arguments, closed, err)
            if closed.name == "editions":
                code, _, err = almanac(home, "editions", "list")
                assert code == 1 and f"no permission for {closed}" in err
        closed.chmod(0o755)


def test_a_file_that_may_not_grow_is_explained(own_home, almanac):
    for arguments in (*READING, *WRITING):
        with no_file_may_grow():
            code, out, err = almanac(own_home, *arguments)
        assert is_plain(out + err), arguments
        if arguments in WRITING and arguments is not PRUNE:  # which writes nothing
            assert code == 1 and "beyond what the system allows" in err, arguments
    assert almanac(own_home, "ask", QUESTION)[0] == 0


@pytest.mark.parametrize("where", ["home", "editions", "journal", "live", "settings.toml"])
def test_a_file_in_place_of_a_folder_is_explained(where, own_home, almanac):
    place = own_home if where == "home" else own_home / where
    if place.is_file():
        place.unlink()
        place.mkdir()
    else:
        shutil.rmtree(place)
        place.write_text("not a folder")
    for arguments in (*READING, *WRITING):
        code, out, err = almanac(own_home, *arguments)
        assert is_plain(out + err), (arguments, err)
        if where == "home":
            assert code == 2 and f"{own_home} is a file" in err, arguments


@pytest.mark.parametrize(
    ("home", "words"),
    [
        ("\udcff\udce9", "is not UTF-8 text"),
        ("x" * 300, "longer than the disk allows"),
        ("a\0b", "holds a NUL character"),
        ("why?", "a question mark or a backslash"),
        ("back\\slash", "a question mark or a backslash"),
    ],
)
def test_a_home_that_cannot_be_named_is_explained(home, words, tmp_path, almanac):
    for arguments in (*READING, *WRITING):
        code, out, err = almanac(f"{tmp_path}/{home}", *arguments)
        assert code in (1, 2) and words in err and len(err.splitlines()) == 1, arguments
    assert not list(tmp_path.iterdir())


def test_a_home_at_a_url_is_refused_before_any_work(tmp_path, almanac, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments in (*READING, *WRITING):
        code, out, err = almanac("https://host/home", *arguments)
        assert (code, out) == (2, "") and "https is no kind of home" in err, arguments
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "a\udfffb"])
def test_words_that_are_no_text_are_refused(text, own_home, almanac, tmp_path):
    for arguments in (
        ["ask", text],
        ["ask", "Who?", "--graph", text],
        ["sql", text],
        ["remember", text],
        ["override", "merge", text, "x"],
        ["editions", "rollback", text],
        ["import-graph", text, "--name", "films"],
        ["import-graph", str(tmp_path), "--name", "films", "--language", text],
        ["graphs", "remove", text],
    ):
        code, _, err = almanac(own_home, *arguments)
        assert code == 2 and "The value of" in err, arguments


@pytest.mark.parametrize("text", [b"\xff\x00", b"workers = ", b"[engine]\nencoder = 3\n", b"\0"])
def test_broken_settings_are_named(text, own_home, almanac):
    (own_home / "settings.toml").write_bytes(text)
    code, _, err = almanac(own_home, "ask", QUESTION)
    assert code == 2 and "settings.toml is invalid" in err and len(err.splitlines()) == 1
    code, out, err = almanac(own_home, "doctor")
    assert code == 1 and is_plain(out + err) and "settings.toml is invalid" in out


@pytest.mark.parametrize("kept", [0, 1])
def test_a_half_copied_home_is_explained(kept, own_home, almanac):
    files = sorted(path for path in own_home.rglob("*") if path.is_file())
    for path in files[kept::2]:
        path.unlink()
    for arguments in (*READING, *WRITING):
        code, out, err = almanac(own_home, *arguments)
        assert is_plain(out + err), (arguments, err)


def test_what_a_killed_pruning_left_goes_with_the_next_one(own_home, almanac):
    editions = Home(own_home).editions
    left = editions.folder / f".building-pruned-{editions.all()[0].id}"
    shutil.copytree(editions.all()[0].path, left)
    assert almanac(own_home, "editions", "prune", "--keep", "9", "--dry-run")[0] == 0
    assert left.exists()
    assert almanac(own_home, "editions", "prune", "--keep", "9")[0] == 0
    assert not left.exists()
    left.mkdir()
    with lease(own_home, "a run"):
        Home(own_home).clean()
    assert not left.exists()


def test_pruning_is_advised_where_there_is_something_to_prune(small_home, tmp_path):
    full = OSError(errno.ENOSPC, "No space left on device")
    assert "`almanac editions prune` frees some" in refusal_in_words(full, small_home)
    assert refusal_in_words(full, tmp_path).endswith("what was done. Free some space.")


def test_of_two_disks_the_full_one_is_named(small_home, tmp_path, almanac):
    with mounted(tmp_path / "disk", small_home, 4) as elsewhere:
        code, _, err = almanac(small_home, "backup", str(elsewhere.parent / "copy"))
    assert code == 1 and f"under {elsewhere.parent}" in err and str(small_home) not in err


def test_a_full_disk_that_is_not_the_homes_is_not_called_so(own_home, tmp_path, almanac):
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"question": QUESTION}), encoding="utf-8")
    with mounted(tmp_path / "disk", own_home, 4) as elsewhere:
        fill(elsewhere.parent)
        out = elsewhere.parent / "answers.jsonl"
        code, _, err = almanac(own_home, "answer", str(questions), "--out", str(out))
    assert code == 1 and f"under {out} is full (0 MiB" in err and str(own_home) not in err


def test_a_full_disk_behind_standard_output_is_told_as_such(small_home):
    for form in ("csv", "json", "table"):
        query = "select repeat('a', 9000) as a from range(99)"
        command = [*COMMAND, "sql", query, "--format", form, "--home", str(small_home)]
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1
        assert done.stderr == "Standard output takes no more: No space left on device.\n", form


def test_errors_of_libraries_are_known_by_the_words_of_the_system(tmp_path):
    full = refusal_in_words(RuntimeError("IO Error: No space left on device"), tmp_path)
    assert full and "is full" in full
    assert refusal_in_words(ValueError("something else"), tmp_path) is None
