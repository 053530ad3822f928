"""What goes into the history and what comes out of it: frozen, with times in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from calcore.wording import count

Kind = Literal["measured", "estimated"]
Document = Mapping[str, Any]
"""A JSON object: texts as keys; texts, numbers (NaN and infinity too), true, false, None, lists and objects."""


@dataclass(frozen=True)
class BatchRecord:
    """What a run says of one batch.

    key: names the batch in its stream; a later record of the same key replaces the earlier one.
    label: the name that people read. start, end: its time, with a time zone, or None.
    rows, labelled: 0 <= labelled <= rows. kind: "measured" on labels, or "estimated" until they come.
    document: its metrics with intervals; the store does not look into it.
    """

    key: str
    label: str
    start: datetime | None
    end: datetime | None
    rows: int
    labelled: int
    kind: Kind = "measured"
    document: Document = field(default_factory=dict)


@dataclass(frozen=True)
class AlertRecord:
    """What a run found worth an alert; the key is the same whenever a later run finds it again."""

    key: str
    level: str
    batch_key: str | None = None
    document: Document = field(default_factory=dict)


@dataclass(frozen=True)
class Stream:
    """A monitored series of batches; names are unique."""

    id: int
    name: str
    at: datetime


@dataclass(frozen=True)
class Dataset:
    """The fingerprint of a file that was read; its rows are kept only where `Store.keep_rows` was asked to."""

    id: int
    stream_id: int
    sha256: str
    filename: str
    rows: int
    columns: tuple[str, ...]
    at: datetime


@dataclass(frozen=True)
class Run:
    """One confirmed run. repeated: the call stored nothing, the run was there already."""

    id: int
    stream_id: int
    dataset_id: int
    key: str
    at: datetime
    settings: Document
    repeated: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class SavedState:
    """What sequential tests carry from one run to the next, and the run that left it."""

    run: Run
    document: Document


@dataclass(frozen=True)
class Batch:
    """A record of a batch, with the run that it is from."""

    id: int
    run_id: int
    record: BatchRecord


@dataclass(frozen=True)
class Acknowledgement:
    """Who has seen an alert. kept_earlier: the alert was acknowledged before, and this is that earlier one."""

    alert_id: int
    by: str
    note: str
    at: datetime
    kept_earlier: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Alert:
    """An alert as the last run that found it described it; the times are those of its first and last run."""

    id: int
    stream_id: int
    key: str
    level: str
    batch_key: str | None
    document: Document
    first_run_id: int
    first_seen: datetime
    last_run_id: int
    last_seen: datetime
    acknowledged: Acknowledgement | None


@dataclass(frozen=True)
class MapRecord:
    """A calibration map of a stream, addressed by what it holds: sha256 is the map's own checksum."""

    id: int
    stream_id: int
    sha256: str
    name: str
    parent_id: int | None
    at: datetime


@dataclass(frozen=True)
class LivePeriod:
    """From `since` until `until` (None: no end yet) this map was live; map None: scores were used as they are."""

    id: int
    stream_id: int
    number: int
    map: MapRecord | None
    since: datetime
    until: datetime | None
    by: str


_COUNTED = ("dataset", "run", "batch record", "alert", "map", "live period")


@dataclass(frozen=True)
class Deleted:
    """What a deletion removed.

    rows_kept: datasets whose rows had been kept. erased: the bytes are gone from the files of the database
    too; where not, because another program was using them, the next `Store.open` tries again.
    """

    what: str
    datasets: int = 0
    runs: int = 0
    batch_records: int = 0
    alerts: int = 0
    maps: int = 0
    live_periods: int = 0
    rows_kept: int = 0
    erased: bool = True

    @property
    def sentence(self) -> str:
        """What was deleted, in one sentence."""
        numbers = (
            self.datasets,
            self.runs,
            self.batch_records,
            self.alerts,
            self.maps,
            self.live_periods,
        )
        parts = [f"{count(n)} {name}{'s' * (n != 1)}" for n, name in zip(numbers, _COUNTED, strict=True) if n]
        if self.rows_kept:
            parts.append(f"the kept rows of {count(self.rows_kept)} of the datasets")
        found = ", ".join(parts) if parts else "nothing else was stored with it"
        rest = (
            ""
            if self.erased
            else "; another program is using the history, so its free space is overwritten later"
        )
        return f"Deleted {self.what}: {found}{rest}."
