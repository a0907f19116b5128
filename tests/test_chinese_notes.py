"""Notes as the Chinese rules read them."""

import pytest

from tests.test_rules_chinese import extract


def test_notes_stand_under_their_heading_with_a_question() -> None:
    text = "校园里樱花很多。每年春天游人如织，车站也要加开列车。图书馆向市民开放。"
    notes = extract(text, "武汉大学", "武汉大学 > 校园").aspects
    assert notes
    assert notes[0]["aspect"] == "校园"
    assert notes[0]["question"] == "关于武汉大学的校园，已知什么？"


@pytest.mark.parametrize(
    "text",
    [
        "他每年春天都去看樱花和梅花。",
        "每年春天校园里游人如织",
        "用 `width` 设置校园地图的宽度和高度。",
        "因此校园里的樱花每年都很多。",
        "点击校园地图右上角的按钮进入樱花页面。",
        "李安国看到了满园的樱花和梅花。",
        "樱花、梅花、桂花等多种花木。",
    ],
)
def test_what_does_not_stand_alone_is_no_note(text: str) -> None:
    assert not extract(text, "武汉大学", "武汉大学 > 校园").aspects


def test_a_section_about_a_person_has_notes_where_that_person_is_meant() -> None:
    text = "纺织厂给小镇带来黑色的浓烟。港口和桥梁、树林、山坡、草地、花园、田野。"
    assert extract(text, "武汉大学", "武汉大学 > 早年").aspects
    assert not extract(text, "林秋禾", "林秋禾 > 早年").aspects
    (note,) = extract("林秋禾的" + text, "林秋禾", "林秋禾 > 早年").aspects
    assert (note["entity"], note["aspect"]) == ("林秋禾", "早年")


def test_without_a_heading_a_note_names_what_it_is_about() -> None:
    text = "武汉大学的樱花每年春天吸引很多游人。车站在春天也要为他们加开很多列车。"
    (note,) = extract(text, "武汉大学", "武汉大学").aspects
    assert note["text"] == "武汉大学的樱花每年春天吸引很多游人。"
    assert note["question"] == "关于武汉大学，已知什么？"


def test_a_heading_that_asks_is_the_question_of_its_notes() -> None:
    text = "武汉大学的樱花每年春天吸引很多游人。车站也要加开很多列车，因为人太多"
    (note,) = extract(text, "武汉大学", "武汉大学 > 如何看樱花？").aspects
    assert note["question"] == "如何看樱花？"
    (note,) = extract(text, "武汉大学", "武汉大学 > 影响与争议？").aspects
    assert note["question"] == "关于武汉大学的影响与争议，已知什么？"
