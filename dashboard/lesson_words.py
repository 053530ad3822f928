"""What the Learn page says: why each lesson matters, and its numbers in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calcore.lessons import ErrorArithmetic, Family, Growth, PlattByHand, Pooling, TemperatureCurve
from dashboard import wording as w


@dataclass(frozen=True)
class Lesson:
    """A section of the page: its title, and why somebody on call should care."""

    title: str
    why: str


ARITHMETIC = Lesson(
    "1. The calibration error, bin by bin",
    "One number hides where it comes from: the bin with the largest contribution is the first one to repair.",
)
TEMPERATURES = Lesson(
    "2. Ranking is one thing, probabilities another",
    "A model chosen by its AUC alone can say 90\u00a0% where 60\u00a0% happens, and nothing in the AUC will show it.",
)
FAMILIES = Lesson(
    "3. Which way a kind of model errs",
    "Knowing what a kind of model tends to do tells you what to expect before the first label comes in.",
)
PLATT = Lesson(
    "4. Platt scaling by hand",
    "The whole map is two numbers: if you can redo five scores with a calculator, you can check what runs in "
    "production.",
)
POOLING = Lesson(
    "5. Isotonic regression, one merge at a time",
    "It shows why isotonic maps have flat stretches: scores in one block get the same value and can no longer be ranked.",
)
GROWTH = Lesson(
    "6. How many rows a calibrator needs",
    "It says how many labels to buy before the more flexible method is worth having.",
)

#: Shown before the slow sections are asked for.
TRAIN = "Train six models"
GROW = "Fit on growing sets"
TRAIN_NOTE = "On handwritten digits that come with the product, not on your data; takes a few seconds."
GROW_NOTE = "Fits both methods on seeded resamples of the rows; takes a few seconds."


def where_sample(rows: int, open_file: bool) -> str:
    """That the page shows the sample, and what brings the user's own numbers here."""
    step = "Press Analyse on the Data page" if open_file else "Open a file"
    return f"Shown on the sample ({w.rows(rows)}, against its clean labels). {step} to see your own numbers here."


def where_own(rows: int, measured: str) -> str:
    return f"Shown on the open file: {w.rows(rows)}, measured {measured}."


# --- 1


def arithmetic(found: ErrorArithmetic) -> str:
    """The sum, and its largest term."""
    name = w.on_basis("the ECE", found.error.basis)
    total = f"The contributions of {len(found)} bins add up to {name} {w.exact(found.total)}"
    text = f"{total}: each is weight × |gap|, rounded here to four decimals."
    j = found.largest
    if j is None:
        return text
    return (
        f"{text} Most comes from the scores {w.edge(float(found.low[j]))} to {w.edge(float(found.high[j]))}: mean score "
        f"{w.rate(float(found.mean_score[j]))}, event rate {w.estimated(float(found.event_rate[j]))}, "
        f"{w.rows(int(found.rows[j]))}."
    )


def chance(found: ErrorArithmetic) -> str:
    """What the sum would be for a score with nothing wrong; empty where it is not known."""
    if math.isnan(found.error.noise_floor):
        return ""
    return (
        f"A calibrated score would show about {w.error(found.error.noise_floor)} on so many rows, up to "
        f"{w.error(found.error.noise_limit)}."
    )


# --- 2


def temperatures(curve: TemperatureCurve) -> str:
    """What stays and what moves."""
    unchanged, fitted = curve.unchanged, curve.fitted
    moved = (
        f"{w.on_basis('ECE', curve.basis)} is {w.error(unchanged.ece)} for the score as it is and "
        f"{w.error(fitted.ece)} at the fitted temperature {w.edge(fitted.temperature)}, log loss "
        f"{w.error(unchanged.log_loss)} and {w.error(fitted.log_loss)}."
    )
    if math.isnan(curve.auc_spread):
        return f"{moved} There is no AUC with one class of labels."
    kept = f"The AUC is {w.error(unchanged.auc)} at every temperature."
    if curve.auc_spread > 1e-9:
        kept = (
            f"The AUC moves by {curve.auc_spread:.1g} only because scores next to 0 or 1 become equal in the "
            "computer's numbers."
        )
    return f"{kept} {moved}"


TEMPERATURE_NOTE = "Log-odds are divided by the temperature. Some texts multiply by it instead, so that their 4 is a 1/4 here."


# --- 3


@dataclass(frozen=True)
class Tendency:
    """What the basics paper says of a family in its text and prints in its table, and the cause in our words."""

    family: str
    cause: str
    text: str
    table: str
    models: tuple[str, ...]


