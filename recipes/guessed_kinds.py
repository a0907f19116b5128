"""Train the weights that guess kinds of names: python -m recipes.guessed_kinds.

Mentions with kinds come from Re-DocRED, wiki80, FewRel and KnowledgeNet, where the types of
entities or the relations between them tell kinds (who has a mother is a person), and from
`recipes/judged/kinds.json`: names of development corpora whose kinds a reader judged, with the
documents that they stand in. Softmax regression learns from both, with every kind equally frequent
and the mentions of one name together counting as the root of their number. Figures are of names,
pooled over their mentions, of corpora that the weights have not seen, and of a sixth of the other
documents. Writes tasks/extract/rules/kind_weights.safetensors.
"""

import gzip
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack, lil_matrix, vstack

from recipes.command import DATA, parser_of, run_command
from recipes.relation_examples import redocred
from tasks.extract.english_pipeline.load import load_english
from tasks.extract.rules.confidence import centred
from tasks.extract.rules.find_names import find_names
from tasks.extract.rules.kinds import (
    GUESSED,
    WEIGHTS,
    mention_features,
    mention_states,
)
from tasks.extract.rules.layout import lay_out
from tasks.extract.rules.repairs import repair
from tasks.extract.rules.tree import Reduced, parse, tree_of
from tasks.ingest.formats.cleaning import clean
from tasks.ingest.formats.names import title_of_name, title_of_text
from tasks.ingest.split import split
from tasks.publish.resolve.kinds import likely_kinds

JUDGED = Path(__file__).parent / "judged" / "kinds.json"
KINDS_AT_ENDS = {
    "person person": "P26 P3373 P40 P22 P25 SPOUSE CHILD_OF",
    "person place": "P937 P551 PLACE_OF_RESIDENCE PLACE_OF_BIRTH",
    "person organisation": "P241 P102 EMPLOYEE_OR_MEMBER_OF EDUCATED_AT POLITICAL_AFFILIATION",
    "person work": "P800",
    "person -": "P101 P412 P2094 P106 P39 P27 P413 P410 DATE_OF_BIRTH DATE_OF_DEATH",
    "place place": "P4552 P403 P931 P706 P974 P150 P206 P177 P59",
    "place person": "P6",
    "place organisation": "P466",
    "place -": "P84",
    "organisation organisation": "P118 P355 SUBSIDIARY_OF",
    "organisation place": "P1408 P159 P740 HEADQUARTERS",
    "organisation person": "FOUNDED_BY CEO",
    "organisation -": "DATE_FOUNDED",
    "work person": "P57 P86 P58 P1877",
    "work organisation": "P750 P449 P123",
    "work thing": "P364",
    "work -": "P674 P921",
    "event person": "P991",
    "event -": "P710 P1923",
    "thing thing": "P306",
    "thing organisation": "P176",
    "- organisation": "P264 P463 P178 P137",
    "- place": "P276 P17 P1001 P131",
    "- event": "P3450 P1344",
    "- thing": "P400 P407",
}
"""The kinds of head and tail that a relation tells, by Wikidata or by KnowledgeNet's names."""

