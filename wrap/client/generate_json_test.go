package client

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// jsonRows are the shapes of files in the JSON family.
func jsonRows(f Format) []Row {
	rows := []Row{
		{Name: "map", KeyPath: []string{"mcpServers"}, URLFields: []string{"url"}},
		{Name: "root", KeyPath: nil},
		{Name: "projects", KeyPath: []string{"projects", "*", "mcpServers"}},
		{Name: "dotted", KeyPath: []string{"amp.mcpServers"}},
		{Name: "deep", KeyPath: []string{"mcp", "servers"}},
		{Name: "array", KeyPath: []string{"mcp"}, CommandForm: ArrayCommand},
		{Name: "object", KeyPath: []string{"context_servers"}, CommandForm: ObjectCommand},
		{Name: "nested", KeyPath: []string{"mcpServers"}, Nested: "transport"},
		{Name: "list", KeyPath: []string{"mcpServers"}, Container: List, NameField: "name"},
	}
	for i := range rows {
		rows[i].Format = f
	}
	return rows
}

func jsonSamples(f Format) *rapid.Generator[sample] {
	return rapid.Custom(func(t *rapid.T) sample {
		g := newGenerator(t, f)
		s := sample{row: pick(g, jsonRows(f)...)}
		g.fill(&s)
		s.src = g.jsonFile(&s)
		return s
	})
}

// jsonFile renders the container with its servers inside other members.
func (g *generator) jsonFile(s *sample) string {
	names := g.names(rapid.IntRange(1, 3).Draw(g.t, "servers"))
	target := rapid.IntRange(0, len(names)-1).Draw(g.t, "target")
	var parts []string
	for i, name := range names {
		value := g.otherEntry(s.row, name)
		if i == target {
			value = g.targetEntry(*s, name)
		}
		if s.row.Container != List {
			value = g.member(name, value)
		}
		parts = append(parts, value)
	}
	before, after := g.member("before", g.str(marks[0])), g.member("after", g.str(marks[1]))
	if len(s.row.KeyPath) == 0 {
		parts = append(append([]string{before}, parts...), after)
	}
	s.path = []string{names[target]}
	text := g.brackets("{}", parts)
	if s.row.Container == List {
		text = g.brackets("[]", parts)
	}
	for i := len(s.row.KeyPath) - 1; i >= 0; i-- {
		key := s.row.KeyPath[i]
		if key == "*" {
			key = g.names(1)[0]
		}
		s.path = append([]string{key}, s.path...)
		siblings := []string{g.member(key, text)}
		if i == 0 {
			siblings = []string{before, siblings[0], after}
		}
		text = g.brackets("{}", siblings)
	}
	bom := ""
	if g.chance(6) {
		bom = "\ufeff"
	}
	return bom + g.space() + text + g.space()
}

func (g *generator) targetEntry(s sample, name string) string {
	if g.remote != nil {
		return g.jsonRemoteEntry(*g.remote, name)
	}
	parts := []string{g.inner("env", g.brackets("{}", []string{g.inner("A", g.str(marks[2]))}))}
	if s.row.Container == List {
		parts = append(parts, g.inner("name", g.str(name)))
	}
	var words []string
	for _, word := range s.args {
		words = append(words, g.str(word))
	}
	switch {
	case s.row.CommandForm == ArrayCommand:
		parts = append(parts, g.inner("command", g.brackets("[]", append([]string{g.str(s.command)}, words...))))
		return g.brackets("{}", g.shuffle(parts))
	case s.row.CommandForm == ObjectCommand && g.chance(2):
		inner := []string{g.inner("path", g.str(s.command))}
		if s.hasArgs {
			inner = append(inner, g.inner("args", g.brackets("[]", words)))
		}
		parts = append(parts, g.inner("command", g.brackets("{}", g.shuffle(inner))))
		return g.brackets("{}", g.shuffle(parts))
	}
	held := []string{g.inner("command", g.str(s.command))}
	if s.hasArgs {
		held = append(held, g.inner("args", g.brackets("[]", words)))
	}
	if s.row.Nested != "" && g.chance(2) {
		held = []string{g.inner("transport", g.brackets("{}", g.shuffle(held)))}
	}
	return g.brackets("{}", g.shuffle(append(parts, held...)))
}

// otherEntry is a server beside the target, or something that is none.
func (g *generator) otherEntry(r Row, name string) string {
	parts := []string{g.inner("x", g.junk(2))}
	if r.Container == List {
		parts = append(parts, g.inner("name", g.str(name)))
	}
	switch rapid.IntRange(0, 3).Draw(g.t, "other") {
	case 0:
		parts = append(parts, g.inner("url", g.str("http://x")))
	case 1:
		parts = append(parts, g.inner("command", g.str("y")), g.inner("args", g.brackets("[]", nil)))
	case 2:
		parts = append(parts, g.inner("command", g.brackets("[]", []string{g.str("z")})))
	}
	return g.brackets("{}", g.shuffle(parts))
}

func (g *generator) junk(depth int) string {
	if depth > 0 && g.chance(2) {
		if g.chance(2) {
			return g.brackets("[]", []string{g.junk(depth - 1), g.junk(depth - 1)})
		}
		return g.brackets("{}", []string{g.inner(pick(g, nastyNames...), g.junk(depth-1))})
	}
	numbers := []string{"0", "-1.5e+3", "12345678901234567890", "true", "false", "null"}
	if g.format == JSON5 {
		numbers = append(numbers, "+1", ".5", "5.", "0xfF", "-Infinity", "NaN")
	}
	if g.chance(2) {
		return g.str(pick(g, nastyWords...))
	}
	return pick(g, numbers...)
}

func (g *generator) brackets(pair string, parts []string) string {
	text := pair[:1] + g.space()
	for i, part := range parts {
		if text += part + g.space(); i < len(parts)-1 || g.format != JSON && g.chance(3) {
			text += "," + g.space()
		}
	}
	return text + pair[1:]
}

func (g *generator) member(name, value string) string {
	key := g.str(name)
	if g.format == JSON5 && bare(name, "$_") && (name[0] < '0' || name[0] > '9') && g.chance(2) {
		key = name
	}
	return key + g.space() + ":" + g.space() + value
}

// inner is a member of an entry: its key has no escapes but those it needs, for
// others are refused (TestWrapRefuses).
func (g *generator) inner(name, value string) string {
	m := g.member(name, value)
	if needsNoEscape(name) {
		return g.plainKey(m)
	}
	return m
}

func (g *generator) space() string {
	blanks := []string{"", "", "", " ", " ", g.eol, g.eol + "  ", "\t", g.eol + g.eol + "\t"}
	if g.format != JSON {
		blanks = append(blanks, "// c \", [ */"+g.eol, " /* \" } // */ ", "/**/", "//"+g.eol+"  ")
	}
	if g.format == JSON5 {
		blanks = append(blanks, "\u00a0", "\f", "\u2028")
	}
	return pick(g, blanks...)
}

// str renders a string, with the escapes some writers use.
func (g *generator) str(s string) string {
	quote := byte('"')
	if g.format == JSON5 && g.chance(2) {
		quote = '\''
	}
	style := rapid.IntRange(0, 5).Draw(g.t, "escapes")
	b := strings.Builder{}
	b.WriteByte(quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || style == 0 && r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		case r == '/' && style == 1:
			b.WriteString(`\/`)
		case r > 0xffff && style < 3:
			fmt.Fprintf(&b, `\u%04X\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		case style == 2 && g.format == JSON5 && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	if style == 3 && g.format == JSON5 {
		b.WriteString("\\" + g.eol)
	}
	b.WriteByte(quote)
	return b.String()
}
