"""Forms of verbs: tables of forms with their tag, and every verb among the common words."""

import re
import subprocess
import sys

import pytest

from tasks.extract.rules.confidence import COMMON_WORDS
from tasks.text.english_words import is_past_form, is_plural, verb_forms, verb_lemma

PAST = """
married marry; hoped hope; planned plan; quarrelled quarrel; visited visit; invited invite;
created create; treated treat; founded found; led lead; wrote write; used use; discussed discuss;
controlled control; installed install; changed change; belonged belong; included include;
developed develop; described describe; argued argue; agreed agree; settled settle; defined define;
explored explore; honored honor; measured measure; died die; lay lie; located locate; voted vote;
shouted shout; repaired repair; required require; appeared appear; joined join; avoided avoid;
invaded invade; opened open; compiled compile; failed fail; killed kill; travelled travel;
released release; collapsed collapse; evaluated evaluate; floated float; preferred prefer;
smoked smoke; looked look; organised organise; completed complete; attributed attribute;
retired retire; toured tour; conceded concede; combined combine; obtained obtain; seized seize;
"""


@pytest.mark.parametrize("pair", [pair.split() for pair in PAST.split(";") if pair.strip()])
def test_past_forms(pair):
    assert verb_lemma(pair[0], "VBD") == pair[1]


@pytest.mark.parametrize(
    ("form", "tag", "base"),
    [
        ("found", "VBD", "find"),
        ("found", "VB", "found"),
        ("running", "VBG", "run"),
        ("making", "VBG", "make"),
        ("dying", "VBG", "die"),
        ("carries", "VBZ", "carry"),
        ("watches", "VBZ", "watch"),
        ("causes", "VBZ", "cause"),
        ("is", "VBZ", "be"),
        ("'ve", "VBP", "have"),
        ("written", "VBN", "write"),
        ("Written", "VBN", "write"),
        ("", "VBD", ""),
    ],
)
def test_other_forms(form, tag, base):
    assert verb_lemma(form, tag) == base


@pytest.mark.parametrize(
    ("base", "tag", "form"),
    [
        ("marry", "VBD", "married"),
        ("permit", "VBD", "permitted"),
        ("visit", "VBD", "visited"),
        ("bear", "VBN", "born"),
        ("put", "VBD", "put"),
        ("rerun", "VBD", "reran"),
        ("undergo", "VBZ", "undergoes"),
        ("deploy", "VBZ", "deploys"),
        ("notify", "VBZ", "notifies"),
    ],
)
def test_inflected_forms(base, tag, form):
    assert form in verb_forms(base, tag)


def test_a_verb_outside_the_dictionary_keeps_its_form():
    assert verb_lemma("blorpified", "VBD") == "blorpified"
    assert verb_forms("blorpify", "VBD") == ()


def test_no_form_of_a_common_verb_is_malformed():
    """Every form must lead back to its verb, and no ending may stand twice or on a cut stem."""
    malformed, verbs = [], 0
    for word in COMMON_WORDS.read_text("utf-8").split():
        for tag in ("VBD", "VBN", "VBZ", "VBG"):
            for form in verb_forms(word, tag):
                verbs += 1
                grown = re.search(r"(ied|ed|ing)(?:ed|ing)$", form)
                leads_back = form in verb_forms(verb_lemma(form, tag), tag)
                if (grown and grown[1] not in word) or not leads_back:
                    malformed.append(form)
    assert verbs > 4000
    # Well formed, but the dictionary does not lead it back to "panel".
    assert malformed == ["paneled"]


@pytest.mark.parametrize(
    ("word", "past"), [("wrote", True), ("born", True), ("cut", False), ("genres", False)]
)
def test_past_forms_are_known(word, past):
    assert is_past_form(word) is past


def test_a_noun_in_s_is_no_plural_where_the_s_is_its_own():
    plurals = ["menus", "gurus", "species", "CPUs", "kelpies", "buses", "statutes"]
    assert [noun for noun in plurals if not is_plural(noun)] == []
    others = ["bonus", "status", "campus", "basis", "class", "lens", "gas", "kelpus", "port"]
    assert [noun for noun in others if is_plural(noun)] == []


def test_words_need_no_spacy_and_parsing_needs_no_pytorch():
    program = (
        "import importlib.util, sys\n"
        "from tasks.extract.english_pipeline.load import load_english\n"
        "from tasks.text.english_words import is_word, verb_lemma\n"
        "assert verb_lemma('went', 'VBD') == 'go' and is_word('the') and not is_word('ada')\n"
        "assert 'spacy' not in sys.modules\n"
        "assert load_english()('Ada went home.')[1].lemma_ == 'go'\n"
        "assert 'torch' not in sys.modules and importlib.util.find_spec('torch')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
