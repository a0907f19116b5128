"""Documents in reStructuredText are read as their readers see them."""

import time

import pytest
from docutils.parsers.rst import roles

from tasks.ingest.blocks import blocks_of
from tasks.ingest.formats.inputs import Reason, Refusal
from tasks.ingest.formats.restructured import read_restructured
from tests.documents import read_all, read_one


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        # headings, by the order in which their lines first appear
        ("Kites\n=====\n\nLines\n~~~~~\n\nKnots\n=====", "# Kites\n\n## Lines\n\n# Knots"),
        ("=======\n Kites\n=======\n\nLines\n=====", "# Kites\n\n## Lines"),
        # roles and references give the words that readers see
        ("See :doc:`the guide </guide>` or :doc:`/fly-a-kite`.", "See the guide or fly a kite."),
        ("Use :ref:`page:Bridles` and :py:func:`~kite.fly`.", "Use Bridles and `fly`."),
        (
            "Ask `the club <https://kites.example>`__ for ``sail.cfg``.",
            "Ask the club for `sail.cfg`.",
        ),
        ("The Club_ flies.\n\n.. _club: https://kites.example", "The Club flies."),
        ("Name it kite_ here.", "Name it kite_ here."),
        ("|club| flies.\n\n.. |club| replace:: Gale Club", "Gale Club flies."),
        (r"|gale| has v\ |version|.", "gale has v…."),
        # directives that hold text give their text; the others are left out
        (".. note:: Tie it\n   twice.", "Tie it\ntwice."),
        (".. tip::\n   :class: big\n\n   Tie it.", "Tie it."),
        (".. versionadded:: 2.1", "Added in version 2.1"),
        (".. toctree::\n   :maxdepth: 2\n\n   kites\n   lines", ""),
        (".. image:: kite.png\n   :alt: A kite", ""),
        (
            ".. figure:: kite.png\n   :width: 9\n\n   *Gale* in May.\n\n   It flies.",
            "*Gale* in May.\n\nIt flies.",
        ),
        (".. math:: a = b", "$$ a = b $$"),
        (".. math::\n   :label: lift\n\n   a\n   - b", "$$ a - b $$"),
        (".. A remark\n   for authors.\n\nFly.", "Fly."),
        (":orphan:\n\nFly.", "Fly."),
        # code, also behind "::"
        (".. code-block:: sh\n   :linenos:\n\n   fly --high", "```\nfly --high\n```"),
        ("Run this::\n\n    fly --high\n\nLand.", "Run this:\n\n```\nfly --high\n```\n\nLand."),
        # lists, definitions, fields and what is documented
        ("* Tie\n  it.\n* Fly.", "- Tie\n  it.\n\n- Fly."),
        ("#. Tie.\n#. Fly.", "1. Tie.\n\n2. Fly."),
        ("A. Gale\nbuilt kites.", "A. Gale\nbuilt kites."),
        ("bridle\n   Lines at the keel.", "bridle\n:   Lines at the keel."),
        (":sail: It is silk.", "sail\n:   It is silk."),
        (".. option:: --high\n\n   Flies high.", "`--high`\n:   Flies high."),
        (".. class:: Kite\n\n   It flies.", "`Kite`\n:   It flies."),
        (".. class:: big warning\n\nFly.", "Fly."),
        (":Date: on a day in May", "Date\n:   on a day in May"),
        (
            ".. py:method:: fly(high)\n               fly()\n   :async:\n\n   It flies.",
            "`fly(high)`\n`fly()`\n:   It flies.",
        ),
        # any other role and directive, also one that has an option with a known name
        (":wind-force:`gale <9>` or :wind-force:`storm`", "gale or storm"),
        (r":wind-force:`gale\<9>`", "gale<9>"),
        (".. gust:: A *gust*\n   :text: x\n\n   It passes.", "A *gust*\n:   It passes."),
        (".. only:: html\n\n   Fly.", "Fly."),
        # an escaped mark is a character, a note's mark is its number
        (r"A \*kite\* file\ s.", "A *kite* files."),
        ("Fly [#]_.\n\n.. [#] High.", "Fly [1].\n\nHigh."),
        # an indented paragraph is a quotation, not code
        ("He said:\n\n    Fly.", "He said:\n\nFly."),
        # tables, in three forms
        (
            "====  ====\nSail  Size\n====  ====\nJib   2 m\n====  ====",
            "| Sail | Size |\n| --- | --- |\n| Jib | 2 m |",
        ),
        (
            "+------+------+\n| Sail | Size |\n+======+======+\n| Jib  | 2 m  |\n+------+------+",
            "| Sail | Size |\n| --- | --- |\n| Jib | 2 m |",
        ),
        (
            ".. list-table::\n   :header-rows: 1\n\n"
            "   * - Sail\n     - Size\n   * - Jib\n     - 2 m",
            "| Sail | Size |\n| --- | --- |\n| Jib | 2 m |",
        ),
    ],
)
def test_markup_becomes_markdown(source, markdown):
    assert read_restructured(source).text.strip() == markdown


def test_a_file_is_read_with_its_title_and_blocks(tmp_path):
    (tmp_path / "a.rst").write_text(
        "Kites\n-----\n\nA ``kite`` flies.\n\n.. note::\n\n   It falls.\n"
    )
    text = read_one(tmp_path)
    assert text.title == "Kites"
    assert [block.kind for block in blocks_of(text.text)] == ["heading", "prose", "prose"]


def test_fields_below_the_title_are_metadata(tmp_path):
    fields = ":Author: Ida Gale\n:Date: 3 May 2021\n:Material: It is silk.\n"
    (tmp_path / "a.rst").write_text(f".. A remark\n\nKites\n=====\n\n{fields}\n:Version: 2\n")
    text = read_one(tmp_path)
    assert text.metadata == {"author": "Ida Gale", "date": "2021-05-03", "version": "2"}
    assert text.text == "# Kites\n\nMaterial\n:   It is silk."


def test_no_file_is_included(tmp_path):
    (tmp_path / "words").write_text("hidden words")
    named = ".. include:: words\n\n.. raw:: html\n   :file: words\n"
    (tmp_path / "a.rst").write_text(f"Kites fly.\n\n{named}")
    assert read_one(tmp_path / "a.rst").text == "Kites fly."


def test_a_role_that_a_file_defines_stays_in_that_file():
    read_restructured(".. role:: gust(code)\n\n.. default-role:: gust\n\nA `kite`.")
    assert "gust" not in roles._roles and "" not in roles._roles


@pytest.mark.parametrize(
    "source",
    ["`" * 40_000, ":a:`" * 10_000, "=" * 40_000 + "\n", "|a" * 20_000, "a_" * 20_000,
     "+-" * 20_000, "== " * 13_000, ".. a::\n" * 6_000,
     "".join(f"{' ' * n}.. list-table::\n\n{' ' * n}   * - a\n\n" for n in range(0, 112, 7)),
     "|a| " * 9_000 + "\n\n.. |a| replace:: " + "b" * 40_000],
)  # fmt: skip
def test_hostile_markup_takes_little_time(source):
    start = time.process_time()
    assert len(read_restructured(source).text) < 10_000_000
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "source", ["* " * 20_000, "\n".join(" " * depth + "* a" for depth in range(900))]
)
def test_markup_that_is_nested_too_deeply_is_refused(source, tmp_path):
    (tmp_path / "a.rst").write_text(source)
    (refusal,) = read_all(tmp_path)
    assert isinstance(refusal, Refusal)
    assert refusal.reason is Reason.TOO_DEEP
