"""Chinese rules: the facts of short texts, true spans, and calm about any text."""

import json
import os
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.observations import (
    AliasMention,
    AspectMention,
    DescriptionMention,
    NameMention,
    StatementMention,
    TripleMention,
)
from schemas.row import Row
from tasks.extract.extracted import Extracted
from tasks.extract.rules.chinese import extract_chinese
from tasks.extract.rules.chinese.passage import PassageReading
from tasks.extract.rules.chinese.tokens import SegmentedSentence, read_sentences
from tasks.text.chinese_words import STOP_WORDS, chinese_words
from tests.case_tables import cases
from tests.chinese_gold import score
from tests.passages import Fact, facts, passage, read, stated

GOLD = json.loads(Path(__file__).with_name("chinese_gold.json").read_text("utf-8"))
ROWS: dict[str, type[Row]] = {
    "names": NameMention,
    "triples": TripleMention,
    "descriptions": DescriptionMention,
    "aspects": AspectMention,
    "aliases": AliasMention,
    "statements": StatementMention,
}
STAMPS = {"passage_id", "engine", "prompt_sha"}
LIFE = (
    "苏东坡（1037年1月8日—1101年8月24日），本名苏轼，四川眉山人，是北宋文学家。"
    "他出生于眉山，1057年考中进士。1079年，他被贬到黄州。\n"
    "苏东坡的弟弟是苏辙。苏东坡和他经常互相写诗。"
)


def extract(text: str, title: str, headings: str = "") -> Extracted:
    return read(text, title, headings, language="zh")


def triples(text: str, title: str) -> set[Fact]:
    return facts(extract(text, title))


# form | title | text | triples that must be found
CASES = cases("""
definition | 天坛 | 天坛是北京的公园。 | 天坛,是,北京的公园
list | 天坛 | 天坛和地坛都位于北京市。 | 天坛,位于,北京市; 地坛,位于,北京市
measure | 天坛 | 天坛面积约273万平方米。 | 天坛,面积,273万平方米
measure, then verb | 黄河 | 黄河全长约5464公里，发源于青海。 | 黄河,全长,5464公里; 黄河,发源于,青海
topic dropped | 天坛 | 天坛位于北京，建成于1420年。 | 天坛,建成时间,1420年
passive | 天坛 | 天坛由永乐皇帝建造。 | 永乐皇帝,建造,天坛
result | 天坛 | 天坛被列入世界遗产名录。 | 天坛,被列入,世界遗产名录
possessor | 天坛 | 天坛的前身是天地坛。 | 天坛,前身,天地坛
role | 巴黎 | 巴黎是法国的首都。 | 法国,首都,巴黎
other names | 天坛 | 天坛原名天地坛，简称坛。 | 天坛,原名,天地坛; 天坛,简称,坛
life | 林秋禾 | 林秋禾（1901.2.3—1950.4），浙江人。
    | 林秋禾,出生日期,1901.2.3; 林秋禾,逝世日期,1950.4
death unknown | 林秋禾 | 林秋禾（1901年2月—？），浙江人。
    | 林秋禾,出生日期,1901年2月; 林秋禾,籍贯,浙江
in parentheses | 天坛 | 天坛（英文名Temple of Heaven）很大。 | 天坛,英文名,Temple of Heaven
pronoun | 天坛 | 天坛是公园。它位于北京。 | 天坛,位于,北京
serial | 周恩来 | 1920年，周恩来赴法国留学。 | 周恩来,在…留学,法国
together | 吴健雄 | 1942年，吴健雄与物理学家袁家骝结婚。 | 吴健雄,结婚,袁家骝; 袁家骝,是,物理学家
work | 鲁迅 | 鲁迅发表了小说《孔乙己》。 | 鲁迅,发表,孔乙己; 孔乙己,是,小说
office | 小米 | 小米的CEO雷军出席了会议。 | 雷军,是,小米CEO
office of who speaks | 华为公司 | 国务院总理李强表示，会议开始。 | 李强,是,国务院总理
succession | 阿里巴巴 | 张勇接替马云担任董事局主席。 | 张勇,接替,马云; 张勇,担任,董事局主席
default | max-open | max-open的默认值为600。 | max-open,默认值,600
its port | max-open | max-open是服务，端口为8080。 | max-open,端口,8080
price | 基础版 | 基础版价格为每月99元。 | 基础版价格,是,每月99元
end of an object | 袁隆平 | 袁隆平从事杂交水稻研究。 | 袁隆平,从事,杂交水稻研究
a verb inside a noun | 统计局 | 统计局为收集统计资料的政府部门。 | 统计局,是,收集统计资料的政府部门
how it is done | 中国 | 中国将坚定不移扩大消费市场。 | 中国,扩大,消费市场
origin before | 周宜辰 | 周宜辰，彰化县秀水乡人，擅长标枪。 | 周宜辰,擅长,标枪
something new without 一 | 王小波 | 王小波是个幽默的作家。 | 王小波,是,幽默的作家
""")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_common_forms(case: tuple[str, ...]) -> None:
    _, title, text, expected = case
    for triple in expected.split("; "):
        assert tuple(triple.split(",")) in triples(text, title)


