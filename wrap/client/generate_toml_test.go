package client

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// tomlSamples are files whose servers stand in tables, dotted keys, inline
// tables, arrays of tables, or inline arrays.
var tomlSamples = rapid.Custom(func(t *rapid.T) sample {
	g := newGenerator(t, TOML)
	s := sample{row: Row{Name: "toml", Format: TOML, KeyPath: []string{"mcp_servers"}, URLFields: []string{"url"}}}
	g.fill(&s)
	names := g.names(rapid.IntRange(1, 3).Draw(t, "servers"))
	n := rapid.IntRange(0, len(names)-1).Draw(t, "target")
	s.path = []string{"mcp_servers", names[n]}
	form := rapid.IntRange(0, 4).Draw(t, "form")
	if form > 2 {
		s.row.Container, s.row.NameField = Tables, "name"
	}
	var servers []string
	for i, name := range names {
		pairs := g.tomlOther()
		if i == n {
			pairs = g.tomlTarget(s)
		}
		servers = append(servers, g.tomlServer(form, name, pairs))
	}
	s.src = g.tomlFile(form, servers)
	return s
})

func (g *generator) tomlFile(form int, servers []string) string {
	text := ""
	if g.chance(6) {
		text = "\ufeff"
	}
	text += g.tomlLine("before = " + g.tomlString(marks[0]))
	switch form {
	case 0, 3: // tables
		text += strings.Join(servers, "")
	case 1: // dotted keys
		text += g.tomlLine("[mcp_servers]") + strings.Join(servers, "")
	case 2:
		text += g.tomlLine("mcp_servers = " + g.tomlInline(servers))
	case 4:
		text += g.tomlLine("mcp_servers = " + g.tomlArray(servers))
	}
	text += g.tomlLine("[after]") + g.tomlLine("x = "+g.tomlString(marks[1]))
	if g.chance(3) {
		text = strings.TrimRight(text, "\r\n")
	}
	return text
}

// tomlServer renders one server; pairs are "key = value".
func (g *generator) tomlServer(form int, name string, pairs []string) string {
	text := ""
	switch form {
	case 0:
		key := g.tomlKey(name)
		text = g.tomlLine("[ mcp_servers . " + key + "]")
		for _, p := range g.shuffle(pairs) {
			text += g.tomlLine(p)
		}
		return text + g.tomlLine("[mcp_servers."+key+".env]") + g.tomlLine("A = "+g.tomlString(marks[2]))
	case 1:
		key := g.tomlKey(name)
		for _, p := range g.shuffle(append(pairs, "env.A = "+g.tomlString(marks[2]))) {
			text += g.tomlLine(key + pick(g, ".", " . ") + p)
		}
		return text
	case 3:
		text = g.tomlLine("[[mcp_servers]]")
		for _, p := range g.shuffle(append(pairs, "name = "+g.tomlString(name), "env = {A = "+g.tomlString(marks[2])+"}")) {
			text += g.tomlLine(p)
		}
		return text
	case 4:
		return g.tomlInline(append(pairs, "name="+g.tomlString(name)))
	}
	return g.tomlKey(name) + "=" + g.tomlInline(append(pairs, "env = { A = "+g.tomlString(marks[2])+"}"))
}

func (g *generator) tomlTarget(s sample) []string {
	pairs := []string{"command" + pick(g, " = ", "=", "\t= ") + g.tomlString(s.command)}
	if s.hasArgs {
		var words []string
		for _, word := range s.args {
			words = append(words, g.tomlString(word))
		}
		pairs = append(pairs, "args"+pick(g, " = ", "=")+g.tomlArray(words))
	}
	return append(pairs, "startup_timeout_sec = 1.5")
}

func (g *generator) tomlOther() []string {
	if g.chance(2) {
		return []string{"url = 'http://x'", "at = 2026-01-01T00:00:00Z"}
	}
	return []string{"command = 'y'", "list = [[1, 2], [{a = 1}]]"}
}

// tomlLine is a line with what may stand around it.
func (g *generator) tomlLine(text string) string {
	lead := pick(g, "", "", "  ", "\t", "# c [x] = \""+g.eol, g.eol)
	return lead + text + pick(g, "", "", " ", " # c ] \"") + g.eol
}

func (g *generator) tomlInline(pairs []string) string {
	return "{" + pick(g, "", " ") + strings.Join(pairs, pick(g, ",", ", ", " , ")) + pick(g, "", " ") + "}"
}

func (g *generator) tomlArray(items []string) string {
	blank := func() string {
		return pick(g, "", "", " ", g.eol, g.eol+"\t", " # c ' ] ,"+g.eol, "#"+g.eol+"#"+g.eol)
	}
	text := "[" + blank()
	for i, item := range items {
		if text += item + blank(); i < len(items)-1 || g.chance(2) {
			text += "," + blank()
		}
	}
	return text + "]"
}

func (g *generator) tomlKey(s string) string {
	if bare(s, "-_") && g.chance(2) {
		return s
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return r == '\'' || r < ' ' || r == 0x7f }) && g.chance(2) {
		return "'" + s + "'"
	}
	return g.tomlBasic(s)
}

func (g *generator) tomlString(s string) string {
	simple := !strings.ContainsFunc(s, func(r rune) bool { return r == '\'' || r < ' ' || r == 0x7f })
	switch rapid.IntRange(0, 3).Draw(g.t, "string") {
	case 0:
		if simple {
			return "'" + s + "'"
		}
	case 1:
		if simple {
			return "'''" + pick(g, "", g.eol) + s + "'''"
		}
	case 2:
		inner := g.tomlBasic(s)
		return `""` + inner[:1] + pick(g, "", g.eol, "\\"+g.eol+"  ") + strings.ReplaceAll(inner[1:], " ", `\u0020`) + `""`
	}
	return g.tomlBasic(s)
}

func (g *generator) tomlBasic(s string) string {
	escapeAll := g.chance(6)
	b := strings.Builder{}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ' || r >= 0x7f && r < 0xa0 || escapeAll:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
