"""Write what the reader learns from as arrays: `python -m recipes.reader.prepare OUT
[--more FOLDER ...] [--texts FILE ...]`.

OUT then holds `examples.npz` (`Examples`), `texts.npz` (tokens of plain texts, from which the
reader learns to fill in masked tokens) and `first_weights.safetensors`.
Training needs nothing else but torch, so that it can run on another machine.
"""

import gzip
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from recipes.command import DATA, parser_of, run_command
from recipes.reader.characters import first_vectors
from recipes.reader.examples import Question, all_questions, part_of
from recipes.reader.relations import MOST, relation_questions
from recipes.reader.train import FIRST_WEIGHTS
from tasks.models.encoders.minilm import minilm_folder
from tasks.models.encoders.minilm_graph import WORDS
from tasks.models.encoders.stored_weights import OWN_WORDS
from tasks.models.encoders.vocabulary import load_tokenizer, own_characters
from tasks.models.span_reader.windows import Pieces, TextTokens, windows, without_markup
from tasks.text.languages import is_chinese, language_of
from tasks.text.sentences import sentences

Range = tuple[int, int]

SPANS = 8  # answers of a question in a window that are kept
OTHERS = 4  # windows of other passages that are kept for a question, those most like it
DRAWN = 40  # passages of a set from which they are chosen, besides those of the same corpus
COMMON = 300  # most frequent tokens of questions, which make no passage like a question
UNANSWERED = 0.33  # sentences without the answer, for each short text that has one
SHORT, ACROSS = "_short", "across_languages"  # what tells these sets from those of whole passages
LINES = 150_000  # texts from which the initial vectors of characters are computed


@dataclass(slots=True)
class Windows:
    """All windows of all passages as one array of tokens."""

    ids: list[np.ndarray]
    sentences: list[np.ndarray]
    starts: list[int]
    lengths: list[int]
    tokens: int = 0

    def add(self, passage: TextTokens, window: Range) -> int:
        """Add a window, and return its number."""
        numbers = np.searchsorted(passage.starts, np.arange(*window), side="right")
        self.ids.append(np.array(passage.ids[slice(*window)], np.uint32))
        self.sentences.append((numbers - numbers[0]).astype(np.uint8))
        self.starts.append(self.tokens)
        self.lengths.append(window[1] - window[0])
        self.tokens += window[1] - window[0]
        return len(self.starts) - 1


def titled(row: Question) -> Question:
    """Return a question about a passage with its title before it, as `almanac ask` reads texts."""
    if ":" in row.title:  # the identifier of a text without a title
        return row
    before = f"{row.title.replace('_', ' ')}:\n\n"
    moved = tuple((start + len(before), end + len(before)) for start, end in row.answers)
    return replace(row, context=before + row.context, answers=moved)


def with_other_names(rows: list[Question], drawn: random.Random) -> list[Question]:
    """Return questions that name another document of their corpus, so that nothing answers them."""
    titles = defaultdict(set)
    for row in rows:
        titles[row.corpus].add(row.title)
    others = {corpus: sorted(names) for corpus, names in titles.items() if corpus}
    changed = []
    for row in rows:
        if row.answers and row.title in row.question and len(others.get(row.corpus, ())) > 1:
            name = drawn.choice([title for title in others[row.corpus] if title != row.title])
            changed.append(replace(row, question=row.question.replace(row.title, name), answers=()))
    return changed


def shortened(rows: list[Question], drawn: random.Random) -> list[Question]:
    """Return questions about one to three sentences of their passages, half of them untitled.

    Facts, rows and notes are as short. For every third question that is answered another comes
    with the sentence which is most like it among those without the answer.
    """
    cut: dict[str, list[Range]] = {}
    short = []
    for row in rows:
        if row.context not in cut:
            cut[row.context] = sentences(row.context, language_of(row.context))
        parts = cut[row.context]
        holding = [
            number
            for number, (begin, stop) in enumerate(parts)
            if any(begin <= start and end <= stop for start, end in row.answers)
        ]
        rest = [number for number in range(len(parts)) if number not in holding]
        if holding:
            chosen = drawn.choice(holding)
            around = drawn.choice(((0, 0), (0, 0), (1, 0), (0, 1), (1, 1)))
            short.append(_part_of(row, parts, chosen - around[0], chosen + around[1]))
        if rest and drawn.random() < (UNANSWERED if holding else 1.0):
            wanted = _bigrams(row.question)
            like = max(rest, key=lambda n: len(wanted & _bigrams(row.context[slice(*parts[n])])))
            short.append(_part_of(row, parts, like, like))
    read = [row for row in short if without_markup(row.context).strip()]
    return [row if drawn.random() < 0.5 else titled(row) for row in read]


