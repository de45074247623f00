# Targets are described by the "##" comments; plain `make` lists them.

PYTHON ?= python3
# paper: the sizes of the papers; quick: small sizes for a first look.
SCALE ?= paper

ifeq ($(filter quick paper,$(SCALE)),)
$(error SCALE must be quick or paper, not "$(SCALE)")
endif
export BOOK_SCALE := $(SCALE)

VENV := .venv
BIN := $(VENV)/bin
# Written last, so an interrupted installation does not count as one.
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help book test results notebooks serve bench lint types check lock clean distclean

help: ## List the targets
	@echo "make TARGET [SCALE=quick|paper] [PYTHON=python3.11]"
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

book: results ## Build the book into _build/html, running what changed
	@$(BIN)/python -m bookkit.build

test: $(INSTALLED) ## Run the tests, at quick scale
	@BOOK_SCALE=quick $(BIN)/python -m pytest --numprocesses 2 --dist loadfile

results: $(INSTALLED) ## Compute the stored results the chapters read
	@$(BIN)/python -m bookkit.results

notebooks: $(INSTALLED) ## Write the .ipynb beside each .md chapter
	@$(BIN)/python -m bookkit.pairs --write

serve: $(INSTALLED) ## Show the built book on http://localhost:8000
	@test -f _build/html/index.html || { echo "There is no book yet: run 'make book' first."; exit 1; }
	@$(BIN)/python -m http.server --bind localhost --directory _build/html 8000

bench: $(INSTALLED) ## Run the benchmarks
	@$(BIN)/python -m benchmarks

lint: $(INSTALLED) ## Check style and formatting
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(INSTALLED) ## Check the types
	@$(BIN)/mypy

check: ## Run everything continuous integration runs
	@.ci/run

lock: $(INSTALLED) ## Update requirements.lock from pyproject.toml
	@$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --fork-strategy fewest \
		--all-extras --generate-hashes --no-header --quiet -o requirements.lock

clean: ## Remove the built book, the results and the caches
	rm -rf _build .results .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info
	find . -path ./$(VENV) -prune -o -name __pycache__ -exec rm -rf {} +

distclean: clean ## Remove the virtual environment too
	rm -rf $(VENV)

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is missing or older than 3.11: install Python 3.11 or newer, or use make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) cannot make virtual environments: install its venv module (Debian and Ubuntu: apt install python3-venv)"; exit 1; }
	@echo "Installing the locked packages into $(VENV) (about a minute the first time)"
	@test -f $(INSTALLED) || $(PYTHON) -m venv --clear $(VENV)
	@rm -f $(INSTALLED)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(INSTALLED)
