"""Descriptions, notes and aliases as the English rules read them."""

import pytest

from tests.passages import read
from tests.test_rules_english import STORY, check_bounds


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("The European Space Agency (ESA) built Giotto.", ("European Space Agency", "ESA")),
        ("NASA (National Aeronautics and Space Administration) sent it.",
         ("National Aeronautics and Space Administration", "NASA")),
        ("Edson Arantes, also known as Pelé, played there.", ("Edson Arantes", "Pelé")),
        ("Marie Curie (née Skłodowska) lived in Paris.", ("Marie Curie", "Skłodowska")),
        ("Alan Turing lived in London. Turing died in 1954.", ("Alan Turing", "Turing")),
        ("Sri Lanka, formerly Ceylon, is an island.", ("Sri Lanka", "Ceylon")),
        ('He works for Bergen Nets Ltd. ("Bergen").', ("Bergen Nets Ltd", "Bergen")),
        ("He came with Ruth Bogan. Bogan said no.", ("Ruth Bogan", "Bogan")),
        ("He came with Fire Chief Ruth Bogan. Bogan said no.", ("Ruth Bogan", "Bogan")),
        ("Sociologist Max Weber lived in Erfurt. Weber died.", ("Max Weber", "Weber")),
    ],
)  # fmt: skip
def test_a_passage_states_its_aliases(text: str, pair: tuple[str, str]):
    assert pair in {(a["name"], a["alias"]) for a in read(text).aliases}


def test_the_place_at_the_end_of_an_address_does_not_bear_the_alias_of_who_resides_there():
    read_in = "Tarn Mining, with its seat at 5 Quay, Boise, Idaho (“{}”), sells drills."
    pairs = [(a["name"], a["alias"]) for a in read(read_in.format("Tarn")).aliases]
    assert pairs == [("Tarn Mining", "Tarn")]
    assert read(read_in.format("Old Mole")).aliases == []


def test_a_surname_of_two_people_is_nobodys_alias():
    aliases = read("Marie Curie met Irène Curie. Curie died in Paris.").aliases
    assert "Curie" not in {a["alias"] for a in aliases}


def test_a_definition_becomes_the_description():
    text = "Turin is a city in Italy. It lies on the Po."
    (description,) = read(text, "Turin").descriptions
    assert (description["entity"], description["text"]) == ("Turin", "Turin is a city in Italy.")


@pytest.mark.parametrize(
    "text",
    [
        "Warsaw is no way out.",
        "It was an accident.",
        "Warsaw is a place that we like.",
        "If you can, Warsaw is a good place.",
        "Warsaw would be a capital.",
        "Warsaw has been a capital of some kind.",
        "He was charged with the death of Ruben Diaz, the shooting of a friend, and a theft.",
        "Warsaw is not always the capital of the country.",
        "Warsaw is a larger city when compared to the previous two.",
        "Warsaw, the largest city, and Berlin met there.",
        "The new Warsaw hotel is a building.",
        "Unstable angina is a disease.",
        "![A map of Warsaw. Warsaw is a city.](map.png)",
        "Warsaw is the only available capital.",
        "Warsaw is a maze of streets.",
        "Members of OCHTTF, a partnership between the Rome Police Department, Oslo Highway Patrol, "
        "Federal Bureau of Investigation, Bergen Police Department, and community partners, met.",
        "`Great Fun Movie`, the video file inside should be named Great Fun Movie.",
    ],
)
def test_what_does_not_say_by_itself_what_an_entity_is_is_no_description(text: str):
    assert read(text).descriptions == []


