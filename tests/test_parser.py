"""The embedded English pipeline and the parts of its recipe."""

import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipes.english_pipeline.documents import (
    augment,
    drop_final_stop,
    group_sentences,
    join,
)
from recipes.english_pipeline.prose import cut_sentences
from recipes.english_pipeline.scores import (
    score_names,
    score_treebank,
    treebank_documents,
)
from recipes.english_pipeline.sentences import (
    NAME_LABELS,
    AnnotatedSentence,
    read_names,
    read_relation_names,
    read_sentences,
    read_treebank,
    restore_spaces,
    split_wikigold,
    to_bio,
    write_sentences,
)
from recipes.english_pipeline.student import (
    Budget,
    Source,
    initialize,
    new_pipeline,
    train_student,
)
from recipes.english_pipeline.train import (
    fill_lemmas,
    join_hyphenated_persons,
    known_lemmas,
)
from recipes.english_pipeline.trees import best_tree
from schemas.errors import UsageError
from tasks.extract.english_pipeline.load import SHIPPED_MODEL, load_english

TREEBANK = """\
# newdoc id = d1
# newpar id = p1
# sent_id = 1
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tVB\tMood=Imp\t0\troot\t_\tSpaceAfter=No
3.1\tghost\t_\t_\t_\t_\t_\t_\t_\t_
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

# sent_id = 2
1\tAda\tAda\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t_\t_
2\tlaughed\tlaugh\tVERB\tVBD\tTense=Past\t0\troot\t_\t_

"""
PROSE = (
    "Marie Curie was born in Warsaw in 1867. She studied physics at the University of Paris, "
    "where she met Pierre Curie. In 1903 the couple shared the Nobel Prize with Henri Becquerel."
)


@pytest.fixture
def treebank(tmp_path: Path) -> list[AnnotatedSentence]:
    file = tmp_path / "tiny.conllu"
    file.write_text(TREEBANK, encoding="utf-8")
    return read_treebank(file)


def test_treebank_keeps_spacing_heads_and_paragraphs(treebank):
    first, second = treebank
    assert first.words == ("Do", "n't", "go", ".")
    assert first.spaces == (False, True, False, True)
    assert first.heads == (2, 2, 2, 2)
    assert first.deps is not None and first.deps[2] == "ROOT"
    assert first.morphs == ("Mood=Imp", "", "Mood=Imp", "")
    assert (first.new_paragraph, second.new_paragraph) == (True, False)


def test_joined_document_has_the_gold_sentences_and_trees(treebank):
    from spacy.vocab import Vocab

    doc = join(treebank, Vocab())
    assert doc.text == "Don't go. Ada laughed "
    assert [s.text for s in doc.sents] == ["Don't go.", "Ada laughed"]
    assert [t.head.i for t in doc] == [2, 2, 2, 2, 5, 5]


def test_paragraph_breaks_hang_on_the_word_before(treebank):
    import spacy

    vocab = spacy.blank("en").vocab
    opening = [treebank[1], treebank[0]]
    docs = [join(opening, vocab, breaks=Random(seed)) for seed in range(8)]
    broken = [d for d in docs if len(d) == 7]
    assert broken
    assert broken[0][2].is_space and broken[0][2].head.i == 1
    assert [s.text.strip() for s in broken[0].sents] == ["Ada laughed", "Don't go."]


def test_groups_never_mix_documents(treebank):
    other = [AnnotatedSentence("d2", ("Hi",), (True,))]
    groups = group_sentences([*treebank, *other], Random(1))
    assert all(len({s.document for s in g}) == 1 for g in groups)
    assert sum(len(g) for g in groups) == 3


def test_final_stop_is_dropped_from_every_layer(treebank):
    short = drop_final_stop(treebank[0])
    assert short.words == ("Do", "n't", "go")
    assert {len(v) for v in (short.heads, short.deps, short.pos, short.spaces) if v} == {3}


