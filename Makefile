# The front door. CMake does the work; what is missing is installed first (scripts/setup.sh).
BUILD ?= build
PREFIX ?= /usr/local
PYTHON ?= $(shell [ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: all configured setup demo python web web-files serve test test-wasm test-asan test-all test-fleet test-memcheck fuzz \
    coverage bench install deb dist clean

all: configured
	@cmake --build $(BUILD) -j $(JOBS)

configured:
	@cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release >$(BUILD).log 2>&1 || { cat $(BUILD).log; \
	    echo "configuring failed; 'make setup' installs what is needed" >&2; exit 1; }
	@rm -f $(BUILD).log

setup:
	@scripts/setup.sh

demo: setup all
	@$(BUILD)/esra separate examples/scene/photo-*.jpg -o $(BUILD)/demo
	@echo "open $(BUILD)/demo/report.html in a browser"

# A wheel with the library inside, for every CPython from 3.11 on: pip install build/esra-*.whl
python: setup configured
	@cmake --build $(BUILD) -j $(JOBS) --target esra_python
	@$(PYTHON) bindings/python/backend.py $(BUILD)/python $(BUILD)

# The page in $(BUILD)/web, static files for any server, and the npm package in $(BUILD)/npm, which 'npm pack' makes a tarball
# of (doc/web.md).
web:
	@scripts/setup.sh --web
	@$(MAKE) --no-print-directory web-files

web-files:
	@JOBS=$(JOBS) scripts/wasm-libraries.sh
	@cmake --preset wasm >/dev/null
	@cmake --build --preset wasm -j $(JOBS) --target esra_threads esra_single >/dev/null
	@scripts/web.sh build-wasm/module $(BUILD)/web $(BUILD)/npm
	@cd $(BUILD)/npm && if command -v npm >/dev/null; then npm pack --silent --pack-destination ..; fi

PORT ?= 8000
serve: web
	@scripts/serve.py $(BUILD)/web --port $(PORT)

# The library's own tests as WebAssembly, in node.
test-wasm:
	@scripts/setup.sh --web
	JOBS=$(JOBS) scripts/wasm-libraries.sh
	cmake --preset wasm >/dev/null
	cmake --build --preset wasm -j $(JOBS) >/dev/null
	ctest --preset wasm -j $(JOBS) -L core

# Everything, then the library's tests once more under the address and undefined-behaviour sanitizers.
test: setup all
	@if command -v emcc >/dev/null && [ -e tests/web/node_modules ]; then $(MAKE) web-files; \
	    else echo "the page is left out: 'make web' installs emscripten and builds it"; fi
	ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure
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
	ctest --test-dir build-asan -j $(JOBS) --output-on-failure -E '$(SLOW)'

# Whole separations by the dozen: minutes with sanitizers, where other suites run the same code. test-all runs them too.
SLOW = ^(cli/(batch|info|mistakes|modules|outputs|photos|report|separate)|pipeline/(depth|large|oddities|stops)|python/(example_layers|running|same_bits|types|wheel))$$

# Also every fault instead of a sample, the thread sanitizer, clang, the core alone, how soon a signal is heeded, and
# valgrind, which takes hours for the programs that work on whole scenes.
test-all: test
	@scripts/setup.sh --all
	ESRA_TEST_ALL=1 ESRA_TEST_ROUNDS=10000 ctest --test-dir build-asan --output-on-failure -R '$(SLOW)|^(fault|io)/'
	set -e; for preset in tsan clang core; do \
	    cmake --preset $$preset >/dev/null; cmake --build build-$$preset -j $(JOBS) >/dev/null; \
	    ctest --test-dir build-$$preset --output-on-failure; done
	for motion in homography depth; do python3 bench/soak/stop.py --times 20 $(BUILD)/esra separate examples/scene/photo-*.jpg \
	    -o OUT --motion $$motion || exit 1; done
	$(MAKE) test-fleet
	ESRA_TEST_ALL=1 $(MAKE) test-memcheck

# Shares of a batch by Slurm and GNU parallel, where they are installed (apt install slurm-wlm parallel).
test-fleet: all
	ESRA=$(abspath $(BUILD))/esra python3 -B tests/fleet/schedulers.py

# The tests of the library and the codecs, the fuzz corpus, and a run of each command that reads or writes photos.
test-memcheck: all
	tests/memcheck.sh $(BUILD)

# Bytes of clang's own making, SECONDS for each target (tests/fuzz).
SECONDS ?= 60
fuzz:
	@scripts/setup.sh --fuzz
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz -j $(JOBS) >/dev/null
	@tests/fuzz/run.sh build-fuzz $(SECONDS)

# Which lines the tests run: of the core 95 in a hundred at least, of the codecs and the command line 90. Where files cannot
# be written counts cannot be kept either; gcov's complaint of it goes nowhere, so that tests of what esra says pass. Those
# that kill are left out: the dead count nothing. Threads may miss a count of each other's, but not the first.
GCOVR = gcovr --root . --gcov-ignore-parse-errors
coverage:
	@scripts/setup.sh --coverage
	@cmake --preset coverage >/dev/null
	@cmake --build --preset coverage -j $(JOBS) >/dev/null
	@find build-coverage -name '*.gcda' -delete
	-GCOV_ERROR_FILE=/dev/null ctest --test-dir build-coverage -j $(JOBS) -E '^fault/.*kills$$'
	$(GCOVR) --filter src/ --exclude src/io/ --fail-under-line 95 build-coverage
	$(GCOVR) --filter src/io/ --filter tools/ --fail-under-line 90 build-coverage

install: all
	cmake --install $(BUILD) --prefix $(PREFIX)

# Debian packages of the last commit in build-deb; the source, the packages and the wheels, with checksums, in build-dist. To
# try the packages in a bare system: tests/install/debian.sh build-deb.
deb:
	@scripts/setup.sh --deb
	JOBS=$(JOBS) packaging/deb.sh build-deb

dist: deb
	PYTHON=$(PYTHON) JOBS=$(JOBS) packaging/release.sh build-deb build-dist

clean:
	rm -rf build build-*
