"""The one error that users of the library see: a sentence that says what was found, where, and what to do."""

from calcore.wording import readable


class InputError(ValueError):
    """Something that was given cannot be used; the message is one sentence for the person who gave it."""

    def __init__(self, sentence: str) -> None:
        super().__init__(readable(sentence))


class NoLabels(InputError):
    """No row has a label: not yet, or the wrong column is chosen."""


class NotIdentifiable(InputError):
    """The stated assumptions do not determine the answer (for example flip rates that sum to one)."""


class DoesNotExist(InputError):
    """The quantity has no meaning under this observation model (for example LWCal without row labels)."""
