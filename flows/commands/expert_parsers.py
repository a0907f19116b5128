"""The options of the commands that create and manage experts."""

import argparse

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


def verbalize(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    """Add the command that makes training texts."""
    what = "Turn a graph into training texts for an expert and publish an edition with them."
    p = command(commands, shared, "verbalize", module, what)
    p.add_argument("--graph", default="corpus", metavar="NAME", help="the graph (corpus)")
    p.add_argument("--expert", metavar="NAME", help="the set's name (the graph's)")
    p.add_argument(
        "--method",
        action="append",
        metavar="NAME",
        help="entity_wiki, evidence, knowledge_walk, question or passage; may be repeated (all)",
    )
    p.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (0)")
    p.add_argument(
        "--evidence", type=int, default=100_000, metavar="N", help="most single triples (100000)"
    )
    p.add_argument(
        "--walks", type=int, default=100_000, metavar="N", help="most random walks (100000)"
    )
    p.add_argument(
        "--wordings", type=int, default=8, metavar="N", help="looser wordings per question (8)"
    )
    p.add_argument(
        "--held-out",
        type=share,
        default=0.02,
        metavar="SHARE",
        help="entities whose texts are for validation (0.02)",
    )
    p.add_argument(
        "--rewrite", action="store_true", help="have the model put the texts into its own words"
    )
    wait_option(p)
    prefect_option(p)
    model_options(p)


def train_experts(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    """Add the command that trains experts."""
    what = "Train a language model on training texts and publish an edition with this expert."
    p = command(commands, shared, "train-experts", module, what)
    p.add_argument("names", nargs="+", metavar="NAME", help="the set of texts; names the expert")
    p.add_argument(
        "--graph", metavar="NAME", help="the graph of its texts; makes them if there are none"
    )
    p.add_argument(
        "--base",
        metavar="NAME",
        help="scratch, smollm2, or the folder or hub name of a causal model (scratch)",
    )
    p.add_argument("--method", choices=["full", "lora"], help="train all weights, or LoRA's (full)")
    p.add_argument("--minutes", type=amount, metavar="M", help="stop after M minutes")
    p.add_argument(
        "--epochs",
        type=positive,
        metavar="N",
        help="read every text N times (8, few texts more often)",
    )
    p.add_argument("--seed", type=int, metavar="N", help="random seed (0)")
    p.add_argument("--learning-rate", type=amount, metavar="RATE", help="the highest rate")
    p.add_argument(
        "--patience",
        type=positive,
        metavar="N",
        help="stop after N epochs without a lower held-out loss (never)",
    )
    p.add_argument("--all-texts", action="store_true", help="train on the held-out texts, too")
    _words_about(p)
    p.add_argument("--workers", type=positive, metavar="N", help="train N experts side by side")
    wait_option(p)
    prefect_option(p)


def experts(commands: Commands, shared: argparse.ArgumentParser, module: str) -> None:
    """Add the command that lists and changes experts."""
    whole, actions = group(commands, shared, "experts", "List, add and change experts.")
    whole.set_defaults(module=module, action="list")

    def action(name: str, what: str) -> argparse.ArgumentParser:
        return command(actions, shared, name, module, what, action=name)

    action("list", "List the experts.")
    p = action("add", "Add an expert that somebody contributed, once its files were checked.")
    p.add_argument("folder", metavar="FOLDER", help="its folder, with safetensors weights")
    p.add_argument("--name", required=True, metavar="NAME", help="replaces an expert of that name")
    _words_about(p)
    p = action("describe", "Say what an expert knows about.")
    p.add_argument("name", metavar="NAME", help="the expert")
    _words_about(p)
    for name, what in (
        ("remove", "Remove an expert."),
        ("quarantine", "Let nobody ask an expert until it is restored."),
        ("restore", "Let an expert in quarantine be asked again."),
    ):
        p = action(name, what)
        p.add_argument("name", metavar="NAME", help="the expert")
        if name == "quarantine":
            p.add_argument("--reason", metavar="WORDS", help="the reason to record")


def _words_about(p: argparse.ArgumentParser) -> None:
    p.add_argument("--description", metavar="WORDS", help="what the expert knows about")
    p.add_argument("--parent", metavar="NAME", help="the expert whose field contains its own")
    p.add_argument("--licence", metavar="NAME", help="the licence of its weights")