@given(st.integers(0, 500))
def test_augmenting_keeps_layers_aligned(seed):
    words = ("“", "Go", "”", "(", "he", ")", "—", "said", ".")
    n = len(words)
    sentence = AnnotatedSentence(
        "d", words, (True,) * n, pos=("X",) * n, heads=(1,) * n, names=("O",) * n
    )
    varied = augment(sentence, Random(seed))
    lengths = {len(v) for v in (varied.words, varied.spaces, varied.pos, varied.heads) if v}
    assert len(lengths) == 1


def test_name_tags_of_all_sources_become_bio():
    assert list(to_bio(["I-PER", "I-PER", "O", "I-LOC"])) == ["B-PERSON", "I-PERSON", "O", "B-LOC"]
    assert list(to_bio(["B-group", "I-group", "B-product"])) == ["B-ORG", "I-ORG", "B-MISC"]
    assert list(to_bio(["B-Peop", "B-Peop"])) == ["B-PERSON", "B-PERSON"]


def test_name_files_part_documents(tmp_path):
    file = tmp_path / "names.conll"
    file.write_text("Ada I-PER\nran O\n\n-DOCSTART- O\n\nRome I-LOC\n", encoding="utf-8")
    first, second = read_names(file)
    assert first.document != second.document
    assert second.names == ("B-LOC",)


def test_relation_names(tmp_path):
    file = tmp_path / "relations.txt"
    file.write_text("#doc 1\n0\tAda\tB-Peop\t['N']\t[0]\n#doc 2\n0\tRome\tB-Loc\t['N']\t[0]\n")
    assert [s.names for s in read_relation_names(file)] == [("B-PERSON",), ("B-LOC",)]


def test_spaces_are_restored_around_marks():
    words = ["He", "said", '"', "no", '"', ",", "(", "twice", ")", "."]
    spaces = restore_spaces(words)
    text = "".join(w + " " * s for w, s in zip(words, spaces, strict=True)).strip()
    assert text == 'He said "no", (twice).'


def test_held_out_names_are_the_last_fifth_of_documents():
    sentences = [AnnotatedSentence(f"d{i}", ("x",), (True,)) for i in range(10)]
    training, held_out = split_wikigold(sentences)
    assert [s.document for s in held_out] == ["d8", "d9"]
    assert len(training) == 8


def test_prose_is_cut_into_sentences_with_tags_lemmas_and_heads():
    doc = load_english()(PROSE)
    assert len(list(doc.sents)) == 3
    born = next(t for t in doc if t.text == "born")
    assert (born.pos_, born.lemma_, born.dep_) == ("VERB", "bear", "ROOT")
    met = next(t for t in doc if t.text == "met")
    assert {c.text for c in met.children if c.dep_ in {"nsubj", "obj"}} == {"she", "Pierre"}


def test_names_have_the_four_kinds():
    names = {(e.text, e.label_) for e in load_english()(PROSE).ents}
    assert {("Marie Curie", "PERSON"), ("Warsaw", "LOC")} <= names
    assert {label for _, label in names} <= set(NAME_LABELS)


def test_treebank_brackets_and_quotes_stay_whole():
    nlp = load_english()
    doc = nlp.make_doc("`` Go '' said Ada -LRB- 1815 -RRB- .")
    assert [t.text for t in doc][:1] == ["``"]
    assert [t.norm_ for t in doc if t.text.startswith("-")] == ["(", ")"]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u202e\x00", "a" * 5000, "“" * 500])
def test_hostile_text_comes_back_as_it_was(text):
    assert load_english()(text).text == text


def test_components_can_be_left_out_and_pipelines_are_cached():
    assert "ner" not in load_english(disable=("ner",)).pipe_names
    assert load_english() is load_english()


def test_unknown_pipeline_is_refused_in_plain_words():
    with pytest.raises(UsageError, match="leave the setting empty"):
        load_english("no_such_pipeline")


def test_shipped_model_is_small():
    size = sum(f.stat().st_size for f in SHIPPED_MODEL.rglob("*") if f.is_file())
    assert size <= 15_000_000


