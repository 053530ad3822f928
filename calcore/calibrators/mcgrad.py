"""MCGrad: multicalibration by gradient boosting, where the package ``mcgrad`` is installed."""

from __future__ import annotations

import logging
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from calcore.calibrators.base import REGISTRY, Calibrator
from calcore.errors import DoesNotExist
from calcore.evidence import Evidence
from calcore.maps.boosted_trees import LEAF, LOG_ODDS, BoostedTreesFunction, Node
from calcore.maps.functions import IdentityFunction
from calcore.maps.map_function import MapFunction
from calcore.validation import whole_number

#: Below this many rows, or rows of one class, its trees (of 160 rows a leaf) learn nothing.
FEWEST_ROWS, FEWEST_OF_A_CLASS = 400, 20


class MCGrad(Calibrator):
    """The authors' MCGrad (Tax et al. 2026) on the subgroups of a row and its log-odds, with their defaults.

    Each round fits LightGBM trees to what the last left over, and rescales; how many rounds is found by
    cross-validation on rows, so that their order matters. The map holds the trees themselves and needs neither package.
    Labels count as recorded: under corrected or weak labels it does not exist, since its trees take no negative
    weights. Too few rows leave the score as it is. Fitted: ``rounds_``.
    """

    title = "MCGrad"
    summary = "Gradient boosting on subgroups and score; strong on many rows. Needs the package mcgrad."
    needs_row_labels = True
    needs_groups = True

    def __init__(self, seed: int = 42) -> None:
        self.seed = seed

    def _check_parameters(self) -> None:
        super()._check_parameters()
        whole_number(self.seed, "seed", 0, 2**31 - 1)

    def _fit(self, evidence: Evidence) -> MapFunction:
        assert evidence.label is not None
        if bool((evidence.positive * evidence.negative).any()):
            raise DoesNotExist(
                "MCGrad does not exist for corrected labels: its trees take no negative weights"
            )
        self.rounds_ = 0
        used = evidence.weight > 0
        label = evidence.label[used].astype(np.int64)
        if evidence.membership is None or not evidence.membership.names:
            self._warn("no subgroups: the scores are left as they are")
            return IdentityFunction()
        if used.sum() < FEWEST_ROWS or min(label.sum(), (1 - label).sum()) < FEWEST_OF_A_CLASS:
            self._warn("too few rows, or rows of one class, for boosting: the scores are left as they are")
            return IdentityFunction()
        masks = evidence.membership.masks()[used].astype(np.float64)
        columns = [f"g{k}" for k in range(masks.shape[1])]
        table = pd.DataFrame(masks, columns=columns)
        table = table.assign(score=evidence.score[used], label=label, weight=evidence.weight[used])
        boosted = _boosted(table, columns, self.seed)
        self.rounds_ = len(boosted.mr)
        if not self.rounds_:
            return IdentityFunction()
        return BoostedTreesFunction(
            epsilon=_epsilon(),
            factors=tuple(float(factor) for factor in boosted.unshrink_factors),
            rounds=tuple(
                tuple(_nodes(tree["tree_structure"], len(columns)) for tree in _dumped(model)["tree_info"])
                for model in boosted.mr
            ),
        )


def _boosted(table: pd.DataFrame, columns: list[str], seed: int) -> Any:
    from mcgrad.methods import MCGrad as Boosting

    log, level = logging.getLogger("mcgrad"), logging.getLogger("mcgrad").level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            # one thread: the same trees on every machine, and no fight for cores with other fits
            trees = {**Boosting.DEFAULT_HYPERPARAMS["lightgbm_params"], "num_threads": 1}
            return Boosting(random_state=seed, lightgbm_params=trees).fit(
                table, "score", "label", weight_column_name="weight", numerical_feature_column_names=columns
            )
    finally:
        log.setLevel(level)


def _epsilon() -> float:
    from mcgrad import _utils

    return float(_utils.MIN_LOGIT_EPSILON)


def _dumped(model: Any) -> Any:
    return (model.booster_ if hasattr(model, "booster_") else model).dump_model()


def _nodes(tree: dict[str, Any], log_odds: int) -> tuple[Node, ...]:
    """LightGBM's nested tree as a list of nodes; the feature at ``log_odds`` is the score's."""
    found: list[Node] = []

    def add(part: dict[str, Any]) -> int:
        place = len(found)
        found.append((LEAF, float(part.get("leaf_value", 0.0)), 0, 0))
        if "split_feature" in part:
            feature = LOG_ODDS if part["split_feature"] == log_odds else int(part["split_feature"])
            left, right = add(part["left_child"]), add(part["right_child"])
            found[place] = (feature, float(part["threshold"]), left, right)
        return place

    add(tree)
    return tuple(found)


if find_spec("mcgrad") is None:
    # known by its name, so that a stored map can be read about, but not offered
    del REGISTRY["MCGrad"]
