# Everything sets itself up: a machine with Python (3.11 or newer) and make is enough.
#
#   make demo      seven classifiers on data whose answer is known
#   make test      lint, then all tests, then those of the kernels once more, not compiled
#   make lint      format, style, types, import contract
#   make bench     times and memory against peers
#   make measure   how large and how tangled the library is
#   make check     by hand: kernels with bounds checks, and readers fed with damaged files
#   make clean     remove what the above made
#
# PYTHON chooses the interpreter; DEMO, BENCH and TESTS pass options on: make demo DEMO=--quick;
# FUZZ is how many seconds each reader of text is fed

PYTHON  ?= python3
VENV    ?= .venv
WORKERS ?= auto
FUZZ    ?= 60
DEMO    ?=
BENCH   ?=
TESTS   ?=

CODE    := $(wildcard src tests experiments benchmarks examples tools fuzz)
BIN     := $(VENV)/bin
READY   := $(VENV)/.ready
PYTEST  := $(BIN)/python -m pytest -q -rfE -n $(WORKERS)
# The files that test what kernels compute: plain Python must compute the same, and finds what
# machine code lets pass, such as an index out of bounds.
KERNELS := $(wildcard $(patsubst %,tests/test_%.py, exact \
	losses prepare training thresh stabilized winnow formats_svmlight formats_tables))

.PHONY: demo test lint bench measure check clean
.DELETE_ON_ERROR:

demo: $(READY)
	@$(BIN)/python examples/demo.py $(DEMO)

test: lint
	@echo "== tests, compiled"
	@$(PYTEST) $(TESTS)
	@echo "== tests of kernels, not compiled"
	@NUMBA_DISABLE_JIT=1 $(PYTEST) $(KERNELS) $(TESTS)

lint: $(READY)
	@echo "== format, style, types, import contract"
	@$(BIN)/ruff format --quiet --check $(CODE)
	@$(BIN)/ruff check --quiet $(CODE)
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports > $(VENV)/contract.log || { cat $(VENV)/contract.log; exit 1; }

bench: $(READY)
	@$(BIN)/python -m benchmarks $(BENCH)

measure: $(READY)
	@$(BIN)/python tools/measure.py

check: $(READY)
	@echo "== tests of kernels, compiled with bounds checks"
	@NUMBA_BOUNDSCHECK=1 $(PYTEST) $(KERNELS) $(TESTS)
	@echo "== damaged Arrow files"
	@$(BIN)/python fuzz/arrow.py
	@echo "== damaged text, $(FUZZ) seconds for each reader"
	@$(BIN)/python -c "import atheris" || $(BIN)/python -m pip install -qq atheris
	@$(BIN)/python fuzz/text.py -max_total_time=$(FUZZ)
	@$(BIN)/python fuzz/text.py svmlight -max_total_time=$(FUZZ)

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
