"""Maps written by version 1 of the format, kept as they were: they load for ever and give the same numbers."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

from calcore.maps import CalibrationMap, json_schema

KEPT = json.loads((Path(__file__).parent / "fixtures" / "version_1.json").read_text("utf-8"))


@pytest.mark.parametrize("name", ["logistic", "piecewise_linear", "patches"])
def test_a_kept_map_still_gives_the_numbers_of_its_day(name: str) -> None:
    kept = KEPT["maps"][name]
    jsonschema.validate(kept, json_schema())
    map_ = CalibrationMap.from_json(json.dumps(kept))
    assert map_.function.kind == name
    found = map_.predict(np.array(KEPT["scores"]), pd.DataFrame(KEPT["rows"]))
    assert found.tolist() == KEPT["calibrated"][name]


@pytest.mark.parametrize("name", ["logistic", "piecewise_linear", "patches"])
def test_a_kept_map_is_written_as_it_was(name: str) -> None:
    kept = KEPT["maps"][name]
    assert json.loads(CalibrationMap.from_json(json.dumps(kept)).to_json()) == kept
