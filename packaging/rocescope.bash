# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bash completion for rocescope. What there is to complete the program says itself: its --help texts are read each time, so
# that nothing is written twice.

# Runs it: $program is the one on the command line, if that can be run.
_rocescope_ask() {
	"$program" "$@" 2>/dev/null
}

# The first column of a list.
_rocescope_names() {
	_rocescope_ask "$@" | sed -En 's/^  ([a-z][a-z0-9_-]*) .*/\1/p'
}

# Sets options, and value: what stands in --help behind $1 ("FILE", "all|off|1/N"), and what words are beside it.
_rocescope_read() {
	local wanted=$2 line head words word names
	options=() value= beside=
	while IFS= read -r line; do
		[[ $line =~ ^\ \ (-.*)$ ]] || continue
		head=${BASH_REMATCH[1]%%  *} words=${BASH_REMATCH[1]#"$head"} names=()
		for word in ${head//,/ }; do
			[[ $word == -* ]] && names+=("$word")
		done
		options+=("${names[@]}")
		word=${head##* }
		for head in "${names[@]}"; do
			[[ $head == "$wanted" && $word != -* && $word != \[* ]] && value=$word beside=$words
		done
	done < <(_rocescope_ask "$1" --help)
}

_rocescope_interfaces() {
	local i
	for i in /sys/class/net/*; do
		[[ -d $i ]] && echo "${i##*/}"
	done
}

_rocescope_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$1")
}

# $1: what there is; $2: what stands there already.
_rocescope_offer() {
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$1" -- "$2")
}

# The same for the last word of a list with commas.
_rocescope_offer_list() {
	local before=
	[[ $2 == *,* ]] && before=${2%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${2##*,}")
	compopt -o nospace 2>/dev/null
}

# $1: the command, $2: the option, $3: what stands there already. Goes by what --help says stands behind the option.
_rocescope_value() {
	case $2:$value in
	--preset:*) _rocescope_offer "$(_rocescope_names "$1" --preset list)" "$3" ;;
	--fault:*)
		_rocescope_offer "$(_rocescope_names "$1" --help faults)" "$3"
		compopt -o nospace 2>/dev/null
		;;
	--reason:*)
		_rocescope_offer_list "$(_rocescope_names --help events)
			$(_rocescope_ask --help events | sed -En 's/^  [a-z-]+ +\(([a-z]+)\).*/\1/p' | sort -u)" "$3"
		;;
	--pin:* | --unpin:*) _rocescope_offer "$(ls /sys/fs/bpf/rocescope 2>/dev/null)" "$3" ;;
	*:COUNTER*) _rocescope_offer_list "$(_rocescope_names --help counters)" "$3" ;;
	*:COMMAND) mapfile -t COMPREPLY < <(compgen -c -- "$3") ;;
	*:IFACE*) _rocescope_offer "$(_rocescope_interfaces)" "$3" ;;
	*:OP) _rocescope_offer "$(_rocescope_ops "$1")" "$3" ;;
	*:*FILE*) _rocescope_files "$3" ;;
	*:*[a-z]*\|*) # words; what has capitals stands for something
		local word words=
		for word in ${value//|/ }; do
			[[ $word == *[A-Z]* ]] || words+=" $word"
		done
		_rocescope_offer "$words" "$3"
		;;
	esac
}

# --op's words stand beside it, "a (default), b, c", on two lines.
_rocescope_ops() {
	_rocescope_ask "$1" --help | sed -n '/^  --op /,/^  --message /p' | grep -oE '[a-z]+(-[a-z]+)+|ack|cnp'
}

_rocescope() {
	local IFS=$' \t\n' program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]}
	local before=${COMP_WORDS[COMP_CWORD-1]} value beside usage
	local -a options

	program=${program/#\~/$HOME}
	type -P -- "$program" >/dev/null || program=rocescope
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		_rocescope_offer "$(_rocescope_names --help | grep -vxE 'counters|events|lints') --help --version" "$word"
		return
	fi
	# --option=value comes in three words
	[[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}
	[[ $word == = ]] && before=${COMP_WORDS[COMP_CWORD-1]} word=
	_rocescope_read "$command" "$before"
	if [[ -n $value ]]; then
		_rocescope_value "$command" "$before" "$word"
	elif [[ $word == -* ]]; then
		_rocescope_offer "${options[*]}" "$word"
	else
		usage=$(_rocescope_ask "$command" --help | head -n 1)
		[[ $usage == *IFACE* ]] && _rocescope_offer "$(_rocescope_interfaces)" "$word"
		[[ ${usage/-w FILE/} == *FILE* ]] && _rocescope_files "$word"
	fi
	return 0
}

complete -F _rocescope rocescope