def test_the_number_of_a_section_is_no_part_of_its_name() -> None:
    assert triples("它由港务局制定。", "2.4 泊位制度") == {("港务局", "制定", "泊位制度")}


def test_dates_of_a_life_are_exact() -> None:
    found = extract("林秋禾（1901.2.3—1950.4），浙江人。", "林秋禾").triples
    assert [row["date"] for row in found if row["date"]] == ["1901-02-03", "1950-04"]


def test_traditional_texts_are_read_as_simplified_and_stated_as_written() -> None:
    found = extract("長城全長21196.18千米，是中國古代的軍事工程。", "長城")
    assert facts(found) == {
        ("長城", "是", "中國古代的軍事工程"),
        ("長城", "全长", "21196.18千米"),
    }
    assert {row["name"] for row in found.names} >= {"長城", "中國"}


@pytest.mark.parametrize(
    ("head", "cell", "note", "unit"),
    [
        ("費用（元）", "3,200", "", "元"),
        ("費用", "$3,200", "", "$"),
        ("費用（元）", "3,200", "金額以新台幣計。", "TWD"),
        ("費用", "$3,200", "金額以港幣計。", "HKD"),
        ("費用", "US$3,200", "金額以港幣計。", "USD"),
        ("費用", "¥3,200", "金額以新台幣計。", "CNY"),
        ("费用（元）", "3,200", "", "CNY"),
    ],
)
def test_a_traditional_text_says_whose_dollars_it_means(head, cell, note, unit) -> None:
    ship = "凱達號" if "費" in head else "凯达号"
    [row] = extract(f"| 船 | {head} |\n|---|---|\n| {ship} | {cell} |\n\n{note}", "").triples
    assert (row["number"], row["unit"]) == (3200, unit)


def test_words_stay_whole_where_no_subject_is_known() -> None:
    text = "折线图的默认颜色是蓝色，坐标轴位于容器底部。"
    sentence, *_ = read_sentences(text, [""])
    assert {"默认", "颜色", "坐标轴", "位于"} <= {token.text for token in sentence.tokens}


def test_signs_at_its_end_belong_to_a_latin_name() -> None:
    sentence, *_ = read_sentences("C++、F#和TV+都有，复制按Ctrl+C键，Ayo->Bea。", [""])
    latin = [token.text for token in sentence.tokens if token.tag == "latin"]
    assert latin == ["C++", "F#", "TV+", "Ctrl", "C", "Ayo", "Bea"]


def test_a_title_is_no_subject_of_a_sentence_that_does_not_name_it() -> None:
    assert not triples("近年来多次发表小说，获得文学奖。", "城市图书馆")
    assert ("长江", "发源于", "青藏高原") in triples("长江全长约6300公里，发源于青藏高原。", "长江")