def _part_of(row: Question, parts: list[Range], first: int, last: int) -> Question:
    """Return a question about some sentences of its passage, with the answers that they hold."""
    begin, stop = parts[max(first, 0)][0], parts[min(last, len(parts) - 1)][1]
    held = tuple((a - begin, b - begin) for a, b in row.answers if begin <= a and b <= stop)
    context = row.context[begin:stop]
    return replace(row, dataset=f"{row.dataset}{SHORT}", context=context, answers=held)


def _bigrams(text: str) -> set[str]:
    lowered = text.lower()
    return {lowered[place : place + 2] for place in range(len(lowered) - 1)}


def across_languages(rows: list[Question]) -> list[Question]:
    """Return questions in one language about the translations of their passages."""
    pairs: dict[str, dict[str, Question]] = defaultdict(dict)
    for row in rows:
        if row.translated:
            pairs[row.translated][row.dataset] = row
    return [
        replace(about, dataset=ACROSS, question=asked.question)
        for pair in pairs.values()
        for asked in pair.values()
        for about in pair.values()
        if asked is not about
    ]


def spans_in(passage: TextTokens, window: Range, answers: Iterable[Range]) -> list[Range]:
    """Return the answers in a window, as first and last token; one ends with its sentence."""
    spans = []
    for start, end in answers:
        inside = [
            number
            for number in range(*window)
            if passage.offsets[number][0] < end and passage.offsets[number][1] > start
        ]
        # An answer that a window cuts is none of its answers.
        if not inside or passage.offsets[inside[0]][0] > start:
            continue
        if inside[-1] == window[1] - 1 and passage.offsets[inside[-1]][1] < end:
            continue
        later = [begin for begin in passage.starts if inside[0] < begin <= inside[-1]]
        last = later[0] - 1 if later else inside[-1]
        spans.append((inside[0] - window[0], last - window[0]))
    return sorted(set(spans))[:SPANS]


def examples(rows: list[Question], pieces: Pieces) -> dict[str, np.ndarray]:
    """Return questions and windows as arrays of a model's pieces.

    `item_*` are pairs of a question and a window: `spans` (items, SPANS, 2) are the first and the
    last tokens of answers in the window, 255 where there are fewer, and `other` is true of windows
    of passages that the question was not asked about.
    """
    drawn = random.Random(7)
    contexts = sorted({row.context for row in rows})
    passages = dict(zip(contexts, pieces.texts(contexts), strict=True))
    questions = [pieces.question(row.question) for row in rows]
    table = Windows([], [], [], [])
    numbers: dict[str, list[tuple[int, Range]]] = {}
    for context in contexts:
        cut = windows(passages[context])
        numbers[context] = [(table.add(passages[context], window), window) for window in cut]
    items: dict[str, list] = {"question": [], "window": [], "spans": [], "other": []}

    def add(question: int, window: int, spans: list[Range], other: bool) -> None:
        items["question"].append(question)
        items["window"].append(window)
        items["spans"].append(spans + [(255, 255)] * (SPANS - len(spans)))
        items["other"].append(other)

    others = OtherPassages(rows, questions, passages)
    for number, row in enumerate(rows):
        for window, place in numbers[row.context]:
            add(number, window, spans_in(passages[row.context], place, row.answers), False)
        for context in others.like(number, drawn) if row.answers else ():
            add(number, drawn.choice(numbers[context])[0], [], True)
    return {
        "window_ids": np.concatenate(table.ids),
        "window_sentences": np.concatenate(table.sentences),
        "window_starts": np.array(table.starts, np.int32),
        "window_lengths": np.array(table.lengths, np.uint8),
        "question_ids": np.concatenate([np.array(ids, np.uint32) for ids in questions]),
        "question_lengths": np.array([len(ids) for ids in questions], np.uint8),
        "question_part": np.array([part_of(row.title) for row in rows]),
        "question_set": np.array([row.dataset for row in rows]),
        "item_question": np.array(items["question"], np.int32),
        "item_window": np.array(items["window"], np.int32),
        "item_spans": np.array(items["spans"], np.uint8),
        "item_other": np.array(items["other"]),
    }


