# The one door. On a machine with python3: `make reproduce` runs the paper in a quick version and writes a report,
# `make test` runs every check, `make test-slow` the ones that take minutes, `make bench` the benchmarks.
PYTHON ?= python3
BIN := .venv/bin
BENCH := .venv-bench/bin

.PHONY: reproduce test test-slow docs arena-docs bench bench-docs scaling clean

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

test-slow: .venv/ready .venv/clusters .venv/images .venv-bench/ready
	$(BIN)/python -m pytest --numprocesses 2 -m slow
	$(BENCH)/python -m pytest tests/test_benchmarks.py tests/test_customers.py

docs: .venv/ready # after `banditselect reproduce all meta-tasks --scale paper`
	$(BIN)/python docs/measured.py
	$(BIN)/python -m benchmarks.regions_study
	$(BIN)/python -m benchmarks.regions_study out/paper
	$(BIN)/python docs/from_results.py out/paper

arena-docs: .venv/ready # after `banditselect reproduce arena arena-rates arena-masters --scale paper --out out/arena`
	$(BIN)/python docs/arena_page.py out/arena

.venv-bench/ready: pyproject.toml requirements-bench.lock requirements-bench-compiled.lock requirements-bench-data.lock
	$(PYTHON) -m venv .venv-bench
	$(BENCH)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-bench.lock
	@# one peer is compiled here; without a compiler the suite goes on and says that it is missing
	-$(BENCH)/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement requirements-bench-compiled.lock
	@# of this one only a file of data is read: neither what it needs nor its limit on Python matters
	$(BENCH)/python -m pip install --quiet --disable-pip-version-check --no-deps --ignore-requires-python --requirement requirements-bench-data.lock
	$(BENCH)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

bench: .venv-bench/ready
	$(BENCH)/python -m benchmarks

bench-docs: .venv-bench/ready # after `make bench`
	$(BENCH)/python -m benchmarks --docs

scaling: .venv/ready
	$(BIN)/python -m benchmarks.scaling
	$(BIN)/python -m benchmarks.scaling_page

clean:
	rm -rf .venv .venv-bench out build dist src/*.egg-info
	find src -name '*.nb[ic]' -delete
