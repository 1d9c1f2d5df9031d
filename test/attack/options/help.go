//go:build attack

// Package options checks the table of harmless options (policy/where/shell,
// options.txt) against the programs: what they say of themselves, and what is
// known to make them run or write something. With -update it writes the lists of
// options that come from a program's help.
package options

import (
	"regexp"
	"strings"
)

var (
	// A line of a help that begins with options, up to what it says of them.
	begins  = regexp.MustCompile(`^\s{0,24}(-{1,2}[A-Za-z0-9@?#+.].*)$`)
	columns = regexp.MustCompile(`\s{2,}|\t`)
	// One spelling, with what stands for its value.
	spelling = regexp.MustCompile(`(^|[\s,|/(\[])(--?[A-Za-z0-9][A-Za-z0-9_.-]*|-[?#@])(\[?=?\[?[<{A-Za-z'"][^\s,|]*|=\[?\S+|\[=?[^\]]+\]| [<\[{]?[A-Za-z#+_|<>:,-]*[A-Z#>]+[^\s,|]*)?`)
)

// read finds the options of a help in the form that most programs print: lines
// that begin with them. An option with "=" behind it needs a value, one with "?"
// may have one attached. single says that a program's options have one dash.
func read(help string, single bool) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(help) {
		m := begins.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		head := m[1]
		for _, at := range columns.FindAllStringIndex(head, -1) {
			if !strings.HasPrefix(head[at[1]:], "-") { // -c  --format=FORMAT
				head = head[:at[0]]
				break
			}
		}
		for o := range group(head, single) {
			found[o] = true
		}
	}
	return found
}

// group reads the spellings of one option: -c, -C NUM, --context[=NUM].
func group(head string, single bool) map[string]bool {
	type one struct{ name, value string }
	var list []one
	long := ""
	for _, m := range spelling.FindAllStringSubmatch(head, -1) {
		name, value := m[2], m[3]
		switch {
		case strings.HasPrefix(name, "--"), single, len(name) == 2:
		case strings.Trim(name[1:], "0123456789") == "":
			name = "-#"
		default: // -nNUM, or a word of prose
			name, value = name[:2], "="
		}
		mark := ""
		switch {
		case strings.HasPrefix(value, "["):
			mark = "?"
		case value != "":
			mark = "="
		}
		if strings.HasPrefix(name, "--") {
			long = mark
		}
		list = append(list, one{name, mark})
	}
	got := map[string]bool{}
	for _, o := range list {
		if o.value == "" && len(o.name) == 2 && o.name != "-#" && long != "" && !anyShortValue(head) {
			o.value = long // what a long option needs, the short one needs too
		}
		got[o.name+o.value] = true
	}
	return got
}

// anyShortValue reports whether a short option of the group shows a value of its
// own, as in -c, -C NUM.
func anyShortValue(head string) bool { return shortValue.MatchString(head) }

var shortValue = regexp.MustCompile(`(^|[\s,])-[A-Za-z] ?[A-Z<]`)
