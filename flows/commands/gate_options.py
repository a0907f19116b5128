"""The options that measure gates; nothing but the standard library."""

import argparse

from flows.commands.parsing import positive


def gate_options(p: argparse.ArgumentParser) -> None:
    """Add which gates are measured, what they look through, and what is drawn of them."""
    g = p.add_argument_group("gates", "With --gate gates are measured, not answers.")
    g.add_argument(
        "--gate", metavar="NAMES", help="thrust,bm25,mahalanobis … or all; the first is the system"
    )
    g.add_argument("--encoder", default="minilm", metavar="NAME", help="of gates (minilm)")
    g.add_argument("--layer", type=int, default=-1, metavar="N", help="of hidden states (-1)")
    g.add_argument("--pooling", default="mean", metavar="NAME", help="of hidden states (mean)")
    g.add_argument("--variant", default="full", metavar="NAME", help="of Thrust (full)")
    g.add_argument("--clusters", type=positive, metavar="N", help="of Thrust, a class")
    g.add_argument("--seeds", type=positive, default=200, metavar="N", help="a data set (200)")
    g.add_argument("--draws", type=positive, default=10, metavar="N", help="of the seeds (10)")
    g.add_argument("--choices", action="store_true", help="look at the choices, too")
    g.add_argument(
        "--popularity-of",
        metavar="GRAPH",
        help="the home's graph that tells popularity of subjects",
    )
    g.add_argument("--picture", metavar="FILE", help="draw the curves as .svg or .png")
    g.add_argument("--densities", metavar="FILE", help="draw the scores by task as .svg or .png")
    more = g.add_mutually_exclusive_group()
    more.add_argument("--ablations", action="store_true", help="measure every variant of Thrust")
    more.add_argument("--layers", action="store_true", help="measure every layer of the encoder")
