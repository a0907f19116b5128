"""What programs compute values with."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.programs.limits import SandboxError
from tasks.programs.value_functions import (
    average,
    compare,
    difference,
    from_base,
    parse_date,
    sort_values,
    to_base,
    to_number,
    total,
    value_functions,
    value_of,
    years_between,
)


@pytest.mark.parametrize(
    ("left", "right", "order"),
    [
        ("226 cm", "1.54 m", 1), ("226 cm", "154cm", 1), ("1.5 billion yuan", "10亿元", 1),
        ("226厘米", "2.26 m", 0),
        ("226", "154 cm", 1),  # a number without a unit has the other's
        ("5 kg", "3 m", None), ("10 USD", "10 EUR", None),
        ("1934", "1934-07-04", 0),  # as exactly as both are stated
        ("July 1934", "1934-08-02", -1), ("44 BC", "1934", -1),
        ("2019-20", "2021", -1),  # a season, no month
        ("1997-00-00", "1998", -1), ("1879年3月14日", "14 March 1879", 0),
        ("+1997-06-05T00:00:00Z", "1997-06-06", -1), (3, 4, -1), ("tall", "3 m", None),
        (None, "3 m", None), ("1,5 kg", "1400 g", 1),
    ],
)  # fmt: skip
def test_values_are_compared_as_what_they_state(left: Any, right: Any, order: int | None) -> None:
    assert compare(left, right) == order
    if order is not None:
        assert compare(right, left) == -order


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("226 cm", "", 226), ("226 cm", "m", 2.26), ("226 cm", "metres", 2.26),
        ("172厘米", "米", 1.72), ("8,849 m", "ft", pytest.approx(29032.15, abs=0.1)),
        ("1.5 billion", "", 1.5e9), ("20 °C", "°F", 68), ("1946", "", 1946),
        ("about 12 members", "", 12),
        ("2 bar", "psi", pytest.approx(29, abs=0.1)), ("5 kg", "m", None),
        ("none", "", None), ("", "", None),
        ("4 250 000 people", "", 4.25e6), ("12 500.5 km", "km", 12500.5), ("minus 8", "", -8),
        ("2,5 kg", "g", 2500), ("1 200,5 m", "", 1200.5), ("1,500 kg", "", 1500),
        ("1987 600 people died", "", 1987),
    ],
)  # fmt: skip
def test_numbers_are_read_and_converted(text: str, unit: str, number: float | None) -> None:
    assert to_number(text, unit) == number


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("+1997-06-05T00:00:00Z", "1997-06-05"), ("+1997-00-00T00:00:00Z", "1997"),
        ("-0044-03-15T00:00:00Z", "-0044-03-15"), ("born 4 July 1934 in Oslo", "1934-07-04"),
        ("1980年9月12日", "1980-09-12"), ("1946", "1946"), ("from 1999 to 2003", "1999"),
        ("until 2003", "2003"), ("226 cm", None),
        ("1987/3/9", "1987-03-09"), ("1987.10.12", "1987-10-12"), ("1987-3-9 10:00", "1987-03-09"),
        ("1987-02-29", None), ("1987-02-29T00:00:00Z", None), ("1988-02-29", "1988-02-29"),
        ("1987/13/9", None), ("1987-00-09", "1987"), ("+1987-00-09T00:00:00Z", "1987"),
    ],
)  # fmt: skip
def test_dates_are_read(text: str, date: str | None) -> None:
    assert parse_date(text) == date


def test_lists_are_sorted_summed_and_averaged_with_their_units() -> None:
    assert sort_values(["2 km", "300 m", "?", "1.5 mi"]) == ["300 m", "2 km", "1.5 mi", "?"]
    assert sort_values(["1999", "44 BC", "12 May 1998"]) == ["44 BC", "12 May 1998", "1999"]
    assert total(["2 km", "300 m"]) == "2.3 km" and total([1, 2.5]) == "3.5"
    assert total(["10 °C", "20 °C"]) == "30 °C"  # not the sum of kelvins
    assert average(["10", "20", "27"]) == "19" and average(["10 °C", "20 °C"]) == "15 °C"
    assert total(["2 km", "3 kg"]) is None and total([]) is None and average(["x"]) is None


def test_differences_have_units() -> None:
    assert difference("226 cm", "1.54 m") == "72 cm"
    assert difference("20 °C", "50 °F") == "10 °C"
    assert difference("4 July 1934", "1934-07-14") == "10 days"
    assert difference("1934", "2000") == "66 years"
    assert difference("x", "5") is None


def test_ages_are_full_years() -> None:
    assert years_between("1934-07-04", "2000-01-01") == 65
    assert years_between("2000-07-04", "1934-07-04") == 66
    assert years_between("44 BC", "14 AD") in (57, None)
    assert years_between("x", "2000") is None


@given(
    st.sampled_from(["km", "ft", "kg", "lb", "°C", "°F", "h", "acre", "%"]), st.floats(-1e6, 1e6)
)
def test_units_convert_there_and_back(unit: str, number: float) -> None:
    base, _ = to_base(number, unit)
    assert from_base(base, unit) == pytest.approx(number, abs=1e-6)


@given(st.one_of(st.none(), st.text(max_size=40), st.floats(), st.integers(), st.booleans()))
def test_no_value_makes_them_fail(value: Any) -> None:
    for call in (to_number, parse_date, value_of):
        call(value)
    compare(value, "3 m")
    sort_values([value] if value is not None else [])


@pytest.mark.parametrize("value", [[1], {"a": 1}, object()])
def test_other_things_are_refused(value: Any) -> None:
    with pytest.raises(SandboxError):
        value_of(value)
    with pytest.raises(SandboxError):
        total(5)


def test_programs_are_given_all_of_them() -> None:
    assert set(value_functions()) >= {"compare", "value_of", "to_number", "parse_date", "total"}


@pytest.mark.parametrize("text", ["1234-56-78", "2019-13-01T00:00:00Z", "2019-20"])
def test_no_date_has_a_month_that_does_not_exist(text: str) -> None:
    assert parse_date(text) == text[:4]
