# Two commands do everything on a fresh machine: `make demo` and `make test`.
#
#   make install    the environment alone: .venv with the pinned packages
#   make demo       a workspace demo/ from samples/: ingested, questions asked, draft audited
#   make demo-lab   a laboratory demo-lab/ on made-up papers, from recorded answers of a model
#   make ui         the Dagster UI on demo/ (makes it when it is missing)
#   make platform   Postgres, an object server and Ray on this machine, and the sample library
#                   through them (docs/scale.md); KEEP=--keep: until Ctrl-C
#   make check      lint, types, contracts and the fast tests: before each commit
#   make test       all tests but the slow ones;  make test-all  every one
#   make lint types contracts    what CI checks besides the tests
#   make golden     write the golden parses again; read the difference
#   make durations  how long each test takes, for make test and make check
#   make constraints    write the pinned versions and hashes again (UPGRADE=--upgrade: the newest)
#   make wheel      dist/rag_assets-*.whl, which pip, pipx and uv install
#   make reference  write docs/reference.md from the commands
#   make clean      remove demo/, demo-lab/, platform/ and .venv/
#
# Packages come from the package index that pip is configured for; nothing else is downloaded. Each
# file's SHA-256 stands in constraints.txt, else it is refused (docs/dependencies.md, "Hashes").
# Packages are compiled when they are first used (--no-compile): that spares 0.4 GB of what never
# is. A CPU build of torch serves and is tried first (constraints-cpu.txt). On a machine where pip
# offers only GPU builds, install the CPU build of torch 2.13.0 into .venv by the selector on
# PyTorch's own site ("pip", "CPU"), then run make again: it finds torch installed and leaves it.

PYTHON ?= python3
PORT ?= 3000
DEMO ?= demo
DEMO_LAB ?= demo-lab

# Tests of one file share what its fixtures make, so that they stay in one process. Each process
# may hold a model and the daemon of a workspace, some 2 GB: no more than four. One more than there
# are cores, since commands that a test starts are waited for.
PROCESSES := $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
SIDE_BY_SIDE := --numprocesses $(PROCESSES) --maxprocesses 4 --dist loadfile --no-loadscope-reorder

# Where an image sets it, every command that a test starts would compile its imports again.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
RAG := $(BIN)/rag
STAMP := .venv/.installed
PIP := $(BIN)/python -m pip
HASHED := $(PIP) install --quiet --no-compile --no-deps --require-hashes --only-binary :all:
DEMO_STAMP := $(DEMO)/.made
SAMPLES := $(shell find samples/raw samples/queries samples/drafts -type f | sed 's/ /\\ /g')

# A workspace or an instance of the person who runs make must not be written to.
unexport RAG_WORKSPACE DAGSTER_HOME PYTHONPATH

.PHONY: install demo demo-lab ui platform check test test-all lint format types contracts constraints wheel \
        reference golden durations clean
.DEFAULT_GOAL := install
.DELETE_ON_ERROR:

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt constraints-dev.txt constraints-cpu.txt constraints-cuda.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "rag-assets needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) -V 2>&1)." \
	       "Name another: make PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || { \
	  echo "No environment could be made. On Debian and Ubuntu: apt-get install python3-venv" >&2; \
	  exit 1; }
	@$(BIN)/python -c 'from importlib.metadata import version; version("torch")' 2> /dev/null \
	  || $(HASHED) -r constraints-cpu.txt 2> /dev/null \
	  || echo "pip finds no CPU build of torch for this machine: its build for GPUs is taken (5 GB)."
	$(HASHED) -r constraints.txt -r constraints-dev.txt || { \
	  echo "Not installed. Where a hash differs: a file is not the one that constraints.txt knows." \
	       "For torch that is another build: see \"Hashes\" in docs/dependencies.md. For any other" \
	       "package do not install it; ask where pip took it from." >&2; exit 1; }
	@$(BIN)/python -c 'import sys; from importlib.metadata import requires as r; \
	  sys.exit(any(one.startswith(("nvidia-", "cuda-")) for one in r("torch")))' \
	  || $(HASHED) -r constraints-cuda.txt
	$(PIP) install --quiet --no-compile --no-deps --no-build-isolation -e .
	@$(PIP) check --quiet
	@touch $@

