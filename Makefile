# Everything sets itself up: a machine with Python (3.11 or newer) and make is enough.
#
#   make demo     seven classifiers on data whose answer is known
#   make test     format, lint, types, import contract, then the tests: compiled, not compiled,
#                 and compiled with bounds checks
#   make lint     only the first four of these
#   make bench    times and memory against peers (thresher bench)
#   make clean    remove what the above made
#
# PYTHON chooses the interpreter, DEMO, BENCH and TESTS pass options on: make demo DEMO=--quick

PYTHON  ?= python3
VENV    ?= .venv
WORKERS ?= auto
DEMO    ?=
BENCH   ?=
TESTS   ?=

CODE    := $(wildcard src tests experiments fuzz)
BIN     := $(VENV)/bin
READY   := $(VENV)/.ready
PYTEST  := $(BIN)/python -m pytest -q -rfE -n $(WORKERS)
# What stands on the kernels, and files that need none: how those are compiled changes nothing there.
ABOVE   := cli* levelling restraint step_lengths fitting_anew row_numbers feature_names other_formats \
	roots rarity salience weighing likeliest at_hand cache_folder coefficients dirty_tables \
	measured_tables no_classes wide \
	estimator_checks docs demo bench sizes* offsets lengths uneven_sizes selecting_steps exchange wide_registers model_* \
	golden_files regression_files container container_hostile file_trees *export shard_* arrow* jsonl vw text \
	named_formats naming table grouping cache atomic files going_on containers state_trees scikit_learn processes *units \
	units_of_streams ignored_labels export_probabilities
KERNELS := --ignore=tests/experiments $(foreach name,$(ABOVE),--ignore-glob='tests/test_$(name).py')

.PHONY: demo test lint bench clean
.DELETE_ON_ERROR:

demo: $(READY)
	@$(BIN)/python -m thresher.demo $(DEMO)

test: lint
	@echo "== tests, compiled"
	@$(PYTEST) $(TESTS)
	@echo "== tests, not compiled"
	@NUMBA_DISABLE_JIT=1 $(PYTEST) $(KERNELS) $(TESTS)
	@echo "== tests, compiled with bounds checks"
	@NUMBA_BOUNDSCHECK=1 $(PYTEST) $(KERNELS) $(TESTS)

lint: $(READY)
	@echo "== format, lint, types, import contract"
	@$(BIN)/ruff format --quiet --check $(CODE)
	@$(BIN)/ruff check --quiet $(CODE)
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports > $(VENV)/contract.log || { cat $(VENV)/contract.log; exit 1; }

bench: $(READY)
	@$(BIN)/thresher bench $(BENCH)

clean:
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

# Installed once; again whenever the project file changes.
$(READY): pyproject.toml
	@echo "== setting up $(VENV) ($$($(PYTHON) --version)); the first time takes a minute"
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
		{ echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable ".[dev]"
	@touch $@