class OtherPassages:
    """Passages that share tokens with a question but do not contain its answers."""

    def __init__(
        self, rows: list[Question], questions: list[list[int]], passages: dict[str, TextTokens]
    ) -> None:
        """Index the passages by set and part, and by corpus and part."""
        counts = Counter(token for ids in questions for token in set(ids))
        self._common = {token for token, _ in counts.most_common(COMMON)}
        self._rows, self._questions = rows, questions
        self._tokens = {context: frozenset(tokens.ids) for context, tokens in passages.items()}
        self._lower = {context: context.lower() for context in passages}
        near = defaultdict(set)
        for row in rows:
            for within in (row.dataset, row.corpus or row.title):
                near[within, part_of(row.title)].add(row.context)
        self._near = {key: sorted(contexts) for key, contexts in near.items()}

    def like(self, number: int, drawn: random.Random) -> list[str]:
        """Return up to OTHERS passages, those that share most tokens with a question first."""
        row = self._rows[number]
        words = set(self._questions[number]) - self._common
        answers = {row.context[start:end].lower() for start, end in row.answers}
        part = part_of(row.title)
        pool = drawn.choices(self._near[row.dataset, part], k=DRAWN)
        pool += self._near[row.corpus or row.title, part]
        pool = [context for context in dict.fromkeys(pool) if context != row.context]
        pool.sort(key=lambda context: -len(words & self._tokens[context]))
        without = (
            context
            for context in pool
            if not any(answer in self._lower[context] for answer in answers)
        )
        return [context for context, _ in zip(without, range(OTHERS), strict=False)]


def lines_of(files: list[Path]) -> Iterator[str]:
    """Yield the lines of text files, compressed or not."""
    for file in files:
        with gzip.open(file, "rt") if file.suffix == ".gz" else file.open(encoding="utf-8") as text:
            yield from (line.strip() for line in text if line.strip())


def main() -> None:
    """Run it."""
    parser = parser_of(__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="folders of questions")
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="plain texts, by line")
    parser.add_argument("--ontologies", type=Path, help="a set of Text2KGBench, if at hand")
    parser.add_argument("--relations", type=int, default=MOST, help="questions of relations")
    options = parser.parse_args()
    (options.out / "model").mkdir(parents=True, exist_ok=True)
    read = all_questions(DATA, options.more)
    rows = [titled(row) for row in read + with_other_names(read, random.Random(7))]
    rows += relation_questions(DATA, options.ontologies, options.relations)
    rows = [row for row in rows if part_of(row.title) != "report"]
    contexts = sorted({row.context for row in rows if part_of(row.title) == "train"})
    texts = contexts + list(lines_of(options.texts))
    random.Random(7).shuffle(texts)
    packaged = load_file(str(minilm_folder() / "model.safetensors"))[WORDS]
    lines = [
        encoding.ids for encoding in load_tokenizer().encode_batch(texts, add_special_tokens=False)
    ]
    chinese_lines = [ids for ids, text in zip(lines, texts, strict=True) if is_chinese(text)]
    vectors = first_vectors(chinese_lines[:LINES], packaged, len(own_characters()))
    save_file({OWN_WORDS: vectors}, str(options.out / FIRST_WEIGHTS))
    np.savez_compressed(
        options.out / "texts.npz",
        ids=np.concatenate([np.array(ids, np.uint16) for ids in lines]),
    )
    arrays = examples(rows, Pieces(load_tokenizer()))
    np.savez_compressed(options.out / "examples.npz", allow_pickle=False, **arrays)
    counts = Counter(zip(arrays["question_set"], arrays["question_part"], strict=True))
    for (name, part), count in sorted(counts.items()):
        print(f"{name} {part} {count}")
    print(f"{sum(map(len, lines))} tokens of texts")


if __name__ == "__main__":
    run_command(main)