def test_importing_the_package_is_light():
    package = "tasks.extract.english_pipeline"
    code = f"import sys, {package}; sys.exit('spacy' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def all_trees(n: int) -> list[tuple[int, ...]]:
    """Every single-rooted tree over n words, as heads (0 = root)."""
    found = []
    for heads in itertools.product(range(n + 1), repeat=n):
        reached = {0}
        for _ in range(n):
            reached |= {i + 1 for i, head in enumerate(heads) if head in reached}
        if heads.count(0) == 1 and len(reached) == n + 1:
            found.append(heads)
    return found


@given(st.integers(1, 4), st.integers(0, 10_000))
def test_best_tree_is_a_tree_and_never_beaten_up_to_three_words(n, seed):
    scores = np.random.default_rng(seed).normal(size=(n, n + 1))
    mine = tuple(best_tree(scores))
    totals = {t: sum(scores[i, h] for i, h in enumerate(t)) for t in all_trees(n)}
    assert mine in totals
    if n <= 3:
        assert totals[mine] == pytest.approx(max(totals.values()))


def test_prose_is_cut_outside_brackets_and_after_abbreviations():
    import spacy

    text = 'Dr. Ada (b. 1815. In London) met J. R. Smith. "Go." He left the U.S. The end came.'
    cut = [" ".join(s.words) for s in cut_sentences(text, "d", spacy.blank("en"))]
    assert cut[0].endswith("Smith .")
    assert cut[-2:] == ["He left the U.S.", "The end came ."]


def test_silver_lemmas_come_from_the_treebank_or_stay_unknown(treebank):
    table = known_lemmas(treebank)
    silver = AnnotatedSentence(
        "d",
        ("Bob", "laughed", "loudly", "."),
        (True,) * 4,
        tags=("NNP", "VBD", "RB", "."),
        pos=("PROPN", "VERB", "ADV", "PUNCT"),
    )
    assert fill_lemmas(silver, table).lemmas == ("Bob", "laugh", "", ".")
    assert fill_lemmas(treebank[0], table) is treebank[0]


def test_persons_are_joined_over_a_glued_hyphen_only():
    names = ("B-PERSON", "O", "B-PERSON")
    glued = AnnotatedSentence("d", ("Lévi", "-", "Strauss"), (False, False, True), names=names)
    assert join_hyphenated_persons(glued).names == ("B-PERSON", "I-PERSON", "I-PERSON")
    apart = replace(glued, spaces=(True, True, True))
    assert join_hyphenated_persons(apart).names == names


def test_sentences_survive_a_file(treebank, tmp_path):
    write_sentences(tmp_path / "s.jsonl.gz", treebank)
    assert read_sentences(tmp_path / "s.jsonl.gz") == treebank


def test_student_trains_saves_and_loads(treebank, tmp_path):
    gold = [
        replace(s, document=f"d{i}", names=("B-PERSON", *("O",) * (len(s.words) - 1)))
        for i, s in enumerate(treebank * 40)
    ]
    vectors = {"Ada": np.ones(4, np.float32), "go": np.zeros(4, np.float32)}
    nlp = new_pipeline(vectors)
    initialize(nlp, [Source(gold, 1)])
    done = train_student(nlp, [Source(gold, 1)], Budget(2000, 0.2), tmp_path / "model")
    assert done["words"] >= 900
    again = load_english(str(tmp_path / "model"))
    assert again.vocab.vectors.shape == (2, 4)
    assert [t.tag_ for t in again("Ada laughed")] == ["NNP", "VBD"]


def test_dev_scores_hold(almanac_data):
    nlp = load_english()
    dev = read_treebank(almanac_data / "ud_ewt/dev.conllu.gz")[:300]
    scores = score_treebank(nlp, treebank_documents(dev, nlp, "sentence"), raw=False)
    assert scores["uas"] > 84
    assert scores["las"] > 80
    _, held_out = split_wikigold(read_names(almanac_data / "ner/wikigold.conll.gz"))
    names = score_names(nlp, treebank_documents(held_out, nlp, "document"), raw=False)
    assert names["f1"] > 62
