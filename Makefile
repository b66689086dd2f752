# Every target works on a fresh clone: what it needs goes into .venv, never into the user's Python.
SHELL := /bin/bash
.DEFAULT_GOAL := help

SCENARIO ?= primary-loses-its-queue-database
ON ?=
SEED ?=
SEEDS ?= 1000
TONIGHT ?= 250
FUZZ ?= 10000
DAMAGED ?= 1000
REACH ?= 50
TESTS ?=
BESIDE ?=
WORKERS ?= 3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ARCHIVE := $(VENV)/spark-classes.jsa
FAST := not (spark or engine or scenario or fuzz or slow)
CHECKED := defects lab nodes spark_eval tests bench playbooks/action_plugins
# pip compiles nothing here, so what is imported stays compiled, whatever images of Python set
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## this list
	@echo "shadowlab: break mail transport on purpose, and let Spark judge what became of the mail"
	@echo
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  SCENARIO=$(SCENARIO)  SEED=n  ON=containers|simulator  SEEDS=$(SEEDS)  FIRST=n"
	@echo "  TESTS='-k words'    narrow what they name"

SAY_CODE = echo "exit code $$code (0 pass, 1 fail, 2 unknown, 3 the lab could not, 4 the call is wrong)" >&2; exit $$code

.PHONY: scenario
scenario: $(STAMP) java ## the main job: run SCENARIO, judge it, say where the report lies
	@$(BIN)/shadowlab run $(SCENARIO) $(if $(ON),--on $(ON)) $(if $(SEED),--seed $(SEED)); code=$$?; $(SAY_CODE)

.PHONY: sweep
sweep: $(STAMP) java ## SCENARIO in the simulator under SEEDS seeds, spread by Spark
	@$(BIN)/shadowlab sweep $(SCENARIO) --seeds $(SEEDS) $(if $(filter-out file,$(origin FIRST)),--first $(FIRST)); code=$$?; $(SAY_CODE)

.PHONY: prove
prove: $(STAMP) java ## break nodes on purpose, a defect at a time: the right claim must notice each
	@$(BIN)/shadowlab prove; code=$$?; $(SAY_CODE)

# of a night's parts the worst code counts (3, 1, 2, 0); 130 (Ctrl-C) ends all
THEN = new=$$?; if [ $$new -gt 4 ]; then code=$$new; $(SAY_CODE); fi; \
	for each in 4 3 1 2 0; do if [ $$code = $$each ] || [ $$new = $$each ]; then code=$$each; break; fi; done
HOST = $(if $(ON),--on $(ON))
# each night goes on where the one before it ended
FIRST ?= $(shell echo $$(( $$(date +%s) / 86400 * $(TONIGHT) )))

.PHONY: nightly
nightly: $(STAMP) java ## the nightly suite: every scenario, one run at a time, going on where it was interrupted; then TONIGHT new seeds of each whose faults are drawn; then prove, a tenth of it on containers
	@code=0; \
	$(BIN)/shadowlab suite $(HOST); $(THEN); \
	$(BIN)/shadowlab sweep --tag chaos --seeds $(TONIGHT) --first $(FIRST); $(THEN); \
	$(BIN)/shadowlab prove --nightly $(HOST); $(THEN); \
	$(SAY_CODE)

.PHONY: test
test: $(STAMP) ## every test; those that need an engine run when one answers (and fail without one where CI is set)
	@$(MAKE) --no-print-directory --jobs 3 --output-sync lint java $(BESIDE)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(TESTS)

.PHONY: test-fast
test-fast: $(STAMP) ## while editing: tests that need neither Spark nor an engine, and take no long
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "$(FAST)" $(TESTS)

.PHONY: manual
manual: $(STAMP) java ## what README and tutorial show of a terminal, typed again, the long part too
	SHADOWLAB_MANUAL=1 $(BIN)/python -m pytest -n0 tests/docs/test_transcripts.py $(TESTS)

