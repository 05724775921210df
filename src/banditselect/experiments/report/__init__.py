"""The report of a reproduction: ``report.html``, ``claims.json`` and ``summary.md``, from stored results."""