# why it states nothing | title | text
SILENT = cases("""
negation | 王选 | 王选没有出国留学。
question | 天坛 | 天坛是什么公园？
condition | 天坛 | 如果天坛位于北京，天坛面积为273万平方米。
wish | 王选 | 王选希望前往英国。
claim | 天坛 | 专家认为天坛是明朝建筑。
the reader | 折线图 | 你使用折线图。
step | 西红柿的做法 | 将西红柿洗净，放入锅中，加入白砂糖。
step about the step before | 糖色 | 干辣椒炒香。加入足量的水。
a term of office | 李明 | 李明（2014年至今）。
no date | 李明 | 李明（1901.13.3—1950.4.5）。
versions | 凯达 | 凯达（1.2.3—1.4.5）。
language as a subject | 爱尔兰语 | 而英语为第二官方语言。
cut description | 北京 | 记者从国家林草局了解到情况。
cut name before parentheses | 北京 | 他在拉筹伯大学（Latrobe University）工作。
verb in a noun | 安徽 | 安徽发挥多重国家发展战略叠加优势。
noun cut in two | 北京 | 国务院全体会议组成人员出席座谈会。
object cut at its end | 拉维齐 | 操作符提供正则表达式比较。
a quality before a noun | 饼图 | 遵循基本的柱状图使用原则。
label before a colon | 北京 | 新华社消息：是立国之本。
what follows a list belongs to all | 北京 | 证书由省、自治区、直辖市人民政府民政部门决定列入。
noun after a phrase | 北京 | 平舆县在欧美市场的订单下降50%。
relative clause in a phrase | 北京 | 主席在开幕式上发表的讲话具有意义。
verb cut short | 折线图 | 折线图到容器底部。
pointing | 天坛 | 天坛是这种建筑。
not only | 茶 | 茶已不仅仅是传统的饮料。
fragment | 脏矩形 | 脏矩形渲染技术只更新变化的部分。
long quotation | 鲁迅 | 朋友写道：“鲁迅是中国的作家，鲁迅是绍兴人，鲁迅是我的老师和朋友。”
""")


@pytest.mark.parametrize("case", SILENT, ids=lambda case: case[0])
def test_what_is_not_stated_plainly_or_read_whole_makes_no_facts(case: tuple[str, ...]) -> None:
    _, title, text = case
    assert triples(text, title) == set()


# how it is meant | text | polarity, modality and who says so
MEANT = cases("""
plainly | 天坛位于北京市。 | positive, asserted,
not | 天坛不位于南京市。 | negative, asserted,
not at all | 天坛并不是博物馆。 | negative, asserted,
perhaps | 天坛可能是明朝建筑。 | positive, possible,
in the future | 天坛将位于北京市。 | positive, future,
required | 天坛必须位于北京市。 | positive, required,
forbidden | 天坛不得超过50米。 | negative, required,
said | 李明表示，天坛位于北京市。 | positive, reported, 李明
said at once | 李明指出天坛位于北京市。 | positive, reported, 李明
according to | 据新华社报道，天坛位于北京市。 | positive, reported, 新华社
""")


@pytest.mark.parametrize("case", MEANT, ids=lambda case: case[0])
def test_triples_and_statements_tell_how_they_are_meant(case: tuple[str, ...]) -> None:
    _, text, expected = case
    polarity, modality, source = (part.strip() for part in expected.split(","))
    found = extract(text, "天坛")
    assert {(t["polarity"], t["modality"]) for t in found.triples} == {(polarity, modality)}
    (statement,) = found.statements
    assert (statement["polarity"], statement["modality"]) == (polarity, modality)
    assert statement["attribution"] == source


@pytest.mark.parametrize(
    "text",
    [
        "如果天坛开放，天坛位于北京市。",
        "逾期不改正的，天坛属于北京市。",
        "专家认为天坛位于北京市。",
    ],
)
def test_conditions_and_opinions_are_statements_but_no_facts(text: str) -> None:
    found = extract(text, "天坛")
    assert not found.triples
    assert "asserted" not in {s["modality"] for s in found.statements}


def test_a_clause_is_a_statement_with_its_parts() -> None:
    found = extract("1420年，天坛由明成祖在北京建造。它也属于世界遗产。", "天坛")
    built, belongs = found.statements
    assert (built["subject"], built["predicate"], built["time"]) == ("天坛", "建造", "1420年")
    assert (built["arguments"], built["place"]) == (["由明成祖"], "北京")
    assert (belongs["subject"], belongs["subject_name"]) == ("它", "天坛")
    assert (belongs["predicate"], belongs["object"]) == ("属于", "世界遗产")


