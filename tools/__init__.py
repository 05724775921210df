"""Tools of the developers, run from the root of the repository. They use the library; they are not part of it."""
