"""A made-up corpus in which names and words recur as they do in language, the same in every run.

Ranks are drawn by Zipf's law with exponent one, so a corpus twice as large has nearly twice as many
names, the commonest of which stand in most documents. A document has about 137 words.
"""

import random
from pathlib import Path

RANKS = 10_000_000  # of which a name or a word is drawn
SENTENCES = (8, 9)
IN_A_FOLDER = 1_000  # documents
_SYLLABLES = [first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou"]


def _listed(words: str) -> list[str]:
    return words.split()


_GIVEN = _listed("""
    Ada Bertram Clara Duncan Edith Felix Greta Hugo Ida Jonas Karin Leo Mona Nils Olga Peter Rosa
    Simon Thea Victor
""")
_NOUNS = _listed("""
    bridge river school market engine harbour theatre garden library report tower railway mill
    museum council flood treaty journal hospital ship road law tax election orchard mine
""")
_TRADES = _listed("""
    engineer physician painter judge printer botanist composer merchant
""")
_BODIES = _listed("""
    Institute Company Society University Bank Museum
""")
_TEMPLATES = (
    "{person} was born in {place} in {year} and later became a well-known {trade} there.",
    "{person} worked for the {body} in {place} from {year} until the end of the war.",
    "The {body} is based in {place} and was founded by {person} in {year}.",
    "In {year} the {noun} of {place} was designed by {person} with help from the {body}.",
    "{person} married {other} in {year}, and they moved to {place} with their children.",
    "The {noun} in {place} is {number} metres long and stands near the old {word} {noun}.",
    "According to the {body}, the {word} {noun} cost {number} million dollars in {year}.",
    "Few visitors know that the {word} behind the {noun} was once a {word} for sailors.",
    "The {body} bought the {word} {noun} from {other} after a long dispute in {year}.",
    "Every spring the people of {place} carry a {word} to the {noun} and sing until dawn.",
    "{person} wrote a book about the {noun} of {place}, which appeared in {year}.",
    "When the {noun} burned down, {other} and the {body} paid for a new {word}.",
)


def write_corpus(folder: Path, documents: int, seed: int = 1) -> int:
    """Write this many documents into subfolders; return their words."""
    chance, words = random.Random(seed), 0
    for number in range(documents):
        text = _document(chance)
        words += len(text.split())
        path = folder / f"{number // IN_A_FOLDER:05d}" / f"{number:08d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return words


def _document(chance: random.Random) -> str:
    subject = _person(_rank(chance))
    sentences = [_sentence(chance, subject) for _ in range(chance.choice(SENTENCES))]
    middle = len(sentences) // 2
    paragraphs = " ".join(sentences[:middle]), " ".join(sentences[middle:])
    return "\n\n".join([f"# {subject} and the {_noun(_rank(chance))}", *paragraphs]) + "\n"


def _sentence(chance: random.Random, subject: str) -> str:
    return chance.choice(_TEMPLATES).format(
        person=subject if chance.random() < 0.5 else _person(_rank(chance)),
        other=_person(_rank(chance)),
        place=_composed(_rank(chance)).capitalize() + "ton",
        body=f"{_composed(_rank(chance)).capitalize()} {chance.choice(_BODIES)}",
        noun=_noun(_rank(chance)),
        word=_noun(_rank(chance)),
        trade=chance.choice(_TRADES),
        year=chance.randint(1800, 1999),
        number=chance.randint(2, 900),
    )


def _rank(chance: random.Random) -> int:
    """Return a rank from 0, the n-th with a probability in proportion to 1/n."""
    return int(RANKS ** chance.random()) - 1


def _person(rank: int) -> str:
    return f"{_GIVEN[rank % len(_GIVEN)]} {_composed(rank).capitalize()}"


def _noun(rank: int) -> str:
    return _NOUNS[rank] if rank < len(_NOUNS) else _composed(rank)


def _composed(rank: int) -> str:
    """Return a word of two syllables or more, another one for each rank."""
    syllables: list[str] = []
    while rank or len(syllables) < 2:
        rank, place = divmod(rank, len(_SYLLABLES))
        syllables.append(_SYLLABLES[place])
    return "".join(syllables)
