# Each target does its own set-up. `make` is what must pass before a change is handed in.
VENV ?= .venv
PY := $(VENV)/bin/python
# the first that runs: a name on PATH may be a shim of a version manager with nothing behind it
SYSTEM_PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3; do command -v $$name && \
  $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; done | tail -n 1)
ARGS ?=
# Most tests wait for clocks and processes, so more of them than cores run side by side.
JOBS ?= 4

.PHONY: check lint types contracts test demo reports docs bench lock format clean

check: lint types contracts test  ## lint, types, import contracts, tests

$(VENV)/.run: requirements/run.txt pyproject.toml scripts/setup
	scripts/setup run $(VENV) $(SYSTEM_PYTHON)

$(VENV)/.dev: requirements/dev.txt pyproject.toml scripts/setup
	scripts/setup dev $(VENV) $(SYSTEM_PYTHON)

demo: $(VENV)/.run  ## the whole job on this machine, with the stand-in
	$(VENV)/bin/leapprof demo $(ARGS)

lint: $(VENV)/.dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(VENV)/.dev
	$(VENV)/bin/mypy

contracts: $(VENV)/.dev
	$(VENV)/bin/lint-imports

test: $(VENV)/.dev  ## every test that runs in minutes
	scripts/debian-packages
	$(PY) -m pytest -n $(JOBS) --dist loadfile $(ARGS)

reports: $(VENV)/.run  ## reports/ made again from samples/, and the README's picture where Chromium is
	$(PY) -m samples.make_reports
	scripts/picture

docs: $(VENV)/.dev  ## the pages that are made from the code
	$(PY) scripts/make_docs.py

bench: $(VENV)/.dev  ## what leapprof costs, measured here and written into docs/cost.md (12 minutes)
	scripts/apt-install openssh-server prometheus-node-exporter sysstat >/dev/null 2>&1 || true
	$(PY) -m benchmarks $(ARGS)

lock: $(VENV)/.dev  ## requirements/*.txt made again from *.in
	$(VENV)/bin/pip install -q uv
	cd requirements && for set in run dev; do \
	  ../$(VENV)/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	    --custom-compile-command "make lock" -q run.in images.in $$([ $$set = dev ] && echo latency.in dev.in) -o $$set.txt; done

format: $(VENV)/.dev
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

clean:
	rm -rf $(VENV) build *.egg-info
