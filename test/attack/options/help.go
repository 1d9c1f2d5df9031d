//go:build attack

// Package options checks the table of harmless options (policy/where/shell, options.txt) against
// the real programs. It compares the table with their help texts, and with known options that make
// the programs run or write something. With -update it writes the lists of options that come from a
// program's help.
package options

import (
	"regexp"
	"strings"
)

var (
	// begins matches a line of a help text that starts with options.
	begins  = regexp.MustCompile(`^\s{0,24}(-{1,2}[A-Za-z0-9@?#+.].*)$`)
	columns = regexp.MustCompile(`\s{2,}|\t`)
	// spelling matches one spelling of an option, with the placeholder of its value.
	spelling = regexp.MustCompile(`(^|[\s,|/(\[])(--?[A-Za-z0-9][A-Za-z0-9_.-]*|-[?#@])(\[?=?\[?[<{A-Za-z'"][^\s,|]*|=\[?\S+|\[=?[^\]]+\]| [<\[{]?[A-Za-z#+_|<>:,-]*[A-Z#>]+[^\s,|]*)?`)
)

// read returns the options in a help text whose lines start with options. An option with "=" at the
// end needs a value. An option with "?" at the end may have an attached value. If single is true,
// the long options of the program have one dash.
func read(help string, single bool) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(help) {
		m := begins.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		head := m[1]
		for _, at := range columns.FindAllStringIndex(head, -1) {
			if !strings.HasPrefix(head[at[1]:], "-") { // two options, such as -c  --format=FORMAT
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

// group returns the spellings of one option, for example those in "-c, -C NUM, --context[=NUM]".
// They have the same marks as in the result of read.
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
		default: // a spelling such as -nNUM, or a word of the description
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
			o.value = long // if the long option needs a value, the short option needs one too
		}
		got[o.name+o.value] = true
	}
	return got
}

// anyShortValue reports whether a short option in head has its own value, like -C in "-c, -C NUM".
func anyShortValue(head string) bool { return shortValue.MatchString(head) }

var shortValue = regexp.MustCompile(`(^|[\s,])-[A-Za-z] ?[A-Z<]`)
