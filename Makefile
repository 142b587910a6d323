# Everything runs in .venv, which is made when it is missing. Needed: Python >= 3.11 with venv, a C++17 compiler, make.
# Stamps inside .venv keep repeated calls quick; a changed source file installs the package again.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Folders are listed too: their date changes when a file goes away.
SOURCES := pyproject.toml CMakeLists.txt README.md LICENSE $(shell find src -not -name '__pycache__' -not -name '*.pyc')

.DEFAULT_GOAL := help
.PHONY: help run test lint bench docs sanitize mutate clean

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST)

run: $(VENV)/.package ## digits, documents and an image clustered, and symclust-report.html about them
	$(BIN)/symclust demo

# A process for each processor; threads of one that wait must not keep the others from working.
test: $(VENV)/.package $(VENV)/.test ## tests, and the examples in docstrings, on the installed package
	OMP_WAIT_POLICY=passive $(BIN)/pytest -n auto --dist worksteal --doctest-modules --pyargs symclust tests/

lint: $(VENV)/.package $(VENV)/.dev ## style, types, and who may import whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.package $(VENV)/.test ## speed against other packages, side by side, as JSON and a page with plots
	$(BIN)/python -m benchmarks.speed

docs: $(VENV)/.package $(VENV)/.test $(VENV)/.docs ## run every example of the documents, build the site in build/docs
	$(BIN)/pytest --doctest-glob='*.md' -o doctest_optionflags=ELLIPSIS README.md CONTRIBUTING.md docs
	$(BIN)/python docs/make_pictures.py
	$(BIN)/python docs/gallery.py
	$(BIN)/python -m sphinx -W --keep-going --quiet -j auto -d build/doctrees docs build/docs
	@echo "The site begins at build/docs/index.html."

sanitize: $(VENV)/.package $(VENV)/.test ## kernel tests under ThreadSanitizer and AddressSanitizer (GCC; takes a while)
	PATH="$(abspath $(BIN)):$$PATH" tests/_kernels/sanitize thread
	PATH="$(abspath $(BIN)):$$PATH" tests/_kernels/sanitize address

mutate: $(VENV)/.package $(VENV)/.dev ## 200 faults put into a copy of the package: how many do the tests find? (takes a while)
	$(BIN)/python -m benchmarks.mutation $(MUTATE)

clean: ## remove everything the targets above have made, but not the results of benchmarks
	rm -rf $(VENV) benchmarks/.envs build dist docs/_generated .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache symclust-report.html
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Built without isolation, so that the compiler's work is kept in build/ and a changed Python file costs seconds.
$(VENV)/.build: pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(None if sys.version_info >= (3, 11) else 'symclust needs Python 3.11 or newer: make PYTHON=python3.12 ...')"
	@echo "Making $(VENV) with the tools to build symclust: about a minute."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'], sep='\n')" > $(VENV)/build-requires.txt
	$(PIP) install --quiet --requirement $(VENV)/build-requires.txt cmake ninja
	touch $@

$(VENV)/.package: $(VENV)/.build $(SOURCES)
	@echo "Compiling and installing symclust: up to 10 minutes the first time, seconds after that."
	@$(PIP) install --quiet --no-build-isolation '.[cli,images]' & pid=$$!; \
	while kill -0 $$pid 2>/dev/null; do printf .; sleep 2; done; echo; wait $$pid
	@touch $@

# Libraries of an extra, for the package that is already there.
$(VENV)/.test $(VENV)/.dev $(VENV)/.docs: $(VENV)/.%: pyproject.toml | $(VENV)/.package
	$(PIP) install --quiet 'symclust[$*]'
	touch $@
