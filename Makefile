# wend - `make help` lists what this file can do.
#
# Every variant builds in build/VARIANT from the same rules; `make` puts the
# release products in build/.

VARIANT ?= release
B := build/$(VARIANT)
PREFIX ?= /usr/local
DESTDIR ?=
CC := gcc
AR ?= ar
# `make V=1` shows every command.
Q := $(if $(V),,@)

# VARIANT=arm64 is built with a cross compiler and run by qemu-user.
TARGET := $(if $(filter arm64,$(VARIANT)),aarch64-linux-gnu-)
PKG_CONFIG := $(if $(TARGET),PKG_CONFIG_LIBDIR=/usr/lib/$(TARGET:%-=%)/pkgconfig) pkg-config

PKGS := libuv sqlite3 yaml-0.1 libpcre2-8
# Only the headers: the library is loaded with the first transfer.
PKGS_HEADERS := libcurl
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS) $(PKGS_HEADERS) 2>/dev/null)
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null) -lpthread -lm -ldl

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wvla \
        -Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wwrite-strings \
        -Wswitch-enum -Wundef -Wformat=2 -Werror
OPT_release := -O2 -g -DNDEBUG
OPT_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
            -fno-omit-frame-pointer
OPT_tsan := -O1 -g -fsanitize=thread
OPT_coverage := -O0 -g --coverage
OPT_fuzz := -O1 -g -fsanitize=fuzzer-no-link,address,undefined \
            -fno-sanitize-recover=all
OPT_arm64 := -O1 -g
ifeq ($(VARIANT),fuzz)
CC := clang
endif
ifeq ($(VARIANT),arm64)
CC := $(TARGET)gcc
endif
CFLAGS := -std=c17 -D_GNU_SOURCE $(WARN) -fvisibility=hidden -fPIC -fno-strict-aliasing \
          $(OPT_$(VARIANT)) -Iinclude -Isrc $(PKG_CFLAGS) $(EXTRA_CFLAGS)
LDFLAGS := $(filter -fsanitize=% --coverage,$(OPT_$(VARIANT)))

