# Needs only python3: `make reproduce` runs the paper in a quick version and writes a report, `make test` runs every
# check, `make lint` and `make quick` parts of it, `make test-slow` the tests that take minutes, `make bench` benchmarks.
PYTHON ?= python3
BIN := .venv/bin
BENCH := .venv-bench/bin
INSTALL := -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

.PHONY: reproduce test lint quick test-slow docs arena-docs bench bench-docs scaling clean

# All packages are pinned, so pip resolves nothing. Skipping compilation saves time: Python compiles what it imports.
.venv/ready: pyproject.toml requirements-run.lock
	$(PYTHON) -m venv .venv
	$(BIN)/python $(INSTALL) --no-deps --no-compile --requirement requirements-run.lock
	$(BIN)/python $(INSTALL) --no-deps --no-build-isolation --editable .
	touch $@

.venv/dev: .venv/ready requirements-dev.lock
	$(BIN)/python $(INSTALL) --no-deps --no-compile --requirement requirements-dev.lock
	touch $@

reproduce: .venv/ready
	$(BIN)/banditselect reproduce

test: lint
	$(PYTEST)

lint: .venv/dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.english

quick: .venv/dev
	$(PYTEST) -m "not slow and not medium"

.venv/clusters: .venv/dev requirements-clusters.lock
	$(BIN)/python $(INSTALL) --requirement requirements-clusters.lock
	touch $@

.venv/images: .venv/dev requirements-images.lock
	$(BIN)/python $(INSTALL) --requirement requirements-images.lock
	touch $@

test-slow: .venv/clusters .venv/images .venv-bench/ready
	$(PYTEST) -m slow
	$(BENCH)/python -m pytest tests/benchmarks/test_benchmarks.py tests/benchmarks/test_customers.py

docs: .venv/dev # after `banditselect reproduce all meta-tasks --scale paper`
	$(BIN)/python -m benchmarks.studies.theory
	$(BIN)/python -m benchmarks.studies.regions
	$(BIN)/python -m benchmarks.studies.regions out/paper
	$(BIN)/python -m docs.fill out/paper

arena-docs: .venv/dev # after `banditselect reproduce arena --scale paper --out out/arena`, `python -m benchmarks.arena --scale paper`
	$(BIN)/python -m docs.fill out/arena

.venv-bench/ready: pyproject.toml requirements-bench.lock requirements-bench-compiled.lock requirements-bench-data.lock
	$(PYTHON) -m venv .venv-bench
	$(BENCH)/python $(INSTALL) --requirement requirements-bench.lock
	@# one peer is compiled here; without a compiler the suite runs without it and says so
	-$(BENCH)/python $(INSTALL) --no-deps --requirement requirements-bench-compiled.lock
	@# only a data file of this package is read, so its dependencies and its Python version do not matter
	$(BENCH)/python $(INSTALL) --no-deps --ignore-requires-python --requirement requirements-bench-data.lock
	$(BENCH)/python $(INSTALL) --no-deps --no-build-isolation --editable .
	touch $@

bench: .venv-bench/ready
	$(BENCH)/python -m benchmarks

bench-docs: .venv-bench/ready # after `make bench`
	$(BENCH)/python -m benchmarks --docs

scaling: .venv/dev
	$(BIN)/python -m benchmarks.scaling

clean:
	rm -rf .venv .venv-bench out build dist src/*.egg-info
	find src -name '*.nb[ic]' -delete -o -name '*.py*.lock' -delete
