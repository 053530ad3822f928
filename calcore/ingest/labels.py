"""Label encodings: which value is a positive, which a negative, which says nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from calcore.wording import listed, rows, short

from .choices import MINUS_ONE_OPTIONS, TIE, TIE_OPTIONS, LabelMapping, Question, tied_mapping, tied_option
from .columns import Categories
from .report import quote_list

NO_LABEL = frozenset(
    (
        "na",
        "n/a",
        "nan",
        "null",
        "none",
        "unknown",
        "unlabelled",
        "unlabeled",
        "missing",
        "nat",
        "<na>",
        "?",
        "-",
    )
)
_PLAIN = {"1": "0", "true": "false"}
"""Pairs (positive: negative) that mean the same to everyone."""
_PAIRS = (
    ("yes", "no"), ("y", "n"), ("t", "f"),
    ("positive", "negative"), ("pos", "neg"), ("+", "-"),
    ("ja", "nein"), ("si", "no"), ("sí", "no"),
    ("oui", "non"), ("good", "bad"), ("good", "poor"),
    ("spam", "ham"), ("fraud", "legit"), ("fraud", "no fraud"),
    ("default", "paid"), ("default", "no default"), ("win", "loss"),
    ("won", "lost"), ("pass", "fail"), ("success", "failure"),
    ("approved", "denied"), ("churned", "retained"), ("event", "no event"),
    ("case", "control"), ("dead", "alive"), ("malignant", "benign"),
    ("sick", "healthy"), ("on", "off"), ("high", "low"),
    ("hit", "miss"), ("clicked", "not clicked"), ("present", "absent"),
)  # fmt: skip
#: Usual spellings of one answer: several of them on one side are no surprise.
_SPELLINGS = (
    frozenset(["1", "true", "t", "yes", "y", "positive", "pos", "+", "ja", "si", "sí", "oui"]),
    frozenset(["0", "-1", "false", "f", "no", "n", "negative", "neg", "-", "nein", "non"]),
)
_MANY = 20
_RARE = 0.2


@dataclass(frozen=True)
class LabelGuess:
    """A mapping that can be used meanwhile (None: only the user can say) and what to ask about it."""

    mapping: LabelMapping | None
    question: Question | None = None
    problem: str | None = None
    """Why the column cannot be labels at all, or not before the question is answered."""


def label_text(text: str) -> str:
    """A label value in the one spelling that mappings use: "No " -> "no", "1.0" and "1,0" -> "1", ",50" -> "0.5"."""
    text = text.strip().casefold()
    if re.fullmatch(r"\+?0*[.,]50*", text):
        return TIE
    number = re.fullmatch(r"([+-]?)(\d+)([.,]0*)?", text)
    if number is None:
        return text
    sign = "-" if number.group(1) == "-" and number.group(2).strip("0") else ""
    return sign + (number.group(2).lstrip("0") or "0")


def spelled(categories: Categories) -> dict[str, int]:
    """The distinct values in their one spelling, with their numbers of rows."""
    counts: dict[str, int] = {}
    for text, count in zip(categories.values, categories.counts().tolist(), strict=True):
        key = label_text(text)
        counts[key] = counts.get(key, 0) + count
    return counts


def guess_mapping(counts: dict[str, int], column: str) -> LabelGuess:
    """What the values of a label column (text -> rows) most likely mean, and what must be asked."""
    silent = tuple(v for v in counts if v in NO_LABEL and not (v == "-" and "+" in counts))
    known = {v: c for v, c in counts.items() if v not in silent}
    if not known:
        return LabelGuess(LabelMapping((), (), silent))
    tied = _tied(known, silent)
    if tied is not None:
        return LabelGuess(tied, tie_question(counts, column, tied))
    mapping = _plain(known, silent)
    if mapping is not None:
        return LabelGuess(mapping)
    if "1" in known and "-1" in known and set(known) <= {"1", "0", "-1"}:
        return _minus_one(known, silent, column)
    pair = next((p for p in _PAIRS if set(known) <= set(p)), None)
    if pair is not None:
        return _worded(pair, silent, column)
    return _unknown(known, column)


def _plain(known: dict[str, int], silent: tuple[str, ...]) -> LabelMapping | None:
    total = sum(known.values())
    for positive, negative in _PLAIN.items():
        fitting = known.get(positive, 0) + known.get(negative, 0)
        # A few other values (0.37, "n.d.") are refused one by one; many mean another encoding.
        whole = all(re.fullmatch(r"-?\d+", v) is None for v in known if v not in (positive, negative))
        if fitting == total or (
            whole and fitting >= (1 - _RARE) * total and {positive, negative} <= set(known)
        ):
            return LabelMapping((positive,), (negative,), silent)
    return None


def _tied(known: dict[str, int], silent: tuple[str, ...]) -> LabelMapping | None:
    """Outcomes 0 and 1 with ties between them, whose rows are left out until something else is said."""
    outcomes = {value: count for value, count in known.items() if value != TIE}
    if TIE not in known or not {"0", "1"} <= set(outcomes):
        return None
    mapping = _plain(outcomes, silent)
    return None if mapping is None else tied_mapping(mapping, TIE_OPTIONS[0])


def tie_question(counts: dict[str, int], column: str, mapping: LabelMapping) -> Question | None:
    """What ties of the column count as, with the option in use; None where ties are not told apart from 0 and 1."""
    option = tied_option(mapping)
    if not counts.get(TIE) or option is None or not {"0", "1"} <= set(counts):
        return None
    ties = f"{counts[TIE]:,} {'row' if counts[TIE] == 1 else 'rows'} with 0.5"
    sentence = f'"{column}" holds {ties} between 0 and 1: what does a tie count as?'
    return Question("tied_label", column, sentence, TIE_OPTIONS, option)


def tied_rows(categories: Categories) -> np.ndarray:
    """Which rows hold a tie, (n,)."""
    codes = [code for code, text in enumerate(categories.values) if label_text(text) == TIE]
    return np.isin(categories.codes, codes)


def _minus_one(known: dict[str, int], silent: tuple[str, ...], column: str) -> LabelGuess:
    if "0" in known:
        mapping = LabelMapping(("1",), ("0",), ("-1", *silent))
        default = "unlabelled"
    else:
        mapping = LabelMapping(("1",), ("-1",), silent)
        default = "negative"
    sentence = f'"{column}" holds {" and ".join(sorted(known))}: is -1 a negative or an unlabelled row?'
    return LabelGuess(mapping, Question("positive_label", column, sentence, MINUS_ONE_OPTIONS, default))


def _worded(pair: tuple[str, str], silent: tuple[str, ...], column: str) -> LabelGuess:
    sentence = f'"{column}" was read as "{pair[0]}" = positive and "{pair[1]}" = negative: is that right?'
    question = Question("positive_label", column, sentence, pair, pair[0])
    return LabelGuess(LabelMapping((pair[0],), (pair[1],), silent), question)


def _unknown(known: dict[str, int], column: str) -> LabelGuess:
    values = sorted(known, key=_numeric_first)
    if len(values) > _MANY:
        return LabelGuess(
            None,
            problem=f'"{column}" holds {len(values):,} different values ({quote_list(values, 3)}), too many '
            "for labels; choose another label column.",
        )
    sentence = f'"{column}" holds {quote_list(values, _MANY)}: which one is positive?'
    question = Question("positive_label", column, sentence, tuple(values), None)
    return LabelGuess(None, question, problem=f"{sentence} Say so first.")


def put_together(counts: dict[str, int], column: str, mapping: LabelMapping) -> list[str]:
    """A sentence for each side on which different values of the column count as one, e.g. maybe as no."""
    found = []
    for side, values in (("positive", mapping.positive), ("negative", mapping.negative)):
        there = sorted(
            (v for v in counts if v in values and v != TIE and counts[v]), key=lambda v: -counts[v]
        )
        usual = next((set(there) & words for words in _SPELLINGS if set(there) & words), set())
        opposite = mapping.negative if side == "positive" else mapping.positive
        usual = usual or {v for v in there if any({v, o} == set(pair) for pair in _PAIRS for o in opposite)}
        main = [v for v in there if v in usual] or there[:1]
        others = [v for v in there if v not in main]
        if others:
            shown = [f"{short(v)} ({rows(counts[v])})" for v in others]
            verb = "counts" if len(others) == 1 else "count"
            beside = listed([short(v) for v in main])
            found.append(f'"{column}": {listed(shown)} {verb} as {side}, beside {beside}.')
    return found


def _numeric_first(value: str) -> tuple[int, float, str]:
    try:
        return (0, float(value), value)
    except ValueError:
        return (1, 0.0, value)


def apply_mapping(categories: Categories, mapping: LabelMapping) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Labels 1.0, 0.0, 0.5 or NaN for every row, and masks of the rows whose value the mapping does not know."""
    lookup = np.full(len(categories.values) + 1, np.nan)
    unknown: dict[str, list[int]] = {}
    for code, text in enumerate(categories.values):
        value = mapping.value_of(label_text(text))
        if value is None and label_text(text) in NO_LABEL:
            value = float("nan")
        if value is None:
            unknown.setdefault(label_text(text), []).append(code)
        else:
            lookup[code] = value
    masks = {text: np.isin(categories.codes, codes) for text, codes in unknown.items()}
    return lookup[categories.codes], masks