@pytest.mark.parametrize(
    "text",
    [
        "依法办理相关手续。",
        "车流穿梭、人潮涌动。",
        "用户响应时间是受到网络的影响。",
        "逾期不改正的。",
        "说老实话保持高度一致。",
        "合理发挥优势。",
        "应当依法办理。",
    ],
)
def test_fragments_are_no_statements(text: str) -> None:
    assert extract(text, "").statements == []


# form | text | subject, predicate and object of its last statement
WHOLE = cases("""
long subject | 符合条件的单位应当提交申请材料。 | 符合条件的单位, 应当提交, 申请材料
long phrase | 主管部门应当对符合条件的经营者核发营业执照。 | 主管部门, 应当核发, 营业执照
long object | 部门负责本市信息化发展的规划和管理工作。 | 部门, 负责, 本市信息化发展的规划和管理工作
scope | 本规定适用于本市矿产资源的勘查、开采。 | 本规定, 适用于, 本市矿产资源的勘查、开采
a definition | 本条例所称古树，是指树龄在一百年以上的树木。 | 古树, 是指, 树龄在一百年以上的树木
verbs in a row | 任何人不得擅自拆除、迁移或者损毁电信网。 | 任何人, 不得拆除、迁移或者损毁, 电信网
subject before its verb | 税务部门应当按照国家规定，公布办事指南。 | 税务部门, 公布, 办事指南
subject before | 人民政府应当制定规划，加强基础设施。 | 人民政府, 加强, 基础设施
agent alone | 违反本规定的，由公安部门处以五百元罚款。 | 公安部门, 处以, 五百元罚款
what is done to it | 税务局对投诉进行调查。 | 税务局, 进行, 调查
leave | 作者许可第三人以其他方式使用作品。 | 作者, 许可, 第三人以其他方式使用作品
a Latin name | Vue保留组件状态。 | Vue, 保留, 组件状态
a place | 飞船内部有酒吧。 | 飞船内部, 有, 酒吧
a day | 图书馆于1990年开幕。 | 图书馆, 开幕,
""")


@pytest.mark.parametrize("case", WHOLE, ids=lambda case: case[0])
def test_statements_keep_long_phrases_whole(case: tuple[str, ...]) -> None:
    _, text, expected = case
    assert stated(extract(text, ""))[-1] == tuple(part.strip() for part in expected.split(","))


def test_what_is_required_stays_so_in_the_clauses_that_go_on() -> None:
    found = extract("人民政府应当制定规划，加强基础设施建设。", "")
    assert [row["modality"] for row in found.statements] == ["required", "required"]


def test_what_somebody_is_asked_to_do_is_not_done_by_who_asks() -> None:
    found = extract("法国要求美国释放人员，停止侵犯。法国要求美国释放人员，停止袭击平民。", "")
    assert not any(row["predicate"] == "停止" for row in found.statements)


def test_what_a_thing_is_may_be_said_of_something_new() -> None:
    found = extract("财政部应当发行国债，总额约十亿元，为发行规模的六倍。", "")
    assert not any(row["predicate"] == "为" for row in found.statements)
    grown = extract("工业企业利润增长5%，同比增长1.4%。", "").statements
    assert not any(row["object"] == "1.4%" for row in grown)


def test_an_item_of_a_list_has_no_subject_before_its_number() -> None:
    text = "有效证件是指：（一）中国公民，为居民身份证；（二）中国军人，为军人身份证件。"
    assert not any("身份证" in row["object"] for row in extract(text, "").statements)
    assert not any("身份证" in tail for _, _, tail in triples(text, ""))


def test_a_preposition_is_no_part_of_the_name_before_it() -> None:
    found = triples("市人民代表大会主席团可以向市人民代表大会提出地方性法规案。", "北京市")
    assert ("市人民代表大会主席团", "提出", "地方性法规案") in found
    assert not any("向" in head for head, _, _ in found)


