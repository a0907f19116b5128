"""The options of gates: how Thrust is computed, and how gates are measured."""

import argparse

from flows.commands.parsing import positive

Options = argparse.ArgumentParser | argparse._ArgumentGroup


def measured_gate_options(p: argparse.ArgumentParser) -> None:
    """Add the options that measure gates: which ones, with which encoder and which seeds."""
    g = p.add_argument_group("gates", "With --gate, gates are measured instead of answers.")
    g.add_argument(
        "--gate", metavar="NAMES", help="thrust,popularity,random … or all; the first is the system"
    )
    thrust_options(g)
    g.add_argument(
        "--seeds",
        type=positive,
        default=200,
        metavar="N",
        help="questions to calibrate with, per data set (200)",
    )
    g.add_argument(
        "--draws", type=positive, default=10, metavar="N", help="how often seeds are drawn (10)"
    )
    g.add_argument("--choices", action="store_true", help="encode the choices with the question")
    g.add_argument("--picture", metavar="FILE", help="draw the curves as .svg or .png")
    g.add_argument("--ablations", action="store_true", help="measure every variant of Thrust")


def thrust_options(p: Options) -> None:
    """Add the encoder of gates, the options of Thrust, and the source of popularity."""
    p.add_argument(
        "--encoder",
        default="minilm",
        metavar="NAME",
        help="minilm, hidden:FOLDER-OR-HUB-NAME, endpoint:MODEL or a sentence-transformers name",
    )
    p.add_argument(
        "--layer", type=int, default=-1, metavar="N", help="layer of hidden states (the last)"
    )
    p.add_argument(
        "--pooling",
        default="mean",
        metavar="NAME",
        help="pooling of hidden states: mean (default), last, decoder_start_with_encoder or "
        "first_token_official",
    )
    p.add_argument(
        "--variant",
        metavar="NAME",
        help="Thrust's variant: full (default), no_size, no_direction, no_distance, cosine or "
        "inertia",
    )
    p.add_argument(
        "--clusters",
        type=positive,
        metavar="K",
        help="Thrust's clusters per class (⌈seeds^¼⌉, at least 3)",
    )
    p.add_argument(
        "--popularity-of", metavar="GRAPH", help="graph that tells how well known a subject is"
    )
