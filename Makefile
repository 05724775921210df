# The one door. On a machine with python3: `make reproduce` runs the paper in a quick version and writes a report,
# `make test` runs every check, `make test-slow` the ones that take minutes, `make bench` the speed comparison.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: reproduce test test-slow docs bench clean

.venv/ready: pyproject.toml requirements-dev.lock
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

reproduce: .venv/ready
	$(BIN)/banditselect reproduce

test: .venv/ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --numprocesses 2

.venv/clusters: .venv/ready requirements-clusters.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-clusters.lock
	touch $@

.venv/images: .venv/ready requirements-images.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-images.lock
	touch $@

test-slow: .venv/ready .venv/clusters .venv/images
	$(BIN)/python -m pytest --numprocesses 2 -m slow

docs: .venv/ready # after `banditselect reproduce all --scale paper`
	$(BIN)/python docs/from_results.py out/paper

bench: .venv/ready
	$(BIN)/python benchmarks/one_lane.py
	$(BIN)/python benchmarks/whole_loop.py

clean:
	rm -rf .venv out build dist src/*.egg-info
