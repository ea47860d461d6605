# The front door. CMake does the work; what is missing is installed first (scripts/setup.sh).
BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: all setup demo test test-asan test-all bench install clean

all:
	@cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release >$(BUILD).log 2>&1 || { cat $(BUILD).log; \
	    echo "configuring failed; 'make setup' installs what is needed" >&2; exit 1; }
	@rm -f $(BUILD).log
	@cmake --build $(BUILD) -j $(JOBS)

setup:
	@scripts/setup.sh

demo: setup all
	@$(BUILD)/esra separate examples/scene/photo-*.jpg -o $(BUILD)/demo
	@echo "open $(BUILD)/demo/report.html in a browser"

# Everything, then the library's tests once more under the address and undefined-behaviour sanitizers.
test: setup all
	ctest --test-dir $(BUILD) --output-on-failure
	$(MAKE) test-asan

# Figures, not verdicts; see each program's --help. bench/quality.py, pipeline.py and real.py without options do more. The
# solver's plots are $(BUILD)/bench/*.svg.
bench: setup all
	$(BUILD)/esra bench kernels
	$(BUILD)/bench/solver --quick --log $(BUILD)/bench/solver.jsonl
	python3 bench/plot.py $(BUILD)/bench/solver.jsonl $(BUILD)/bench
	ESRA=$(BUILD)/esra python3 bench/pipeline.py --megapixels .3
	ESRA=$(BUILD)/esra python3 bench/quality.py --photos 3

test-asan: setup
	cmake --preset asan >/dev/null
	cmake --build build-asan -j $(JOBS) >/dev/null
	ctest --test-dir build-asan --output-on-failure

# Also with the thread sanitizer, with clang, and the core alone.
test-all: test
	set -e; for preset in tsan clang core; do \
	    cmake --preset $$preset >/dev/null; cmake --build build-$$preset -j $(JOBS) >/dev/null; \
	    ctest --test-dir build-$$preset --output-on-failure; done

install: all
	cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf build build-*
