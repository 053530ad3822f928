"""A file read under the options of the command line: the same evidence as the dashboard makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from calcore import ingest
from calcore.cli.file_options import TIES, FileOptions
from calcore.cli.label_options import with_positive, with_ties
from calcore.cli.remembered import TimeOptions, fitting
from calcore.errors import InputError, NoLabels
from calcore.evidence import Evidence
from calcore.file_evidence import evidence_of, evidence_of_no_rows
from calcore.ingest import Choices, Ingested, JoinAccount, Parsed, Question, Roles
from calcore.ingest.columns import Column
from calcore.ingest.report import quote_list
from calcore.ingest.roles import check_roles, guess_roles
from calcore.meanings import MEANINGS, PARAMETER_WORDS, ROLE_WORDS, guessed_sources, source_values
from calcore.settings import Settings, smallest_share
from calcore.subgroups import SubgroupChoice
from calcore.usual_calibrators import available
from calcore.wording import short

_PARAMETERS = ("prior", "rho0", "rho1", "theta1", "theta2", "r_min")


@dataclass(frozen=True, eq=False)
class Opened:
    """A file with its evidence; ``notes`` say what was assumed, and which option says otherwise."""

    ingested: Ingested
    settings: Settings
    evidence: Evidence
    audit: Evidence | None
    choice: SubgroupChoice
    notes: tuple[str, ...]

    @property
    def measured(self) -> Evidence:
        """What results are measured on: the random sample of checked labels, where there is one."""
        return self.evidence if self.audit is None else self.audit

    @property
    def measured_against(self) -> str:
        return self.evidence.model.basis if self.audit is None else "against the checked labels"

    @property
    def calibrators(self) -> tuple[str, ...]:
        return available(self.evidence)


def open_file(
    path: str | bytes,
    options: FileOptions,
    tolerance: float = Settings.tolerance,
    when: TimeOptions | None = None,
    filename: str | None = None,
    remembered: Mapping[str, Any] | None = None,
) -> Opened:
    """Read ``path``, or the bytes of a file called ``filename``; ``when`` for commands that look at times.

    ``remembered``: what was said of earlier files of the stream (see ``remembered.said``).

    Raises InputError, which names the option that answers where the user has to decide.
    """
    parsed = ingest.parse(path, filename, options.format)
    said = options
    missing: list[str] = []
    if remembered and when is not None:
        options, when, missing = fitting(remembered, parsed.columns, options, when)
    parsed, options, account = _with_late_labels(path, parsed, options)
    roles = _roles(parsed.columns, options)
    choices = Choices(format=options.format, roles=roles, score_scale=options.scale)  # type: ignore[arg-type]
    if when is not None:
        if when.column is not None:
            choices = replace(
                choices, roles=_with_time(roles or guess_roles(parsed.columns), parsed, when.column)
            )
        choices = replace(choices, day_first=when.day_first)
    if options.positive is not None:
        choices = with_positive(choices, parsed, options.positive, said.positive is not None)
    if options.ties is not None:
        choices = with_ties(choices, parsed, TIES[options.ties])
    ingested = ingest.interpret(parsed, choices)
    notes = [*missing, *_about_join(account, ingested)]
    notes += _answered(ingested, options, when is not None)
    settings = _settings(ingested, options, tolerance, waiting=when is not None and said.label is None)
    if ingested.roles.audit is not None and not settings.audit_random:
        notes.append(_about_audit(ingested.roles.audit, options))
    smallest = smallest_share(settings, ingested.report.rows_kept)
    waiting = when is not None and settings.labels in ("clean", "noisy") and not settings.audit_random
    if waiting and ingested.roles.label is None:
        why = "No label column was found: nothing can be measured yet; name it with --label COLUMN."
        return _without_labels(ingested, settings, [*notes, why])
    try:
        evidence, audit, choice = evidence_of(ingested, settings, smallest)
    except NoLabels:
        if not waiting:
            raise
        why = f'"{ingested.roles.label}" holds no label yet: nothing can be measured.'
        return _without_labels(ingested, settings, [*notes, why])
    if settings.audit_random and audit is None:
        raise InputError(
            f'"{options.audit_label}" holds no label that can be read; name another --audit-label.'
        )
    return Opened(ingested, settings, evidence, audit, choice, tuple(notes))


def _without_labels(ingested: Ingested, settings: Settings, notes: list[str]) -> Opened:
    """A file whose labels have not come yet, for commands that can wait for them."""
    nothing = evidence_of_no_rows(ingested, settings)
    return Opened(ingested, settings, nothing, None, SubgroupChoice((), 0, 0), tuple(notes))


def _with_late_labels(
    path: str | bytes, scores: Parsed, options: FileOptions
) -> tuple[Parsed, FileOptions, JoinAccount | None]:
    """The scores with the labels of --labels-file, whose column is the label from then on, and what became of them."""
    if options.labels_file is None:
        if options.id_column is not None or options.labels_id is not None:
            raise InputError("--id and --labels-id say how a --labels-file is joined; name that file too.")
        return scores, options, None
    labels = ingest.parse(options.labels_file)
    label = options.label if options.label in labels.columns else None
    into = options.label if options.label in scores.columns else None
    if options.label is not None and label is None and into is None:
        raise InputError(f'There is no column "{options.label}" in {scores.filename} or {labels.filename}.')
    try:
        found = ingest.guess_join(scores, labels, options.id_column, options.labels_id, label)
        if found.on is not None and found.labels_on is not None:
            scores = ingest.parse_with_text_ids(scores, path, found.on)
            labels = ingest.parse_with_text_ids(labels, options.labels_file, found.labels_on)
        joined = ingest.join_labels(scores, labels, found.on, found.labels_on, found.label, into)
    except ingest.NotNamed as error:
        option = "--label" if error.what == "label" else "--id (and --labels-id)"
        raise InputError(f"{str(error).rstrip('.')}, with {option}.") from None
    return joined.parsed, replace(options, label=joined.column), joined.account


def _about_join(account: JoinAccount | None, ingested: Ingested) -> list[str]:
    if account is None:
        return []
    refused = account.refused_after(ingested.report.rows_kept)
    return [f"{account.sentence()}.", *refused, *account.details()]


def _roles(columns: Mapping[str, Column], options: FileOptions) -> Roles | None:
    """Guessed roles with those that were named; None where none was, so that nothing differs from a guess."""
    named = {
        "score": options.score, "label": options.label, "audit": options.audit_label, "source": options.source,
        "confidence": options.confidence, "weight": options.weight, "unit": options.unit,
    }  # fmt: skip
    said = {role: name for role, name in named.items() if name is not None}
    if not said and not options.group and not options.no_groups and options.second_score is None:
        return None
    check_roles(Roles(**said, groups=options.group), columns)
    if options.second_score is not None and options.second_score not in columns:
        raise InputError(
            f'There is no column "{options.second_score}"; the file has {quote_list(list(columns))}.'
        )
    taken = {*said.values(), *options.group, options.second_score}
    guessed = guess_roles(columns)
    single = {r: n for r, n in guessed.single().items() if r not in said and n not in taken}
    free = {
        name: column for name, column in columns.items() if name not in taken and name not in single.values()
    }
    again = guess_roles(free)
    for role in ("score", "label"):  # a column that was guessed here plays the role that was named for it
        if role not in said and role not in single and getattr(again, role) is not None:
            single[role] = getattr(again, role)
    groups = tuple(name for name in guessed.groups if name not in taken and name not in single.values())
    return Roles(**said, **single, groups=() if options.no_groups else options.group or groups)


def _with_time(roles: Roles, parsed: Parsed, column: str) -> Roles:
    if column not in parsed.columns:
        raise InputError(f'There is no column "{column}"; the file has {quote_list(list(parsed.columns))}.')
    if column in roles.single().values() and roles.time != column:
        raise InputError(f'"{column}" is the {roles.role_of(column)}; name another --time.')
    return replace(roles, time=column, groups=tuple(name for name in roles.groups if name != column))


def _answered(ingested: Ingested, options: FileOptions, times: bool = False) -> list[str]:
    """What was assumed where the file leaves a question; raises InputError where nothing can be assumed."""
    notes = []
    for question in ingested.report.questions:
        said = _said(question, options)
        if question.kind == "score_scale":
            raise InputError(f"{question.sentence} {said}")
        if question.kind == "positive_label" and question.default is None:
            raise InputError(f"{question.sentence} {said}")
        if question.kind == "too_many_groups" and question.column in options.group:
            raise InputError(
                f"{question.sentence.split(':')[0]}: name another --group, or put its values together."
            )
        if question.kind == "tied_label" and options.ties is not None:
            continue
        if question.kind == "date_order" and times and question.default is None:
            raise InputError(f"{question.sentence} Say so with --day-first or --month-first.")
        if question.kind != "date_order":  # the other commands do not look at times
            notes.append(said)
    roles = ingested.roles
    if roles.score is None:
        names = quote_list([column.name for column in ingested.report.columns])
        raise InputError(
            f"No column looks like a score; name it with --score COLUMN: the file holds {names}."
        )
    _ = ingested.columns  # whatever else is open is a sentence of its own
    return notes


def _said(question: Question, options: FileOptions) -> str:
    if question.kind == "score_scale":
        return f"Say so with {_either('--scale', question.options)}."
    if question.kind == "positive_label" and question.default is None:
        return f"Say so with {_either('--positive', question.options)}."
    if question.kind == "positive_label" and set(question.options) == {"negative", "unlabelled"}:
        return f'"{question.column}": -1 was taken for {question.default}.'
    if question.kind == "positive_label":
        return f'"{question.column}": {question.default} was taken for positive; --positive says otherwise.'
    if question.kind == "tied_label":
        return f'"{question.column}" holds ties (0.5), which are left out; --ties says otherwise.'
    if question.kind == "no_header":
        return "The first row looks like data, so columns are called column_1 and so on; --header says otherwise."
    return f"{question.sentence.split(':')[0]}: left out."


def _either(option: str, values: tuple[str, ...]) -> str:
    first = [short(value) for value in values[:4]]
    shown = [f"{option} {value!r}" if " " in value else f"{option} {value}" for value in first]
    return " or ".join(shown) + (" and so on" if len(values) > 4 else "")


def _about_audit(column: str, options: FileOptions) -> str:
    taken = (
        ""
        if options.labels
        else " The recorded labels are therefore taken for noisy; --labels clean says otherwise."
    )
    return (
        f'"{column}" looks like checked labels.{taken} --audit-label "{column}" measures on them, if their rows are a '
        "random sample."
    )


def _settings(ingested: Ingested, options: FileOptions, tolerance: float, waiting: bool = False) -> Settings:
    """What was said of the labels; ``waiting``: a missing label column is one whose labels have not come yet."""
    kind = options.labels or ("noisy" if ingested.roles.audit is not None else "clean")
    meaning = MEANINGS[kind]
    values = {name: getattr(options, name) for name in _PARAMETERS}
    for name, value in values.items():
        if value is not None and name not in meaning.parameters:
            hint = "" if options.labels else "; say what they mean with --labels"
            raise InputError(f'{_option(name)} says nothing about labels that are "{kind}"{hint}.')
        if value is None and name in meaning.parameters and name in PARAMETER_WORDS:
            raise InputError(f"--labels {kind} needs {_option(name)}: {PARAMETER_WORDS[name]}.")
    for role in meaning.columns:
        told = options.second_score is not None and (role == "unit" or kind == "pcomp")
        if getattr(ingested.roles, role) is None and not told and not (waiting and role == "label"):
            raise InputError(
                f"--labels {kind} needs a {ROLE_WORDS[role]} column; name it with --{role} COLUMN."
            )
    sources: tuple[str, ...] = ()
    if options.source_value or ("source" in meaning.columns and ingested.roles.source is not None):
        sources = _sources(ingested, options, kind)
    return Settings(
        labels=kind,
        source_values=sources,
        second_score=options.second_score,
        audit_random=options.audit_label is not None,
        measure_on="labels" if options.audit_label is None else "audit",
        tolerance=tolerance,
        bins=options.bins,
        min_mass=options.min_mass,
        **values,
    )


def _sources(ingested: Ingested, options: FileOptions, kind: str) -> tuple[str, ...]:
    model = MEANINGS[kind].model
    found = source_values(ingested)
    wanted = options.source_value or guessed_sources(ingested, model)
    if len(set(wanted)) == len(model.sources) and set(wanted) <= set(found):
        return tuple(wanted)
    order = " ".join(f"--source-value <{name}>" for name in model.sources)
    column = ingested.roles.source
    holds = f'"{column}" holds {quote_list(found)}' if column else "name the source column with --source"
    raise InputError(f"Say which source value means what with {order}: {holds}.")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
