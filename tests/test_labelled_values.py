"""Labelled values and table cells: which are facts of their subject, and which its other names."""

import pytest

from tasks.text.relations.vocabulary import names_alias
from tests.documents import write_texts
from tests.passages import facts, read

ENGLISH_TABLE = """
| Ship | Option 1 | R | No. | # | TBD | Length |
| --- | --- | --- | --- | --- | --- | --- |
| Kelda | red | 4 | 7 | x | blue | 12 m |
"""
CHINESE_TABLE = """
| 船名 | 选项A | R | 序号 | # | 长度 |
| --- | --- | --- | --- | --- | --- |
| 凯达号 | 红 | 4 | 7 | x | 12米 |
"""


@pytest.mark.parametrize(
    ("table", "language", "fact"),
    [
        (ENGLISH_TABLE, "en", ("Kelda", "length", "12 m")),
        (CHINESE_TABLE, "zh", ("凯达号", "长度", "12米")),
    ],
)
def test_a_column_whose_head_says_nothing_gives_no_facts(table, language, fact):
    found = read(table, "", language=language)
    assert facts(found) == {fact}
    assert not found.statements


@pytest.mark.parametrize(
    ("text", "language", "subject", "others"),
    [
        ("Also known as: Sea Hall, Port Hall\n\nAka: old hall\n\nBuilt: 1931", "en",
         "Harbour Museum", ["Sea Hall", "Port Hall"]),
        ("| Property | Value |\n|---|---|\n| Other name | Sea Hall |\n| Area | 9 m² |", "en",
         "Harbour Museum", ["Sea Hall"]),
        ("外文名：Sea Hall\n\n通称：水馆、海馆\n\n面积：9平方米", "zh", "港口博物馆",
         ["Sea Hall", "水馆", "海馆"]),
    ],
)  # fmt: skip
def test_other_names_of_the_subject_are_its_aliases(text, language, subject, others):
    found = read(text, subject, language=language)
    assert [(row["name"], row["alias"]) for row in found.aliases] == [(subject, o) for o in others]


def test_values_below_another_name_are_of_the_subject():
    text = "英文名：Sea Hall\n\n通称：水馆\n\n面积：9平方米"
    assert ("港口博物馆", "面积", "9平方米") in facts(read(text, "港口博物馆", language="zh"))


@pytest.mark.parametrize(
    ("headings", "text", "language", "relation"),
    [
        ("Rules > 3.2 Masts", "- **Height**: 9 m", "en", "masts height"),
        ("Rules > 2) Masts:", "- **Height**: 9 m", "en", "masts height"),
        ("壹、桅杆：", "- **高度**：9米", "zh", "桅杆 高度"),
        ("2024 masts", "- **Height**: 9 m", "en", "2024 masts height"),
    ],
)
def test_the_number_of_a_heading_is_no_part_of_a_relation(headings, text, language, relation):
    [triple] = read(text, "Kelda", headings, language).triples
    assert triple["relation"] == relation


def test_both_languages_have_one_relation_for_other_names():
    assert all(map(names_alias, ["also known as", "aliases", "外文名", "英文名", "通称", "别名"]))
    assert not names_alias("named after")


@pytest.mark.parametrize(
    ("head", "cells", "language", "kinds"),
    [
        ("Tonnage", ["1650", "1890", "340"], "en", ["number"] * 3),
        ("Berths", ["1240", "1890"], "en", ["number"] * 2),
        ("Length (m)", ["1650"], "en", ["quantity"]),
        ("Passengers per year", ["1650", "12"], "en", ["number"] * 2),
        ("Maiden voyage", ["1890", "unknown", "1912"], "en", ["year"] * 2),
        ("Year of release", ["1240", "340"], "en", ["year", "number"]),
        ("排水量", ["1650", "340"], "zh", ["number"] * 2),
        ("建成时间", ["1240", "1890年"], "zh", ["year"] * 2),
    ],
)
def test_numbers_of_a_column_are_years_if_its_head_or_all_its_cells_say_so(
    head, cells, language, kinds
):
    ships = ["Kelda", "Osprey", "Gull"] if language == "en" else ["凯达号", "海鸥号"]
    rows = "\n".join(f"| {ship} | {cell} |" for ship, cell in zip(ships, cells, strict=False))
    found = read(f"| Ship | {head} |\n|---|---|\n{rows}", "", language=language)
    assert [triple["value_type"] for triple in found.triples] == kinds


@pytest.mark.parametrize(
    ("columns", "kind"),
    [("Born | Style", "person"), ("Capital | Style", "place"), ("Born | Capital", "unknown")],
)
def test_columns_tell_what_the_rows_are(columns, kind):
    table = f"| Name | {columns} |\n| --- | --- | --- |\n| Ostrava Lind | Ulm | bright |\n"
    assert {row["head_kind"] for row in read(table, "").triples} == {kind}


