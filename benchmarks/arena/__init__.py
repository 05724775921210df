"""Published rates and failures of the rivals in the arena: two experiments, and their verdicts."""
