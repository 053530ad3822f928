"""A calibration map applied to files of any size, batch by batch."""

from calcore.scoring.score_file import ScoreChoices, Scored, score_file
from calcore.scoring.score_parsed import score_parsed

__all__ = ["ScoreChoices", "Scored", "score_file", "score_parsed"]
