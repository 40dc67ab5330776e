# teleop-utils.  A new folder cmd/x/ is a new tool: no edit here.
# User's CC, CFLAGS, CPPFLAGS, LDFLAGS, LDLIBS, PREFIX, DESTDIR, MANDIR are honoured.
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all
SHELL := /bin/bash

VERSION := 0.1.0
PREFIX ?= /usr/local
MANDIR ?= $(PREFIX)/share/man
BUILD ?= build
ifeq ($(origin CC),default)
CC := gcc
endif
AR ?= ar
PKG_CONFIG ?= pkg-config
NNG_LIBS ?= -lnng
JANSSON_LIBS ?= $(shell $(PKG_CONFIG) --libs jansson 2>/dev/null || echo -ljansson)
CFLAGS ?= -O2 -g

WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
	-Wformat=2 -Wvla -Wundef -Wnull-dereference -Wdouble-promotion
# -ffp-contract=off: a run with --clock input gives the same bytes from every compiler.
LANGUAGE := -std=c11 -D_GNU_SOURCE -DTELEOP_VERSION='"$(VERSION)"' -Icommon -Icmd
HOUSE := $(LANGUAGE) $(WARN) -ffp-contract=off -MMD -MP
# Not expanded before a link line needs it: pkg-config may come with `make deps`.
LIBS = -Wl,--as-needed $(NNG_LIBS) $(JANSSON_LIBS) -lm

