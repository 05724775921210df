"""What a reproduction of the paper ends with: ``report.html``, ``claims.json`` and ``summary.md``.

All of it is written from stored results and verdicts; nothing is simulated or judged here.
"""

from .files import REPORT_FILES, write_report
from .headlines import headlines
from .sections import finals_table, picture_captions
from .words import claims_json, claims_tables, counted, shown, split, verdict_lines

__all__ = [
    "REPORT_FILES",
    "claims_json",
    "claims_tables",
    "counted",
    "finals_table",
    "headlines",
    "picture_captions",
    "shown",
    "split",
    "verdict_lines",
    "write_report",
]