TENDENCIES = (
    Tendency(
        "Logistic regression",
        "Fitted by log loss, which rewards stated probabilities that come true.",
        "well calibrated",
        "underconfident (0.0357)",
        ("Logistic regression",),
    ),
    Tendency(
        "Naive Bayes",
        "Takes features for independent: what several of them repeat is counted several times.",
        "overconfident",
        "overconfident (0.1021)",
        ("Naive Bayes",),
    ),
    Tendency(
        "Random forest",
        "Averages votes of trees that seldom all agree, so that it stays away from 0 and 1.",
        "underconfident",
        "underconfident (0.0926)",
        ("Random forest",),
    ),
    Tendency(
        "Gradient boosting",
        "Builds up margins step by step; where it stands depends on when it stops.",
        "the opposite of forests",
        "underconfident (0.0292)",
        ("Gradient boosting",),
    ),
    Tendency(
        "SVM",
        "Its margin is a distance; what turns it into a probability decides how it errs.",
        "the opposite of forests",
        "well calibrated (0.0181)",
        ("SVM, raw margin", "SVM, Platt-scaled"),
    ),
)

TENDENCY_NOTE = (
    "The paper is “Probability Calibration”. Its text and its table disagree on logistic regression, boosting and SVMs, and so can your data: direction "
    "depends on the settings and the rows as much as on the family. An SVM whose library already applies Platt scaling "
    "looks calibrated; its margin alone does not."
)
SLOPE_NOTE = (
    "Slope: what the log-odds must be multiplied by. Below 1 the scores are too extreme (overconfident), above 1 too "
    "timid (underconfident); 95\u00a0% interval. In slopes, scores below .001 and above .999 count as these."
)


def measured_direction(families: tuple[Family, ...], models: tuple[str, ...]) -> str:
    """What the models of a family did here: "overconfident"; of two, each by its own name."""
    told = {
        family.name.partition(", ")[2]: family.direction or "neither"
        for family in families
        if family.name in models
    }
    return "; ".join(f"{name}: {text}" if name else text for name, text in told.items())


# --- 4


def platt(found: PlattByHand) -> str:
    """The map in its formula, and what its slope means; why there is none."""
    if found.steps is None:
        return f"No line can be fitted here: every score becomes {w.edge(found.constant or 0.0)}."
    measured = "" if found.basis == "against the labels" else f", {found.basis}"
    return (
        f"Fitted on {w.rows(found.n)}{measured}: A = {found.slope:.4f}, B = {found.intercept:.4f}, and the calibrated score "
        f"is sigmoid(A × logit(score) + B). {slope(found.slope)}"
    )


def slope(value: float) -> str:
    if value < 0:
        return "A is below 0: the score ranks the wrong way round, and the map turns it."
    if abs(value - 1) < 0.005:
        return "A is 1: the spread of the scores stays."
    if value < 1:
        return "A is below 1: the scores were too extreme and move together."
    return "A is above 1: the scores were too timid and move apart."


# --- 5


NO_LABELS = "These rows carry no label of their own, so that the worked example is shown."
EXAMPLE, OWN = "The worked example", "Ten rows of the data"
OWN_NOTE = (
    "One row from each tenth of the scores with its recorded label, out of 20 draws the one with most to pool: an example, "
    "not a sample of the file."
)


def pooling(found: Pooling, step: int) -> str:
    """The arithmetic of the merge that was made last, or what comes first."""
    if not found.steps:
        return "No neighbours fall: the labels rise with the score, and isotonic regression leaves them as they are."
    if step == 0:
        left, right = found.steps[0].left, found.steps[0].right
        return f"The first neighbours that fall: {w.exact(left.value)} is followed by {w.exact(right.value)}."
    done = found.steps[step - 1]
    sum_of = (
        f"({w.exact(done.left.value)} × {w.edge(done.left.mass)} + {w.exact(done.right.value)} × {w.edge(done.right.mass)}) "
        f"/ {w.edge(done.merged.mass)} = {w.exact(done.merged.value)}"
    )
    if step < len(found.steps):
        return f"{sum_of}."
    return f"{sum_of}. Nothing falls any more: this is the isotonic fit, squared error {w.exact(found.squared_error)}."


# --- 6


def growth(found: Growth) -> str:
    """Where isotonic goes past Platt by each metric."""
    if found.same:
        return "The score has too few values for the two methods to differ."
    told = []
    for metric, at in found.overtakes.items():
        name = w.on_basis(metric, found.basis).removesuffix(",")
        if at is None:
            told.append(f"by {name}, isotonic does not overtake within {w.rows(found.sizes[-1])}")
        else:
            share = found.isotonic_wins[metric][found.sizes.index(at)]
            told.append(
                f"by {name}, isotonic is ahead on average from {w.rows(at)} on (there in {w.rate(float(share))} of resamples)"
            )
    text = "; ".join(told)
    return f"{text[0].upper()}{text[1:]}."


def growth_set_up(found: Growth) -> str:
    stop = (
        ""
        if found.complete
        else f" The data end the sizes at {w.count(found.sizes[-1])}: more rows would be needed for 1,000."
    )
    drawn = w.rows(found.n)
    if found.n < found.total:
        drawn = f"{w.count(found.n)} of the {w.rows(found.total)}, drawn once"
    return (
        f"Means over {found.repeats} seeded resamples of {drawn}, {w.count(found.held_out)} of them held out each "
        f"time; bands: the middle 80\u00a0% of resamples.{stop}"
    )


def growth_of_sample(reason: str) -> str:
    return f"Shown on the sample, as the open file does not suffice: {reason}."
