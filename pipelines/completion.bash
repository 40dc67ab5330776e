# shellcheck shell=bash
# Options for bash-completion, read from --help; installed under the name of each program.
_teleop_complete() {
	if declare -F _comp_complete_longopt >/dev/null; then
		_comp_complete_longopt "$@"
	elif declare -F _longopt >/dev/null; then
		_longopt "$@"
	fi
}
