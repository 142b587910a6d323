"""The tables of the papers repeated: printed numbers, the experiments behind ours, and verdicts."""

from symclust.reproduce._page import write_page
from symclust.reproduce._printed import VERDICTS, Cell, PrintedTable, choose, tables
from symclust.reproduce._run import Kept, Reproduction, reproduce_tables

# The other names above are for the command, and no part of the API.
__all__ = ["Kept", "PrintedTable", "Reproduction", "choose", "reproduce_tables", "tables"]
