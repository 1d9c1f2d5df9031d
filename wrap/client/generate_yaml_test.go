package client

import (
	"cmp"
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// yamlSamples are files in the block style, with flow values here and there, or
// in the flow style altogether.
var yamlSamples = rapid.Custom(func(t *rapid.T) sample {
	g := newGenerator(t, YAML)
	s := sample{row: Row{Name: "yaml", Format: YAML, KeyPath: []string{"extensions"}, Command: "cmd", URLFields: []string{"uri"}}}
	if g.chance(2) {
		s.row = Row{Name: "list", Format: YAML, KeyPath: []string{"mcpServers"}, Container: List, NameField: "name", URLFields: []string{"uri"}}
	}
	g.fill(&s)
	names := g.names(rapid.IntRange(1, 3).Draw(t, "servers"))
	n := rapid.IntRange(0, len(names)-1).Draw(t, "target")
	s.path = []string{s.row.KeyPath[0], names[n]}
	flow := g.chance(4)
	var servers []string
	for i, name := range names {
		members := [][2]string{{pick(g, "uri", "cmd", "x"), "y"}, {"env", "{A: [b]}"}}
		if i == n {
			members = g.yamlTarget(s, flow)
		}
		if s.row.Container == List {
			members = append(members, [2]string{"name", g.yamlString(name, flow)})
		}
		members = rapid.Permutation(members).Draw(t, "order")
		servers = append(servers, g.yamlServer(s.row, name, members, flow))
	}
	s.src = g.yamlFile(s.row, servers, flow)
	return s
})

// yamlTarget gives the members; a value that starts with a line end is a block.
func (g *generator) yamlTarget(s sample, flow bool) [][2]string {
	inFlow := flow || s.hasArgs && g.chance(2) || !s.hasArgs
	members := [][2]string{
		{cmp.Or(s.row.Command, "command"), g.yamlString(s.command, inFlow)},
		{"env", "{A: " + marks[2] + "}"},
		{"timeout", "3"},
	}
	if !s.hasArgs {
		return members
	}
	var words []string
	for _, word := range s.args {
		words = append(words, g.yamlString(word, inFlow))
	}
	if !inFlow && len(words) > 0 {
		text := ""
		for _, word := range words {
			text += g.yamlEnd() + "INDENT- " + word
		}
		return append(members, [2]string{"args", text})
	}
	blank := func() string {
		return pick(g, "", "", " ", g.eol+"INDENT ", " # c ]"+g.eol+"INDENT  ")
	}
	text := "[" + blank()
	for i, word := range words {
		if text += word + blank(); i < len(words)-1 || g.chance(4) {
			text += "," + pick(g, " ", " "+blank())
		}
	}
	return append(members, [2]string{"args", text + "]"})
}

func (g *generator) yamlServer(r Row, name string, members [][2]string, flow bool) string {
	if flow {
		var parts []string
		for _, m := range members {
			value := strings.ReplaceAll(m[1], "INDENT", g.step+" ")
			parts = append(parts, g.yamlName(m[0])+": "+value)
		}
		text := "{" + strings.Join(parts, pick(g, ", ", " , ", ","+g.eol+g.step)) + pick(g, "", " ", ", ") + "}"
		if r.Container == List {
			return text
		}
		return g.yamlKey(name) + ": " + text
	}
	step := g.step
	lead, text := step+step, ""
	if r.Container == List {
		lead, text = step+"  ", step+"- "
	} else {
		text = step + g.yamlKey(name) + ":" + g.yamlEnd() + lead
	}
	for i, m := range members {
		if i > 0 {
			text += g.yamlEnd() + lead
		}
		value := pick(g, " ", " ", "   ") + strings.ReplaceAll(m[1], "INDENT", lead+" ")
		if strings.Contains(m[1], "INDENT- ") {
			value = strings.ReplaceAll(m[1], "INDENT", lead+pick(g, "", "  "))
		}
		text += g.yamlName(m[0]) + ":" + value
	}
	return text + g.yamlEnd()
}

func (g *generator) yamlFile(r Row, servers []string, flow bool) string {
	text := pick(g, "", "", "\ufeff", "---"+g.eol, "# c: [\""+g.eol)
	text += "before: " + marks[0] + g.yamlEnd()
	switch {
	case flow && r.Container == List:
		text += r.KeyPath[0] + ": [" + strings.Join(servers, ", ") + "]" + g.yamlEnd()
	case flow:
		text += r.KeyPath[0] + ": {" + strings.Join(servers, ", ") + "}" + g.yamlEnd()
	default:
		text += r.KeyPath[0] + ":" + g.yamlEnd() + strings.Join(servers, "")
	}
	text += "folded: >-" + g.eol + "  a" + g.eol + "  b: c" + g.eol
	if text += "after: " + marks[1] + g.yamlEnd(); g.chance(3) {
		text = strings.TrimRight(text, "\r\n")
	}
	return text
}

// yamlEnd ends a line: with a comment, with empty lines after it.
func (g *generator) yamlEnd() string {
	return pick(g, "", "", "", " # c: [\"", "  ", "\t") + g.eol + pick(g, "", "", "", g.eol, "# c '"+g.eol, "      # - x"+g.eol)
}

// yamlName writes a key that needs no quotes, in quotes at times.
func (g *generator) yamlName(s string) string {
	return pick(g, s, s, s, `"`+s+`"`, "'"+s+"'")
}

func (g *generator) yamlKey(s string) string {
	if bare(s, "_.") && !strings.ContainsAny(s[:1], "0123456789") && s != "null" && s != "true" && g.chance(2) {
		return s
	}
	return g.yamlQuoted(s)
}

func (g *generator) yamlString(s string, flow bool) string {
	marks := "_./-@~ \\:é"
	plain := bare(s, marks) && strings.TrimSpace(s) == s && !strings.HasSuffix(s, ":") && !strings.Contains(s, ": ") &&
		!strings.ContainsAny(s[:1], "-@~.:0123456789") && s != "null" && s != "true" && !(flow && strings.Contains(s, ":"))
	if plain && g.chance(2) {
		return s
	}
	return g.yamlQuoted(s)
}

func (g *generator) yamlQuoted(s string) string {
	control := strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' })
	if !control && g.chance(2) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	b := strings.Builder{}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
