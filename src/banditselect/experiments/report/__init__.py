"""What a reproduction of the paper ends with: ``report.html``, ``claims.json`` and ``summary.md``.

All of it is written from stored results and verdicts; nothing is simulated or judged here.
"""

from .files import write_report
from .sections import finals_table
from .words import claims_json, claims_table, counted, verdict_lines

__all__ = ["claims_json", "claims_table", "counted", "finals_table", "verdict_lines", "write_report"]
