"""Which stretches of a passage are names, and what shows their kinds."""

import re
from typing import Any

import pytest

from tasks.extract.rules.chinese.naming import kind_by_ending
from tasks.extract.rules.chinese.tokens import read_sentences
from tasks.extract.rules.english import extract_english
from tests.test_rules_chinese import extract as extract_chinese


def names(text: str, subject: str = "") -> list[dict[str, Any]]:
    row = {"passage_id": "p", "text": text, "title": subject, "subject": subject}
    (extracted,) = extract_english([row | {"headings": "", "language": "en"}], None)
    assert extracted.failed is None
    return extracted.names


# What a text names, by the rule that it shows.
NAMED = {
    "names are whole, and no code or calendar": [
        ("Select Grafana from the list of tools.", {"Grafana"}),
        ("Mark Zuckerberg founded Facebook.", {"Mark Zuckerberg", "Facebook"}),
        ("We call `SocketAddr` from Kubernetes.", {"Kubernetes"}),
        ("Put it into Cargo.toml or use std::IntoFuture in Kubernetes.", {"Kubernetes"}),
        ("Kubernetes was released on Nov. 16 and on Mondays.", {"Kubernetes"}),
        ("He reads the API of Kubernetes.", {"API", "Kubernetes"}),
        ("Robert Hale Benson Jr. spoke. Jr. is no name.", {"Robert Hale Benson Jr."}),
        ("The language C runs on Debian.", {"Debian"}),
        ("The Kubernetes dashboard shows it.", {"Kubernetes"}),
        ("This Linux-only tool runs Nagios-style checks in Debian.", {"Debian"}),
        ("The Internal Revenue Service pays.", {"Internal Revenue Service"}),
        ("Anna Winter works at Moore-Lindt Observatory.",
         {"Anna Winter", "Moore-Lindt Observatory"}),
        ("Eco Works, Inc. sold boats. Inc. is no name.", {"Eco Works, Inc."}),
        ("Berlin and Paris were founded there.", {"Berlin", "Paris"}),
        ("Contributors of openFJORD meet in Prague.", {"openFJORD", "Prague"}),
        ("Grafana calls the function readFile in Debian.", {"Grafana", "Debian"}),
    ],
    "a shortened first word belongs to its name, and a bullet to none": [
        ("It fell by 12 ft. Fenwick saw it.", {"Fenwick"}),
        ("Torven paid Geo. He left.", {"Torven", "Geo"}), ("• Norway: the coast.", {"Norway"}),
    ],
    "a number belongs to the name whose first or last word it is": [
        ("QXC 48213 is a galaxy.", {"QXC 48213"}), ("In 1960 Lindtia was discovered.", {"Lindtia"}),
        ("Lind joined Eider Lodge No. 29.", {"Lind", "Eider Lodge No. 29"}),
        ("20 Swedes were killed.", {"Swedes"}), ("On 5 May 1990 Germany won.", {"Germany"}),
    ],
    "an owner keeps its genitive apart": [
        ("Let's look at Grafana.", {"Grafana"}),
        ("Brommel's proposed law failed in Norway.", {"Brommel", "Norway"}),
        ("Norway's coast is long, Iceland's is longer.", {"Norway", "Iceland"}),
    ],
    "a rank or a group whose genitive begins a name is no owner": [
        ("The shop left Prince's Quay for Earl's Barton.", {"Prince's Quay", "Earl's Barton"}),
        ("The Norwich Women's Guild met.", {"Norwich Women's Guild"}),
        ("Duke's Ida Moe sang. Ola King spoke of King's Songs.",
         {"Duke", "Ida Moe", "Ola King", "King", "Songs"}),
    ],
    "a post is no part of the name of its body, and a degree no name": [
        ("Ida Moe is Co-Chair of the Harbour Dialogue.", {"Ida Moe", "Harbour Dialogue"}),
        ("He was Deputy Chief of Mission of the Ulm Embassy.", {"Ulm Embassy"}),
        ("The Secretary of State left Ulm.", {"Secretary of State", "Ulm"}),
        ("Ida Moe, Nominee, has a B.A. from Ulm College.", {"Ida Moe", "Ulm College"}),
        ("He holds an MS in law and flew BA to Ulm.", {"BA", "Ulm"}),
    ],
    "a title before a person is no part of the name": [
        ("Tarn Police Officer Olga Wendt met Reeve County Judge Nils Aalto.",
         {"Tarn Police", "Olga Wendt", "Reeve County", "Nils Aalto"}),
        ("Fire Chief Olga Wendt met Sir Nils Aalto.", {"Olga Wendt", "Sir Nils Aalto"}),
        ("Reeve County State's Attorney Olga Wendt left.", {"Reeve County", "Olga Wendt"}),
    ],
    "an office whose genitive stands before a body is no owner": [
        ("The Tarn State's Attorney's Office sued.", {"Tarn State's Attorney's Office"}),
        ("The Tarn Sheriff's Office left Tom Judge's Office.",
         {"Tarn Sheriff's Office", "Tom Judge", "Office"}),
        ("The Tarn Sheriff's Order was read.", {"Tarn Sheriff", "Order"}),
    ],
    "an and belongs to a name between the common words of a body": [
        ("The Timber and Grain Board sued.", {"Timber and Grain Board"}),
        ("The Centers for Disease Control and Prevention wrote to the Treasurer and Tarn Bank.",
         {"Centers for Disease Control and Prevention", "Treasurer", "Tarn Bank"}),
        ("The Congress and Finance Committee met.", {"Congress", "Finance Committee"}),
    ],
    "a name ends with an abbreviated legal form": [
        ("Zeta Co. Ltd. sold nets in Co. Durham.", {"Zeta Co. Ltd.", "Co. Durham"}),
    ],
    "an ampersand belongs to a name unless it joins whole ones": [
        ("Dorvan & Gamble was founded in 1837.", {"Dorvan & Gamble"}),
        ("He left Ruff & Co. and Dorvan & Gamble, Inc.", {"Ruff & Co.", "Dorvan & Gamble, Inc."}),
        ("Dara Quinn & Milo Trent came.", {"Dara Quinn", "Milo Trent"}),
        ("Germany & France signed it.", {"Germany", "France"}),
        ("Quill Ltd & Zeta Corp merged.", {"Quill Ltd", "Zeta Corp"}),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "text", "found"), [(rule, *row) for rule, rows in NAMED.items() for row in rows]
)
def test_what_is_named(rule: str, text: str, found: set[str]) -> None:
    named = names(text)
    assert {name["name"] for name in named} == found, rule
    assert not any("&" in name["name"] and name["kind"] == "person" for name in named)


