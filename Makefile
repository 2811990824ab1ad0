.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "heldout needs Python 3.11 or newer: set PYTHON=/path/to/python3.11")'
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) || { echo "Could not create $(VENV). On Debian: apt-get install python3-venv"; rm -rf $(VENV); exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

setup: $(STAMP) ## Create .venv from the pinned lock

demo: $(STAMP) ## Tune and score offline with a simulated model; prints the report's path
	$(BIN)/python flows/tune.py --demo

test: $(STAMP) ## Run the tests
	$(BIN)/python -m pytest -q -n auto --dist loadfile

test-real: $(STAMP) ## Run the tests on real third-party data; fails where it is absent
	HELDOUT_REAL_REQUIRED=1 $(BIN)/python -m pytest -q -n auto --dist loadfile -m real --slow

OPENENV := .venv-openenv

$(OPENENV)/.installed: requirements-openenv.txt
	$(PYTHON) -m venv $(OPENENV)
	$(OPENENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-openenv.txt
	$(OPENENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

test-openenv: $(OPENENV)/.installed ## Drive the repair environment with OpenEnv's own client
	$(OPENENV)/bin/python -m pytest -q -p no:cacheprovider tests/rest/test_openenv.py tests/rest/test_openenv_surprises.py

check: $(STAMP) ## ruff, mypy strict, import contracts
	$(BIN)/ruff check src tests flows checkers bench
	$(BIN)/ruff format --check src tests flows checkers bench
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(STAMP) ## Measure and print the figures of README and docs
	$(BIN)/python -m bench

.PHONY: help setup demo test test-real test-openenv check bench
