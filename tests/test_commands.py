"""The command line as a whole: help, options and their defaults, `--set`, and replaced options."""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from flows.__main__ import build_parser, main
from flows.commands import COMMANDS
from flows.jobs import Command
from flows.parsing import CommandParser, command_of, entries, first_line
from schemas.errors import UsageError

MOST_OPTIONS = 149  # of some fifty commands
HEAVY = {"torch", "transformers", "spacy", "onnxruntime", "tantivy", "prefect", "dask", "duckdb"}


def parsers(parser: argparse.ArgumentParser) -> Iterator[CommandParser]:
    """Yield the parsers of all commands and actions, with their options."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                each.fill()
                yield each
                yield from parsers(each)


ALL = list(parsers(build_parser(whole=True)))


def options_of(parser: CommandParser) -> list[argparse.Action]:
    """Return the options that the help of a command lists."""
    shown = (a for a in parser._actions if a.option_strings and a.help != argparse.SUPPRESS)
    return [action for action in shown if action.dest != "help"]


def test_every_command_does_its_work_or_runs_by_itself() -> None:
    for model in {parser.model for parser in ALL if parser.model}:
        assert model.work is not Command.work or model.run is not Command.run, model


def test_the_help_is_short() -> None:
    assert len(ALL) > len(COMMANDS)
    assert sum(len(options_of(parser)) for parser in ALL) <= MOST_OPTIONS


@pytest.mark.parametrize("parser", ALL, ids=lambda parser: parser.command)
def test_every_option_says_what_it_does_and_what_happens_without_it(parser: CommandParser) -> None:
    for action in options_of(parser):
        assert action.help
        is_switch = isinstance(action, argparse._StoreTrueAction | argparse._StoreFalseAction)
        if not (action.required or is_switch):
            assert re.search(r"\(.+\)$", action.help), f"{parser.command} {action.dest}"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_listed_with_the_first_line_of_its_docstring(name: str) -> None:
    module = import_module(f"flows.commands.{name.replace('-', '_')}")
    if not isinstance(module.COMMAND, dict):
        assert first_line(module.COMMAND) == COMMANDS[name]
    for model in module.COMMAND.values() if isinstance(module.COMMAND, dict) else [module.COMMAND]:
        assert all(entry.field.description for entry in entries(model)), model


@pytest.mark.parametrize("command", ["refresh", "train-paths", "editions"])
def test_the_help_of_a_command_loads_nothing_heavy(command: str) -> None:
    program = (
        "import sys; from flows.__main__ import main\n"
        "try: main([sys.argv[1], '--help'])\n"
        "except SystemExit: print(sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, command], capture_output=True, text=True)
    assert "usage: almanac" in done.stdout
    assert not HEAVY & set(re.findall(r"'(\w+)'", done.stderr))


def called(*words: str) -> dict[str, object]:
    """Return the fields of the command that the words call."""
    return dict(command_of(build_parser().parse_args(words)))


def test_settings_and_finer_options_are_set_for_one_call() -> None:
    fields = called(
        *("train-paths", "q", "--graph", "g", "--set", "forgotten=.5", "--set", "per_token=.5"),
        *("--set", "engine.encoder=none", "--set", "width=8"),
    )
    assert (fields["plan"].forgotten, fields["plan"].width) == (0.5, 8)  # type: ignore[attr-defined]
    assert fields["per_token"] == 0.5
    assert fields["settings"].engine.chinese_encoder == "none"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("widt=1", "there are: width"),
        ("zzz.x=1", "there is no 'zzz.x' here, nor a name like it. `--set help` lists all"),
        ("engine.modl.name=x", "engine.model.name"),
        ("width", "is not NAME=VALUE"),
        ("width=0", "argument --set width: Input should be greater than or equal to 1"),
    ],
)
def test_what_cannot_be_set_is_told(
    wrong: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        called("train-paths", "q", "--graph", "g", "--set", wrong)
    assert said in " ".join(capsys.readouterr().err.split())


def test_what_can_be_set_is_listed_with_its_meaning(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        called("train-paths", "--set", "help")  # without what a call needs
    listed = capsys.readouterr().out
    assert listed.index("batch\n") < listed.index("engine.encoder\n")
    assert "batch\n    Questions per step of the optimizer (32)" in listed
    assert "engine.encoder\n" in listed and "source\n" not in listed


def test_shells_complete_the_options_of_actions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    (options,) = re.findall(r"^_shtab_almanac_gates_measure_option_strings=.*", script, re.M)
    assert {"--gate", "--picture"} <= set(re.findall(r"--[a-z]+", options))
    assert "-o default" in script  # names of files, where a command completes nothing
    (options,) = re.findall(r"^_shtab_almanac_audit_option_strings=.*", script, re.M)
    assert "--limit" in options and "--n " not in options


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["verbalise"], "there is no command 'verbalise'; did you mean verbalize?"),
        (["editions", "purge"], "there is no action 'purge'; did you mean prune?"),
        (["zzz"], "there is no command 'zzz'; `almanac --help` lists them"),
        (["refresh", "x", "--max-delete", "3"], "argument --max-delete cannot be '3'"),
        (["feedback", "id", "so-so"], "'so-so' is not right, wrong, or a share from 0 to 1"),
        (
            ["ask", "Who?", "--rounds", "9"],
            "argument --rounds: Input should be less than or equal to 4",
        ),
        (["export", "--format", "nt", "--out", "-"], "argument --out: nothing is written to"),
    ],
)
def test_a_wrong_word_is_answered_in_the_words_of_the_call(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert said in " ".join(capsys.readouterr().err.split())


def test_an_output_that_is_full_is_not_the_disk_of_the_home() -> None:
    listed = [sys.executable, "-m", "flows", "completion", "bash"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(listed, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (
        1,
        "Standard output takes no more: No space left on device.\n",
    )
    enough = subprocess.run(f"{' '.join(listed)} | head -1; exit $PIPESTATUS", shell=True,
                            executable="/bin/bash", capture_output=True, text=True)  # fmt: skip
    assert (enough.returncode, enough.stderr) == (0, "")


def test_a_setting_of_a_model_that_nothing_calls_is_refused() -> None:
    with pytest.raises(UsageError, match=r"engine\.model\.seed|--set engine.model.budget would"):
        called("refresh", "texts", "--set", "engine.model.budget=3")


ENDPOINT = ("--engine", "openai", "--model", "m")
GATES = ("gates", "measure", "q", "--format", "mirage")
TRAIN = ("train-paths", "q", "--graph", "g")
REPLACED = [  # a call as it was written, and what to --set now
    (("refresh", "s"), ("--wait", "5"), "publish.wait_seconds=5"),
    (("refresh", "s"), ("--no-vectors",), "engine.encoder=none"),
    (("refresh", "s"), ("--speaker=Acme Ltd",), "engine.speaker=Acme Ltd"),
    (("refresh", "s"), ("--audience", "you"), "engine.audience=you"),
    (("refresh", "s", *ENDPOINT), ("--base-url", "http://h"), "engine.model.base_url=http://h"),
    (("cost", *ENDPOINT), ("--budget", "5"), "engine.model.budget=5"),
    (("ask", "who", *ENDPOINT), ("--concurrency", "4"), "engine.model.concurrency=4"),
    (("ask", "who"), ("--edition", "1"), "edition=1"),
    (("ask", "who"), ("--mode", "explicit"), "experts.mode=explicit"),
    (("ask", "who"), ("--min-score", ".5"), "min_score=.5"),
    (("ask", "who"), ("--task", "t"), "gate.use=true", "gate.task=t"),
    (("ask", "who"), ("--gate-budget", "scarce"), "gate.use=true", "gate.budget=scarce"),
    (("answer", "q", "--out", "o"), ("--no-gate",), "gate.use=false"),
    (("evaluate", "q", "--format", "f"), ("--zero-shot",), "zero_shot=true"),
    (("evaluate", "q", "--format", "f"), ("--baselines", "bm25,spe"), "baselines=bm25,spe"),
    (("evaluate", "q", "--format", "f"), ("--expert", "e"), "expert=e"),
    (GATES, ("--draws", "2"), "draws=2"),
    (GATES, ("--choices",), "choices=true"),
    (GATES, ("--ablations",), "ablations=true"),
    (GATES, ("--popularity-of", "g"), "popularity_of=g"),
    (("remember", "text"), ("--wait", "5"), "publish.wait_seconds=5"),
    (("ontology", "suggest"), ("--most", "7"), "most=7"),
    (("ontology", "check"), ("--edition", "1"), "edition=1"),
    (("audit",), ("--seed", "3"), "seed=3"),
    (("import-graph", "f", "--name", "g"), ("--no-vectors",), "engine.encoder=none"),
    (("verbalize",), ("--held-out", ".1"), "held_out=.1"),
    (("verbalize",), ("--walks", "9"), "walks=9"),
    (("train-experts", "e"), ("--epochs", "2"), "epochs=2"),
    (("train-experts", "e"), ("--learning-rate", ".1"), "learning_rate=.1"),
    (("train-experts", "e"), ("--all-texts",), "all_texts=true"),
    (("train-experts", "e"), ("--licence", "MIT"), "licence=MIT"),
    (TRAIN, ("--epochs", "2"), "epochs=2"),
    (TRAIN, ("--learning-rate", ".1"), "learning_rate=.1"),
    (TRAIN, ("--rule", "bound"), "rule=bound"),
    (("calibrate-gate", "q", "--task", "t"), ("--seeds", "9"), "seeds=9"),
    (("calibrate-gate", "q", "--task", "t"), ("--layer", "2"), "layer=2"),
    (("mock-endpoint",), ("--fault-share", ".5"), "fault_share=.5"),
    (("mock-endpoint",), ("--plain",), "plain=true"),
]


@pytest.mark.parametrize(("call", "before", "now"), [(c, b, n) for c, b, *n in REPLACED])
def test_an_option_that_was_replaced_is_understood_with_a_line(
    call: tuple[str, ...],
    before: tuple[str, ...],
    now: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    written = [word for writing in now for word in ("--set", writing)]
    assert called(*call, *before) == called(*call, *written)
    option = before[0].partition("=")[0]
    assert capsys.readouterr().err == f"{option} is going: write {' '.join(written)} instead.\n"


def test_evaluating_gates_is_still_what_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "nowhere", "--format", "mirage", "--gate", "thrust"]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_a_misspelt_option_is_told_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["refresh", "texts", "--max-delet", "1"])
    assert "did you mean --max-delete?" in capsys.readouterr().err
