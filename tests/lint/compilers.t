# shellcheck shell=bash
# gcc and clang build everything without a warning; build-clang is used again by the chain tests.
. tests/lib/tap.bash
build() {
	make -s -j"$(nproc)" BUILD="build-$1" CC="$1" CFLAGS='-O2 -g -Werror' LDFLAGS= all testprogs
}
check "gcc: no warning" quiet build gcc
check "clang: no warning" quiet build clang
finish
