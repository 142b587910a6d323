"""Models and checkpoints on disk: NumPy arrays and JSON in one zip file, and no code."""

from symclust.storage._checkpoint import (
    Checkpoint,
    Journal,
    Keep,
    PieceUnderWay,
    Task,
    data_are,
    is_recording,
    keeper,
    read_journal,
    recorded,
    recorded_each,
    recorded_side_by_side,
    recording,
    refuse_checkpoint,
    resuming,
    series,
    stop_recording,
)
from symclust.storage._savable import Savable, load

# The other names above are for other folders, and no part of the API.
__all__ = ["Checkpoint", "load"]
