"""The commands and their options; each command's work is in the module of its name.

Only the standard library is imported here: `--help` and the start of every command read it.
"""

import argparse
from collections.abc import Callable
from typing import Any

Commands = Any  # argparse keeps the type of its sub-parsers to itself


def _command(
    commands: Commands,
    shared: argparse.ArgumentParser,
    name: str,
    module: str,
    what: str,
    **defaults: Any,
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=what, description=what, parents=[shared], allow_abbrev=False
    )
    parser.set_defaults(module=module, **defaults)
    return parser


def _group(
    commands: Commands, shared: argparse.ArgumentParser, name: str, what: str
) -> tuple[argparse.ArgumentParser, Commands]:
    parser = commands.add_parser(
        name, help=what, description=what, parents=[shared], allow_abbrev=False
    )
    return parser, parser.add_subparsers(metavar="ACTION", dest="action")


def _refresh(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = _command(
        commands,
        shared,
        "refresh",
        module,
        "Read what is new in the sources, extract, and publish a new edition if it differs.",
    )
    p.add_argument("sources", nargs="+", metavar="SOURCE", help="file, folder, glob or URL")
    _model_options(p)
    p.add_argument("--batch", action="store_true", help="use the endpoint's Batch API")
    where = p.add_mutually_exclusive_group()
    where.add_argument("--workers", type=positive, metavar="N", help="processes that extract")
    where.add_argument("--dask", metavar="ADDRESS", help="a running Dask cluster, or `local`")
    p.add_argument(
        "--max-delete",
        type=share,
        metavar="SHARE",
        help="stop if a larger share of a source's documents is gone (0.2)",
    )
    p.add_argument("--sensitive", action="store_true", help="mark these documents as sensitive")
    p.add_argument("--no-vectors", action="store_true", help="search by words alone")
    p.add_argument(
        "--wait", type=float, default=0.0, metavar="SECONDS", help="wait for a running refresh"
    )


def _model_options(p: argparse.ArgumentParser) -> None:
    """Add who does the language work and what that may cost."""
    p.add_argument(
        "--engine", choices=["rules", "openai", "transformers"], help="who does the language work"
    )
    p.add_argument("--model", metavar="NAME", help="the endpoint's model; a path or hub name")
    p.add_argument("--base-url", metavar="URL", help="the endpoint (OPENAI_BASE_URL)")
    p.add_argument("--concurrency", type=positive, metavar="N", help="calls at once (16)")
    p.add_argument(
        "--budget", type=amount, metavar="MONEY", help="what the run may cost, and not more"
    )


def _remember(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = _command(
        commands, shared, "remember", module, "Keep what you say, or a file, and know it at once."
    )
    p.add_argument("said", metavar="TEXT", help="a text, a file, or - for standard input")
    p.add_argument("--sensitive", action="store_true", help="never show it to a remote model")
    p.add_argument(
        "--wait", type=amount, default=60.0, metavar="SECONDS", help="for a running refresh (60)"
    )


def _cost(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = _command(
        commands,
        shared,
        "cost",
        module,
        "Estimate what a refresh would ask of its model, or try a changed model on a sample.",
    )
    p.add_argument(
        "sources", nargs="*", metavar="SOURCE", help="what would be refreshed; else what is left"
    )
    _model_options(p)
    p.add_argument(
        "--sample", type=positive, metavar="N", help="ask about N passages and compare; this costs"
    )


def _sql(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = _command(commands, shared, "sql", module, "Run one query that reads, on an edition.")
    p.add_argument("query", metavar="QUERY", help="SQL, or - to read it from standard input")
    p.add_argument("--format", choices=["table", "json", "csv"], default="table")
    p.add_argument("--edition", metavar="ID", help="an older edition instead of the current one")


def _ask(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = _command(commands, shared, "ask", module, "Answer a question, with sources.")
    p.add_argument("question", metavar="QUESTION")
    p.add_argument("--edition", metavar="ID", help="an older edition instead of the current one")
    p.add_argument("--explain", action="store_true", help="show what was found on the way")


def _answer(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = _command(commands, shared, "answer", module, "Answer a file of questions, with sources.")
    p.add_argument("questions", metavar="QUESTIONS", help="a JSON object a line, with `question`")
    p.add_argument("--out", required=True, metavar="FILE", help="an object a line, as from ask")
    p.add_argument("--edition", metavar="ID", help="an older edition instead of the current one")


def _evaluate(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    what = "Measure answers on a benchmark, beside simple systems."
    p = _command(commands, shared, "evaluate", module, what)
    p.add_argument("questions", metavar="FILE_OR_FOLDER", help="a file or all of a folder's")
    p.add_argument(
        "--format",
        required=True,
        metavar="NAME",
        help="metaqa, pathquestion, nlpcc, nlpcc-mh, hotpotqa, midtermqa or jsonl",
    )
    p.add_argument("--graph", metavar="NAME", help="the graph that all questions are asked of")
    p.add_argument("--route", default="auto", metavar="NAME", help="what is measured (auto)")
    p.add_argument("--limit", type=positive, metavar="N", help="the first N of a seeded shuffle")
    p.add_argument("--no-learn", action="store_true", help="measure without learning, on all")
    p.add_argument("--zero-shot", action="store_true", help="measure before learning, too")
    p.add_argument(
        "--baselines", metavar="NAMES", help="of bm25,embedding,spe (all by default), or none"
    )
    p.add_argument("--out", metavar="FILE", help="write each answer and its figures there")


def _editions(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    what = "See, compare and choose editions."
    group, actions = _group(commands, shared, "editions", what)
    group.set_defaults(module=module, action="list")

    def action(name: str, what: str) -> argparse.ArgumentParser:
        return _command(actions, shared, name, module, what, action=name)

    action("list", "List the editions.")
    p = action("diff", "Show what differs between two editions (current and parent by default).")
    p.add_argument("old", nargs="?", metavar="OLD")
    p.add_argument("new", nargs="?", metavar="NEW")
    p = action("rollback", "Make an earlier edition current, and hold publishing back.")
    p.add_argument("edition", nargs="?", metavar="ID", help="the one before by default")
    p.add_argument("--reason", default="rolled back", help="why, for whoever finds it held")
    p = action("publish", "Make an edition current that was held back, or end a rollback's hold.")
    p.add_argument("edition", nargs="?", metavar="ID", help="the newest by default")
    p = action("prune", "Remove old editions.")
    p.add_argument("--keep", type=positive, metavar="N", help="so many of the last always stay")
    p.add_argument("--days", type=float, metavar="DAYS", help="younger ones stay too")
    p.add_argument("--dry-run", action="store_true", help="only say which would go")


def _override(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    what = "Correct what was extracted; every later edition honours it."
    group, actions = _group(commands, shared, "override", what)
    group.set_defaults(module=module, action="list")

    def action(name: str, what: str, *operands: tuple[str, str]) -> None:
        p = _command(actions, shared, name, module, what, action=name)
        for operand, meaning in operands:
            p.add_argument(operand, metavar=operand.upper(), help=meaning)
        p.add_argument("--reason", help="why")

    entity = "its id, or its name if only one has it"
    action("merge", "Say that two entities are one.", ("subject", entity), ("object", "who stays"))
    action(
        "split",
        "Say that an entity is two.",
        ("subject", entity),
        ("object", "the name, or the document's id, that means somebody else"),
    )
    action("reject", "Say that a fact is wrong.", ("subject", "the fact's id"))
    action(
        "exclude", "Leave a document or a run out.", ("subject", "the document's or the run's id")
    )
    action("withdraw", "Take a correction back.", ("subject", "the correction's id"))
    _command(actions, shared, "list", module, "List the corrections in force.", action="list")


def _import_graph(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = _command(
        commands,
        shared,
        "import-graph",
        module,
        "Read a graph that others made and publish an edition with it.",
    )
    p.add_argument("file", metavar="FILE", help="the file, or the folder of a mapping's files")
    p.add_argument("--name", required=True, metavar="NAME", help="of the graph; replaces its last")
    p.add_argument(
        "--format",
        default="auto",
        choices=["auto", "tsv", "csv", "pipe", "jsonl", "nt", "parquet"]
        + ["conceptnet", "wikidata", "nlpcc"],
    )
    p.add_argument("--mapping", metavar="FILE", help="YAML that says what cannot be guessed")
    p.add_argument(
        "--language", action="append", metavar="CODE", help="of names; may be given several times"
    )
    p.add_argument("--no-vectors", action="store_true", help="search by words alone")
    p.add_argument(
        "--wait", type=float, default=0.0, metavar="SECONDS", help="wait for a running refresh"
    )


def _graphs(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    group, actions = _group(commands, shared, "graphs", "See and remove imported graphs.")
    group.set_defaults(module=module, action="list")
    _command(actions, shared, "list", module, "List the imported graphs.", action="list")
    p = _command(actions, shared, "remove", module, "Remove a graph.", action="remove")
    p.add_argument("name", metavar="NAME")


def _doctor(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    _command(commands, shared, "doctor", module, "Check that everything is as it should be.")


def _demo(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = _command(commands, shared, "demo", module, "Run the whole main job on the sample corpus.")
    p.add_argument("--examples", metavar="DIR", help="the folder with corpus/ and questions.jsonl")


def _mock_endpoint(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = _command(
        commands,
        shared,
        "mock-endpoint",
        module,
        "Serve OpenAI's wire format on this machine, answered by the embedded engine, for trials.",
    )
    p.add_argument("--port", type=int, default=0, metavar="N", help="any free one by default")
    p.add_argument("--latency", type=amount, default=0.0, metavar="SECONDS", help="of an answer")
    p.add_argument("--requests-per-minute", type=amount, metavar="N", help="above: status 429")
    p.add_argument("--ledger", metavar="FILE", help="note every request and answer, synced")
    p.add_argument("--answers", metavar="FILE", help="prepared answers, by hash of the messages")
    p.add_argument("--faults", metavar="FILE", help="what goes wrong, a JSON object a line")
    p.add_argument("--fault-share", type=share, default=1.0, metavar="SHARE", help="of first tries")
    p.add_argument("--fault-first", type=positive, metavar="N", help="only the first N requests")
    p.add_argument("--seed", type=int, default=0, metavar="N", help="which request meets which")
    p.add_argument("--late-seconds", type=amount, default=30.0, help="of answers that come late")
    form = p.add_mutually_exclusive_group()
    form.add_argument("--plain", action="store_true", help="refuse response_format")
    form.add_argument("--json-only", action="store_true", help="refuse JSON schemas")
    p.add_argument("--obey", action="store_true", help="do whatever the texts say")
    p.add_argument("--tls-self-signed", action="store_true", help="a certificate nobody trusts")
    p.add_argument("--batch-seconds", type=amount, default=1.0, help="that a batch takes")
    p.add_argument("--batch-faults", metavar="JSON", help="what goes wrong with batches")


def positive(text: str) -> int:
    """Return a number above zero, or complain."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be at least 1")
    return number


def amount(text: str) -> float:
    """Return a number from 0, or complain."""
    number = float(text)
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError("it must be 0 or more")
    return number


def share(text: str) -> float:
    """Return a number from 0 to 1, or complain."""
    number = float(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError("it must be between 0 and 1")
    return number


COMMANDS: dict[str, Callable[[Commands, argparse.ArgumentParser, str], None]] = {
    "refresh": _refresh,
    "cost": _cost,
    "sql": _sql,
    "ask": _ask,
    "answer": _answer,
    "evaluate": _evaluate,
    "remember": _remember,
    "editions": _editions,
    "override": _override,
    "import_graph": _import_graph,
    "graphs": _graphs,
    "doctor": _doctor,
    "demo": _demo,
    "mock_endpoint": _mock_endpoint,
}