demo: $(DEMO_STAMP)
	@echo
	@echo "The workspace       $(DEMO)/"
	@for f in $(DEMO)/outputs/evidence_pack_v*.md; do echo "An evidence pack    $$f"; done
	@for f in $(DEMO)/outputs/audits/*_citations_v*.md; do echo "The audit table     $$f"; done
	@for f in $(DEMO)/outputs/audits/*_v*.html; do echo "The draft, coloured $$f"; done
	@echo "The UI              make ui   (http://127.0.0.1:$(PORT))"

# The stages run through the Dagster definitions, so the UI shows this run. What an earlier demo
# holds is added to: a workspace's raw/ is never emptied.
$(DEMO_STAMP): $(STAMP) $(SAMPLES)
	$(RAG) init $(DEMO) > /dev/null
	cp -R samples/raw samples/queries samples/drafts $(DEMO)/
	$(RAG) --workspace $(DEMO) ingest
	@for question in $(DEMO)/queries/*.yaml; do \
	  echo "asking $$question"; \
	  $(RAG) --workspace $(DEMO) query --file "$$question" > /dev/null || exit 1; done
	@echo "auditing $(DEMO)/drafts/thesis-chapter-2.md"
	@$(RAG) --workspace $(DEMO) verify-citations $(DEMO)/drafts/thesis-chapter-2.md > /dev/null
	@$(RAG) --workspace $(DEMO) audit $(DEMO)/drafts/thesis-chapter-2.md > /dev/null
	@touch $@

demo-lab: $(DEMO_LAB)/.made
	@echo
	@echo "The recipes         $(RAG) --workspace $(DEMO_LAB) lab show $$(cat $(DEMO_LAB)/.made)"
	@echo "The report          $(RAG) --workspace $(DEMO_LAB) lab feedback $$(cat $(DEMO_LAB)/.made)"
	@echo "Products, lessons   $(RAG) --workspace $(DEMO_LAB) lab edit"
	@echo "In the browser      $(RAG) --workspace $(DEMO_LAB) desk   (then /lab)"

# A run needs no model here: `llm` is a script of answers. A run and its feedback are made once.
$(DEMO_LAB)/.made: $(STAMP)
	$(RAG) init $(DEMO_LAB) --template lab > /dev/null
	cp -R samples/lab/raw samples/lab/answers.yaml $(DEMO_LAB)/
	grep -q '^llm:' $(DEMO_LAB)/config.yaml || cat samples/lab/llm.yaml >> $(DEMO_LAB)/config.yaml
	$(RAG) --workspace $(DEMO_LAB) ingest
	echo 'products: [C2H4, CO, CH4]' | $(RAG) --workspace $(DEMO_LAB) lab edit -
	$(RAG) --workspace $(DEMO_LAB) lab request "A recipe for ethylene from CO2" --recipes 2 --run \
	  | sed -n 's/^queued //p' > $@
	@test -s $@
	$(RAG) --workspace $(DEMO_LAB) lab feedback "$$(cat $@)" --score 8 \
	  --product C2H4=6 --product CO=2 --known "62 % ethylene in the literature" \
	  --pros "4-Aminobenzoic acid beside copper and molybdenum raised ethylene." \
	  --cons "After 30 hours the rate of ethylene fell."

ui: $(DEMO_STAMP)
	$(RAG) --workspace $(DEMO) ui --port $(PORT)

# Ray and an object server, 0.5 GB: only who asks for them has them.
platform: $(STAMP)
	$(HASHED) -r constraints-platform.txt
	$(BIN)/python -m deploy.one_machine $(KEEP)

# The types beside the tests: without their cache they take a minute of one core.
check: $(STAMP)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/lint-imports
	@$(BIN)/mypy & types=$$!; \
	  $(BIN)/python -m pytest -q --numprocesses 2 --dist loadfile -m "not slow" \
	    -p rag_assets_tests.durations; tests=$$?; \
	  wait $$types && exit $$tests

test: $(STAMP)
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "not slow"

test-all: $(STAMP)
	$(BIN)/python -m pytest $(SIDE_BY_SIDE)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/deptry .

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP)
	$(BIN)/mypy

contracts: $(STAMP)
	$(BIN)/lint-imports

constraints: $(STAMP)
	$(BIN)/python benchmarks/renew_constraints.py $(UPGRADE)

wheel: $(STAMP)
	$(BIN)/python -m hatchling build -t wheel

reference: $(STAMP)
	$(BIN)/python -m rag_assets_tests.docs.reference

golden: $(STAMP)
	$(BIN)/python -m rag_assets_tests.golden
	@git status --short rag_assets_tests/golden 2> /dev/null || true

durations: $(STAMP)
	$(BIN)/python -m rag_assets_tests.durations

clean:
	rm -rf $(DEMO) $(DEMO_LAB) platform .venv
