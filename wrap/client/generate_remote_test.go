package client

import (
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// A remoteSample is a generated file whose target is a remote entry.
type remoteSample struct {
	sample
	url, typ string
	headers  [][2]string
	extraEnv bool // the entry has an environment, which means nothing to its server
	bearer   string
}

var (
	urls = []string{
		"https://host/mcp", "http://127.0.0.1:3000/mcp", "https://host/a%20b/%22?key=${KEY}&x='y'", "https://host/mcp?key=s3cr3t-query",
		"https://[::1]:8080/", "https://host", "https://é.example/日本", "${BASE:-https://host}/mcp", "https://host/s/0123456789abcdef/mcp", "https://host/a,b]}/{c}", `https://host/back\slash'q`,
	}
	headerNames  = []string{"Authorization", "X-Key", "x_key", "X.Dot", "1-2", "true", "null", "Accept", "a"}
	headerValues = []string{
		"Bearer s3cr3t-token", "", " ", " lead", "trail ", "a: b", "Name: value", `quote " and \ back`, "it's", "${env:TOKEN}", "${input:token}", "$TOKEN", "%TOKEN%", "$(pass show x)",
		"日本", "\U0001f600", "tab\there", "#no comment", "//x", "{a}", "[b]", "a,b", "- x", "true", "null", "12", "\u0085", "'single'", "}", "${", "100%",
	}
	remoteTypes = []string{"", "http", "sse", "streamable-http", "streamableHttp"}
)

// fillRemote draws the target.
func (g *generator) fillRemote(s *remoteSample) {
	s.row.URLFields, s.row.TypeField, s.row.StdioTypes = []string{"url", "serverUrl"}, "type", []string{"stdio"}
	s.row.HeadersField, s.row.EnvExpands = "headers", true
	s.url, s.typ = pick(g, urls...), pick(g, remoteTypes...)
	names := rapid.Permutation(headerNames).Draw(g.t, "headers")
	for _, name := range names[:rapid.IntRange(0, 3).Draw(g.t, "header count")] {
		s.headers = append(s.headers, [2]string{name, pick(g, headerValues...)})
	}
	s.row.StrictKeys = g.chance(3)
	s.extraEnv = g.chance(4) && !s.row.StrictKeys
}

// jsonRemoteEntry renders the target.
func (g *generator) jsonRemoteEntry(s remoteSample, name string) string {
	outside := []string{g.inner("description", g.str(marks[2])), g.inner("timeout", "3")}
	if s.row.Container == List {
		outside = append(outside, g.inner("name", g.str(name)))
	}
	held := []string{g.inner(pick(g, s.row.URLFields...), g.str(s.url))}
	if s.typ != "" {
		held = append(held, g.inner("type", g.plainStr(s.typ)))
	}
	var headers []string
	for _, h := range s.headers {
		key := g.plainStr(h[0])
		headers = append(headers, key+g.space()+":"+g.space()+g.str(h[1]))
	}
	if len(headers) > 0 || g.chance(3) {
		held = append(held, g.inner("headers", g.brackets("{}", headers)))
	}
	if s.extraEnv {
		held = append(held, g.inner(s.row.envKey(), g.brackets("{}", g.someEnv())))
	}
	if g.chance(3) { // what asks for nothing
		outside = append(outside, g.inner("oauth", pick(g, "{}", "false", "null", "[]")))
	}
	for i := range held {
		held[i] = g.plainKey(held[i])
	}
	if s.row.Nested != "" && g.chance(2) {
		held = []string{g.inner("transport", g.brackets("{}", g.shuffle(held)))}
	}
	return g.brackets("{}", g.shuffle(append(outside, held...)))
}

// plainKey writes the key of a member without escapes: one that a process has
// not, an edit spells anew, and escapes in it are refused (TestRemoteRefuses).
func (g *generator) plainKey(member string) string {
	j := &jsonReader{src: []byte(member), format: JSON5}
	j.readKey()
	name := decodeString([]byte(member[:j.at]))
	return g.plainStr(name) + member[j.at:]
}

func (g *generator) plainStr(s string) string {
	if g.format == JSON5 && g.chance(2) {
		return "'" + s + "'"
	}
	return `"` + s + `"`
}

func (g *generator) someEnv() []string {
	if g.chance(2) {
		return nil
	}
	return []string{g.inner("DEBUG", g.str("1"))}
}

func jsonRemotes(f Format) *rapid.Generator[remoteSample] {
	return rapid.Custom(func(t *rapid.T) remoteSample {
		g := newGenerator(t, f)
		s := remoteSample{}
		s.row = pick(g, slices.DeleteFunc(jsonRows(f), func(r Row) bool { return len(r.KeyPath) == 0 })...)
		g.fillRemote(&s)
		g.remote = &s
		s.src = g.jsonFile(&s.sample)
		return s
	})
}

// tomlRemotes are entries in tables, with their headers in a table of their own,
// an inline one or dotted keys; some are Codex's, with a bearer variable.
var tomlRemotes = rapid.Custom(func(t *rapid.T) remoteSample {
	g := newGenerator(t, TOML)
	s := remoteSample{}
	s.row = Row{Name: "toml", Format: TOML, KeyPath: []string{"mcp_servers"}}
	g.fillRemote(&s)
	s.url = pick(g, slices.DeleteFunc(slices.Clone(urls), func(u string) bool { return strings.Contains(u, "'") })...)
	if g.chance(2) {
		s.row.BearerField, s.row.PassEnvField, s.typ = "bearer_token_env_var", "env_vars", ""
		s.bearer = pick(g, "", "TOKEN")
		s.headers = slices.DeleteFunc(s.headers, func(h [2]string) bool { return h[0] == "Authorization" })
	}
	name := pick(g, nastyNames...)
	s.path = []string{"mcp_servers", name}
	key := g.tomlKey(name)
	pairs := []string{pick(g, s.row.URLFields...) + pick(g, " = ", "=") + g.tomlString(s.url), "description = '" + marks[2] + "'"}
	if s.typ != "" {
		pairs = append(pairs, "type = "+pick(g, `"`+s.typ+`"`, "'"+s.typ+"'"))
	}
	if s.bearer != "" {
		pairs = append(pairs, "bearer_token_env_var = "+g.tomlString(s.bearer))
	}
	table := ""
	var lines []string
	for _, h := range s.headers {
		k := pick(g, `"`+h[0]+`"`, "'"+h[0]+"'")
		if bare(h[0], "-_") && g.chance(2) {
			k = h[0]
		}
		lines = append(lines, k+pick(g, " = ", "=")+g.tomlString(h[1]))
	}
	switch form := rapid.IntRange(0, 2).Draw(t, "form"); {
	case len(lines) == 0:
	case form == 0:
		pairs = append(pairs, "headers = "+g.tomlInline(lines))
	case form == 1:
		table = g.tomlLine("[mcp_servers." + key + ".headers]")
		for _, line := range lines {
			table += g.tomlLine(line)
		}
	default:
		for _, line := range lines {
			pairs = append(pairs, "headers."+line)
		}
		if s.row.HidesAddress(s.url) || s.bearer != "" { // there is no place for it among dotted keys
			s.url, pairs[0] = urls[0], "url = '"+urls[0]+"'"
			if s.bearer != "" {
				s.bearer = ""
				pairs = slices.DeleteFunc(pairs, func(p string) bool { return strings.HasPrefix(p, "bearer") })
			}
		}
	}
	text := g.tomlLine("[ mcp_servers . " + key + "]")
	for _, p := range g.shuffle(pairs) {
		text += g.tomlLine(p)
	}
	s.src = g.tomlFile(0, []string{text + table})
	return s
})

// yamlRemotes are entries in the block style and in the flow style.
var yamlRemotes = rapid.Custom(func(t *rapid.T) remoteSample {
	g := newGenerator(t, YAML)
	s := remoteSample{}
	s.row = Row{Name: "yaml", Format: YAML, KeyPath: []string{"extensions"}, Command: "cmd", Env: "envs"}
	if g.chance(2) {
		s.row = Row{Name: "list", Format: YAML, KeyPath: []string{"mcpServers"}, Container: List, NameField: "name"}
	}
	g.fillRemote(&s)
	s.extraEnv = false
	name := pick(g, nastyNames...)
	s.path = []string{s.row.KeyPath[0], name}
	flow := g.chance(4)
	members := [][2]string{{"url", g.yamlString(s.url, true)}, {"description", marks[2]}, {"timeout", "3"}}
	if s.row.Container == List {
		members = append(members, [2]string{"name", g.yamlString(name, flow)})
	}
	if s.typ != "" {
		members = append(members, [2]string{"type", pick(g, s.typ, `"`+s.typ+`"`, "'"+s.typ+"'")})
	}
	if len(s.headers) > 0 {
		inFlow := flow || g.chance(3)
		var parts []string
		for _, h := range s.headers {
			k := pick(g, `"`+h[0]+`"`, "'"+h[0]+"'")
			if bare(h[0], "-_") && h[0] != "true" && h[0] != "null" && h[0][0] > '9' {
				k = pick(g, k, h[0])
			}
			parts = append(parts, k+": "+g.yamlString(h[1], inFlow))
		}
		value := "{" + strings.Join(parts, pick(g, ", ", " , ")) + pick(g, "", " ") + "}"
		if !inFlow {
			value = ""
			for _, part := range parts {
				value += g.yamlEnd() + "INDENT" + part
			}
		}
		members = append(members, [2]string{"headers", value})
	}
	members = rapid.Permutation(members).Draw(t, "order")
	s.src = g.yamlFile(s.row, []string{g.yamlServer(s.row, name, members, flow)}, flow)
	return s
})