ENDS = {
    name: tuple("" if kind == "-" else kind for kind in kinds.split())
    for kinds, names in KINDS_AT_ENDS.items()
    for name in names.split()
}
EACH = {"wiki80_en": 60, "fewrel_val_wiki_en": 30, "knowledgenet_en": 60}  # texts of a relation
SELDOM = ("event", "thing")  # every text that tells these is read
PASSAGE_TOKENS = 256
RARE, RARE_NAMES = 8, 4  # mentions, and names, that a feature must have
STATE_SCALE = 0.3
RIDGE = 5e-4
JUDGED_WEIGHT = 3.0
STEPS = 60
ARTICLE = 4  # characters that a name found may begin later than the one in the data
LEASTS = (0.4, 0.5, 0.6, 0.7, 0.8)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention with its features; `kind` is empty where nobody judged its name."""

    source: str
    document: str
    name: str
    kind: str
    features: dict[str, float]
    states: np.ndarray


def labelled_texts(data: Path) -> Iterator[tuple[str, str, str, dict[Span, str]]]:
    """Yield source, document, text, and the kinds of stretches of it, from the open data."""
    for name, each in EACH.items():
        with gzip.open(data / "more" / "re" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = list(map(json.loads, lines))
        Random(0).shuffle(rows)
        taken: Counter[str] = Counter()
        for row in rows:
            kinds = dict(_kinds_by_relations(row["relations"]))
            relations = {r["relation_id"] for r in row["relations"]} & ENDS.keys()
            taken.update(relations)
            few = any(taken[relation] <= each for relation in relations)
            if kinds and (few or not set(SELDOM).isdisjoint(kinds.values())):
                yield name, row["id"], row["text"], kinds
    for example in redocred(data):
        kind_of = {n: kind for n, kind in enumerate(example.kinds) if kind in GUESSED}
        for head, tail, relation in example.labels:
            for end, kind in zip((head, tail), ENDS.get(relation, ("", "")), strict=True):
                if example.kinds[end] == "other" and kind in ("work", *SELDOM):
                    kind_of.setdefault(end, kind)
        yield (
            "redocred",
            example.id,
            example.text,
            {span: kind for n, kind in kind_of.items() for span in example.entities[n]},
        )


def _kinds_by_relations(relations: list[dict[str, Any]]) -> Iterator[tuple[Span, str]]:
    for relation in relations:
        for end, kind in zip(("head", "tail"), ENDS.get(relation["relation_id"], ()), strict=False):
            if kind:
                yield (relation[f"{end}_start"], relation[f"{end}_end"]), kind


def open_mentions(data: Path) -> list[Mention]:
    """Return the mentions of the open data that the rules find, too."""
    texts = list(labelled_texts(data))
    reduced = [Reduced(text) for _, _, text, _ in texts]
    docs = parse(load_english(), (text.text for text in reduced))
    mentions = []
    for (source, document, _, kinds), prose, doc in zip(texts, reduced, docs, strict=True):
        tree = tree_of(doc, prose)
        repair(tree)
        by_end = {end: (start, kind) for (start, end), kind in kinds.items()}
        for name in find_names(tree, ""):
            start, kind = by_end.get(name.end, (0, ""))
            if kind and abs(start - name.start) <= ARTICLE:
                states = mention_states(tree, name).astype(np.float16)
                features = mention_features(tree, name)
                mentions.append(Mention(source, document, name.name, kind, features, states))
    return mentions


def judged_mentions(data: Path) -> list[Mention]:
    """Return all mentions of names in the judged corpora, those of judged names with kinds."""
    mentions = []
    for corpus in json.loads(JUDGED.read_text(encoding="utf-8")):
        kind_of = {name: kind for kind, names in corpus["kinds"].items() for name in names}
        rows = [
            row
            for document in corpus["documents"]
            for row in _passages(data / "more" / "corpora" / corpus["corpus"] / document)
        ]
        prose = [Reduced(lay_out(row).prose.text) for row in rows]
        docs = parse(load_english(), (text.text for text in prose))
        for row, text, doc in zip(rows, prose, docs, strict=True):
            tree = tree_of(doc, text)
            repair(tree)
            for name in find_names(tree, row["subject"]):
                states = mention_states(tree, name).astype(np.float16)
                kind, features = kind_of.get(name.name, ""), mention_features(tree, name)
                mentions.append(Mention(corpus["corpus"], "", name.name, kind, features, states))
    return mentions


def _passages(path: Path) -> list[dict[str, Any]]:
    text = clean(path.read_text(encoding="utf-8"))
    title = title_of_text(text) or title_of_name(path.name)
    return split("", title, text, "en", PASSAGE_TOKENS)


def is_measured(mention: Mention) -> bool:
    """Whether a mention's document is kept for measuring: a sixth, by the hash of its id."""
    return hashlib.sha1(mention.document.encode()).digest()[0] % 6 == 0


