# pg_sweep: builds with PGXS; "make demo" and "make test" do all the set-up.
#
#   make, make install     the extension, for the PostgreSQL of PG_CONFIG
#   make demo              watch it work on a throwaway server
#   make test [PG=16]      all tests, here or in a chroot with another major (15 to 19)
#                          SUITES='unit tap' runs these suites only, see tools/test
#   make bench             the experiments, with and without pg_sweep: half an hour
#   make bench-smoke       the same as small as can be: does it all run?
#   make unit              the pure parts, without a server
#   make man               the command's manual pages, in build/man
#   make dist              the archives of a release, in build/dist
#   make format            C by pgindent's rules, Python by ruff

EXTVERSION = 0.1.0

MODULE_big = pg_sweep
EXTENSION = pg_sweep
DATA_built = sql/pg_sweep--$(EXTVERSION).sql
OBJS = $(patsubst %.c,%.o,$(wildcard src/*.c src/*/*.c))
# src/README.md: which folder may include which
PG_CPPFLAGS = -I$(srcdir)/src
# warnings that core's own headers do not trip over
PG_CFLAGS = -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
SHLIB_LINK = -Wl,--version-script=$(srcdir)/src/exports.map
EXTRA_CLEAN = sql/pg_sweep--$(EXTVERSION).sql build .built-for
# PGXS would build LLVM bitcode where the server has it; that needs clang
override with_llvm = no

srcdir ?= .
BUILD ?= build
# empty when there is no server with its headers yet: tools/setup installs one
ifeq ($(PG_CONFIG),)
PG_CONFIG := $(shell $(srcdir)/tools/pg-config 2>/dev/null)
endif
ifneq ($(PG_CONFIG),)
export PG_CONFIG
else
unexport PG_CONFIG
endif

