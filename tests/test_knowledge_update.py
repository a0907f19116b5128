"""The knowledge-update benchmark: whose seat a question is about, and how answers are counted."""

from tasks.questions.question import BenchmarkQuestion
from tests.question_measures import exact, seat_of

DISTRICTS = ("Ohio's 1st hill district", "Ohio's 31st hill district", "Iowa's 1st hill district")
SEATS = ("Ohio", *DISTRICTS)


def question(text: str, answer: str = "Ann Lee", kind: str = "house") -> BenchmarkQuestion:
    return BenchmarkQuestion(text, text, (answer,), kind=kind, scoring="text", exact=True)


def test_a_question_is_about_the_seat_with_the_longest_name():
    assert seat_of(question("Who has the 31st hill district of Ohio?"), SEATS) == SEATS[2]
    assert seat_of(question("Who has Iowa's 1st hill district?"), SEATS) == SEATS[3]
    assert seat_of(question("Who speaks for Ohio?"), SEATS) == "Ohio"
    assert seat_of(question("Who speaks for Utah?"), SEATS) == ""


def test_answers_are_exact_without_case_and_marks():
    questions = [question("a"), question("b", "Bo O. Ray"), question("c", kind="senate")]
    found = exact(questions, ["ann lee", "Bo O Ray", "Cy Wu"])
    assert (found["items"], found["em"]) == (3, 0.6667)
    assert found["em_by_kind"] == {"house": 1.0, "senate": 0.0}
