"""Marks of Markdown's dialects are read as their readers see them."""

import time

import pytest

from tasks.ingest.formats.dialects import read_dialects
from tasks.ingest.formats.hidden_markup import drop_hidden_markup


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("[[Port Lenz]] and [[people/Ida Rook|Ida]]", "Port Lenz and Ida"),
        ("[[Port Lenz#Trade]], [[#Trade]], [[Lenz#^a1]]", "Port Lenz, Trade, Lenz"),
        ("[[Lenz (port)|]] lies here.", "Lenz lies here."),
        ("[[File:Lenz.png|thumb|A port]] Seen.", " Seen."),
        (r"| [[Lenz\|old<br>port]] |", "| old port |"),
        ("#[[Port Lenz]] is a #port.", "Port Lenz is a port."),
        ("![[map.png]] Seen.", "Seen."),
        ("The port is old. ^b7c2d\nIt is 10 ^6", "The port is old.\nIt is 10 ^6"),
        ("See ((64a1b2c3-1111-2222-3333-444455556666)) there.", "See there."),
        ("- id:: 64a1\n- built by:: Ida Rook", "\n- built by: Ida Rook"),
        ("Seen %%unseen\nwords%% words.", "Seen words."),
        ("[//]: # (unseen\nwords)\nSeen.", "\nSeen."),
        ('[comment]: <> "unseen"\nSeen.', "\nSeen."),
        ("Seen {/* unseen */} words.", "Seen words."),
        ("It is ~~Rook~~ Lenz.", "It is Lenz."),
        ("~~It is [[Rook]],\nor `Lenz`.~~ Seen.", "Seen."),
        ("It is [line-through]#Rook# Lenz.", "It is Lenz."),
        ("It is ==[[Rook|the]] port==.", "It is the port."),
        ("| Port<br>Lenz | b |", "| Port Lenz | b |"),
        ("Port<br/>Lenz", "Port\nLenz"),
        ("> [!tip]- Trade\n> It sells [[salt]].\n\nEnd", "Trade\n\nIt sells salt.\n\n\nEnd"),
        ("`[[a]]` ``~~b~~``", "`[[a]]` ``~~b~~``"),
        ("```\n[[a]] %%b%%\n```\n[[c]]", "```\n[[a]] %%b%%\n```\nc"),
        (
            "[[1]](#note), x[[2]], a == b == c, std::cout",
            "[[1]](#note), x[[2]], a == b == c, std::cout",
        ),
        ("50%% of it, 60%% of that", "50%% of it, 60%% of that"),
    ],
)
def test_marks(written: str, read: str) -> None:
    assert read_dialects(written) == read


@pytest.mark.parametrize("name", ["del", "s", "strike"])
def test_struck_elements_are_left_out(name: str) -> None:
    assert drop_hidden_markup(f"It is <{name} class=x>Rook</{name}>Lenz.") == "It is Lenz."


def test_repeated_marks_are_read_in_linear_time() -> None:
    parts = ("~~a", "%%", "[[a", "`", "==a ", "<del>", "> [!a] b\n", "{# ", "{/*", "[a]: # (\n")
    started = time.process_time()
    for part in parts:
        read_dialects(part * 10_000)
    assert time.process_time() - started < 5
