# `make` alone lists what there is.
.DEFAULT_GOAL := help
.PHONY: audit setup product test unit check ledger compare docs dist bench soak faults fuzz lock advisories help

BIN := .venv/bin
# Containers often set it. Then each of thousands of processes would compile our modules again, and each process of the
# tests would rewrite the assertions of all test files.
export PYTHONDONTWRITEBYTECODE :=
PYTHONS := python3 python3.13 python3.12 python3.11
AT_LEAST_3_11 := import sys; sys.exit(sys.version_info < (3, 11))

# Python's own library alone makes `.venv`, so any Python that is new enough will do.
install = @for python in $(PYTHON) $(PYTHONS); do \
  if $$python -c '$(AT_LEAST_3_11)' 2>/dev/null; then exec $$python .ci/install.py $(1); fi; \
  done; echo 'no Python 3.11 or later on the PATH: name one by `make PYTHON=…`' >&2; exit 1

setup: ## set everything up: .venv, the locked packages, Java and jars; does nothing when all is there
	$(call install,all)

# What the product needs, without what its tests need.
product:
	$(call install,product)

audit: product ## the whole audit of data/sample into warehouse/ as a Spark application, and its run page
	@SPARK_LOCAL_IP=127.0.0.1 $(BIN)/spark-submit --master 'local[*]' --properties-file conf/spark-defaults.conf \
	  jobs/audit.py --source segments:data/sample --snapshots data/sample/snapshots.jsonl --cluster sample \
	  --warehouse warehouse --config conf/sample.toml --fail-on never

# Five processes for two cores, each with whole files: two of them take files that mostly wait, for brokers and other
# processes (tests/lanes.py). They take about 8 GB of memory.
# A test that has not ended after so many seconds, captures it waits for included, ends its process and says where.
TEST_SECONDS := 1200
test: setup ## every test, real brokers and a real browser included (all but `soak`)
	$(BIN)/pytest -n 5 --dist loadfile --no-loadscope-reorder --durations=20 \
	  -o faulthandler_timeout=$(TEST_SECONDS) -o faulthandler_exit_on_timeout=true

# Whole commands take seconds each, so their tests are for `make test`.
unit: setup ## the tests of schemas and pure functions, a minute: no command, Java, broker or browser
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder -m 'not spark and not broker and not browser and not soak' \
	  tests/schemas tests/udfs tests/test_layers.py

# An area of the tests: `make test-replay` and so on. Each test is in one of them, by tests/test_areas.py.
records := tests/schemas tests/fuzz $(addprefix tests/udfs/,arrays framing decoding rows lines sources)
replay := tests/replay $(addprefix tests/udfs/,log groups codes commits topics stored) tests/jobs/replaying
lag := $(addprefix tests/udfs/,lag rules) tests/jobs/measuring
assignors := $(addprefix tests/udfs/,assignors audit) tests/jobs/recomputing
ingest := $(addprefix tests/jobs/,ingestion sources broker capturing)
answers := tests/udfs/sentences $(addprefix tests/jobs/,answers auditing command_line output terminal queries)
gate := tests/findings tests/stories $(addprefix tests/jobs/,gating pages configuration)
report := tests/jobs/reporting tests/jobs/redacting tests/browser
storage := $(addprefix tests/jobs/,storage warehouses runs checks maintaining) tests/faults
engine := $(addprefix tests/jobs/,processes engine spark) tests/equal tests/cluster
kafka := tests/kafka
docs := tests/docs tests/installation tests/sample tests/benchmarks tests/compare tests/test_*.py
AREAS := records replay lag assignors ingest answers gate report storage engine kafka docs

.PHONY: $(addprefix test-,$(AREAS))
$(addprefix test-,$(AREAS)): test-%: setup
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder $($*)

check: setup ## format, lint, types, layers, generated pages
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -q tests/test_layers.py
	$(BIN)/python .ci/docs.py --check
	$(BIN)/python -m benchmarks.page --check

ledger: setup ## lines, files and statements of the product and the tests, and how they differ from .ci/ledger.json
	@$(BIN)/python .ci/ledger.py

# LOGS: names of `python -m tests.compare --help`, folders or sources; all names without it. COMPARE: more flags.
compare: setup ## does this tree answer as another one does? BEFORE=COMMIT or a checkout, LOGS='sample mix …'
	@$(BIN)/python -m tests.compare $(BEFORE) $(LOGS) $(COMPARE)

docs: setup ## the site of docs/, into site/; any warning is an error
	$(BIN)/python -m sphinx --quiet --nitpicky --fail-on-warning --keep-going -b html docs site

dist: setup ## under dist/: wheel, one executable file, zip for spark-submit, lists of packages, bill of materials
	@$(BIN)/python .ci/dist.py zip wheel executable
	@$(BIN)/python .ci/supply.py packages dist/requirements.txt
	@$(BIN)/python .ci/supply.py bill dist/groupscope.cdx.json

advisories: setup ## compare the locks with published advisories; says what could not be checked
	@$(BIN)/python .ci/supply.py advisories

bench: setup ## the figures of the project, measured side by side with their rivals
	$(BIN)/python -m benchmarks

# The first run is that of `make test`, in an order that its seed draws: no test may rest on what another one left.
soak: setup ## all tests in a drawn order, then their long forms; in the end it lists these and how long each took
	GROUPSCOPE_ORDER=drawn $(BIN)/pytest -n 5 --dist loadfile --no-loadscope-reorder
	$(BIN)/pytest -m soak

# Twenty minutes on two idle cores. SHARD=1/4: a quarter of them; AREA=lag: those of one area; DRAWN=200 AREA=lag: so
# many that the seed draws.
faults: setup ## plant faults into copies of the product, one at a time: the tests of its area must catch each
	nice -n 5 $(BIN)/python -m tests.planted $(SHARD:%=--shard %) $(AREA:%=--area %) $(DRAWN:%=--drawn %)

# Each target takes this many seconds with atheris; then a million inputs with compiled loops. Without atheris the
# first step says so and does nothing.
FUZZ_SECONDS := 300
fuzz: setup ## damaged records, lines and files, guided by coverage: FUZZ_SECONDS for each target
	-$(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: -r tests/fuzz/requirements.lock
	$(BIN)/python -m tests.fuzz guided --seconds $(FUZZ_SECONDS)
	$(BIN)/python -m tests.fuzz volume

# Without the index and the options of the machine that made it, the locks are the same from everywhere. The second one
# has what the first has not.
pip_compile = CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/pip-compile --quiet --extra kafka --build-deps-for wheel \
  --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
  --no-emit-options
lock: setup ## resolve pyproject.toml anew into requirements.lock and requirements-dev.lock
	$(pip_compile) --output-file requirements.lock pyproject.toml
	cat requirements.lock requirements-dev.lock > .venv/all.lock
	$(pip_compile) --extra dev --constraint requirements.lock --output-file .venv/all.lock pyproject.toml
	$(BIN)/python .ci/supply.py beside requirements.lock .venv/all.lock > requirements-dev.lock

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo '  make test-AREA: the tests of one of $(AREAS)'