class Design:
    """Turns mentions into columns: those of frequent features, of states, and a constant."""

    def __init__(self, mentions: list[Mention]) -> None:
        """Choose the features that enough mentions, and enough names, have."""
        counts: Counter[str] = Counter()
        names: dict[str, set[str]] = defaultdict(set)
        for mention in mentions:
            counts.update(mention.features.keys())
            for feature in mention.features:
                names[feature].add(mention.name)
        often = (f for f, n in counts.items() if n >= RARE and len(names[f]) >= RARE_NAMES)
        self.features = sorted(often)
        self._place = {feature: place for place, feature in enumerate(self.features)}
        states = np.concatenate([m.states[m.states.any(-1)] for m in mentions])
        self.mean = states.astype(np.float32).mean(0) if len(states) else np.zeros(0, np.float32)

    def columns(self, mentions: list[Mention]) -> csr_matrix:
        """Return float32 (mentions, features + states + 1)."""
        named = lil_matrix((len(mentions), len(self.features)), dtype=np.float32)
        for row, mention in enumerate(mentions):
            for feature, value in mention.features.items():
                if (place := self._place.get(feature)) is not None:
                    named[row, place] = value
        states = np.stack([mention.states for mention in mentions]).astype(np.float32)
        around = centred(states, self.mean).reshape(len(mentions), states[0].size) * STATE_SCALE
        return hstack([named, around, np.ones((len(mentions), 1), np.float32)], "csr")


def weights_of(mentions: list[Mention], judged: float = JUDGED_WEIGHT) -> np.ndarray:
    """Return how much each mention counts: names by the root of their mentions, kinds alike."""
    times = Counter((m.source, m.name) for m in mentions)
    weights = np.array(
        [times[m.source, m.name] ** -0.5 * (1 if m.document else judged) for m in mentions]
    )
    kinds = np.array([GUESSED.index(m.kind) for m in mentions])
    totals = np.bincount(kinds, weights, len(GUESSED))
    weights /= totals[kinds]
    return weights / weights.sum()


def fit(
    x: csr_matrix,
    mentions: list[Mention],
    start: np.ndarray | None = None,
    ridge: float = RIDGE,
    judged: float = JUDGED_WEIGHT,
) -> np.ndarray:
    """Return ridge softmax weights (columns, kinds); the constant is not shrunk."""
    kinds = np.array([GUESSED.index(m.kind) for m in mentions])
    gold = np.eye(len(GUESSED))[kinds]
    counted = weights_of(mentions, judged)[:, None]
    shape = (x.shape[1], len(GUESSED))

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(shape)
        scores = x @ weights
        scores -= scores.max(1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(1, keepdims=True))
        shrunk = weights.copy()
        shrunk[-1] = 0
        gradient = x.T @ (counted * (np.exp(logs) - gold)) + 2 * ridge * shrunk
        value = -(counted * gold * logs).sum() + ridge * (shrunk**2).sum()
        return float(value), np.asarray(gradient).ravel()

    first = np.zeros(shape) if start is None else start
    steps = {"maxiter": STEPS if start is None else STEPS // 2}
    return minimize(loss, first.ravel(), jac=True, method="L-BFGS-B", options=steps).x.reshape(
        shape
    )


def pooled(x: csr_matrix, mentions: list[Mention], weights: np.ndarray) -> dict[str, np.ndarray]:
    """Return the probabilities of kinds by name, as resolution pools and fits them."""
    scores = x @ weights
    scores -= scores.max(1, keepdims=True)
    scores -= np.log(np.exp(scores).sum(1, keepdims=True))
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(len(GUESSED)))
    for mention, score in zip(mentions, scores, strict=True):
        sums[mention.name] += score
    return likely_kinds(sums, Counter(mention.name for mention in mentions))


