//go:build attack

package options

import (
	"os"
	"slices"
	"strings"
)

const tableFile = "../../../policy/where/shell/options.txt"

// row is one entry of options.txt, as text.
type row struct {
	before []string // the comments and empty lines before the entry
	names  []string
	source string
	lines  [][2]string // pairs of a key and its words, in the order of the file
}

func (r *row) get(key string) string {
	var all []string
	for _, l := range r.lines {
		if l[0] == key {
			all = append(all, l[1])
		}
	}
	return strings.Join(all, " ")
}

func (r *row) has(key string) bool {
	return slices.ContainsFunc(r.lines, func(l [2]string) bool { return l[0] == key })
}

// options returns all options of a row. An option that takes a value has its mark at the end.
func (r *row) options() []string {
	return strings.Fields(r.get("options") + " " + r.get("also") + " " + r.get("manual"))
}

func (r *row) marked(mark string) bool { return slices.Contains(strings.Fields(r.get("marks")), mark) }

func readTable() ([]*row, []string, error) {
	text, err := os.ReadFile(tableFile)
	if err != nil {
		return nil, nil, err
	}
	var rows []*row
	var before []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
			before = append(before, line)
		case line[0] == '\t':
			key, words, _ := strings.Cut(line[1:], " ")
			r := rows[len(rows)-1]
			r.lines = append(r.lines, [2]string{key, words})
		default:
			names, source, _ := strings.Cut(line, " = ")
			rows = append(rows, &row{before: before, names: strings.Split(names, ", "), source: source})
			before = nil
		}
	}
	return rows, before, nil
}

// setOptions replaces the lines of a row that come from the program's help.
func (r *row) setOptions(list []string) {
	r.lines = slices.DeleteFunc(r.lines, func(l [2]string) bool { return l[0] == "options" })
	slices.Sort(list)
	at := slices.IndexFunc(r.lines, func(l [2]string) bool { return l[0] == "help" }) + 1
	var lines [][2]string
	line := ""
	for _, o := range list {
		if len(line)+len(o) > 100 {
			lines = append(lines, [2]string{"options", line})
			line = ""
		}
		line = strings.TrimPrefix(line+" "+o, " ")
	}
	if line != "" {
		lines = append(lines, [2]string{"options", line})
	}
	r.lines = slices.Insert(r.lines, at, lines...)
}

func writeTable(rows []*row, after []string) error {
	var b strings.Builder
	for _, r := range rows {
		for _, l := range r.before {
			b.WriteString(l + "\n")
		}
		b.WriteString(strings.Join(r.names, ", ") + " = " + r.source + "\n")
		for _, l := range r.lines {
			b.WriteString("\t" + strings.TrimSuffix(l[0]+" "+l[1], " ") + "\n")
		}
	}
	for _, l := range after {
		b.WriteString(l + "\n")
	}
	return os.WriteFile(tableFile, []byte(b.String()), 0o644)
}