@pytest.mark.parametrize(
    ("head", "cell", "language", "fact"),
    [
        ("Area (km²)", "193", "en", ("area", "193 km²", 193, "km²")),
        ("Keel, mm", "1650", "en", ("keel", "1650 mm", 1650, "mm")),
        ("Length in metres", "about 12", "en", ("length", "about 12 metres", 12, "m")),
        ("Mass kg", "1,200", "en", ("mass", "1,200 kg", 1200, "kg")),
        ("Cost (US$ million)", "3.4", "en", ("cost", "US$3.4 million", 3.4e6, "USD")),
        ("Fare ($)", "20", "en", ("fare", "$20", 20, "USD")),
        ("Cost (million €)", "3.4", "en", ("cost", "€3.4 million", 3.4e6, "EUR")),
        ("Cost (m €)", "3", "en", ("cost", "€3m", 3e6, "EUR")),
        ("Cost (in thousands of £)", "(3)", "en", ("cost", "£(3) thousand", -3000, "GBP")),
        ("Cost (USD million)", "-3", "en", ("cost", "USD -3 million", -3e6, "USD")),
        ("Draught (m)", "3-4", "en", ("draught", "3-4 m", None, None)),
        ("Draught (m)", "<5", "en", ("draught", "<5 m", None, None)),
        ("Draught (m)", "shallow", "en", ("draught", "shallow", None, None)),
        ("(Wins)", "(3)", "en", ("(wins)", "3", 3, None)),
        ("船员（万人）", "1.5", "zh", ("船员", "1.5万人", 15_000, "people")),
        ("Length (m)", "40 ft", "en", ("length", "40 ft", 40, "ft")),
        ("Turn (°/s)", "150", "en", ("turn", "150 °/s", 150, "°/s")),
        ("船 名", "凯达", "zh", ("船名", "凯达", None, None)),
        ("船员 名", "12", "zh", ("船员 名", "12", 12, None)),
        ("Price per kg", "5", "en", ("price per kg", "5", 5, None)),
        ("Races won", "5", "en", ("races won", "5", 5, None)),
        ("Fare (min)", "5", "en", ("fare (min)", "5", 5, None)),
        ("Voyage time (min)", "95", "en", ("voyage time", "95 min", 95, "min")),
    ],
)
def test_a_number_has_the_unit_that_the_head_of_its_column_names(head, cell, language, fact):
    ship = "Kelda" if language == "en" else "凯达号"
    [row] = read(f"| Ship | {head} |\n|---|---|\n| {ship} | {cell} |", "", "", language).triples
    assert (row["relation"], row["tail"], row["number"], row["unit"]) == fact


@pytest.mark.parametrize(
    ("head", "time"),
    [("2026 budget", ("2026", "2026")), ("Crew (2019–2023)", ("2019", "2023")),
     ("Built", (None, None))],
)  # fmt: skip
def test_a_value_holds_at_the_time_that_the_head_of_its_column_names(head, time):
    [row] = read(f"| Ship | {head} |\n|---|---|\n| Kelda | 12 |").triples
    assert (row["valid_from"], row["valid_to"]) == time


def test_codes_are_no_amounts_nor_are_others_of_their_column():
    cells = {"Kelda": "0571", "Osprey": "0007", "Gull": "1234", "Tern": "90071992547409931"}
    rows = "\n".join(f"| {ship} | {cell} |" for ship, cell in cells.items())
    found = read(f"| Ship | Number |\n|---|---|\n{rows}")
    assert {(row["tail"], row["value_type"]) for row in found.triples} == {
        (cell, "text") for cell in cells.values()
    }


def test_heads_that_differ_in_their_units_alone_stay_apart():
    table = "| Ship | Share | Share (%) |\n|---|---|---|\n| Kelda | 120 | 12.5 |"
    assert facts(read(table)) == {("Kelda", "share", "120"), ("Kelda", "share (%)", "12.5 %")}


@pytest.mark.parametrize(("name", "answers"), [("Edvin Moss", ["51000"]), ("Edwin Moss", [])])
def test_a_row_tells_nothing_of_who_differs_by_a_letter(tmp_path, almanac, name, answers):
    table = "name,post,salary\nEdvin Moss,mate,51000\nHeda Lind,cook,48000\nIlse Krog,pilot,39000\n"
    folder, home = write_texts(tmp_path / "crew", {"crew.csv": table}), tmp_path / "home"
    almanac.json(home, "refresh", str(folder), "--set", "engine.encoder=none")
    answer = almanac.json(home, "ask", f"What is the salary of {name}?", "--route", "text")
    assert answer["answers"] == answers
