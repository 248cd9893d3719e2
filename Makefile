# Every habit of this repository is a target here; `make help` lists them.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO := .demo
SIZE ?= S
PORT ?= 3000

.PHONY: help setup demo ui test check format schemas bench snapshot clean

help: ## List the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP) ## Make the virtual environment and install this project into it

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; set PYTHON=python3.11")'
	@echo "Installing the project and what it needs into $(VENV): some minutes, once."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(STAMP) ## Plant demo evidence, materialize the graph, print its counts and how to open the UI (about a minute)
	@echo "Planting a week of evidence and materializing seven days: about a minute."
	$(BIN)/sediment demo plant $(DEMO)
	cd $(DEMO) && ../$(BIN)/sediment backfill --from 2026-11-02 --to 2026-11-08
	@echo
	@echo "Rows and skips of the demo's week are above; docs/demo.md says what each Session shows."
	@echo "Open the graph in a browser:  make ui"

ui: $(STAMP) ## Open the Dagster UI on the demo's instance (http://127.0.0.1:3000; PORT=3001 for another)
	@test -d $(DEMO) || { echo "There is no demo yet: run make demo first."; exit 1; }
	cd $(DEMO) && exec ../$(BIN)/sediment ui --port $(PORT)

test: $(STAMP) ## Run every test, the shared vectors included when they are there
	$(BIN)/python -m pytest -n auto

check: $(STAMP) ## Formatter, linter, types, import contracts, generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check

format: $(STAMP) ## Format the code and fix what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

schemas: $(STAMP) ## Write the JSON Schema files and the reference pages from the code
	$(BIN)/python docs/generate.py

bench: $(STAMP) ## Measure every step over generated evidence: SIZE=S (0.14 GB of Facts), M (1.3 GB), 3M (4 GB), L (13 GB)
	$(BIN)/python -m benchmarks.run --size $(SIZE)

snapshot: $(STAMP) ## Write the snapshot of the graph's definitions, after a change that is meant
	UPDATE_SNAPSHOT=1 $(BIN)/python -m pytest -q tests/dagster/test_snapshot.py

clean: ## Remove the virtual environment, the demo and the benchmark's evidence
	rm -rf $(VENV) $(DEMO) .bench