TOOLS := $(notdir $(patsubst %/,%,$(sort $(wildcard cmd/*/))))
COMMON_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard common/*/*.c)))
PART_SRC := $(filter-out %/main.c,$(sort $(wildcard cmd/*/*.c)))
PART_OBJ := $(PART_SRC:%.c=$(BUILD)/%.o)
BIN := $(addprefix $(BUILD)/bin/,$(TOOLS))
# Unit tests print TAP; programs that other tests need are plain programs.
UNIT := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/unit/*_test.c)))
TESTPROG := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/lib/*.c tests/bench/*.c)))
# A fuzz target with a main of its own; libFuzzer brings another (make fuzz).
FUZZ_TARGETS := $(filter-out replay,$(basename $(notdir $(sort $(wildcard tests/fuzz/*.c)))))
FUZZ := $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/%)
FUZZ_MAIN ?= $(BUILD)/tests/fuzz/replay.o
MAN1 := $(sort $(wildcard man/man1/*.1))
MAN5 := $(sort $(wildcard man/man5/*.5))
MAN7 := $(sort $(wildcard man/man7/*.7))

.PHONY: all
all: $(BIN)

tool_obj = $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard cmd/$(1)/*.c)))
define tool_rule
$(BUILD)/bin/$(1): $(call tool_obj,$(1)) $(BUILD)/libcommon.a
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LIBS) $$(LDLIBS)
endef
$(foreach t,$(TOOLS),$(eval $(call tool_rule,$(t))))

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(HOUSE) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/libcommon.a: $(COMMON_OBJ)
	@rm -f $@
	$(AR) rcsD $@ $^

# Tools' own parts, so that a unit test links just what it names (thin archive: paths stay apart).
$(BUILD)/libparts.a: $(PART_OBJ)
	@rm -f $@
	$(AR) rcsDT $@ $^

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/libparts.a $(BUILD)/libcommon.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/libparts.a $(BUILD)/libcommon.a $(LIBS) $(LDLIBS)

$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(FUZZ_MAIN) $(BUILD)/libparts.a $(BUILD)/libcommon.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) $(LDLIBS)

# Objects follow the compiler and its flags.
.PHONY: FORCE
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(CC) $(CPPFLAGS) $(CFLAGS) $(VERSION)' | cmp -s - $@ || \
		printf '%s\n' '$(CC) $(CPPFLAGS) $(CFLAGS) $(VERSION)' > $@

-include $(COMMON_OBJ:.o=.d) $(PART_OBJ:.o=.d) $(patsubst %,$(BUILD)/cmd/%/main.d,$(TOOLS)) \
	$(UNIT:%=%.d) $(TESTPROG:%=%.d) $(FUZZ:%=%.d) $(FUZZ_MAIN:.o=.d)

.PHONY: testprogs fuzzprogs
testprogs: $(UNIT) $(TESTPROG) $(FUZZ)
fuzzprogs: $(FUZZ)

# ---- packages: DEPS and DEPS_CHECK may be overridden (empty: nothing is looked for) ----
DEPS ?= gcc libc6-dev pkg-config libnng-dev libjansson-dev jq gnuplot-nox
DEPS_CHECK ?= bats perl python3 strace procps iproute2 can-utils bsdextrautils openssl mandoc groff-base \
	shellcheck cppcheck clang clang-format clang-tidy user-mode-linux busybox-static

DEPS_LONG ?= debootstrap

.PHONY: deps deps-check deps-long
deps:
	@tests/lib/packages $(DEPS)
deps-check:
	@tests/lib/packages $(DEPS) $(DEPS_CHECK)
deps-long:
	@tests/lib/packages $(DEPS) $(DEPS_CHECK) $(DEPS_LONG)

# ---- the suite: everything below tests/ that prints TAP, in one run of prove ----
# tests/lib/rules.yml says what may run side by side.  Full counts: TELEOP_LONG=1.
LONG_TESTS := $(sort $(wildcard tests/long/*.bats tests/long/*.t))
SUITE := $(UNIT) $(filter-out $(LONG_TESTS),$(sort $(wildcard tests/*/*.bats tests/*/*.t)))
# A sanitized program cannot start in the guest, and its text needs no second lint.
SUITE_ASAN := $(filter-out tests/lint/% tests/vm/%,$(SUITE))
TEST_JOBS ?= $(shell nproc)
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
PROVE = HARNESS_RULESFILE=tests/lib/rules.yml TELEOP_BIN=$(abspath $(BUILD))/bin \
	TELEOP_TP=$(abspath $(BUILD))/tests/lib TELEOP_BUILD=$(abspath $(BUILD)) TELEOP_CC='$(CC)' \
	prove --timer --directives --jobs $(TEST_JOBS) --exec tests/lib/tap

.PHONY: check check-long check-built asan asan-built list-tests
check: deps-check
	+@$(MAKE) $(JOBS) all testprogs
	+@$(MAKE) check-built

check-long: deps-long
	+@$(MAKE) $(JOBS) all testprogs
	+@TELEOP_LONG=1 $(MAKE) check-built SUITE='$(SUITE) $(LONG_TESTS)'

# One file or some:  make check-built SUITE=tests/tools/clamp.bats
check-built:
	@$(PROVE) $(SUITE) </dev/null

list-tests:
	@printf '%s\n' $(SUITE) $(LONG_TESTS)

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
ASAN_VARS = BUILD=build-asan CFLAGS='-O1 -g $(SANITIZE)' LDFLAGS='$(SANITIZE)'
asan: deps-check
	+@$(MAKE) $(JOBS) $(ASAN_VARS) all testprogs
	+@$(MAKE) $(ASAN_VARS) asan-built

# Reports go to files: one from a background program whose status no test asks for counts too.
asan-built: export ASAN_OPTIONS := exitcode=99:log_path=$(abspath build-asan)/report
asan-built: export UBSAN_OPTIONS := print_stacktrace=1:halt_on_error=1:exitcode=99:log_path=$(abspath build-asan)/report
asan-built: export LSAN_OPTIONS := suppressions=$(abspath tests/lib/lsan.supp):print_suppressions=0
asan-built: export TELEOP_SANITIZED := 1
asan-built:
	@[ '$(BUILD)' = build-asan ] || { echo "make asan starts this" >&2; exit 2; }
	@rm -f build-asan/report.*
	@rc=0; $(PROVE) $(SUITE_ASAN) </dev/null || rc=$$?; \
	if ls build-asan/report.* >/dev/null 2>&1; then \
		cat build-asan/report.*; echo "asan: reports above, in build-asan/report.*"; rc=1; fi; exit $$rc

# ---- fuzzing: each target of tests/fuzz for FUZZ_SECONDS, from its corpus in the tree ----
# What is found new lies in build-fuzz/corpus, what failed in build-fuzz/found; after a repair
# the input goes to tests/fuzz/corpus/TARGET, where make check finds it.
FUZZ_SECONDS ?= 60
DEPS_FUZZ ?= clang libclang-rt-14-dev
FUZZ_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_VARS = BUILD=build-fuzz CC=clang CFLAGS='-O1 -g $(FUZZ_SANITIZE) -fsanitize=fuzzer-no-link' \
	LDFLAGS='-fsanitize=fuzzer' FUZZ_MAIN=
.PHONY: fuzz fuzz-build
fuzz-build:
	@tests/lib/packages $(DEPS) $(DEPS_FUZZ)
	+@$(MAKE) $(JOBS) $(FUZZ_VARS) fuzzprogs
fuzz: fuzz-build
	@tests/fuzz/run build-fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)

# ---- lint ----
SOURCES := $(sort $(wildcard common/*/*.[ch] cmd/*/*.[ch] tests/*/*.[ch]))
TIDY := $(patsubst %,$(BUILD)/tidy/%.ok,$(filter %.c,$(SOURCES)))

.PHONY: lint tidy format list-sources
lint: deps-check
	+@prove --verbose --exec tests/lib/tap $(sort $(wildcard tests/lint/*.t)) </dev/null

# What was tidy and has not changed since is not looked at again.
tidy: $(TIDY)
$(BUILD)/tidy/%.ok: % .clang-tidy tests/.clang-tidy $(filter %.h,$(SOURCES))
	@mkdir -p $(@D)
	@[ ! -t 1 ] || echo "tidy $<"
	@set -o pipefail; clang-tidy --quiet $< -- $(LANGUAGE) 2>&1 | \
		sed '/^[0-9]* warnings\? generated\.$$/d'
	@touch $@

format:
	clang-format -i $(SOURCES)

list-sources:
	@printf '%s\n' $(SOURCES)

# ---- demo ----
.PHONY: demo
demo: deps
	+@$(MAKE) $(JOBS) all
	@pipelines/demo $(if $(SESSION),'$(SESSION)')

# ---- install: scripts live beside lib.sh in share/teleop, bin has links to those users start ----
BINDIR = $(DESTDIR)$(PREFIX)/bin
SHAREDIR = $(DESTDIR)$(PREFIX)/share/teleop
UNITS := $(sort $(wildcard pipelines/*.service))
COMPLETION := pipelines/completion.bash
SCRIPTS := $(filter-out $(UNITS) $(COMPLETION),$(sort $(wildcard pipelines/*)))
STARTED := $(notdir $(filter-out $(UNITS),$(sort $(wildcard pipelines/teleop-*))))
COMPDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
# Units only when asked for: make install SYSTEMD=1
SYSTEMD ?=
UNITDIR = $(DESTDIR)$(PREFIX)/lib/systemd/system
MANPAGES := $(MAN1) $(MAN5) $(MAN7)

.PHONY: install uninstall
install: all
	install -d '$(BINDIR)' '$(SHAREDIR)' '$(COMPDIR)' $(foreach s,1 5 7,'$(DESTDIR)$(MANDIR)/man$(s)')
	install -m 755 $(BIN) '$(BINDIR)'
	$(foreach s,$(SCRIPTS),install -m $(if $(suffix $(s)),644,755) $(s) '$(SHAREDIR)' &&) true
	$(foreach s,$(STARTED),ln -sf ../share/teleop/$(s) '$(BINDIR)/$(s)' &&) true
	$(foreach m,$(MANPAGES),install -m 644 $(m) '$(DESTDIR)$(MANDIR)/$(m:man/%=%)' &&) true
	install -m 644 $(COMPLETION) '$(COMPDIR)/teleop-utils'
	printf 'complete -F _teleop_complete %s\n' '$(TOOLS) $(STARTED)' >>'$(COMPDIR)/teleop-utils'
	$(foreach t,$(TOOLS) $(STARTED),ln -sf teleop-utils '$(COMPDIR)/$(t)' &&) true
ifneq ($(SYSTEMD),)
	install -d '$(UNITDIR)'
	$(foreach u,$(UNITS),sed 's,@PREFIX@,$(PREFIX),g' '$(u)' >'$(UNITDIR)/$(notdir $(u))' && \
		chmod 644 '$(UNITDIR)/$(notdir $(u))' &&) true
endif

uninstall:
	rm -f $(foreach t,$(TOOLS) $(STARTED),'$(BINDIR)/$(t)')
	rm -f $(foreach s,$(notdir $(SCRIPTS)),'$(SHAREDIR)/$(s)')
	rm -f $(foreach m,$(MANPAGES),'$(DESTDIR)$(MANDIR)/$(m:man/%=%)')
	rm -f $(foreach u,$(notdir $(UNITS)),'$(UNITDIR)/$(u)')
	rm -f $(foreach t,teleop-utils $(TOOLS) $(STARTED),'$(COMPDIR)/$(t)')
	rmdir '$(SHAREDIR)' 2>/dev/null || true

.PHONY: clean
clean:
	rm -rf build build-*
