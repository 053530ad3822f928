"""Sample files that the project makes itself, from scikit-learn's bundled sets and seeded generators."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

FLIP_RATE = 0.3


def digits_with_flipped_labels(seed: int = 0, flip_rate: float = FLIP_RATE) -> bytes:
    """A CSV of random-forest scores for "the digit is 5 or more" on scikit-learn's handwritten digits.

    The forest was trained on other rows. ``label`` is the true label with ``flip_rate`` of them flipped, in
    training too; ``audit_label`` is the true one; ``ink`` and ``weight_on`` (how dark an image is, and on which
    side it is darker) are group columns. The set-up is that of the LWCal study (160 trees, at least 2 rows a
    leaf).
    """
    digits = load_digits()
    truth = (digits.target >= 5).astype(int)
    rng = np.random.default_rng(seed)
    noisy = np.where(rng.random(truth.size) < flip_rate, 1 - truth, truth)
    train, rest = train_test_split(np.arange(truth.size), test_size=0.5, random_state=seed, stratify=truth)
    forest = RandomForestClassifier(
        n_estimators=160, min_samples_leaf=2, max_features="sqrt", random_state=seed
    )
    score = forest.fit(digits.data[train], noisy[train]).predict_proba(digits.data[rest])[:, 1]
    images = digits.images[rest]
    ink = images.sum(axis=(1, 2))
    side = (images.sum(axis=1) @ np.arange(8)) / ink
    table = pd.DataFrame(
        {
            "image": rest,
            "score": score,
            "label": noisy[rest],
            "audit_label": truth[rest],
            "ink": _thirds(ink, ("light", "medium", "heavy")),
            "weight_on": _thirds(side, ("left", "centre", "right")),
        }
    )
    return table.to_csv(index=False, lineterminator="\n").encode()


def _thirds(values: np.ndarray, names: tuple[str, str, str]) -> np.ndarray:
    return np.array(names)[np.searchsorted(np.quantile(values, [1 / 3, 2 / 3]), values)]
