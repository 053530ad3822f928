"""How a file was read and judged, to be kept in a small file or shared as a link; never a row of it."""

from .fields import LOOKED, PATCHED, SETTINGS, STRATEGIES, Looked
from .fitting import fit_choices, fit_looked, fit_settings
from .link import Link, columns_print, read_link, unfit_numbers, write_link
from .session_file import ListUsed, Session

__all__ = [
    "LOOKED",
    "PATCHED",
    "SETTINGS",
    "STRATEGIES",
    "Link",
    "ListUsed",
    "Looked",
    "Session",
    "columns_print",
    "fit_choices",
    "fit_looked",
    "fit_settings",
    "read_link",
    "unfit_numbers",
    "write_link",
]