def test_numbers_of_articles_and_items_are_no_part_of_a_fact() -> None:
    assert triples("第二条 天坛位于北京市。\n（三）天坛属于世界遗产。", "天坛") == {
        ("天坛", "位于", "北京市"),
        ("天坛", "属于", "世界遗产"),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("天坛拥有安全事故、水质污染应急机制。", {("天坛", "拥有", "安全事故、水质污染应急机制")}),
        ("天坛拥有北京、上海等城市。", {("天坛", "拥有", "北京"), ("天坛", "拥有", "上海")}),
        ("市和区、县财政局、物价局是天坛的主管部门。", set()),
        ("天坛包含水行政、规划等部门。", {("天坛", "包含", "水行政、规划等部门")}),
    ],
)
def test_a_list_is_taken_apart_only_into_names_and_whole_phrases(
    text: str, expected: set[tuple[str, str, str]]
) -> None:
    assert triples(text, "天坛") == expected


@pytest.mark.parametrize("title", ["天坛公园管理条例", "关于天坛公园的通知", "公园建成，天坛开放"])
def test_what_a_document_does_not_do_is_not_its(title: str) -> None:
    text = "位于北京市。自1990年1月1日起施行。"
    assert not any(relation == "位于" for _, relation, _ in triples(text, title))
    assert not any(row["predicate"] == "位于" for row in extract(text, title).statements)


def test_steps_and_questions_are_no_labelled_values() -> None:
    text = "- 用料：牛肉 200g\n- 步骤一：将牛肉切片，装盘\n- 什么人适合：老人"
    assert triples(text, "卤牛肉") == {("卤牛肉", "用料", "牛肉 200g")}


def test_a_season_belongs_to_the_name_and_a_body_consists_of_its_members() -> None:
    assert triples("夏季运动会由体育局主办。", "") == {("体育局", "主办", "夏季运动会")}
    assert triples("会员大会由协会全体会员组成。", "") == {("会员大会", "由…组成", "协会全体会员")}
    assert stated(extract("廿一、住户应遵守规约。", "")) == [("住户", "应遵守", "规约")]


def test_days_of_a_holiday_are_no_life() -> None:
    assert triples("端午节期间（2018年6月16日到2018年6月18日），全区停工。", "") == set()


def test_life_of_a_person() -> None:
    assert triples(LIFE, "苏东坡") >= {
        ("苏东坡", "出生日期", "1037年1月8日"),
        ("苏东坡", "逝世日期", "1101年8月24日"),
        ("苏东坡", "本名", "苏轼"),
        ("苏东坡", "籍贯", "四川眉山"),
        ("苏东坡", "是", "北宋文学家"),
        ("苏东坡", "出生地", "眉山"),
        ("苏东坡", "弟弟", "苏辙"),
    }


def test_tails_are_typed_and_dated() -> None:
    found = extract("长城全长21196.18千米。1987年12月，长城开放。", "长城").triples
    long, opened = sorted(found, key=lambda row: row["relation"] != "全长")
    assert (long["value_type"], long["number"], long["unit"]) == ("quantity", 21196.18, "km")
    assert (opened["relation"], opened["date"]) == ("开放时间", "1987-12")


def test_dates_without_a_year_take_the_one_before() -> None:
    text = "2020年11月24日，嫦娥五号发射。12月17日，返回器着陆。"
    dates = {t["relation"]: t["date"] for t in extract(text, "嫦娥五号").triples}
    assert dates == {"发射时间": "2020-11-24", "着陆时间": "2020-12-17"}


def test_kinds() -> None:
    found = extract("物理学家杨振宁在清华大学工作，著有《曙光集》，住在北京市。", "杨振宁")
    kinds = {row["name"]: row["kind"] for row in found.names}
    expected = {"杨振宁": "person", "清华大学": "organisation", "曙光集": "work", "北京市": "place"}
    assert kinds.items() >= expected.items()


def test_short_forms_of_the_title_are_the_title() -> None:
    found = extract("图灵提出了图灵机。", "艾伦·图灵")
    assert [(t["head"], t["tail"]) for t in found.triples] == [("艾伦·图灵", "图灵机")]
    assert [(a["name"], a["alias"]) for a in found.aliases] == [("艾伦·图灵", "图灵")]


