"""Steps, code and paragraphs answer as wholes where no sentence of them is sure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.settings import Settings
from tasks.ask.asker import Asker
from tasks.models.encoders.e5 import e5_is_installed
from tasks.models.span_reader.reader import TrainedReader
from tasks.reader.sections import LONGEST, section_around, worded
from tasks.refresh import refresh
from tests.documents import write_texts
from warehouse.home import Home

MANUAL = """# Gauges

To read the gauge, run:

```sh
tern read --port 2

tern plot
```

It prints the water level.
Levels are in centimetres.

## Cleaning

1. Switch the **pump** off.

   ![The pump](pump.png)

   Wait a minute.

2. Rinse the [sieve](sieve.md):

   ```
   tern rinse
   ```

3. Switch it on.

:::tip Salt
Rinse twice.
:::

How long does a sieve last?

Five years.
"""
TEXTS = {
    "gauge.md": "# The Tern tide gauge\n\nTern measures the tide in harbours.\n\n"
    "## Calibrating the gauge\n\nBefore you calibrate it, wait for slack water.\n\n"
    "1. Hold the button for five seconds.\n2. Enter the level of the staff.\n"
    "3. Press save.\n\n## Sending data elsewhere\n\nTo send the readings to another "
    "computer, run:\n\n```\ntern send --to harbour.example\n```\n\n## Battery\n\n"
    "The battery lasts for two winters. Replace it in autumn.\n",
    "潮位仪.md": "# 海燕潮位仪\n\n海燕潮位仪用来测量港口的潮位。\n\n## 更换电池\n\n"
    "更换电池的步骤如下：\n\n1. 拧开底盖。\n2. 取出旧电池。\n3. 装入新电池并拧紧底盖。\n",
}
with_e5 = pytest.mark.skipif(not e5_is_installed(), reason="other margins without e5-small")


@pytest.mark.parametrize(
    ("within", "words"),
    [
        ("tern plot", "To read the gauge, run:\ntern read --port 2\n\ntern plot"),
        ("Levels", "It prints the water level.\nLevels are in centimetres."),
        (
            "Rinse the",
            "1. Switch the pump off.\nWait a minute.\n2. Rinse the sieve:\n   tern rinse\n"
            "3. Switch it on.",
        ),
        ("Rinse twice", "Rinse twice."),
        ("Five", "How long does a sieve last?\nFive years."),
    ],
)
def test_a_section_is_a_paragraph_or_a_list_or_code_with_its_introduction(
    within: str, words: str
) -> None:
    start, end = section_around(MANUAL, MANUAL.index(within))
    assert worded(MANUAL[start:end]).replace("\n\n", "\n") == words.replace("\n\n", "\n")


def test_of_a_section_that_is_too_long_its_line_is_left() -> None:
    text = "".join(f"- item {number}\n" for number in range(LONGEST))
    start, end = section_around(text, text.index("item 700"))
    assert text[start:end] == "- item 700"


@given(st.text("a1 -.`#:|?\n"), st.integers(0, 400))
def test_a_section_holds_the_character_around_which_it_is(text: str, place: int) -> None:
    place %= len(text) + 1
    start, end = section_around(text, place)
    assert 0 <= start <= place <= end <= len(text)
    assert end - start <= LONGEST or "\n" not in text[start:end]


def test_shares_of_sections_and_of_none_add_up_to_one() -> None:
    reader = TrainedReader()
    reader._weights = {"sections": {"measures": [1.0, 2.0], "intercept": -1.0}}
    one, two = reader.shares_of_sections([[0.5, 0.25], [-0.5, 0.75]])
    assert (one, two) == pytest.approx((1 / 3, 1 / 3))  # with odds 1, 1 to "none of them"
    assert TrainedReader().shares_of_sections([[1.0, 1.0]]) == [0.0]  # no weights


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Asker:
    folder = tmp_path_factory.mktemp("gauges")
    write_texts(folder / "texts", TEXTS)
    home = Home(folder / "home")
    refresh(home, [str(folder / "texts")], Settings())
    with home.editions.reading() as edition:
        return Asker(home, edition, Settings())


@with_e5
@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How do I calibrate the Tern gauge?", "Enter the level of the staff"),
        ("How can I send the readings of Tern to another computer?", "tern send --to"),
        ("海燕潮位仪怎么更换电池？", "装入新电池"),
    ],
)
def test_how_is_answered_by_all_steps(asker: Asker, question: str, words: str) -> None:
    answer = asker.answer(question)
    assert words in "\n".join(answer.answers)
    assert words in answer.evidence[0].text


@with_e5
@pytest.mark.parametrize(
    "question",
    [
        "How do I connect the Tern gauge to a solar panel?",
        "How do I calibrate the Puffin gauge?",
        "海燕潮位仪怎么连接太阳能板？",
    ],
)
def test_what_no_section_tells_is_not_known(asker: Asker, question: str) -> None:
    assert asker.answer(question).answers == []