LAYERS := base core wire host store lib tools serve
# A layer is a folder of src; most have rooms, folders of their own.
LIB_SRC := $(sort $(foreach d,$(LAYERS),$(wildcard src/$(d)/*.c src/$(d)/*/*.c)))
CLI_SRC := $(sort $(wildcard src/cli/*.c src/cli/*/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
CLI_OBJ := $(CLI_SRC:%.c=$(B)/%.o)
UNIT_SRC := $(wildcard tests/unit/*/test_*.c tests/unit/*/*/test_*.c)
UNIT := $(patsubst %.c,$(B)/tests/%,$(notdir $(UNIT_SRC)))
SIM := $(patsubst tests/sim/%.c,$(B)/tests/%,$(wildcard tests/sim/sim_*.c))
EXAMPLES := $(patsubst examples/%.c,$(B)/examples/%,$(wildcard examples/*.c))
FUZZ := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

# States of runs as JSON, for tests that compare them.
STATE_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard tests/state/*.c))

# The peer of all tests that need a model server.
SERVER := $(B)/tests/wend-test-server
SERVER_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard tests/server/*.c))

.PHONY: all deps test quick coverage demo bench crash power oom faults fuzz campaign fmt help install clean \
        tidy products unit examples man
.PRECIOUS: $(B)/%.o

all: deps-check
	@$(MAKE) --no-print-directory products

## all        build build/wend, build/wend-bench, build/libwend.{a,so}; with
##            VARIANT=asan, tsan, ... the same in build/VARIANT
PRODUCTS := wend wend-bench libwend.a libwend.so
ifeq ($(VARIANT),release)
products: $(PRODUCTS:%=build/%) man
else
products: $(PRODUCTS:%=$(B)/%)
endif

# Tells what is missing before the compiler does.
.PHONY: deps-check
deps-check:
	@$(PKG_CONFIG) --exists $(PKGS) $(PKGS_HEADERS) || { tools/deps --print >&2; exit 1; }

$(PRODUCTS:%=build/%): build/%: build/release/%
	@cp $< $@

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

# The supervisor of process tools: static, without libc, the same in every
# variant for one machine; the library carries its bytes.
SUPER := build/$(TARGET)super/wend-super
SUPER_SRC := $(sort $(wildcard src/super/*.c))
SUPER_CC := $(TARGET)gcc
SUPER_CFLAGS := -std=gnu17 -D_GNU_SOURCE $(WARN) -Os -Isrc -ffreestanding \
    -fno-pie -fno-stack-protector -fno-asynchronous-unwind-tables \
    -fno-tree-loop-distribute-patterns -fno-strict-aliasing \
    $(if $(filter x86_64-%,$(shell $(SUPER_CC) -dumpmachine)),-mno-red-zone)
$(SUPER): $(SUPER_SRC) $(wildcard src/super/*.h)
	@mkdir -p $(@D)
	$(Q)$(SUPER_CC) $(SUPER_CFLAGS) -static -nostdlib -no-pie -s -Wl,--build-id=none \
	    -Wl,-z,noseparate-code -Wl,-z,noexecstack -o $@ $(SUPER_SRC)
$(B)/src/host/proc/proc_launch.o: CFLAGS += -DSUPER_PROGRAM='"$(SUPER)"'
$(B)/src/host/proc/proc_launch.o: $(SUPER)

# The page: its files, compressed and with their hashes, are in the library.
WEB := $(sort $(wildcard src/serve/web/*))
WEB_GZ := $(WEB:src/serve/web/%=build/web/%.gz)
build/web/%.gz: src/serve/web/%
	@mkdir -p $(@D)
	$(Q)gzip -9nc $< >$@
build/web/web_list.h: $(WEB) Makefile
	@mkdir -p $(@D)
	$(Q)for f in $(notdir $(WEB)); do \
	    printf 'WEB_FILE(%s, "%s", "\\"%.16s\\"")\n' "$$(echo $$f | tr . _)" $$f \
	        "$$(sha256sum <src/serve/web/$$f)"; \
	done >$@
$(B)/src/serve/web.o: CFLAGS += -Ibuild/web -DWEB_BUILT='"build/web"'
$(B)/src/serve/web.o: build/web/web_list.h $(WEB_GZ) src/serve/openapi.json

$(B)/wend: $(CLI_OBJ) $(LIB_OBJ)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(B)/wend-bench: $(B)/tests/bench/wend_bench.o $(LIB_OBJ)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

# What speed is compared with, and what measures it.
BENCH_TOOLS := $(B)/tests/raw-client $(B)/tests/best $(B)/tests/proc-bench \
               $(B)/tests/plan-bench $(B)/tests/context-bench \
               $(B)/tests/chat-bench $(B)/tests/sync-floor
$(B)/tests/raw-client: $(B)/tests/bench/raw_client.o
	$(Q)$(CC) $(LDFLAGS) -o $@ $^
$(B)/tests/best: $(B)/tests/bench/best.o
	$(Q)$(CC) $(LDFLAGS) -o $@ $^

$(B)/tests/chat-bench: $(B)/tests/bench/chat_bench.o
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lutil

$(B)/tests/sync-floor: $(B)/tests/bench/sync_floor.o
	$(Q)$(CC) $(LDFLAGS) -o $@ $^

$(B)/tests/proc-bench: $(B)/tests/bench/proc_bench.o $(LIB_OBJ)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(B)/tests/plan-bench $(B)/tests/context-bench: \
    $(B)/tests/%-bench: $(B)/tests/bench/%_bench.o $(STATE_OBJ) $(LIB_OBJ)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

# One object whose hidden symbols are local: nothing but wend_* to clash.
$(B)/libwend.a: $(LIB_OBJ)
	@rm -f $@
	$(Q)$(TARGET)ld -r -o $(B)/libwend.o $^
	$(Q)$(TARGET)objcopy --localize-hidden $(B)/libwend.o
	$(Q)$(AR) rcs $@ $(B)/libwend.o

# It stays in the process after dlclose: a tool's thread may still run in it.
$(B)/libwend.so: $(LIB_OBJ)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-soname,libwend.so.0 -Wl,--no-undefined \
	    -Wl,-z,nodelete \
	    -o $@ $^ $(PKG_LIBS)

# A test has of the library what it needs: hundreds of programs that hold all
# of it take minutes to link, and gigabytes.
PARTS := $(B)/tests/parts.a
$(PARTS): $(LIB_OBJ) $(STATE_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(TARGET)ar rcsT $@ $^
LINK_PARTS = $(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(PARTS) $(PKG_LIBS)

# Tests lie in rooms like those of src, their programs in one folder.
$(B)/tests/%.o: CFLAGS += -Itests -Itests/unit
define unit_rule
$(B)/tests/$(notdir $(1:.c=)): $(B)/$(1:.c=.o) $$(PARTS)
	$$(Q)$$(LINK_PARTS)
endef
$(foreach s,$(UNIT_SRC),$(eval $(call unit_rule,$(s))))
# Parts of the command that can be tested alone.
$(B)/tests/test_term: $(B)/src/cli/term.o
$(B)/tests/test_stats: $(B)/src/cli/view/stats.o
$(B)/tests/test_bar: $(B)/src/cli/view/bar.o
$(B)/tests/test_grid: $(patsubst %,$(B)/src/cli/%.o,term view/grid)
$(B)/tests/test_page: $(patsubst %,$(B)/src/cli/view/%.o,bar timeline \
    timeline_axis timeline_path timeline_plan timeline_span) \
    $(patsubst %,$(B)/src/cli/page/%.o,page_bar page_index page_part page_run)
$(B)/tests/test_waterfall: $(patsubst %,$(B)/src/cli/%.o,term view/bar view/waterfall)
$(B)/tests/test_markdown: $(patsubst %,$(B)/src/cli/%.o,term view/markdown \
	view/markdown_inline view/markdown_table)
$(B)/tests/test_wrap: $(patsubst %,$(B)/src/cli/%.o,term view/wrap)
$(B)/tests/test_editor: $(patsubst %,$(B)/src/cli/%.o,term chat/editor chat/search)
$(B)/tests/test_live: $(patsubst %,$(B)/src/cli/%.o,term view/panel view/status \
	view/wrap)
# A simulator, sim_NAME.c, has its parts in the folder NAME.
define sim_rule
$(B)/tests/sim_$(1): $$(patsubst %.c,$(B)/%.o,$$(wildcard tests/sim/sim_$(1).c \
        tests/sim/$(1)/*.c) tests/sim/seeds.c tests/sim/options.c) $$(PARTS)
	$$(Q)$$(LINK_PARTS)
endef
$(foreach s,$(SIM:$(B)/tests/sim_%=%),$(eval $(call sim_rule,$(s))))

$(B)/tests/crash-test: $(B)/tests/crash/crash.o $(LIB_OBJ)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(B)/tests/power-test $(B)/tests/fault-test: \
    $(B)/tests/%-test: $(B)/tests/power/%.o $(LIB_OBJ)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

# The command with a disk that fails.
$(B)/tests/wend-faulty: $(B)/tests/power/faulty.o $(CLI_OBJ) $(LIB_OBJ)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

$(SERVER): $(SERVER_OBJ) $(filter $(B)/src/base/%,$(LIB_OBJ))
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(PKG_LIBS) -lssl -lcrypto
# A server of tools. It runs in the sandbox, where a sanitizer has no room.
MCP_SERVER := $(B)/tests/wend-test-mcp
$(MCP_SERVER): tests/mcp/server.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c17 -D_GNU_SOURCE $(WARN) -O1 -g -o $@ $<
$(UNIT): | $(SERVER) $(MCP_SERVER)

# A terminal whose screen the tests compare.
SCREEN := $(B)/tests/wend-test-screen
$(SCREEN): tests/terminal/screen.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c17 -D_GNU_SOURCE $(WARN) -O1 -g $(shell pkg-config --cflags vterm) \
	    -o $@ $< $(shell pkg-config --libs vterm) -lutil

# Tools and an allocator of a host's that it unloads.
$(B)/tests/plugin.so: $(B)/tests/plugin/plugin.o
	$(Q)$(CC) $(LDFLAGS) -shared -o $@ $^
$(B)/tests/test_plugin: | $(B)/tests/plugin.so

# Its malloc stands before everybody's: with VARIANT=asan only.
$(B)/tests/oom-test: $(patsubst %.c,$(B)/%.o,$(wildcard tests/oom/*.c)) $(LIB_OBJ) \
                     | $(SERVER) $(MCP_SERVER)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(PKG_LIBS)

# Runs the command under strace; short.so makes reads and writes short.
$(B)/tests/faults-test: $(patsubst %.c,$(B)/%.o,$(wildcard tests/faults/[!s]*.c)) \
                        | $(B)/tests/short.so $(SERVER) $(MCP_SERVER)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^
$(B)/tests/short.so: $(B)/tests/faults/short.o
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -o $@ $^ -ldl

# Examples see only what users see: the public header and the library.
$(B)/examples/%: examples/%.c $(B)/libwend.a
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c99 -Wall -Wextra -Wpedantic -Werror -Iinclude \
	    $(OPT_$(VARIANT)) -o $@ $^ $(PKG_LIBS)

$(B)/fuzz/%: LDFLAGS := -fsanitize=fuzzer,address,undefined
$(B)/fuzz/%: $(B)/tests/fuzz/%.o $(PARTS)
	@mkdir -p $(@D)
	$(Q)$(LINK_PARTS)

## deps       install the Debian packages that are missing
deps:
	@tools/deps

unit: $(UNIT) $(SIM)
examples: $(EXAMPLES)

## test       install, build with sanitizers, run all that CI runs
test: deps
	@$(MAKE) --no-print-directory products
	@tests/run all

## quick      unit tests and simulation, with sanitizers
quick:
	@tests/run quick

## coverage   lines and branches that unit tests and simulation reach
coverage:
	@tests/run coverage

## tidy       layers, purity, exports, limits, bans
tidy:
	@tools/tidy

## demo       the research assistant, offline; MODEL=provider:model asks one
demo: deps
	@$(MAKE) --no-print-directory products
	@examples/demo.sh "$(MODEL)"

## bench      speed marks as ratios of one run; JSON on stdout
bench: products $(SERVER) $(BENCH_TOOLS)
	@tests/bench/run

## crash      kill runs by SIGKILL at N points (default 20000) and go on
crash: $(B)/tests/crash-test
	@$(B)/tests/crash-test --kills $(or $(N),20000)

## sim        simulate SEEDS (N, or FROM-TO; default 5000) in every simulator
sim:
	@$(MAKE) --no-print-directory VARIANT=asan sim-programs
	@for s in $(SIM:$(B)/%=build/asan/%); do \
	    echo "# $$s"; $$s --seeds $(or $(SEEDS),5000) || exit 1; done
.PHONY: sim sim-programs
sim-programs: $(SIM)

## power      cut the power N times (default 20000) and look what is left;
##            then every call of the disk fails once
power: $(B)/tests/power-test $(B)/tests/fault-test
	@$(B)/tests/power-test --images $(or $(N),20000)
	@$(B)/tests/fault-test --all

## oom        each allocation of each scenario fails once, in every library
oom:
	@$(MAKE) --no-print-directory VARIANT=asan build/asan/tests/oom-test
	@build/asan/tests/oom-test --all

## faults     each system call of each scenario fails once; needs strace
faults: $(B)/wend $(B)/tests/faults-test
	@WEND=$(B)/wend $(B)/tests/faults-test --all

## fuzz       each fuzz target for FUZZ_SECONDS (default 60)
fuzz:
	@tests/run fuzz

## campaign   all that can be tried for hours: simulation, crashes, power, oom,
##            faults, races, fuzzing
campaign:
	@tests/run campaign

## man        manual pages; wend(3) from the headers, wend-events(7) from the
##            event table
man: build/man/wend-events.7 build/man/wend.3
build/man/wend-events.7: tools/event-doc include/wend_event.h \
                         docs/man/wend-events.7.in \
                         src/core/event/event_fields.c \
                         $(wildcard src/core/turn/tt*.c) \
                         src/lib/run/fork.c src/lib/run/shell_answer.c
	@mkdir -p $(@D)
	$(Q)tools/event-doc > $@.tmp
	@mv $@.tmp $@
	@cp docs/man/*.[0-9] build/man/ 2>/dev/null || true
build/man/wend.3: tools/header-doc docs/man/wend.3.in examples/01_hello.c \
                  $(wildcard include/*.h)
	@mkdir -p $(@D)
	$(Q)tools/header-doc > $@.tmp
	@mv $@.tmp $@

## fmt        clang-format over the tree
fmt:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

## install    into $(DESTDIR)$(PREFIX)
install: all
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" tools/install

## clean      remove build/
clean:
	rm -rf build

## help       this list
help:
	@sed -n 's/^## //p' Makefile

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d)
-include $(wildcard $(foreach d,* */* */*/*,$(B)/tests/$(d)/*.d))
