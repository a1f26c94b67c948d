# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# make            build everything         make compare    the comparison (installs what it needs first)
# make check      tests without guests     make deps       install packages and the Python environment only
#                                          make lab-deps   those of the lab only (docs/ci.md)
# make experiment NAME=list     the experiments of reports; NAME=delaat-5.1: one
# make test       the tests; T='NAME PATTERN*': only these, and builds only what these run
# make test-long  what is too long for make test
# make bench      what the engine costs
# make fuzz       the fuzz targets, longer (tests/fuzz.mk)
# make check-sanitized    make check with programs that have the sanitizers (tests/sanitized.mk)
# make mutations  breaks rules of the engine, and says which tests notice (tests/mutate)
# make soak       an hour of faults, flaps and restarts (tests/soak.test)
# make CROSS_COMPILE=aarch64-linux-gnu- SYSROOT=FOLDER   for another CPU (docs/install.md)
# make install    the command and its service; make deb: as Debian packages (packaging/build.mk)
#
# rooms.mk makes an archive of each room; what is built of them, each folder says in its own build.mk.

BUILD    := build
CC       ?= gcc
CLANG    ?= clang
# Ubuntu's /usr/sbin/bpftool refuses to run on any other kernel than its own; behind it is the program itself
BPFTOOL  ?= $(firstword $(wildcard /usr/lib/linux-tools-*/bpftool /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
PKG      ?= pkg-config
OBJCOPY  ?= objcopy
PYTHON   := /usr/bin/python3
JOBS     := $(shell nproc)

# SYSROOT has the other CPU's headers and libraries. Make runs some of what it builds: by qemu-user and binfmt_misc.
ifdef CROSS_COMPILE
TRIPLET  := $(CROSS_COMPILE:%-=%)
CC       := $(CROSS_COMPILE)gcc --sysroot=$(SYSROOT)
CLANG    := clang --target=$(TRIPLET) --sysroot=$(SYSROOT)
AR       := $(CROSS_COMPILE)ar
LD       := $(CROSS_COMPILE)ld
OBJCOPY  := $(CROSS_COMPILE)objcopy
PKG      := PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) \
	    PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(TRIPLET)/pkgconfig:$(SYSROOT)/usr/share/pkgconfig $(PKG)
endif

# Git knows version and date; without it (an archive, a package's build) the newest entry of the changelog does.
in_git    = $(if $(wildcard .git),$(shell git $1 2>/dev/null))
RELEASE  := $(shell sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
VERSION   = $(or $(call in_git,describe --tags --always --dirty),$(RELEASE))
DATE      = $(or $(call in_git,log -1 --format=%cs),$(shell date -u +%F -d "$$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)"))

# These compile nothing themselves: first they see to the packages, and then they call make again.
CALLERS := deps lab-deps compare experiment check check-sanitized test test-long bench soak fuzz mutations clean uninstall
# What is built without make deps before it needs these; the shell's 'No such file or directory' would not say what to do.
ifeq ($(filter $(CALLERS),$(MAKECMDGOALS)),)
MISSING := $(foreach tool,$(firstword $(CC)) $(firstword $(CLANG)) $(BPFTOOL) $(lastword $(PKG)),$(if $(shell command -v $(tool)),,$(tool)))
$(if $(strip $(MISSING)),$(error not found: $(strip $(MISSING)). `make deps` installs what the build needs (once, as root)))
endif

# -iquote and never -I.: bpf/ and pcap/ would shadow the system's <bpf/...> and <pcap/...>.
CFLAGS   ?= -O2 -g
INCLUDES := -iquote . -iquote $(BUILD) $(shell $(PKG) --cflags libnl-genl-3.0)
WARNINGS := -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE
# also where the command line says CFLAGS=
override CFLAGS += $(WARNINGS) $(INCLUDES)
# Quiet lines by default, whole commands with V=1.
Q        := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-8s %s\n' $(1) $(2))

# `su` without `-` leaves these out.
export PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin

PROGRAMS   :=
UNIT_TESTS :=
TESTS      := $(sort $(wildcard */*.test))
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
# Make would try its own rules on each header.
MAKEFLAGS += --no-builtin-rules
include rooms.mk $(sort $(filter-out rxe_tests/lib.mk,$(wildcard */*.mk */*/*.mk userspace/*/*/*.mk userspace/*/*/*/*.mk)))

DEPS := $(BUILD)/.deps

.PHONY: all deps lab-deps compare experiment check test test-long clean
all: $(PROGRAMS)

# The build itself never installs anything; compare and test first see to the packages. They call make again
# because what the fragments ask pkg-config for exists only afterwards.
deps: $(DEPS)
$(DEPS): packaging/apt.txt packaging/requirements.txt packaging/deps packaging/prometheus
	@packaging/deps $(BUILD)
	@touch $@

lab-deps:
	@packaging/deps $(BUILD) lab

compare: $(DEPS)
	@$(MAKE) --no-print-directory -j$(JOBS) all
	+@exec compare/compare $(PLAN) --output $(BUILD)/compare $(ARGS)

# An experiment by name: NAME=list says which there are, FULL=1 runs its whole grid. They are plans of the comparison
# (rxe_tests/plans/).
experiment: $(DEPS)
	@$(MAKE) --no-print-directory -j$(JOBS) all
	+@exec compare/compare $(if $(filter list,$(or $(NAME),list)),experiments,$(NAME) --output $(BUILD)/experiments $(if $(FULL),--whole) $(ARGS))

# Which tests there are, their names say; what each needs and builds, its first lines (tests/run). T='NAME PATTERN*': only these.
check test test-long: $(DEPS)
	@tests/run $@ --build $(JOBS) $(T:%='--only=%') $(UNIT_TESTS) $(TESTS)

.PHONY: unit-tests
unit-tests: $(UNIT_TESTS)

clean:
	rm -rf $(BUILD)

$(PROGRAMS): LINK ?= $(CC) $(CFLAGS)
$(PROGRAMS):
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o %.a,$^) $(LDLIBS)

ifneq ($(filter-out $(CALLERS),$(or $(MAKECMDGOALS),all)),)
-include $(shell find $(BUILD) '(' -name debian -o -name venv -o -name lab -o -name sanitized-tree -o -name recipes ')' -prune -o -name '*.d' -type f -print 2>/dev/null)
endif
