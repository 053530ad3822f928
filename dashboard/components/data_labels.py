"""The Data page's one question: what do your labels mean? Parameters only where the answer needs them."""

from __future__ import annotations

import streamlit as st

from calcore.errors import InputError
from calcore.meanings import MEANINGS, PAIRED, guessed_sources, source_values
from calcore.observation import ObservationModel
from dashboard import services
from dashboard import wording as w
from dashboard.components.data_estimates import class_prior, flip_rates, take_over
from dashboard.state import AppState, Settings, change_settings, get_state

FEW = ("clean", "noisy", "pu")
SHARES = {
    "prior": (
        "Share of all rows that are positive (%)",
        "From a random sample that was checked, or from what is known of the population.",
    ),
    "theta1": ("Share of positives in the first group (%)", "The group named first below."),
    "theta2": ("Share of positives in the second group (%)", "The group named second below."),
    "r_min": (
        "Smallest confidence to believe (%)",
        "Smaller ones count as this: a confidence of 0 would weigh infinitely much.",
    ),
}


def meaning(state: AppState) -> None:
    """Ask what the labels mean and write the answer to the settings."""
    settings = state.settings
    st.subheader("What do your labels mean?", anchor=False)
    more = st.toggle(
        "Show the indirect kinds: two groups, confidences, pairs",
        value=settings.labels not in FEW,
        key=state.key("more-kinds"),
    )
    # an answer that was given stays on show
    kinds = list(MEANINGS) if more else list(dict.fromkeys([*FEW, settings.labels]))
    labels = st.radio(
        "What do your labels mean?",
        kinds,
        index=kinds.index(settings.labels),
        format_func=lambda kind: MEANINGS[kind].answer,
        captions=[MEANINGS[kind].explained for kind in kinds],
        key=state.key("labels-mean"),
        label_visibility="collapsed",
    )
    chosen = MEANINGS[labels]
    changes: dict[str, object] = {"labels": labels}
    if labels not in FEW:
        st.caption("Such a file looks like this:")
        st.code(chosen.example, language=None)
    if labels == "noisy":
        changes |= _flip_rates(settings)
        flip_rates(state)
    if labels == "pu":
        class_prior(state)
    for name in chosen.parameters:
        if name in SHARES:
            changes[name] = _share(state, name, getattr(settings, name))
    changes["second_score"] = _second_score(state) if labels in PAIRED else None
    changes["source_values"] = _sources(state, chosen.model) if "source" in chosen.columns else ()
    changes |= _audit(state)
    if any(getattr(settings, name) != value for name, value in changes.items()):
        change_settings(**changes)
        get_state().analysed = False
        st.rerun()


def _second_score(state: AppState) -> str | None:
    """The other score column, for files in which each row holds a pair."""
    assert state.ingested is not None
    taken = set(state.ingested.roles.single().values())
    names = [column.name for column in state.ingested.report.columns if column.name not in taken]
    current = state.settings.second_score
    return st.selectbox(
        "Second score of the pair, where each row holds both",
        [None, *names],
        index=[None, *names].index(current) if current in names else 0,
        format_func=lambda name: "(one row a member, with a pair column)" if name is None else str(name),
        key=state.key("second-score"),
    )


def _sources(state: AppState, model: type[ObservationModel]) -> tuple[str, ...]:
    """Which value of the source column stands for which source of the model."""
    assert state.ingested is not None
    if state.ingested.roles.source is None:
        return ()
    try:
        values, guessed = source_values(state.ingested), guessed_sources(state.ingested, model)
    except InputError:  # a question about the file is open, and the page asks it
        return state.settings.source_values
    said = state.settings.source_values
    if len(said) == len(model.sources) and set(said) <= set(values):
        guessed = said
    picked = []
    for place, name, position in zip(st.columns(len(model.sources)), model.sources, range(10), strict=False):
        default = values.index(guessed[position]) if guessed else None
        value = place.selectbox(
            f'Which source value means "{name}"?',
            values,
            index=default,
            key=state.key(f"source-{model.__name__}-{name}"),
        )
        picked.append(value)
    return tuple(value for value in picked if value) if all(picked) else ()


def _share(state: AppState, name: str, value: float | None) -> float | None:
    words, help_text = SHARES[name]
    given = st.number_input(
        words,
        0.0,
        100.0,
        None if value is None else 100 * value,
        1.0,
        placeholder="for example 12",
        key=state.key(name),
        help=help_text,
    )
    if given is not None and value is not None and abs(given / 100 - value) < 1e-12:
        return value  # a share that was not typed here stays as it is to the last digit
    return None if given is None else given / 100


def _flip_rates(settings: Settings) -> dict[str, object]:
    rho0, rho1 = settings.rho0, settings.rho1
    known = st.toggle(
        "I know how often labels are flipped",
        value=rho0 is not None,
        key=get_state().key("rates-known"),
        help="From a re-labelled sample: of the true negatives, the share recorded as positive; and the reverse.",
    )
    if not known:
        st.caption("Without rates nothing is corrected: results are named as being against the noisy labels.")
        return {"rho0": None, "rho1": None, "rates_origin": "given"}
    left, right = st.columns(2)
    first = left.number_input(
        "True negatives recorded as positive (%)",
        0.0,
        100.0,
        100 * (rho0 if rho0 is not None else 0.1),
        1.0,
        key=get_state().key("rho0"),
    )
    second = right.number_input(
        "True positives recorded as negative (%)",
        0.0,
        100.0,
        100 * (rho1 if rho1 is not None else 0.1),
        1.0,
        key=get_state().key("rho1"),
    )
    # rates that the user changes by hand are the user's
    same = rho0 is not None and rho1 is not None and abs(first / 100 - rho0) + abs(second / 100 - rho1) < 1e-9
    if same:
        return {}
    return {"rho0": first / 100, "rho1": second / 100, "rates_origin": "given"}


def _audit(state: AppState) -> dict[str, object]:
    assert state.ingested is not None
    checked = services.lists_in_use(state)[0] is not None
    _counted_rates(state)
    if state.ingested.roles.audit is None:
        # a sample that was checked and brought back stays what is measured on
        return {"audit_random": False} | ({} if checked else {"measure_on": "labels"})
    random = st.checkbox(
        "The audited rows are a random sample (or all rows)",
        value=state.settings.audit_random,
        key=get_state().key("audit-random"),
        help="Rows picked because they looked wrong would make a right score look bad: they are never ranked on.",
    )
    if random == state.settings.audit_random:
        return {"audit_random": random}
    return {"audit_random": random, "measure_on": "audit" if random or checked else "labels"}


def _counted_rates(state: AppState) -> None:
    """Flip rates counted on the audited rows, to be taken over with one click."""
    assert state.ingested is not None
    found = services.audited_flip_rates(state.ingested)
    if found is None:
        return
    st.markdown(
        f"On {w.rows(found.disagreement.n)} with both labels they disagree on {w.rate(found.disagreement.value)}. "
        f"Recorded positive though negative: {w.rate(found.rho0.value)} (95 % interval {w.rates(*found.rho0.interval)}); "
        f"recorded negative though positive: {w.rate(found.rho1.value)} ({w.rates(*found.rho1.interval)})."
    )
    known = (state.settings.rho0, state.settings.rho1)
    taken = known == (round(found.rho0.value, 4), round(found.rho1.value, 4))
    usable = found.rho0.value + found.rho1.value < 1 and state.settings.labels == "noisy"
    if usable and not taken and st.button("Use these rates", key="use-rates", icon=":material/check:"):
        take_over(state, found, "given")