.PHONY: fuzz
fuzz: $(STAMP) ## FUZZ examples of mutated input; some hundreds are part of make test
	SHADOWLAB_FUZZ=$(FUZZ) $(BIN)/python -m pytest -m fuzz $(TESTS)

.PHONY: reach
reach: $(STAMP) ## simulate every scenario, and REACH seeds of those that draw: which branches of the node none takes
	@$(BIN)/python -m bench.reach $(REACH)

.PHONY: damaged
damaged: $(STAMP) ## DAMAGED records of which one file was cut, changed or removed, and as many with a new list: none may pass
	SHADOWLAB_DAMAGED=$(DAMAGED) $(BIN)/python -m pytest tests/spark_eval/read/test_damaged_records.py $(TESTS)

.PHONY: lint
lint: lint-python lint-playbooks ## all checks that need no engine

.PHONY: lint-python
lint-python: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(CHECKED)
	$(BIN)/lint-imports --no-logo

.PHONY: lint-playbooks
lint-playbooks: $(STAMP)
	$(BIN)/yamllint --strict .
	PATH="$(CURDIR)/$(BIN):$$PATH" ANSIBLE_CONFIG=playbooks/ansible.cfg $(BIN)/ansible-lint --offline -q playbooks

.PHONY: pages
pages: $(STAMP) ## write docs/requirements.md anew, from the table of requirements and the scenarios
	@$(BIN)/python -m lab.cli.requirements_page

.PHONY: engine
engine: $(STAMP) ## on Debian, as root, without an engine: install one and start it
	@$(BIN)/python -m lab.hosts.containers.engine

.PHONY: images
images: $(STAMP) ## node and Toxiproxy images: pulled where a registry answers, else built from packages
	@$(BIN)/python -m lab.hosts.containers.images.ensure

# packages are installed one after the other
.PHONY: ground
ground: installed-java
	@$(BIN)/python -m lab.hosts.containers.engine
	@$(BIN)/python -m lab.hosts.containers.images.ensure

.PHONY: bench
bench: $(STAMP) ## measure; prints a table and writes bench/results.json
	@$(BIN)/python -m bench

.PHONY: cluster
cluster: $(STAMP) java ## a Spark cluster of two workers on this machine; prints its URL, until Ctrl-C
	@$(BIN)/python -m bench.cluster

.PHONY: down
down: $(STAMP) ## remove whatever killed or kept runs of this checkout left: containers, networks, volumes, processes
	@$(BIN)/python -m lab.hosts.containers.down

.PHONY: clean
clean: ## remove what make made in this folder, but runs/ and a lab that still stands
	rm -rf build .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .ansible
	rm -rf $(VENV) *.egg-info spark-warehouse

# --- what the targets above need ---

.PHONY: venv
venv: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@bash -c '$(MAKE_VENV)'
	@$(BIN)/python -m lab.program.installation
	@touch $(STAMP)

# Debian's python3 comes without ensurepip; as root it is installed, else the message says so.
define MAKE_VENV
set -e; \
[ -x $(BIN)/python ] && exit 0; \
for python in python3 python3.13 python3.12 python3.11 none; do \
  [ $$python = none ] && { echo "shadowlab: no Python 3.11 or newer" >&2; \
    echo "hint: apt-get install python3 python3-venv" >&2; exit 3; }; \
  $$python -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null && break; \
done; \
if ! $$python -c "import ensurepip" 2>/dev/null; then \
  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
    apt-get update -q >&2 && apt-get install -q -y --no-install-recommends python3-venv >&2; \
  else echo "shadowlab: this Python cannot make a .venv" >&2; \
    echo "hint: apt-get install python3-venv" >&2; exit 3; fi; \
fi; \
echo "making $(VENV) with $$($$python --version)" >&2; \
$$python -m venv $(VENV)
endef

.PHONY: java
java: installed-java
	@[ $(ARCHIVE:.jsa=.size) -nt $(STAMP) ] || $(BIN)/python -m lab.cli.class_archive $(ARCHIVE)

.PHONY: installed-java
installed-java: $(STAMP)
	@$(BIN)/python -m lab.program.java