def test_an_apposition_describes_the_name_before_it():
    (description,) = read("Niels Bohr, a physicist from Denmark, came.").descriptions
    assert description["text"] == "Niels Bohr, a physicist from Denmark"


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("The Danube rises in Germany.", "Where does the Danube rise?"),
        ("Mars has two moons.", "How many moons does Mars have?"),
        ("Grafana does not support Windows.", "What does Grafana not support?"),
        ("Grafana is widely used for dashboards.", "What is Grafana used for?"),
        ("Oslo was founded by Larry Page.", "Who was Oslo founded by?"),
        ("Ada Lovelace died in 1852.", "When did Ada Lovelace die?"),
        ("Since 1966, Oslo has granted permits.", "What has Oslo granted?"),
    ],
)
def test_a_note_answers_the_question_for_what_its_verb_takes(sentence: str, question: str):
    (note,) = read(sentence).aspects
    assert (note["question"], note["text"]) == (question, sentence)


def test_a_note_goes_on_while_a_pronoun_means_its_entity():
    text = "The Danube rises in Germany. It crosses ten countries. The sea is near."
    (note,) = read(text).aspects
    assert note["text"] == "The Danube rises in Germany. It crosses ten countries."


@pytest.mark.parametrize(
    "text",
    [
        "It rises in Germany.",
        "Turin is a city in Italy.",
        "Oslo and Bergen support this plan.",
        "Diagnosis requires a scan.",
        "The mayor of Oslo supports the plan.",
        "Oslo supports the plan described above.",
        "Oslo has problems.",
        'Oslo supports "the plan.',
        "When snow falls Oslo supports the plan.",
        "MK: Oslo supports the plan.",
        "Lopez died an hour later in the hospital.",
        "Oslo provides plans..",
        "Oslo supports the victim.",
        "Oslo 1.5 supports plans.",
        "Oslo supports a more powerful language.",
        "Oslo's exclusive fishing zone covers the whole coast.",
        ". , Getty Images ^ a b Byron Oslo supports the plan.",
    ],
)
def test_a_sentence_that_is_not_whole_or_about_a_name_is_no_note(text: str):
    assert read(text).aspects == []


@pytest.mark.parametrize(
    "text",
    [
        "Sir Isaac Newton lived in London.",
        "Marie Curie (Marie Curie Institute) grew.",
        "Volume Backups are slow. Backups are kept, and other backups too.",
        "Bell called Watson, and he came.",
        "The mayor of Warsaw is called President.",
        'The owner of that Fishing Net (the "Net Provider") may sell it.',
        'The tool loads nets from the Bergen Fish Market ("Market Extensions").',
        "The pump was developed by Siemens (known as the Q-pump).",
        "The coast between Norway and the Baltic Sea is known as Northern Scandinavia.",
        "Henry II lived in Oslo. II left.",
        'Read Section 4 ("Scope of Work") before.',
        'The Bergen Harbour Program ("Program") began.',
        "Gum arabic, Gutta-percha, Kino, Maria Silva, Latex. Silva is sweet.",
    ],
)
def test_a_title_or_a_longer_phrase_is_no_alias(text: str):
    assert read(text).aliases == []


def test_notes_and_descriptions_are_stretches_of_the_passage():
    found = read(STORY, "Marie Curie")
    assert found.descriptions
    assert found.aspects
    check_bounds(STORY, found)


@pytest.mark.parametrize(
    "text",
    [
        "The Danube has three parts:",
        "Does the Danube freeze in cold winters?",
        "This makes the Danube hard to cross in winter.",
        "The Danube then freezes near Vienna for several weeks.",
        "The Danube closed its port of \\_\\_\\_\\_ for several weeks.",
        "Danube navigation maps and charts of old ports",
    ],
)
def test_what_does_not_stand_by_itself_is_no_note(text: str):
    assert read(text, "Danube", "Danube > Course").aspects == []


def test_a_heading_that_asks_is_the_question_of_its_notes():
    ice = "In most winters thick ice closes the Danube near Vienna for several weeks."
    (note,) = read(f"{ice} This hinders ships.", "Danube", "What closes the Danube?").aspects
    assert (note["question"], note["text"]) == ("What closes the Danube?", ice)
    assert read(ice, "Danube", "Danube > What closes it?").aspects == []
