"""The options that measure what knowledge does for models; nothing but the standard library."""

import argparse


def knowledge_options(p: argparse.ArgumentParser) -> None:
    """Add which models are asked without and with knowledge."""
    g = p.add_argument_group(
        "knowledge", "With --knowledge models are asked without and with each question's piece."
    )
    g.add_argument(
        "--knowledge", action="store_true", help="measure what knowledge does for models"
    )
    g.add_argument(
        "--models",
        metavar="NAMES",
        help="folders, names of the hub or endpoint:NAME, with commas (the settings' model)",
    )
    g.add_argument(
        "--proxy", metavar="MODEL", help="tell how well this smaller model stands in for the others"
    )