def test_who_has_a_title_is_a_person() -> None:
    kinds = {name["name"]: name["kind"] for name in names("Tarn Police Officer Olga Wendt left.")}
    assert kinds["Olga Wendt"] == "person"


def test_a_capital_tells_nothing_at_the_start_of_a_sentence_or_in_a_heading() -> None:
    tells = {name["name"]: name["capital_tells"] for name in names("Surgery may help in Debian.")}
    assert tells == {"Surgery": False, "Debian": True}
    assert [name["capital_tells"] for name in names("Setting Thresholds.")] == [False]
    assert [name["capital_tells"] for name in names("He likes the Setting Thresholds.")] == [True]
    assert all(name["capital_tells"] for name in names("Rust is fast.", subject="Rust"))


def test_a_word_that_the_passage_also_writes_small_is_no_name() -> None:
    assert not names("Surgery may help. After surgery the patient rests.")


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("It stands on Pennsylvania Avenue.", "Pennsylvania Avenue", "place"),
        ("The Office of Acquisition pays.", "Office of Acquisition", "organisation"),
        ("Goutham Veeramachaneni spoke.", "Goutham Veeramachaneni", "person"),
        ("Nagios is a monitoring tool.", "Nagios", "thing"),
    ],
)
def test_a_kind_is_stated_by_the_text_or_by_the_name(text: str, name: str, kind: str) -> None:
    (found,) = (row for row in names(text) if row["name"] == name)
    assert (found["kind"], found["kind_stated"]) == (kind, True)


def test_the_adjective_single_makes_no_work() -> None:
    (name,) = names("We run a single Prometheus here.")
    assert name["kind"] != "work"


def test_chinese_names_are_no_verbs_after_a_surname_and_no_code() -> None:
    text = "关火后盛出。设置 padding 和 textStyle.rich，然后用 ECharts 高亮。毛泽东到过湖南省。"
    found = {name["name"]: name for name in extract_chinese(text, "配置").names}
    assert found.keys() == {"ECharts", "毛泽东", "湖南省"}
    assert found["湖南省"]["kind"] == "place"
    assert found["湖南省"]["kind_stated"]


