# teleop-utils.  A new folder cmd/x/ is a new tool: no edit here.
# User's CC, CFLAGS, CPPFLAGS, LDFLAGS, LDLIBS, PREFIX, DESTDIR, MANDIR are honoured.
MAKEFLAGS += --no-builtin-rules
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
HOUSE := -std=c11 -D_GNU_SOURCE -DTELEOP_VERSION='"$(VERSION)"' -Icommon -Icmd $(WARN) \
	-ffp-contract=off -MMD -MP
LIBS := -Wl,--as-needed $(NNG_LIBS) $(JANSSON_LIBS) -lm

TOOLS := $(notdir $(patsubst %/,%,$(sort $(wildcard cmd/*/))))
COMMON_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard common/*/*.c)))
PART_SRC := $(filter-out %/main.c,$(sort $(wildcard cmd/*/*.c)))
PART_OBJ := $(PART_SRC:%.c=$(BUILD)/%.o)
BIN := $(addprefix $(BUILD)/bin/,$(TOOLS))
# Unit tests print TAP; programs that other tests need are plain programs.
UNIT := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/unit/*_test.c)))
TESTPROG := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/lib/*.c tests/bench/*.c)))
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

# Objects follow the compiler and its flags.
.PHONY: FORCE
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(CC) $(CPPFLAGS) $(CFLAGS) $(VERSION)' | cmp -s - $@ || \
		printf '%s\n' '$(CC) $(CPPFLAGS) $(CFLAGS) $(VERSION)' > $@

-include $(COMMON_OBJ:.o=.d) $(PART_OBJ:.o=.d) $(patsubst %,$(BUILD)/cmd/%/main.d,$(TOOLS)) \
	$(UNIT:%=%.d) $(TESTPROG:%=%.d)

.PHONY: testprogs
testprogs: $(UNIT) $(TESTPROG)

.PHONY: clean
clean:
	rm -rf build build-*
