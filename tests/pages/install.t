# shellcheck shell=bash
# make install into a DESTDIR: what is there, that it works from there, and what comes only when
# asked for.
. tests/lib/tap.bash
. tests/lib/pages.bash

into() {
	local d=$1
	shift
	make -s install DESTDIR="$d" BUILD="${TELEOP_BUILD:-build}" "$@"
}
files() {
	(cd "$1" && find . ! -type d | sort)
}
places() {
	into "$work/a" PREFIX=/opt/t || return
	files "$work/a" | grep -vE '^\./opt/t/(bin|share/(man/man[157]|teleop|bash-completion/completions))/[^/]+$' && return 1
	[ -z "$(find "$work/a" -type f -perm /022)" ] && [ ! -e "$work/a/opt/t/lib" ]
}
links_lead_somewhere() {
	[ -z "$(find "$work/a" -xtype l)" ]
}
completions() {
	local t
	for t in "${tools[@]}" "${scripts[@]}"; do
		[ "$t" = demo ] && continue
		# shellcheck disable=SC2016
		bash -c '_longopt() { echo "asked for $1"; }
			. "$0/$1" && complete -p "$1" | grep -qw _teleop_complete && _teleop_complete "$1"' \
			"$work/a/opt/t/share/bash-completion/completions" "$t" | grep -qx "asked for $t" ||
			{ echo "$t"; return 1; }
	done
}
simulated() {
	env -i PATH="$work/a/opt/t/bin:/usr/bin:/bin" TELEOP_RUNTIME_DIR="$work/rt" \
		timeout 60 teleop-sim -n 60 >"$work/sim.out" 2>"$work/sim.err" &&
		grep -q '"gate"' "$work/sim.out" && grep -q 'last stop sent' "$work/sim.err"
}
units() {
	into "$work/b" PREFIX=/opt/t SYSTEMD=1 || return
	diff <(files "$work/a") <(files "$work/b") >"$work/more"
	[ "$(grep -c '^>' "$work/more")" -eq 2 ] && ! grep -q '^<' "$work/more" &&
		! grep -r '@PREFIX@' "$work/b"
}
# No unit that moves an arm is started again by itself.
unit_rules() {
	local u rule
	for u in "$work"/b/opt/t/lib/systemd/system/*.service; do
		for rule in Type=notify NotifyAccess=all Restart=no KillMode=control-group IgnoreSIGPIPE=no \
			TimeoutStopSec=2 NoNewPrivileges=yes ProtectSystem=strict RuntimeDirectoryMode=0700; do
			grep -qx "$rule" "$u" || { echo "$u: no $rule"; return 1; }
		done
		grep -qE '^ExecStopPost=-?/usr/bin/env piper-can-write -q --stop \$\{BUS' "$u" || return
	done
}
units_verify() {
	command -v systemd-analyze >/dev/null || return 0 # unit_rules is what is left
	local u
	for u in "$work"/b/opt/t/lib/systemd/system/*.service; do
		cp "$u" "$work/$(basename "${u/@/@x}")"
		systemd-analyze verify --man=no "$work/$(basename "${u/@/@x}")" || return
	done 2>&1 | tee "$work/verify"
	[ ! -s "$work/verify" ]
}
# With the settings of the comment at its top a unit's command line is one the script takes.  Nothing
# of it may reach a bus of this machine: every program is a stand-in.
unit_words() {
	local u=$work/b/opt/t/lib/systemd/system/$1 t line
	mkdir -p "$work/fake"
	for t in "${tools[@]}"; do
		printf '#!/bin/sh\nexit 0\n' >"$work/fake/$t"
		chmod +x "$work/fake/$t"
	done
	cp -r "$TOP/pipelines" "$work/fake/scripts"
	line=$(sed -nE 's,^ExecStart=/usr/bin/env ,,p' "$u")
	(
		eval "$(sed -nE 's/^#   ([A-Z_]+)=(.*)$/\1="\2"/p' "$u")"
		export TELEOP_BIN=$work/fake TELEOP_RUNTIME_DIR=$work/rt PATH=$work/fake/scripts:/usr/bin:/bin
		eval "timeout 20 $line"
	) 2>"$work/err" </dev/null >/dev/null && [ -n "$line" ] || { cat "$work/err"; return 1; }
	rm -r "$work/fake/scripts"
}
# systemd waits for the one READY: that of the writer.
ready_once() {
	rm -f "$work/notify"
	python3 -c 'import os, socket, subprocess, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
subprocess.run(["teleop-sim", "-n", "60"], env=dict(os.environ, NOTIFY_SOCKET=sys.argv[1], TELEOP_RUNTIME_DIR=sys.argv[2]),
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=True)
s.setblocking(False)
n = 0
try:
    while True:
        n += s.recv(4096).startswith(b"READY=1")
except BlockingIOError:
    sys.exit(n != 1)' "$work/notify" "$work/rt"
}
link_file() {
	grep -qx 'TransmitQueueLength=10' "$work/a/opt/t/share/teleop/70-teleop-can.link" &&
		grep -q '^Property=ID_SERIAL_SHORT=' "$work/a/opt/t/share/teleop/70-teleop-can.link"
}
uninstall() {
	make -s uninstall DESTDIR="$work/b" PREFIX=/opt/t && [ -z "$(files "$work/b")" ]
}

check "files are in bin, man, share/teleop and the completions only" places
check "every link leads somewhere" links_lead_somewhere
check "every program has its completion" completions
check "teleop-sim runs from there with nothing else on PATH" simulated
check "SYSTEMD=1 adds the units, and nothing else" units
check "units: no restart, one-shot stop, the rest of the rules" unit_rules
check "units: systemd-analyze verify" units_verify
for unit in teleop@.service teleop-bimanual@.service; do
	check "$unit: the example settings are words the script takes" unit_words "$unit"
done
check "a chain says READY once, by its writer" ready_once
check "the example .link file" link_file
check "uninstall leaves nothing" uninstall
finish
