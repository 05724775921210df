"""Models: arrays with a row per lane, `learn`, and answers to the questions of plays and users."""
