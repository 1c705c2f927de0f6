# make demo   measure cases/linear.py here, plan it for an H200, and say where the reports are
# make test   what CI runs: ruff, mypy, the layer test, pytest on the built wheel
# make docs   write docs/reference from the code
# TORCH chooses the torch to install: make test TORCH=torch==2.13.0

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.PHONY: demo test lint types check gpu-test golden accept docs format clean compiler chromium run-folder

PYTHON ?= python3
TORCH ?= torch
WHERE ?= cpu
VENV := .venv
TEST_VENV := .venv-test
TEST_PYTHON := $(CURDIR)/$(TEST_VENV)/bin/python
RUN_FOLDER := build/run
PYTEST := cd $(RUN_FOLDER) && $(TEST_PYTHON) -P -m pytest

demo: compiler $(VENV)/installed
	$(VENV)/bin/compdiff run cases/linear.py --out compdiff-out
	@if $(VENV)/bin/python -W ignore -c 'import sys, torch; sys.exit(not torch.version.cuda)'; then \
	    $(VENV)/bin/compdiff run cases/linear.py --target h200 -k size4096 --out compdiff-out/h200; \
	    echo "Measured here:      $(CURDIR)/compdiff-out/linear/report.html"; \
	    echo "Planned for H200:   $(CURDIR)/compdiff-out/h200/linear-size4096/report.html"; \
	else \
	    echo "Measured here: $(CURDIR)/compdiff-out/linear/report.html"; \
	    echo "Not planned for an H200: that needs the CUDA build of torch (no GPU), and this is another build"; \
	fi

test: compiler chromium lint types check

lint: $(TEST_VENV)/installed
	$(TEST_VENV)/bin/ruff check .
	$(TEST_VENV)/bin/ruff format --check .

types: $(TEST_VENV)/installed
	$(TEST_VENV)/bin/mypy compdiff tests

# The tests see the wheel, not the checkout: they run in a folder that holds links to tests and cases only.
check: run-folder
	$(PYTEST) tests/test_layers.py
	$(PYTEST) $(ARGS)

gpu-test: run-folder
	@if $(TEST_PYTHON) -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then \
	    $(PYTEST) -m gpu; \
	else \
	    echo "gpu-test skipped: torch sees no CUDA device on this machine"; \
	fi

# Measures the shipped cases (names select some: make golden CASES="linear softmax") and saves the runs in
# tests/golden/cpu, or plans them (make golden WHERE=h200) into tests/golden/h200, then accepts what compdiff concludes from them. Read the difference before you commit it.
golden: compiler $(VENV)/installed
	$(VENV)/bin/python -m tests.make_golden $(WHERE) $(CASES)
	$(MAKE) accept

# Writes what compdiff concludes from the golden runs beside them.
accept: $(VENV)/installed
	$(VENV)/bin/pip install --quiet pytest hypothesis
	COMPDIFF_ACCEPT=1 $(VENV)/bin/python -m pytest tests/test_golden.py --quiet

# Writes docs/reference from the commands, tables and schemas.
docs: $(VENV)/installed
	$(VENV)/bin/python -m tests.make_reference

format: $(TEST_VENV)/installed
	$(TEST_VENV)/bin/ruff check --fix .
	$(TEST_VENV)/bin/ruff format .

clean:
	rm -rf $(VENV) $(TEST_VENV) build dist compdiff.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Each stamp holds the torch requirement: another TORCH gets a new environment, since pip keeps a torch that will do.
$(VENV)/installed: setup.cfg pyproject.toml $(VENV)/torch
	$(VENV)/bin/pip install --quiet "$(TORCH)" --editable .
	touch $@

$(TEST_VENV)/installed: setup.cfg pyproject.toml $(TEST_VENV)/torch
	rm -rf build/lib build/bdist.* dist
	$(TEST_VENV)/bin/pip wheel --quiet --no-deps --wheel-dir dist .
	$(TEST_VENV)/bin/pip install --quiet "$(TORCH)" "$$(echo dist/*.whl)[test]"
	touch $@

$(VENV)/torch $(TEST_VENV)/torch: FORCE
	@if ! [[ -x $(@D)/bin/python && -f $@ && "$$(cat $@)" == "$(TORCH)" ]]; then \
	    $(PYTHON) -m venv --clear $(@D); \
	    echo "$(TORCH)" > $@; \
	fi

.PHONY: FORCE
FORCE:

# Builds the wheel from the checkout as it is now and puts it in place of the one installed.
run-folder: $(TEST_VENV)/installed
	rm -rf build/lib build/bdist.* dist $(RUN_FOLDER)
	$(TEST_VENV)/bin/pip wheel --quiet --no-deps --wheel-dir dist .
	$(TEST_VENV)/bin/pip install --quiet --no-deps --force-reinstall dist/*.whl
	mkdir -p $(RUN_FOLDER)
	ln -s $(CURDIR)/tests $(CURDIR)/cases $(CURDIR)/setup.cfg $(CURDIR)/dist $(RUN_FOLDER)

# Inductor compiles its CPU kernels with g++ (or $CXX).
compiler:
	@if ! command -v "$${CXX:-g++}" > /dev/null; then \
	    echo "No C++ compiler ($${CXX:-g++}): Inductor needs one to compile for the CPU." >&2; \
	    echo "Debian, Ubuntu: apt-get install g++    Fedora: dnf install gcc-c++" >&2; \
	    exit 2; \
	fi

# The browser tests skip without chromium; root on a Debian machine gets it installed.
chromium:
	@if ! command -v chromium chromium-browser google-chrome > /dev/null; then \
	    if [[ $$(id -u) == 0 ]] && command -v apt-get > /dev/null; then \
	        apt-get update --quiet=2 && apt-get install --quiet=2 --yes chromium > /dev/null; \
	    else \
	        echo "chromium is not installed: the browser tests will be skipped. Debian: apt-get install chromium"; \
	    fi; \
	fi
