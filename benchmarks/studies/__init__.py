"""Studies behind pages of the documentation: each plays seeded games and fills the tables of its page."""