def test_a_prefix_that_denies_its_noun_and_a_dotted_name_stay_whole() -> None:
    sentence, *_ = read_sentences("非会员可以入馆。马可.波罗来过这里。", [""])
    assert sentence.tokens[0].text == "非会员"
    sentence, *_ = read_sentences("马可.波罗来过这里。", [""])
    assert sentence.tokens[0].text == "马可.波罗"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("作家托比·契诃夫同辈很多。", "托比·契诃夫"),
        ("墨西哥作家何塞·马蒂奥来过这里。", "何塞·马蒂奥"),
        ("他援引苏珊·王尔德的说法。", "苏珊·王尔德"), ("这由托比·R·彭铁尔所写。", "托比·R·彭铁尔"),
        ("托比·奥斯丁和罗莎·布兰卡来过。", "托比·奥斯丁"),
        ("托比·奥斯丁于五月来过。", "托比·奥斯丁"), ("东京·深圳的航班停了。", None),
        ("公司发布了东方·翱翔模型。", None), ("托比·奥斯丁二世来过。", "托比·奥斯丁二世"),
        ("托比·奥斯丁二世纪时来过。", "托比·奥斯丁"),
    ],
)  # fmt: skip
def test_a_foreign_name_with_dots_is_whole(text: str, found: str | None) -> None:
    sentence, *_ = read_sentences(text, [""])
    names = [token.text for token in sentence.tokens if token.tag == "name"]
    assert names[:1] == ([found] if found else [])


@pytest.mark.parametrize("name", ["林秋鋐", "張家玮", "张家伟"])
def test_a_given_name_may_have_a_rare_character(name: str) -> None:
    found = extract_chinese(f"{name}是香港作家。", "通知").names
    assert [(row["name"], row["kind"]) for row in found][0] == (name, "person")


def test_everyday_words_that_the_segmenter_has_as_names_are_none() -> None:
    text = "申报材料后领取许可证。海洋文明要普及。国家支持康复。清华大学在北京。"
    assert {name["name"] for name in extract_chinese(text, "通知").names} == {"清华大学", "北京"}
    assert kind_by_ending("水行政主管部门") == "organisation"  # 门 alone is a place
    (name,) = extract_chinese("他到过伊拉克。", "通知").names
    assert (name["name"], name["kind"]) == ("伊拉克", "place")


def test_words_that_begin_with_a_surname_are_mostly_no_persons() -> None:
    text = "水和茶分开放。马车和石拱门很旧。石板桥呈红褐色。许可经核实后发放。"
    assert not [n for n in extract_chinese(text, "手册").names if n["kind"] == "person"]
    text = "李秀英住在白水县。王志强写信给陈晓梅，周文斌也来了。"
    persons = {n["name"] for n in extract_chinese(text, "家信").names if n["kind"] == "person"}
    assert persons == {"李秀英", "王志强", "陈晓梅", "周文斌"}


def test_what_belongs_to_a_title_does_not_tell_its_kind() -> None:
    (name, *_) = extract_chinese("青岩镇的居民为五千人。青岩镇很小。", "青岩镇").names
    assert (name["name"], name["kind"]) == ("青岩镇", "place")


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("青湖鱼，又称白湖鱼、灰湖鱼为鲤科的一种。", {"白湖鱼", "灰湖鱼"}),
        ("青湖天文台，简称青湖台或青天台，建于1951年。", {"青湖台", "青天台"}),
        ("萧（Lennard Hugh Shore）是作曲家。", set()),
        ("青湖桥，原名叫白湖桥，又名红湖桥。", {"白湖桥", "红湖桥"}),
    ],
)
def test_a_chinese_alias_is_one_whole_name(text: str, others: set[str]) -> None:
    title = text[: re.search("[，（]", text).start()]
    found = {row["alias"] for row in extract_chinese(text, title).aliases}
    assert found == others


@pytest.mark.parametrize(
    ("text", "name"),
    [("We run the Acme Gateway.", "Acme Gateway"), ("You must install Redis first.", "Redis")],
)
def test_an_artefact_is_a_thing_by_its_noun_or_by_what_is_done_with_it(
    text: str, name: str
) -> None:
    found = [(row["name"], row["kind"], row["kind_stated"]) for row in names(text)]
    assert found == [(name, "thing", True)]
