"""The commands and their options; each command's work is in the module with its name.

Only the standard library is imported here, because `--help` and every command load this module.
"""

import argparse
from collections.abc import Callable

from flows.commands import expert_parsers, gate_parsers, path_parsers, question_parsers
from flows.commands.parsing import (
    Commands,
    amount,
    command,
    group,
    model_options,
    positive,
    prefect_option,
    share,
    wait_option,
)


def _refresh(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = command(
        commands,
        shared,
        "refresh",
        module,
        "Read what is new in the sources, extract, and publish a new edition if it differs.",
    )
    p.add_argument("sources", nargs="+", metavar="SOURCE", help="file, folder, glob or URL")
    model_options(p)
    p.add_argument(
        "--batch", action="store_true", default=None, help="use the endpoint's Batch API"
    )
    where = p.add_mutually_exclusive_group()
    where.add_argument("--workers", type=positive, metavar="N", help="extract in N processes")
    where.add_argument(
        "--dask", metavar="ADDRESS", help="extract on a Dask cluster; `local` starts one"
    )
    p.add_argument(
        "--max-delete",
        type=share,
        metavar="SHARE",
        help="stop if more than this share of a source's documents is gone (0.2); up to 10 may "
        "always go (free_deletions under [publish] in settings.toml)",
    )
    p.add_argument("--sensitive", action="store_true", help="mark these documents as sensitive")
    p.add_argument("--speaker", metavar="NAME", help="who “we” and “the company” are in the texts")
    p.add_argument("--audience", metavar="NAME", help="who “you” are in the texts")
    p.add_argument(
        "--no-vectors", action="store_true", help="compute no vectors; search by words alone"
    )
    wait_option(p)
    prefect_option(p)


def _cost(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = command(
        commands,
        shared,
        "cost",
        module,
        "Estimate what a refresh with a language model costs, or try a model on a sample.",
    )
    p.add_argument(
        "sources",
        nargs="*",
        metavar="SOURCE",
        help="file, folder, glob or URL to estimate for; by default what is not extracted yet",
    )
    model_options(p)
    p.add_argument(
        "--sample",
        type=positive,
        metavar="N",
        help="extract about N passages and compare with what is stored; this calls the model",
    )


def _sql(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = command(commands, shared, "sql", module, "Run one read-only query on an edition.")
    p.add_argument("query", metavar="QUERY", help="SQL, or - to read it from standard input")
    p.add_argument(
        "--format",
        choices=["table", "json", "csv"],
        default="table",
        help="format of the result; CSV puts a ' before texts that a spreadsheet would evaluate "
        "as a formula (those that begin with = + - @, a tab or a line break)",
    )
    p.add_argument("--edition", metavar="ID", help="an older edition instead of the current one")


def _show(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = command(commands, shared, "show", module, "Show everything known about one entity.")
    p.add_argument("entity", nargs="+", metavar="ENTITY", help="its name, an alias, or its id")
    p.add_argument(
        "--graph", metavar="NAME", help="look in this graph only; `corpus` is your texts"
    )
    p.add_argument("--all", action="store_true", help="show every fact, not only the first 20")
    p.add_argument("--edition", metavar="ID", help="an older edition instead of the current one")


def _search(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = command(commands, shared, "search", module, "Find passages and notes by words and meaning.")
    p.add_argument("words", nargs="+", metavar="WORDS", help="what to search for")
    p.add_argument(
        "--limit", type=positive, default=5, metavar="N", help="show N passages and N notes (5)"
    )
    p.add_argument("--edition", metavar="ID", help="an older edition instead of the current one")


def _sources(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    whole, actions = group(commands, shared, "sources", "List and remove sources.")
    whole.set_defaults(module=module, action="list")
    command(actions, shared, "list", module, "List the sources.", action="list")
    p = command(
        actions,
        shared,
        "remove",
        module,
        "Remove a source's documents and publish an edition without them.",
        action="remove",
    )
    p.add_argument("source", metavar="SOURCE", help="its name in `almanac sources list`")


def _completion(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = command(
        commands,
        shared,
        "completion",
        module,
        'Print the completion script of a shell: eval "$(almanac completion bash)".',
    )
    p.add_argument("shell", choices=["bash", "zsh", "tcsh"], help="the shell")


def _editions(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    what = "List, compare, publish and prune editions."
    whole, actions = group(commands, shared, "editions", what)
    whole.set_defaults(module=module, action="list")

    def action(name: str, what: str) -> argparse.ArgumentParser:
        return command(actions, shared, name, module, what, action=name)

    action("list", "List the editions.")
    p = action("diff", "Show what differs between two editions.")
    p.add_argument("old", nargs="?", metavar="OLD", help="the new edition's parent by default")
    p.add_argument("new", nargs="?", metavar="NEW", help="the newest edition by default")
    p = action("rollback", "Make an earlier edition current and stop publishing new ones.")
    p.add_argument("edition", nargs="?", metavar="ID", help="the previous edition by default")
    p.add_argument("--reason", default="rolled back", help="the reason to record")
    p = action("publish", "Make an edition current that was held back, or end a rollback's hold.")
    p.add_argument("edition", nargs="?", metavar="ID", help="the newest edition by default")
    p = action("prune", "Remove old editions.")
    p.add_argument("--keep", type=positive, metavar="N", help="keep the last N editions")
    p.add_argument("--days", type=amount, metavar="DAYS", help="keep editions younger than this")
    p.add_argument("--dry-run", action="store_true", help="only list what would be removed")


def _override(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    what = "Correct what was extracted; every later edition applies the correction."
    whole, actions = group(commands, shared, "override", what)
    whole.set_defaults(module=module, action="list")

    def action(name: str, what: str, *operands: tuple[str, str]) -> argparse.ArgumentParser:
        p = command(actions, shared, name, module, what, action=name)
        for operand, meaning in operands:
            p.add_argument(operand, metavar=operand.upper(), help=meaning)
        p.add_argument("--reason", help="the reason to record")
        return p

    entity = "the entity's id, or its name if that is unique"
    p = action(
        "merge",
        "Merge two entities into one.",
        ("subject", entity),
        ("object", "the entity that remains, by id or unique name"),
    )
    p.add_argument("--name", metavar="NAME", help="the name of the merged entity")
    action(
        "split",
        "Split an entity in two.",
        ("subject", entity),
        ("object", "the name, or the id of the document, that means the other entity"),
    )
    action("reject", "Reject a wrong fact.", ("subject", "the fact's id"))
    action(
        "exclude", "Exclude a document or a run.", ("subject", "the id of the document or the run")
    )
    p = action(
        "relation",
        "Say which relation a wording means.",
        ("subject", "the relation as texts state it; all tenses and modifiers of it follow"),
    )
    means = p.add_mutually_exclusive_group(required=True)
    means.add_argument("--as", dest="object", metavar="RELATION", help="the relation it means")
    means.add_argument(
        "--apart", dest="object", action="store_const", const=None, help="it is one by itself"
    )
    p.add_argument(
        "--inverse", action="store_true", help="the wording says it from the tail to the head"
    )
    action("withdraw", "Withdraw a correction.", ("subject", "the correction's id"))
    command(actions, shared, "list", module, "List the corrections in force.", action="list")


def _ontology(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    what = "Propose an ontology from an edition, or say what does not fit the home's."
    whole, actions = group(commands, shared, "ontology", what)
    whole.set_defaults(module=module, action="check", file=None, edition=None)
    p = command(
        actions, shared, "suggest", module, "Propose kinds and relations.", action="suggest"
    )
    p.add_argument("--out", metavar="FILE", help="write a new file instead of printing")
    p.add_argument(
        "--most", type=positive, default=100, metavar="N", help="at most N relations (100)"
    )
    p.add_argument("--edition", metavar="ID", help="an older edition instead of the current one")
    p = command(actions, shared, "check", module, "Say what does not fit.", action="check")
    p.add_argument("file", nargs="?", metavar="FILE", help="by default ontology.yaml in the home")
    p.add_argument("--edition", metavar="ID", help="an older edition instead of the current one")


def _audit(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = command(
        commands,
        shared,
        "audit",
        module,
        "Judge a random sample of facts: wrong ones are rejected, and confidence learns.",
    )
    form = p.add_mutually_exclusive_group()
    form.add_argument(
        "--write", "--out", metavar="FILE", help="write facts to fill in (.csv or .jsonl)"
    )
    form.add_argument("--read", "--in", metavar="FILE", help="keep the verdicts of that file")
    form.add_argument(
        "--report", action="store_true", help="show how precise facts are by all verdicts"
    )
    p.add_argument("--limit", "--n", type=positive, metavar="N", help="draw N facts (50)")
    p.add_argument(
        "--seed", type=int, metavar="N", help="random seed; audits with one seed continue (0)"
    )
    p.add_argument(
        "--kind",
        dest="kinds",
        action="append",
        choices=["triples", "descriptions", "notes", "aliases", "statements"],
        help="draw this kind of facts only; may be repeated",
    )
    p.add_argument("--relation", metavar="NAME", help="draw triples of this relation only")
    p.add_argument("--source", metavar="NAME", help="draw facts of this source only")
    p.add_argument(
        "--by", choices=["kind", "relation", "source"], help="draw alike from each of these"
    )
    prefect_option(p)


def _import_graph(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = command(
        commands,
        shared,
        "import-graph",
        module,
        "Read a graph that others made and publish an edition with it.",
    )
    p.add_argument("file", metavar="FILE", help="the file, or the folder with a mapping's files")
    p.add_argument(
        "--name",
        required=True,
        metavar="NAME",
        help="the graph's name; replaces an earlier graph with this name",
    )
    p.add_argument(
        "--format",
        default="auto",
        choices=["auto", "tsv", "csv", "pipe", "jsonl", "nt", "parquet"]
        + ["conceptnet", "wikidata", "nlpcc"],
        help="the file's format, guessed by default",
    )
    p.add_argument("--mapping", metavar="FILE", help="YAML that describes other formats")
    p.add_argument(
        "--language",
        action="append",
        metavar="CODE",
        help="keep names in this language only; may be repeated",
    )
    p.add_argument(
        "--no-vectors", action="store_true", help="compute no vectors; search by words alone"
    )
    wait_option(p)
    prefect_option(p)


def _graphs(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    whole, actions = group(commands, shared, "graphs", "List and remove imported graphs.")
    whole.set_defaults(module=module, action="list")
    command(actions, shared, "list", module, "List the imported graphs.", action="list")
    p = command(actions, shared, "remove", module, "Remove a graph.", action="remove")
    p.add_argument("name", metavar="NAME", help="the graph's name")


def _model(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    what = "List and install the language models that come with packages."
    whole, actions = group(commands, shared, "model", what)
    whole.set_defaults(module=module, action="list")
    command(actions, shared, "list", module, "List the models.", action="list")
    p = command(
        actions, shared, "install", module, "Install a model, to be used offline.", action="install"
    )
    p.add_argument("name", metavar="NAME", help="its name in `almanac model list`")


def _doctor(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    command(commands, shared, "doctor", module, "Check the installation, the models and the home.")


def _demo(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = command(
        commands, shared, "demo", module, "Refresh from the sample corpus and ask questions."
    )
    p.add_argument("--examples", metavar="DIR", help="the folder with corpus/ and questions.jsonl")
    p.add_argument(
        "--expert",
        action="store_true",
        help="also train a small language model on a sample graph for a minute, and ask it alone",
    )
    prefect_option(p)


def _mock_endpoint(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    p = command(
        commands,
        shared,
        "mock-endpoint",
        module,
        "Serve OpenAI's API on this machine for trials; the embedded engine writes the replies.",
    )
    mock_endpoint_options(p)


def mock_endpoint_options(p: argparse.ArgumentParser) -> None:
    """Add the options of a mock endpoint to a parser."""
    p.add_argument("--port", type=int, default=0, metavar="N", help="a free port by default")
    p.add_argument(
        "--latency", type=amount, default=0.0, metavar="SECONDS", help="delay of every reply (0)"
    )
    p.add_argument(
        "--requests-per-minute", type=amount, metavar="N", help="reply 429 to requests above this"
    )
    p.add_argument("--ledger", metavar="FILE", help="record every request and reply in this file")
    p.add_argument("--faults", metavar="FILE", help="faults to inject, one JSON object per line")
    p.add_argument(
        "--fault-share",
        type=share,
        default=1.0,
        metavar="SHARE",
        help="share of first attempts with a fault (1)",
    )
    p.add_argument("--seed", type=int, default=0, metavar="N", help="random seed of the faults (0)")
    form = p.add_mutually_exclusive_group()
    form.add_argument("--plain", action="store_true", help="refuse response_format")
    form.add_argument("--json-only", action="store_true", help="refuse JSON schemas")
    p.add_argument(
        "--batch-seconds",
        type=amount,
        default=1.0,
        metavar="SECONDS",
        help="duration of a batch (1)",
    )


COMMANDS: dict[str, Callable[[Commands, argparse.ArgumentParser, str], None]] = {
    "refresh": _refresh,
    "cost": _cost,
    "sql": _sql,
    "ask": question_parsers.ask,
    "answer": question_parsers.answer,
    "feedback": question_parsers.feedback,
    "learn": question_parsers.learn,
    "evaluate": question_parsers.evaluate,
    "remember": question_parsers.remember,
    "show": _show,
    "search": _search,
    "sources": _sources,
    "editions": _editions,
    "override": _override,
    "ontology": _ontology,
    "audit": _audit,
    "import_graph": _import_graph,
    "graphs": _graphs,
    "verbalize": expert_parsers.verbalize,
    "train_experts": expert_parsers.train_experts,
    "experts": expert_parsers.experts,
    "train_paths": path_parsers.train_paths,
    "bandit": path_parsers.bandit,
    "calibrate_gate": gate_parsers.calibrate_gate,
    "gates": gate_parsers.gates,
    "model": _model,
    "doctor": _doctor,
    "demo": _demo,
    "mock_endpoint": _mock_endpoint,
    "completion": _completion,
}
