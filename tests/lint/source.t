# shellcheck shell=bash
# Format, clang-tidy and cppcheck over every C file.
. tests/lib/tap.bash
mapfile -t sources < <(make -s list-sources)
mapfile -t units < <(printf '%s\n' "${sources[@]}" | grep '\.c$')

tidy() {
	make -s -k -j"$(nproc)" BUILD=build tidy
}
over_24k() {
	[ -z "$(find cmd common -name '*.[ch]' -size +24k)" ]
}
check "there are sources" test ${#units[@]} -gt 0
check "clang-format agrees" clang-format --dry-run -Werror "${sources[@]}"
check "cppcheck" quiet cppcheck -q --std=c11 --language=c --enable=warning,performance,portability \
	--inline-suppr --suppress=missingIncludeSystem --error-exitcode=1 -D_GNU_SOURCE \
	-DTELEOP_VERSION='"0"' -Icommon -Icmd -j "$(nproc)" "${units[@]}"
check "clang-tidy" tidy
check "no source file over 24 kB" over_24k
finish