def test_every_row_has_the_columns_of_its_table_and_a_true_span() -> None:
    found = extract(LIFE, "苏东坡")
    for name, row_class in ROWS.items():
        rows: list[dict[str, Any]] = getattr(found, name)
        assert rows, name
        for row in rows:
            assert set(row) == set(row_class.model_fields) - STAMPS
            assert 0 <= row["span_start"] < row["span_end"] <= len(LIFE)
            span = LIFE[row["span_start"] : row["span_end"]]
            if name in ("descriptions", "aspects"):
                assert row["text"] == span
            if name == "triples":
                assert row["tail"] in span
            if "confidence" in row:
                assert 0.3 < row["confidence"] < 1


def test_a_piece_is_read_without_its_neighbours() -> None:
    passages = [passage(item["text"], item["title"], language="zh") for item in GOLD[:12]]
    together = list(extract_chinese(passages))
    alone = [next(iter(extract_chinese([passage]))) for passage in reversed(passages)]
    assert together == alone[::-1]


@pytest.mark.parametrize(("part", "least"), [("dev", 0.95), ("final", 0.88)])
def test_gold_texts(part: str, least: float) -> None:
    figures = score([item for item in GOLD if item["part"] == part], show=False)
    assert figures["f1"] >= least


@pytest.mark.parametrize(
    "text",
    [
        *("", "。。。", "（（（", "《", "的的的的", "是", "a b c", "，，是，"),
        "魯迅是中國現代文學的奠基人之一。",
        "天坛是公园。它的长度位列第一。",
    ],
)
def test_odd_texts_are_no_trouble(text: str) -> None:
    assert extract(text, "").failed is None


def test_a_fault_on_one_passage_fails_that_passage_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from tasks.extract.rules.chinese import facts

    real = facts.read_sentence

    def faulty(passage: PassageReading, sentence: SegmentedSentence) -> None:
        if "绊线" in passage.text:
            raise IndexError("fell")
        real(passage, sentence)

    monkeypatch.setattr(facts, "read_sentence", faulty)
    good, bad = (extract(text, "鲁迅") for text in ("鲁迅出生于浙江绍兴。", "鲁迅是绊线。"))
    assert (good.failed, bad.failed) == (None, "IndexError: fell")
    assert good.triples
    assert not bad.triples


FRAGMENTS = """
鲁迅 北京 他 它 其 是 为 由 被 在 于 的 了 和 、 ， 。 （ ） 《 》 “ ” 1912年 三百 公里 出生于 位于
原名 学校 时 后 以 把 与 小说 作家 成立 · - # 等 没有 一种 首都 面积 12月1日 次年
"""
PARTS = st.sampled_from([*FRAGMENTS.split(), "\n", " "])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(PARTS, st.characters()), max_size=30).map("".join), st.text(max_size=5))
def test_any_text_gives_rows_inside_it(text: str, title: str) -> None:
    found = extract(text, title)
    for name in ROWS:
        for row in getattr(found, name):
            assert 0 <= row["span_start"] < row["span_end"] <= len(text)


def test_long_texts_take_linear_time() -> None:
    started = process_time()
    for text in ("是" * 20_000, "（" * 20_000, "北京、" * 7_000, "他的" * 10_000, "1912年" * 5_000):
        extract(text, "北京")
    assert process_time() - started < 20


def test_words_to_search_by() -> None:
    assert {"中华", "人民", "共和国"} <= set(chinese_words("中华人民共和国"))
    assert chinese_words("IBM公司") == ["ibm", "公司"]
    assert "的" in STOP_WORDS


def test_the_segmenter_is_loaded_late_and_writes_nothing(tmp_path: Path) -> None:
    program = (
        "import sys; import tasks.extract.rules.chinese, tasks.text.chinese_words as w; "
        "assert 'rjieba' not in sys.modules; w.chinese_words('北京'); "
        "assert 'rjieba' in sys.modules"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env=environment | {"PYTHONPATH": str(root)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    assert list(tmp_path.iterdir()) == []
