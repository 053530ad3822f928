"""Settings of one file applied to another of the same layout: what fits is used, what does not is named."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from calcore.errors import InputError
from calcore.ingest import Choices, Ingested, Roles, interpret
from calcore.ingest.parsed import Parsed
from calcore.ingest.roles import guess_roles
from calcore.meanings import MEANINGS, source_values
from calcore.monitoring.batches import CALENDAR
from calcore.settings import Settings

from .fields import Looked


def fit_choices(parsed: Parsed, choices: Choices, roles: Roles) -> tuple[Choices, list[str]]:
    """The choices that this file can be read under, and a sentence for each that it cannot.

    ``roles`` are the columns that followed from ``choices`` in the file they were made for; they are kept, so that
    another file is not guessed at in another way.
    """
    wanted = choices
    said: list[str] = []
    if choices.classes is None:
        fitting, said = _fit_roles(parsed, roles)
        wanted = replace(choices, roles=fitting)
    if choices.score_scale in ("percent", "logit") and not _asks_for_scale(parsed, wanted):
        said.append(
            f"score scale {choices.score_scale}: these scores are all within 0 and 1, and are read as they are."
        )
        wanted = replace(wanted, score_scale=None)
    try:
        interpret(parsed, wanted)
        return wanted, said
    except InputError:
        return _piece_by_piece(parsed, wanted, said)


def _fit_roles(parsed: Parsed, roles: Roles) -> tuple[Roles, list[str]]:
    said: list[str] = []
    guessed = guess_roles(parsed.columns)
    gone = {role: name for role, name in roles.single().items() if name not in parsed.columns}
    single = {role: name for role, name in roles.single().items() if role not in gone}
    for role, name in gone.items():
        other = guessed.single().get(role)
        if other is not None and other not in single.values() and other not in roles.groups:
            single[role] = other
            said.append(f'{role}: there is no column "{name}"; "{other}" is taken for it.')
        else:
            said.append(f'{role}: there is no column "{name}"; no column is taken for it.')
    missing = [name for name in roles.groups if name not in parsed.columns]
    said += [f'subgroups: there is no column "{name}"; it is left out.' for name in missing]
    return Roles(**single, groups=tuple(name for name in roles.groups if name not in missing)), said


def _asks_for_scale(parsed: Parsed, choices: Choices) -> bool:
    try:
        questions = interpret(parsed, replace(choices, score_scale=None, rivals=())).report.questions
    except InputError:
        return True  # what is wrong is found, and named, one choice after the other
    return any(question.kind == "score_scale" for question in questions)


#: Choices as people know them, in the order in which they are tried.
_PIECES = {
    "classes": "classes of one model",
    "roles": "columns",
    "score_scale": "score scale",
    "label_mapping": "which labels are positive",
    "audit_mapping": "which audit labels are positive",
    "day_first": "order of day and month",
    "top_groups": "largest values of a subgroup column",
    "rivals": "rival scores",
}


def _piece_by_piece(parsed: Parsed, wanted: Choices, said: list[str]) -> tuple[Choices, list[str]]:
    plain, found, given = Choices(format=wanted.format), Choices(format=wanted.format), vars(wanted)
    for name, words in _PIECES.items():
        if given[name] == vars(plain)[name]:
            continue
        tried = replace(found, **{name: given[name]})
        try:
            interpret(parsed, tried)
        except InputError as error:
            said.append(f"{words}: {str(error).rstrip('.')}; what the file suggests is used.")
        else:
            found = tried
    return found, said


def fit_settings(ingested: Ingested, settings: Settings, sample: bool) -> tuple[Settings, list[str]]:
    """The settings that a file has the columns for, and a sentence for each that it has not.

    ``sample``: a random sample was checked and brought back.
    """
    said = []
    names = [column.name for column in ingested.report.columns]
    if settings.second_score is not None and settings.second_score not in names:
        said.append(f'second score: there is no column "{settings.second_score}"; none is used.')
        settings = replace(settings, second_score=None)
    sources = settings.source_values
    if sources:
        present = _sources(ingested)
        if not set(sources) <= set(present) or len(sources) != len(MEANINGS[settings.labels].model.sources):
            said.append(
                f"values of the source column {', '.join(sources)}: not all of them are in this file; say again which means what."
            )
            settings = replace(settings, source_values=())
    if settings.audit_random and ingested.roles.audit is None:
        said.append("audit_random: no column holds clean audit labels; it is left out.")
        settings = replace(settings, audit_random=False)
    if settings.measure_on == "audit" and not (settings.audit_random or sample):
        reason = (
            "no clean audit labels of a random sample are here"
            if ingested.roles.audit is None
            else "nobody says that the audited rows are a random sample"
        )
        said.append(f"measure_on=audit: {reason}; measured on the recorded labels.")
        settings = replace(settings, measure_on="labels")
    return settings, said


def _sources(ingested: Ingested) -> list[str]:
    try:
        return source_values(ingested)
    except InputError:  # a question about the file is open
        return []


def fit_looked(
    looked: Looked,
    calibrators: Collection[str],
    groups: Collection[str],
    columns: Collection[str] | None = None,
    timed: bool = True,
) -> tuple[Looked, list[str]]:
    """What can be looked at where these calibrators and subgroups exist, and a sentence for what cannot.

    ``columns`` are those that can be batches (None: any); ``timed``: is there a time column?
    """
    said: list[str] = []

    def existing(wanted: tuple[str, ...], words: str) -> tuple[str, ...]:
        gone = [name for name in wanted if name not in calibrators]
        if gone:
            verb, it = ("does", "it is") if len(gone) == 1 else ("do", "they are")
            said.append(f"{words}: {', '.join(gone)} {verb} not exist for these labels; {it} left out.")
        return tuple(name for name in wanted if name not in gone)

    looked = replace(looked, calibrators=existing(looked.calibrators, "calibrators drawn"))
    if looked.compared is not None:
        looked = replace(looked, compared=existing(looked.compared, "calibrators compared"))
    if looked.exported is not None and looked.exported not in calibrators:
        said.append(f"export: {looked.exported} does not exist for these labels; the suggested map is used.")
        looked = replace(looked, exported=None)
    if looked.group is not None and looked.group not in groups:
        said.append(f'group: there is no subgroup "{looked.group}"; everyone is shown.')
        looked = replace(looked, group=None)
    if looked.ranked_on == "MC" and not groups:
        said.append("sorted by MC: there are no subgroups; Brier is used.")
        looked = replace(looked, ranked_on="Brier")
    looked, about_batches = _fit_batches(looked, columns, timed)
    return looked, said + about_batches


def _fit_batches(looked: Looked, columns: Collection[str] | None, timed: bool) -> tuple[Looked, list[str]]:
    """Batches that this file can be split into."""
    said: list[str] = []
    if looked.batch_by in CALENDAR and not timed:
        said.append(
            f"batches by {looked.batch_by}: no time column is chosen; the suggested batches are used."
        )
        looked = replace(looked, batch_by=None)
    if columns is not None and looked.batch_column is not None and looked.batch_column not in columns:
        if looked.batch_by == "column":
            said.append(
                f'batches by column: there is no column "{looked.batch_column}"; the suggested batches are used.'
            )
            looked = replace(looked, batch_by=None)
        looked = replace(looked, batch_column=None)
    return looked, said
