"""Languages, content ids, MinHash and near duplicates."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.observations import Content
from tasks.ingest.formats.likeness import (
    content_id,
    minhash,
    near_duplicates,
    tokens_of,
    with_a_common_band,
)
from tasks.text.languages import detect_language, is_chinese

SAMPLES = {
    "en": "Marie Curie was born in Warsaw and was the first woman to win a Nobel Prize.",
    "de": "Marie Curie wurde in Warschau geboren und war die erste Frau, die den Preis erhielt.",
    "fr": "Marie Curie est née à Varsovie et fut la première femme à recevoir le prix pour une "
    "découverte dans les sciences.",
    "es": "Marie Curie nació en Varsovia y fue la primera mujer en recibir el premio por una de "
    "las investigaciones que se hicieron.",
    "it": "Marie Curie nacque a Varsavia e fu la prima donna che ha ricevuto il premio per la "
    "scoperta del radio, con il marito.",
    "pt": "Marie Curie nasceu em Varsóvia e foi a primeira mulher que recebeu o prêmio, com uma "
    "descoberta que não era esperada no país.",
    "nl": "Marie Curie werd in Warschau geboren en was de eerste vrouw die het ook voor een "
    "tweede keer van de academie kreeg.",
    "sv": "Marie Curie föddes i Warszawa och var den första kvinna som fick ett pris för en "
    "upptäckt av det slaget.",
    "pl": "Maria Curie urodziła się w Warszawie i była pierwszą kobietą, która nie tylko "
    "otrzymała nagrodę, ale i była za to ceniona na świecie.",
    "tr": "Marie Curie Varşova'da doğdu ve bu ödülü alan ilk kadın olarak bir çok kişi için "
    "örnek oldu.",
    "ru": "Мария Кюри родилась в Варшаве и стала первой женщиной, получившей премию.",
    "uk": "Марія Кюрі народилася у Варшаві й стала першою жінкою, яка її отримала.",
    "zh": "玛丽·居里出生于华沙，是第一位获得诺贝尔奖的女性。",
    "ja": "マリー・キュリーはワルシャワで生まれ、女性として初めてノーベル賞を受賞した。",
    "ko": "마리 퀴리는 바르샤바에서 태어나 여성 최초로 노벨상을 받았다.",
    "ar": "ولدت ماري كوري في وارسو وكانت أول امرأة تحصل على الجائزة.",
    "el": "Η Μαρία Κιουρί γεννήθηκε στη Βαρσοβία.",
    "und": "Curie 1867 Warszawa 1934",
}


@pytest.mark.parametrize("language", SAMPLES)
def test_language_of_one_sentence(language: str) -> None:
    assert detect_language(SAMPLES[language]) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ole Dahl opened a shop in Larvik in 1920.", "en"),
        ("Ivo Kos worked in Split in 1950.", "en"),
        (
            "- Orr Vane, 1902: harbour master, later mayor\n- Anna Berg, 1911: first engineer\n"
            "- Jon Vask, 1920: keeper, twice elected\n- Ida Moe, 1931: captain, retired early",
            "en",
        ),
        (
            "- Ola Moe, 1902: hamnmester, senere ordfører\n- Ida Vik, 1911: første ingeniør\n"
            "- Jon Dahl, 1920: fyrvokter, valgt to ganger\n- Eva Lie, 1931: kaptein, pensjonert",
            "und",
        ),
        (
            "| Keel Depth | Average Speed | Cabin | Owner |\n| 7 | 9 | Green | Orr |\n"
            "| Price per Hour | Crew | Power | Home Harbour | Licence |\n| 4 | 2 | 8 | Oban |",
            "en",
        ),
        ("Siehe [hier](https://the.of/and/to/in/is/was/for/that)", "und"),
        ("Der Turm in Berlin", "und"),
        ("| Henry I | Mill | No |\n| Henry II | Quay | No |\n| Otto I | No | No |\n", "und"),
        ("| Otto I | 990 |\n| Otto II | 991 |\n| Karl I | 1020 |\n| W. Vasa | 1520 |", "und"),
        ("Roma si trova in Lazio.", "und"),
    ],
)
def test_the_words_decide_where_function_words_are_shared(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_language_of_mixed_and_empty_texts() -> None:
    assert detect_language("") == "und"
    assert detect_language("12 + 30 = 42") == "und"
    assert detect_language(SAMPLES["zh"] * 3 + " (Marie Curie, 1867-1934)") == "zh"


def test_code_does_not_tell_the_language() -> None:
    loop = "for boat in the_harbour and with_the_tide:\n    print(boat.of_the_line)\n" * 9
    text = f"用`moor.boat()`系泊船只：\n\n```python\n{loop}```\n\n完成后退出。"
    assert detect_language(text) == "zh"
    assert is_chinese(text)
    assert detect_language(f"```python\n{loop}```") == "en"


def test_content_id_tells_title_and_text_apart() -> None:
    assert content_id("ab", "c") != content_id("a", "bc")
    assert len(content_id("", "")) == 64


def words(count: int, seed: int) -> list[str]:
    source = random.Random(seed)
    return [f"word{source.randrange(5000)}" for _ in range(count)]


def row(name: str, text: str) -> dict[str, object]:
    content = {"content_id": name, "title": name, "language": "en", "text": text}
    return content | {"words": len(text.split()), "minhash": minhash(tokens_of(text))}


def test_minima_estimate_the_similarity() -> None:
    base = words(2_000, 1)
    changed = base[:1_500] + words(500, 2)
    minima = [np.frombuffer(minhash(one), dtype="<u4") for one in (base, changed)]
    # 1,496 shared shingles of 2,496 in all: 0.60, within three standard errors of 64 minima.
    assert abs(np.mean(minima[0] == minima[1]) - 0.60) < 0.19


def test_minhash_stays_as_it_was() -> None:
    # Journals hold these bytes: a change of the function would make old and new incomparable.
    minima = minhash(tokens_of("the quick brown fox jumps over the lazy dog"))
    assert minima[:8].hex() == "e9f3680322f20e42"


def test_near_duplicates_point_to_the_earliest() -> None:
    one, two = words(400, 1), words(400, 2)
    slightly = [*one[:395], "other", "words", "stand", "here", "now"]
    half = one[:200] + words(200, 3)
    rows = [
        row("a", " ".join(one)), row("b", " ".join(two)), row("c", " ".join(slightly)),
        row("d", " ".join(half)), row("e", " ".join(two).upper() + "!"),
        row("f", " ".join(one) + " more"),
    ]  # fmt: skip
    contents = Content.to_table(rows)
    assert near_duplicates(contents) == {"c": "a", "e": "b", "f": "a"}
    assert with_a_common_band(contents["minhash"]).tolist() == [True, True, True, False, True, True]


def test_near_duplicates_of_chinese_and_of_short_texts() -> None:
    text = "居里夫人出生于华沙是一位著名的物理学家和化学家她两次获得诺贝尔奖" * 2
    texts = {"a": f"{text}在一九一一年", "b": f"{text}在一九一一年冬", "c": "居里", "d": "波尔"}
    rows = [row(name, text) for name, text in texts.items()]
    assert near_duplicates(Content.to_table(rows)) == {"b": "a"}
    assert near_duplicates(Content.to_table([])) == {}


@given(st.lists(st.text(max_size=8), max_size=30))
def test_minhash_has_one_size_and_depends_on_the_words_alone(tokens: list[str]) -> None:
    tokens = [token for token in tokens if token.isalnum() and token.isascii()]
    sketch = minhash(tokens)
    assert len(sketch) == 256
    assert sketch == minhash(list(tokens))
