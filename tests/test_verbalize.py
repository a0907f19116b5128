"""Training texts: sentences from relation names, walks, splits, provenance, rewriting."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import schemas
from schemas.errors import UsageError
from schemas.settings import EngineSettings, Settings
from tasks.experts.knowledge import prompt_of
from tasks.experts.verbalize.answer_kinds import kind_of_answers
from tasks.experts.verbalize.phrasing import Phrasings
from tasks.experts.verbalize.texts import (
    METHODS,
    Text,
    TextOptions,
    Verbalizer,
    random_walks,
    says_all,
)
from tasks.experts.verbalize.wordings import loose_question, name_forms
from tasks.graphs.graph import Graph
from tasks.import_graph import import_graph
from tasks.models.prompts.replies import Text as TextReply
from tasks.verbalize import Rewriter, verbalize
from tests.small_edition import make_edition
from warehouse.durable import sha256_file
from warehouse.home import Home

PLAIN = Settings(engine=EngineSettings(encoder="none"))
RIVERS = [
    ("Alma", "flows into", "Black Bay"),
    ("Alma", "tributary", "Berle"),
    ("Alma", "tributary", "Corve"),
    ("Alma", "length", "212 km"),
    ("Berle", "crossed by", "Old Bridge"),
    ("Old Bridge", "opened in", "1874"),
    ("Old Bridge", "opened by", "Ada {h} Field"),
    ("Berle", "source", "Mount Corve"),
    ("Mount Corve", "source of", "Berle"),
]


@pytest.fixture(scope="module")
def rivers(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("rivers")
    (folder / "rivers.tsv").write_text("\n".join("\t".join(fact) for fact in RIVERS) + "\n")
    home = Home(folder / "home")
    import_graph(home, folder / "rivers.tsv", PLAIN, name="rivers")
    return home


def texts_of(home: Home, **options: Any) -> list[Text]:
    how = TextOptions(**{"held_out": 0.0, **options})
    with Verbalizer(home.require_edition(), "rivers", "rivers", how) as made:
        return [text for batch in made.texts() for text in batch]


# -- sentences ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relation", "sentence"),
    [
        ("date_of_birth", "The date of birth of Ada is Bo."),
        ("/people/person/placeOfBirth", "The place of birth of Ada is Bo."),
        ("discovered", "Ada discovered Bo."),
        ("wrote", "Ada wrote Bo."),
        ("born in", "Ada was born in Bo."),
        ("died in", "Ada died in Bo."),
        ("directed_by", "Ada was directed by Bo."),
        ("directed in", "Ada was directed in Bo."),
        ("moored at", "Ada was moored at Bo."),
        ("torn from", "Ada was torn from Bo."),
        ("put on", "Ada was put on Bo."),
        ("taught at", "Ada taught at Bo."),
        ("rode for", "Ada rode for Bo."),
        ("acted in", "Ada acted in Bo."),
        ("cast of", "Ada is a cast of Bo."),
        ("fond of", "Ada is fond of Bo."),
        ("similar to", "Ada is similar to Bo."),
        ("locatedIn", "Ada is located in Bo."),
        ("is a", "Ada is a Bo."),
        ("has_genre", "Ada has genre Bo."),
        ("in language", "Ada is in language Bo."),
        ("member of", "Ada is a member of Bo."),
        ("belongs to", "Ada belongs to Bo."),
        ("genres", "Ada – genres: Bo."),
        ("status", "The status of Ada is Bo."),
        ("basis of", "Ada is a basis of Bo."),
        ("UsedFor", "Ada is used for Bo."),
        ("/r/AtLocation", "You find Ada at Bo."),
    ],
)
def test_a_relations_name_becomes_a_sentence(relation, sentence):
    phrasings = Phrasings(["directed by", relation])
    assert phrasings.of(relation, "en").sentence("Ada", ["Bo"]) == sentence


@pytest.mark.parametrize(
    ("relation", "sentence"),
    [
        ("出生地", "甲的出生地是乙。"),
        ("位于", "甲位于乙。"),
        ("流入", "甲流入乙。"),
        ("IsA", "甲是一种乙。"),
        ("ISBN", "甲的ISBN是乙。"),
        ("married to", "甲 is married to 乙."),
        ("placeOfBirth", "The place of birth of 甲 is 乙."),
    ],
)
def test_a_chinese_relation_becomes_a_chinese_sentence(relation, sentence):
    assert Phrasings([relation]).of(relation, "zh").sentence("甲", ["乙"]) == sentence


@pytest.mark.parametrize(
    ("relation", "question"),
    [
        ("date_of_birth", "Who is the date of birth of Ada?"),
        ("directed_by", "Who was Ada directed by?"),
        ("discovered", "Who did Ada discover?"),
        ("belongs to", "Who does Ada belong to?"),
        ("has_genre", "What genre does Ada have?"),
        ("/r/UsedFor", "Ada is used for who?"),
    ],
)
def test_a_relation_becomes_a_question(relation, question):
    phrasing = Phrasings([relation]).of(relation, "en")
    assert phrasing.ask("Ada", kind="person") == question
    thing = question.replace("Who", "What").replace("who", "what")
    assert phrasing.ask("Ada", kind="thing") == thing


@pytest.mark.parametrize(
    ("relation", "tails", "language", "sentence"),
    [
        ("born on", ["10 May 1815"], "en", "Ada was born on 10 May 1815."),
        ("born on", ["1815"], "en", "Ada was born in 1815."),
        ("born on", ["May 1815"], "en", "Ada was born in May 1815."),
        (
            "country of birth",
            ["A", "B", "C"],
            "en",
            "The countries of birth of Ada are A, B and C.",
        ),
        ("主演", ["乙", "丙", "丁"], "zh", "Ada的主演有乙、丙和丁。"),
    ],
)
def test_a_sentence_fits_its_tails(relation, tails, language, sentence):
    assert Phrasings([]).of(relation, language).sentence("Ada", tails) == sentence


def test_a_question_comes_with_its_answers(rivers):
    texts = [text["text"] for text in texts_of(rivers, methods=("question",))]
    assert "Question: What is the tributary of Alma?\nAnswer: Berle and Corve" in texts
    assert "Question: When was Old Bridge opened?\nAnswer: 1874" in texts


def test_a_question_is_asked_in_looser_words_too(rivers):
    texts = texts_of(rivers, methods=("question",), wordings=6)
    assert texts == texts_of(rivers, methods=("question",), wordings=6)
    assert texts != texts_of(rivers, methods=("question",), wordings=6, seed=1)
    exact = texts_of(rivers, methods=("question",), wordings=0, checks=0)
    assert len(exact) == 8 and {t["text_id"] for t in exact} < {t["text_id"] for t in texts}
    answered = [text["text"] for text in texts if text["text"].endswith("\nAnswer: 212 km")]
    assert len(answered) > 4
    assert all(prompt_of(text) and "Alma" in text for text in answered)
    assert all(says_all(text) for text in texts)


def test_an_english_relation_keeps_its_spaces_between_chinese_names(tmp_path):
    (tmp_path / "g.tsv").write_text("王兰\tmarried to\t李明\n")
    home = Home(tmp_path / "home")
    import_graph(home, tmp_path / "g.tsv", PLAIN, name="rivers")
    texts = [text["text"] for text in texts_of(home, wordings=9)]
    assert "王兰 is married to 李明." in texts
    loose = [text for text in texts if "问题" in text]
    assert loose and not any("marriedto" in text for text in texts)


def test_the_check_asks_in_wordings_that_no_training_text_has(rivers):
    texts = texts_of(rivers, methods=("question",))
    asked = {text["text"] for text in texts if text["split"] == "check"}
    assert asked and not asked & {text["text"] for text in texts if text["split"] == "train"}
    assert all(text["subject"] in text["text"] for text in texts)


@pytest.mark.parametrize(
    ("relation", "tail", "kind"),
    [
        ("directed_by", "Ada Xu", "person"),
        ("author", "Ada Xu", "person"),
        ("born in", "Rome", "place"),
        ("release_year", "1974", "time"),
        ("population", "21,000", "number"),
        ("has_genre", "Drama", "thing"),
        ("作者", "徐", "person"),
        ("出生地", "长安", "place"),
        ("出版时间", "2013-12-30", "time"),
        ("人口", "三万", "number"),
        ("国家", "法国", "place"),
    ],
)
def test_a_relation_and_its_tails_tell_what_is_asked_for(relation, tail, kind):
    language = "en" if relation.isascii() else "zh"
    assert kind_of_answers(relation, [tail], ["unknown"], language) == kind


def test_the_graphs_own_kinds_come_first():
    assert kind_of_answers("author", ["Rome"], ["place"], "en") == "place"
    assert kind_of_answers("author", ["Rome"], ["work"], "en") == "thing"


@pytest.mark.parametrize(
    ("relation", "kind", "question"),
    [
        ("born in", "place", "Where was Ada born?"),
        ("born in", "time", "When was Ada born?"),
        ("born in", "thing", "What was Ada born in?"),
        ("作者", "person", "Ada的作者是谁？"),
        ("人口", "number", "Ada的人口是多少？"),
        ("出版时间", "time", "Ada的出版时间是什么时候？"),
    ],
)
def test_a_question_says_who_when_and_where(relation, kind, question):
    language = "en" if relation.isascii() else "zh"
    assert Phrasings([relation]).of(relation, language).ask("Ada", kind=kind) == question


def test_chinese_questions_are_asked_in_looser_words_too():
    questions = [
        loose_question(
            "毕业学校", "甲乙", kind="thing", vocabulary=["船"], rng=Random(seed), language="zh"
        )
        for seed in range(200)
    ]
    assert len(set(questions)) > 100
    assert all("甲乙" in text and ("毕业" in text or "学校" in text) for text in questions)
    assert not any(character.isascii() or character.isspace() for character in "".join(questions))
    assert any("船" in text for text in questions)
    assert any("毕业" not in text for text in questions)
    assert sum(text.endswith("？") for text in questions) in range(120, 190)


def test_a_question_says_its_relation_unless_who_says_it(tmp_path):
    family = [("Ada", "father", "Bo"), ("Ada", "member of", "Choir"), ("Ada", "mother", "Eva")]
    for facts, silent in ((family[:2], {"father"}), (family, set())):
        file = tmp_path / "family.tsv"
        file.write_text("\n".join(map("\t".join, facts)))
        home = Home(tmp_path / f"home of {len(facts)}")
        import_graph(home, file, PLAIN, name="rivers")
        texts = texts_of(home, methods=("question",), wordings=40)
        questions = [
            (text["facts"][0][1], set(re.findall(r"\w+", prompt_of(text["text"]).lower())))
            for text in texts
        ]
        assert {
            relation for relation, words in questions if not words & {*relation.split()} - {"of"}
        } == silent
        assert not any(words & {"bo", "choir", "eva"} for _, words in questions)


def test_an_owner_may_come_after_what_is_owned():
    assert name_forms("Bavaria's 2nd district") == [
        "Bavaria's 2nd district", "2nd district of Bavaria", "the 2nd district of Bavaria",
    ]  # fmt: skip
    assert name_forms("Ohio") == ["Ohio"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_relation_whose_name_is_blank_is_verbalized_too(language):
    sentence = Phrasings([" "]).of(" ", language).sentence("Ada", ["Bo"])
    assert "Ada" in sentence and "Bo" in sentence
    question = loose_question(
        " ", "Ada", kind="thing", vocabulary=[], rng=Random(0), language=language
    )
    assert "Ada" in question


@given(
    relation=st.text(min_size=1, max_size=30).filter(str.strip),
    head=st.text(min_size=1, max_size=20),
    tails=st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=4),
    language=st.sampled_from(["en", "zh"]),
)
def test_every_sentence_has_its_head_and_tails_letter_for_letter(relation, head, tails, language):
    phrasing = Phrasings([relation]).of(relation, language)
    sentence = phrasing.sentence(head, tails)
    assert head in sentence
    assert all(tail in sentence for tail in tails)
    inverse = phrasing.inverse_sentence(head, tails[0])
    assert head in inverse and tails[0] in inverse


# -- walks ----------------------------------------------------------------------------------------


@given(
    edges=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=60),
    hops=st.integers(1, 6),
    seed=st.integers(0, 99),
)
def test_a_walk_follows_edges_and_visits_no_node_twice(edges, hops, seed):
    graph = Graph.of("g", [(f"n{a}", "r", f"n{b}") for a, b in edges])
    starts = np.arange(graph.nodes, dtype=np.int32)
    walks = random_walks(graph, starts, hops, np.random.default_rng(seed))
    for start, walk in zip(starts, walks, strict=True):
        taken = walk[walk >= 0]
        assert (walk[: len(taken)] >= 0).all()  # nothing after the end
        nodes = [start, *graph.out_tails[taken]]
        assert len(set(nodes)) == len(nodes)
        assert (graph.heads[taken] == nodes[:-1]).all()


# -- texts ----------------------------------------------------------------------------------------


def test_the_wiki_of_an_entity_says_all_that_is_known_about_it(rivers):
    texts = {text["text"]: text for text in texts_of(rivers, methods=("entity_wiki",))}
    alma = next(text for text in texts if text.startswith("Alma"))
    assert sorted(alma.rstrip(".").split(". ")) == sorted(
        [
            "Alma flows into Black Bay",
            "The length of Alma is 212 km",
            "The tributaries of Alma are Berle and Corve",
        ]
    )
    assert len(texts[alma]["triple_ids"]) == 4
    assert "Old Bridge was opened by Ada {h} Field. Old Bridge was opened in 1874." in texts


def test_a_long_wiki_is_cut_between_sentences(rivers):
    texts = texts_of(rivers, methods=("entity_wiki",), triples=2)
    assert max(len(text["triple_ids"]) for text in texts) == 2
    assert sum(len(text["triple_ids"]) for text in texts) == len(RIVERS)


def test_each_text_names_the_triples_it_was_made_from(rivers):
    triples = rivers.require_edition().table(schemas.Triple).to_pylist()
    known = {row["triple_id"]: row for row in triples}
    texts = texts_of(rivers)
    assert {text["method"] for text in texts} == set(METHODS) - {"passage"}
    for text in texts:
        assert text["triple_ids"]
        for triple in map(known.__getitem__, text["triple_ids"]):
            assert triple["head"] in text["text"] and triple["tail"] in text["text"]


def test_the_seed_decides_and_no_text_comes_twice(rivers):
    ids = [text["text_id"] for text in texts_of(rivers, seed=3)]
    assert ids == [text["text_id"] for text in texts_of(rivers, seed=3)]
    assert len(ids) == len(set(ids))
    assert len(texts_of(rivers, methods=("evidence",), evidence=4)) == 4


def test_held_out_entities_have_no_text_in_the_training_part(tmp_path):
    facts = [f"n{a}\tnext to\tn{(a * 7 + b) % 97}" for a in range(97) for b in range(1, 4)]
    (tmp_path / "g.tsv").write_text("\n".join(facts) + "\n")
    home = Home(tmp_path / "home")
    import_graph(home, tmp_path / "g.tsv", PLAIN, name="rivers")
    texts = texts_of(home, held_out=0.3)
    heads = {"train": set[str](), "validation": set[str](), "check": set[str]()}
    for text in texts:
        heads[text["split"]] |= {head for head, _, _ in text["facts"]}
    assert heads["train"] and heads["validation"]
    assert not heads["train"] & heads["validation"]
    assert heads["check"] and heads["check"] <= heads["train"]


# -- rewriting ------------------------------------------------------------------------------------


class Model:
    """Replies to every request with the same function of its triples."""

    def __init__(self, reply: Callable[[str], str]) -> None:
        self.reply = reply

    def ask(self, request: Any) -> Any:
        triples = request.user.split("Triples:")[-1].strip()
        return type("Answer", (), {"reply": TextReply(text=self.reply(triples))})


def mapped(work: Callable[[Text], Text], texts: Iterable[Text]) -> Sequence[Text]:
    return [work(text) for text in texts]


def test_a_models_words_are_taken_if_no_name_is_lost(rivers):
    texts = texts_of(rivers, methods=("entity_wiki",))
    fluent: Any = Model(lambda triples: "In short: " + triples.replace("|", ","))
    assert all(text["rewritten"] for text in Rewriter(fluent, mapped).rewritten(texts))
    forgetful: Any = Model(lambda triples: "A river.")
    assert Rewriter(forgetful, mapped).rewritten(texts) == texts
    questions = texts_of(rivers, methods=("question",))
    assert Rewriter(fluent, mapped).rewritten(questions) == questions  # they keep their words


# -- the job --------------------------------------------------------------------------------------


def test_texts_are_published_and_replaced(rivers, almanac):
    call = ["verbalize", "--graph", "rivers", "--expert", "water"]
    counts = almanac.json(rivers.path, *call)["counts"]["verbalize"]
    rows = rivers.require_edition().table(schemas.TrainingText).to_pylist()
    assert Counter(row["method"] for row in rows) == {
        method: number for method, number in counts.items() if method in METHODS and number
    }
    assert {row["expert"] for row in rows} == {"water"}
    almanac.shown(rivers.path, *call, "--method", "entity_wiki")
    rows = rivers.require_edition().table(schemas.TrainingText).to_pylist()
    assert {row["method"] for row in rows} == {"entity_wiki"}


def test_texts_go_with_the_document_that_they_were_made_from(tmp_path, almanac):
    mills = {
        "Ashby": "Ashby Mill is a mill in Dorset. Ashby Mill was built by Tom Reed.",
        "Corfe": "Corfe Mill was built by Una Pell.",
        "Tom Reed": "Tom Reed is a miller who slept in the loft.",
    }
    (tmp_path / "mills").mkdir()
    for name, text in mills.items():
        (tmp_path / "mills" / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
    home = tmp_path / "home"
    almanac.shown(home, "refresh", str(tmp_path / "mills"))
    almanac.shown(home, "verbalize")
    methods = "select distinct method from training_texts where regexp_matches(text, 'Corfe|loft')"
    assert len(almanac.rows(home, methods)) == len(METHODS)
    (tmp_path / "mills" / "Corfe.md").unlink()
    documents = almanac.rows(home, "select document_id from documents where uri like 'Tom%'")
    almanac.shown(home, "override", "exclude", documents[0]["document_id"])
    almanac.shown(home, "refresh", str(tmp_path / "mills"))
    assert not almanac.rows(home, methods)
    left = almanac.rows(home, "select distinct method from training_texts where text like '%Reed%'")
    assert {"passage", "entity_wiki", "question"} <= {row["method"] for row in left}


def test_wrong_calls_are_refused_before_anything_is_done(rivers, tmp_path):
    for call, words in (
        ({"graph": "lakes"}, "no graph 'lakes'. The graphs: rivers"),
        ({"graph": "rivers", "expert": "../up"}, "cannot be an expert's name"),
        ({"graph": "rivers", "rewrite": True}, "needs a language model"),
    ):
        with pytest.raises(UsageError, match=words):
            verbalize(rivers, PLAIN, **call)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="Nothing is published yet"):
        verbalize(Home(tmp_path / "empty"), PLAIN)


def test_sensitive_rows_stay_out(tmp_path):
    edition = make_edition(
        tmp_path / "edition",
        {"Open": "Alma founded Berle.", "Secret": "Corve founded Nym."},
        {name: ("person", []) for name in ("Alma", "Corve")},
        [("Open", "Alma", "founded", "Berle"), ("Secret", "Corve", "founded", "Nym")],
    )
    secret = {schemas.Triple: ("head", "Corve"), schemas.Passage: ("document_id", "d1")}
    for row in (schemas.Triple, schemas.Passage, schemas.Entity, schemas.Description):
        path = edition.path / f"{row.table}.parquet"
        rows = pq.read_table(path).to_pylist()
        column, value = secret.get(row, ("name", None))
        for values in rows:
            values["sensitivity"] = "sensitive" if values[column] == value else "normal"
        pq.write_table(row.to_table(rows), path)
        edition.manifest["files"][path.name] = sha256_file(path)
    with Verbalizer(edition, "corpus", "corpus", TextOptions()) as verbalizer:
        texts = " ".join(text["text"] for batch in verbalizer.texts() for text in batch)
    assert "Alma founded Berle" in texts and "Corve" not in texts