UNIT_TESTS = $(patsubst test/unit/%.c,$(BUILD)/unit/%,$(wildcard test/unit/*_test.c))

PGXS := $(if $(PG_CONFIG),$(wildcard $(shell $(PG_CONFIG) --pgxs 2>/dev/null)))
ifneq ($(PGXS),)
include $(PGXS)

# The library that changes pages is apart, see docs/retail.md.
CLEANER = cleaner/pg_sweep_cleaner.so

# What other settings would have done, for the backend that asks.
SIMULATE = simulate/pg_sweep_simulate.so

all: $(CLEANER) $(SIMULATE)

$(CLEANER): $(wildcard cleaner/*.[ch]) src/worker/clean_job.h .built-for
	$(MAKE) -C cleaner PG_CONFIG='$(PG_CONFIG)'

$(SIMULATE): $(wildcard simulate/*.[ch]) pg_sweep.so
	$(MAKE) -C simulate PG_CONFIG='$(PG_CONFIG)'

install: install-libraries
install-libraries: $(CLEANER) $(SIMULATE)
	$(MAKE) -C cleaner install PG_CONFIG='$(PG_CONFIG)'
	$(MAKE) -C simulate install PG_CONFIG='$(PG_CONFIG)'

clean: clean-libraries
clean-libraries:
	$(MAKE) -C cleaner clean PG_CONFIG='$(PG_CONFIG)'
	$(MAKE) -C simulate clean PG_CONFIG='$(PG_CONFIG)'

.PHONY: install-libraries clean-libraries
else
all install:
	@tools/setup build
	@$(MAKE) $@ PG_CONFIG="$$(tools/pg-config)"
endif

# pg_sweep.sql comes first; each file ends with its own privileges
SQL_PARTS = sql/pg_sweep.sql sql/history.sql sql/trial.sql sql/simulate.sql sql/tables.sql sql/worth.sql sql/queue.sql sql/blockers.sql sql/explain.sql sql/sensors.sql sql/budget.sql

sql/pg_sweep--$(EXTVERSION).sql: $(SQL_PARTS)
	cat $(SQL_PARTS) >$@

$(OBJS): $(wildcard src/*.h src/*/*.h) .built-for

# Objects for one server are no good for another: it would not start with them.
BUILT_FOR := $(if $(PG_CONFIG),$(shell $(PG_CONFIG) --version 2>/dev/null; $(PG_CONFIG) --includedir-server 2>/dev/null))
.built-for: FORCE
	@echo '$(BUILT_FOR)' | cmp -s - $@ || echo '$(BUILT_FOR)' >$@

.PHONY: FORCE

# a script each, see bench/README.md
MEASUREMENTS = $(addprefix bench-,ablation accuracy age agent alerts archive aside budget cost fleet futile gin governor host insert locks million overhead parallel queue quota relations replica retail scout scrape simulate slowdisk standby switchover thousand trial visits worth)

.PHONY: demo test unit man dist format format-check bench bench-smoke $(MEASUREMENTS)

# SECONDS=60 JSON=1: without a terminal; stdout is the runs and nothing else
demo:
	@tools/setup build demo >&2
	@$(MAKE) --no-print-directory --silent all PG_CONFIG="$$(tools/pg-config)" >&2
	@tools/install >&2
	@venv=$$(tools/venv) && PYTHONPATH=bench "$$venv/bin/python" -m pgsweep_bench demo $(if $(SECONDS),--seconds $(SECONDS)) $(if $(JSON),--json)

# OUTPUT=FILE RESUME=FILE; BENCH_FLAGS for all other options, see bench/README.md
bench bench-smoke:
	@tools/setup build demo >&2
	@$(MAKE) --no-print-directory --silent all PG_CONFIG="$$(tools/pg-config)" >&2
	@tools/install >&2
	@venv=$$(tools/venv bench) && PYTHONPATH=bench "$$venv/bin/python" -m pgsweep_bench run all $(if $(filter bench-smoke,$@),day --smoke) $(if $(OUTPUT),--output $(OUTPUT)) \
		$(if $(RESUME),--resume $(RESUME)) $(BENCH_FLAGS)

ifneq ($(PG),)
test:
	@tools/test-in-chroot $(PG) $(SUITES)
else
test:
	@tools/setup build test
	@$(MAKE) --no-print-directory --silent all COPT=-Werror PG_CONFIG="$$(tools/pg-config)"
	@tools/install
	@tools/venv dev
	@tools/test $(SUITES)
endif

unit: $(UNIT_TESTS)

# plain C: no server header is on the path
UNIT_CC = $(CC) -std=c99 -Wall -Wextra -Wno-missing-field-initializers -Werror -g -O1 -Isrc/policy -Isimulate -Itest/unit
UNIT_SOURCES = $(wildcard src/policy/*.c) $(addprefix simulate/simulate,.c _learn.c _table.c)
UNIT_POLICY = $(patsubst %.c,$(BUILD)/unit/%.o,$(UNIT_SOURCES))

$(BUILD)/unit/%.o: %.c $(wildcard src/policy/*.h simulate/*.h)
	@mkdir -p $(dir $@)
	$(UNIT_CC) -c -o $@ $<

$(BUILD)/unit/%: test/unit/%.c $(wildcard test/unit/*.h) $(UNIT_POLICY)
	@mkdir -p $(dir $@)
	$(UNIT_CC) -o $@ $< $(UNIT_POLICY) -lm

# what bench/thousand runs
$(BUILD)/bench/thousand_host: bench/thousand_host.c $(wildcard test/unit/*.h) $(UNIT_POLICY)
	@mkdir -p $(dir $@)
	$(UNIT_CC) -o $@ $< $(UNIT_POLICY) -lm

man:
	@venv=$$(tools/venv) && "$$venv/bin/python" -m pgsweep.man $(BUILD)/man

dist:
	@tools/dist

format:
	tools/format

format-check:
	tools/format --check

$(MEASUREMENTS):
	@$(MAKE) --no-print-directory --silent all PG_CONFIG="$$(tools/pg-config)" >&2
	@tools/install >&2
	PG_CONFIG="$$(tools/pg-config)" bench/$(@:bench-%=%) $(BENCH_FLAGS)