def shares(judged: list[tuple[np.ndarray, str]]) -> dict[str, Any]:
    """Return how many names get a kind from each least probability, and how many rightly."""
    best = np.array([likely.max() for likely, _ in judged])
    right = np.array([GUESSED[likely.argmax()] == kind for likely, kind in judged])
    return {
        "names": len(judged),
        "right": round(float(right.mean()), 3),
        "from": {
            str(least): {
                "share": round(float((best >= least).mean()), 3),
                "right": round(float(right[best >= least].mean()), 3),
            }
            for least in LEASTS
        },
    }


def main() -> None:
    """Train, measure, and write the weights."""
    parser_of(__doc__).parse_args()
    design, weights, report = train(open_mentions(DATA), judged_mentions(DATA))
    write_weights(design, weights, WEIGHTS)
    print(json.dumps(report, indent=1))


def train(
    found: list[Mention],
    judged: list[Mention],
    ridge: float = RIDGE,
    judged_weight: float = JUDGED_WEIGHT,
) -> tuple[Design, np.ndarray, dict[str, Any]]:
    """Return columns, weights and figures from mentions of the open data and of judged corpora."""
    training = [mention for mention in found if not is_measured(mention)]
    measured = [mention for mention in found if is_measured(mention)]
    labelled = [mention for mention in judged if mention.kind]
    design = Design(training + labelled)
    x_training, x_labelled = design.columns(training), design.columns(labelled)
    base = fit(x_training, training, None, ridge)
    corpora = np.array([mention.source for mention in labelled])
    others: dict[str, list[tuple[np.ndarray, str]]] = {}
    for corpus in np.unique(corpora):
        rest = corpora != corpus
        seen = training + [m for m, kept in zip(labelled, rest, strict=True) if kept]
        weights = fit(
            vstack([x_training, x_labelled[rest]], "csr"), seen, base, ridge, judged_weight
        )
        own = [mention for mention in judged if mention.source == corpus]
        others[str(corpus)] = judged_pairs(design, weights, own)
    x = vstack([x_training, x_labelled], "csr")
    weights = fit(x, training + labelled, base, ridge, judged_weight)
    best = (design.columns(measured) @ weights).argmax(1)
    alike = np.array([GUESSED[n] == m.kind for n, m in zip(best, measured, strict=True)])
    report = {
        "mentions": {"open": len(training), "judged": len(labelled)},
        "names of other corpora": shares([pair for pairs in others.values() for pair in pairs]),
        "by corpus": {name: shares(pairs)["right"] for name, pairs in others.items()},
        "single mentions of documents kept aside": {
            "mentions": len(measured),
            "right": round(float(alike.mean()), 3),
        },
    }
    return design, weights, report


def judged_pairs(
    design: Design, weights: np.ndarray, mentions: list[Mention]
) -> list[tuple[np.ndarray, str]]:
    """Return the pooled probabilities and the kind of each judged name of a corpus."""
    kinds = {mention.name: mention.kind for mention in mentions if mention.kind}
    likely = pooled(design.columns(mentions), mentions, weights)
    return [(likely[name], kind) for name, kind in kinds.items()]


def write_weights(design: Design, weights: np.ndarray, path: Path) -> None:
    """Write what `tasks.extract.rules.kinds` reads."""
    named = len(design.features)
    parts = {"features": weights[:named], "constant": weights[-1]}
    if len(design.mean):
        parts |= {"states": weights[named:-1] * STATE_SCALE, "mean": design.mean}
    halves = {part: np.ascontiguousarray(v, np.float16) for part, v in parts.items()}
    save_file(halves, str(path), {"features": json.dumps(design.features, ensure_ascii=False)})


if __name__ == "__main__":
    run_command(main)
