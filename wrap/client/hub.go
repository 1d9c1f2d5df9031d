package client

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// HubName is the name of the hub's entry in a client's file. Clients write this name before the
// name of every tool.
const HubName = "hub"

// HubRow returns the row for the servers in config.toml, the hub's own configuration.
func HubRow() Row {
	return Row{
		ID: "clawai-hub", Client: "clawai", Name: "the hub", Scope: User, Format: TOML, KeyPath: []string{"upstream"}, Container: Map,
		CommandForm: StringCommand, URLFields: []string{"url"}, HeadersField: "headers",
		Restart: "nothing: sessions of the hub see it by themselves",
	}
}

// HubServer is a server in the hub's configuration. In its texts, $NAME is a variable and $$ is a
// dollar sign.
type HubServer struct {
	Name        string
	Command     string
	Args        []string
	URL, Type   string
	Env, Header []Variable
	Dir         string   // working directory; "" means the hub's own
	Tools, Hide []string // names of the tools to offer (nil: all), and names of the tools to hide
	Disabled    bool
}

// RenderTable returns the server as a table of config.toml.
func (h HubServer) RenderTable() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[upstream.%s]\n", tomlKey(h.Name))
	text := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s = %s\n", key, quoteText(value))
		}
	}
	list := func(key string, words []string) {
		if len(words) > 0 {
			fmt.Fprintf(&b, "%s = [%s]\n", key, strings.Join(quoteAll(words), ", "))
		}
	}
	pairs := func(key string, all []Variable) {
		var said []string
		for _, v := range all {
			said = append(said, tomlKey(v.Name)+" = "+quoteText(v.Value))
		}
		if len(said) > 0 {
			fmt.Fprintf(&b, "%s = { %s }\n", key, strings.Join(said, ", "))
		}
	}
	text("command", h.Command)
	list("args", h.Args)
	text("url", h.URL)
	text("type", h.Type)
	pairs("env", h.Env)
	pairs("headers", h.Header)
	text("cwd", h.Dir)
	list("tools", h.Tools)
	list("hide", h.Hide)
	if h.Disabled {
		b.WriteString("disabled = true\n")
	}
	return b.String()
}

// HubWithout removes the table of a server from config.toml. It returns false if other settings
// would change: lines that the owner has added after the table would then belong to the table
// before it.
func HubWithout(config []byte, name, table string) ([]byte, bool) {
	at := bytes.Index(config, []byte(table))
	if at < 0 {
		return nil, false
	}
	after := slices.Concat(config[:at], config[at+len(table):])
	var was, is map[string]any
	if toml.Unmarshal(config, &was) != nil || toml.Unmarshal(after, &is) != nil {
		return nil, false
	}
	servers, _ := was["upstream"].(map[string]any)
	if delete(servers, name); len(servers) == 0 {
		delete(was, "upstream")
	}
	return after, reflect.DeepEqual(was, is)
}

// HasSecret reports whether the server has an environment or headers, which may contain secrets.
func (h HubServer) HasSecret() bool { return len(h.Env)+len(h.Header) > 0 }

// ForHub returns the hub's form of a bare entry. It returns an *EditError if the hub cannot run the
// server in the same way as the client.
func ForHub(r Row, src []byte, e Entry) (HubServer, error) {
	f, s, sh, err := openTarget(r, src, e)
	if err != nil {
		return HubServer{}, err
	}
	h := &hubReader{file: f, slot: s, shape: sh, server: HubServer{Name: s.name}}
	if sh.mixed != nil {
		return HubServer{}, f.faultError(sh.mixed)
	}
	if len(sh.sandbox.words) > 0 && sh.sandbox.on {
		return HubServer{}, f.faultError(&fault{sh.sandbox.enabled.start, "wrap it without --hub, or take the member out",
			fmt.Sprintf("%s starts %q in a sandbox of its own (%s), which the hub would not know", r.Name, s.name, r.SandboxField)})
	}
	if sh.kind == Remote {
		h.readRemote()
	} else {
		h.readProcess()
	}
	h.readMembers(s.value)
	if sh.holder != nil && sh.holder != s.value {
		h.readMembers(sh.holder)
	}
	if h.err != nil {
		return HubServer{}, h.err
	}
	return h.server, nil
}

type hubReader struct {
	*file
	slot   slot
	shape  shape
	server HubServer
	err    error // the first error
}

func (h *hubReader) refuseEntry(at int, next, what string, values ...any) {
	if h.err == nil {
		h.err = newEditError(h.src, at, next, what, values...)
	}
}

const nextAlone = "take it out, or wrap this server by itself, without --hub"

// hubText returns a text of the entry in the notation of the hub's configuration. If the parameter
// fills is true, the client expands variables in this text, and hubText keeps environment variables
// as variables. A text with other variables is refused, because only the client knows their values.
func (h *hubReader) hubText(n *node, fills bool) string {
	var b strings.Builder
	rest, last := "", 0 // rest is the text without the environment variables
	if fills {
		for _, at := range environmentVariable().FindAllStringSubmatchIndex(n.text, -1) {
			b.WriteString(escapeDollars(n.text[last:at[0]]) + "${" + n.text[max(at[2], at[4]):max(at[3], at[5])] + "}")
			rest, last = rest+n.text[last:at[0]]+" ", at[1]
		}
	}
	if rest += n.text[last:]; h.row.expandsText(rest) {
		h.refuseEntry(n.start, "write the value out", "%q holds a variable that only its client can fill in", h.slot.name)
	}
	return b.String() + escapeDollars(n.text[last:])
}

func escapeDollars(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// environmentVariable matches an environment variable in the notations of the clients.
var environmentVariable = lazyPattern(`\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}|\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)

func (h *hubReader) readProcess() {
	words := h.shape.words
	if h.row.expandsText(words[0].text) {
		h.refuseEntry(words[0].start, "write the command out", "the command of %q holds a variable that only its client can fill in", h.slot.name)
	}
	h.server.Command = words[0].text
	for _, w := range words[1:] {
		h.server.Args = append(h.server.Args, h.hubText(w, h.row.ExpandsArgs || h.row.CommandForm == ArrayCommand && len(h.row.Interpolation) > 0))
	}
	for _, m := range h.shape.environment {
		if m.value.kind != stringKind {
			h.refuseEntry(m.value.start, "write it as a string", "the variable %q of %q is %s, not a string", m.name, h.slot.name, m.value.kind)
			continue
		}
		h.server.Env = append(h.server.Env, Variable{m.name, h.hubText(m.value, h.row.EnvExpands)})
	}
	if passed, _ := h.shape.holder.findMember(h.row.PassEnvField); h.row.PassEnvField != "" && passed != nil {
		for _, item := range passed.value.items {
			if item.kind != stringKind || !variableName().MatchString(item.text) {
				h.refuseEntry(item.start, nextAlone, "%s of %q names something other than a variable", passed.name, h.slot.name)
				continue
			}
			h.server.Env = append(h.server.Env, Variable{item.text, "${" + item.text + "}"})
		}
	}
}

func (h *hubReader) readRemote() {
	r := h.shape.remote
	if r.kept != nil {
		h.refuseEntry(r.kept.at, r.kept.next, "%s", r.kept.what)
		return
	}
	h.server.URL = h.hubText(r.url.value, h.row.EnvExpands)
	if h.shape.typ != nil && strings.EqualFold(h.shape.typ.value.text, "sse") {
		h.server.Type = "sse" // without this type, the hub would first try a POST, which some servers refuse
	}
	for _, one := range r.headers {
		value := h.hubText(one.member.value, h.row.EnvExpands)
		if r.envHeaders {
			value = "${" + one.member.value.text + "}"
		}
		h.server.Header = append(h.server.Header, Variable{one.name, value})
	}
	if r.bearer != nil {
		h.server.Header = append(h.server.Header, Variable{"Authorization", "Bearer ${" + r.bearer.value.text + "}"})
	}
}

// filters are the members that select tools of a server. The value is true for a list of tools to
// offer, and false for a list of tools to hide.
var filters = map[string]bool{
	"tools": true, "includeTools": true, "enabledTools": true, "enabled_tools": true, "available_tools": true,
	"excludeTools": false, "disabledTools": false, "disabled_tools": false,
}

// readMembers reads the other members of the entry. It refuses a member if the hub has no setting
// for it.
func (h *hubReader) readMembers(n *node) {
	r := h.row
	known := slices.Concat([]string{
		r.commandKey(), r.argsKey(), r.envKey(), r.typeKey(), r.NameField, r.Nested, r.PassEnvField, r.HeadersField, r.EnvHeadersField, r.BearerField,
	}, r.URLFields, r.RemoteKeeps)
	for i := range n.members {
		m := &n.members[i]
		only, filter := filters[m.name]
		switch {
		case slices.Contains(known, m.name) || m.value.kind == nullKind:
		case m.name == "cwd":
			h.readFolder(m.value)
		case m.name == "disabled" || m.name == "enabled":
			h.readDisabled(m)
		case filter:
			h.readFilter(m, only)
		case slices.Contains(shared, m.name) && m.name != "toolFilter" || m.value.isEmpty():
		default:
			h.refuseEntry(m.start, nextAlone, "the entry of %q has %s, for which the hub has no setting", h.slot.name, quoteText(m.name))
		}
	}
}

func (h *hubReader) readFolder(n *node) {
	rooted := strings.HasPrefix(n.text, "/") || strings.HasPrefix(n.text, "~/") || len(n.text) > 2 && n.text[1] == ':'
	if n.kind != stringKind || !rooted {
		h.refuseEntry(n.start, "write the whole path", "the cwd of %q depends on the folder that its client runs in", h.slot.name)
		return
	}
	h.server.Dir = h.hubText(n, false)
}

func (h *hubReader) readDisabled(m *member) {
	switch value := h.rawText(m.value); {
	case value != "true" && value != "false":
		h.refuseEntry(m.value.start, "write true or false", "%s of %q is neither true nor false", quoteText(m.name), h.slot.name)
	case (value == "true") == (m.name == "disabled"):
		h.server.Disabled = true
	}
}

func (h *hubReader) readFilter(m *member, only bool) {
	if m.value.kind != listKind {
		h.refuseEntry(m.start, nextAlone, "%s of %q is %s, not a list", quoteText(m.name), h.slot.name, m.value.kind)
		return
	}
	for _, item := range m.value.items {
		switch {
		case item.kind == stringKind && item.text == "*" && only && len(m.value.items) == 1:
		case item.kind != stringKind || item.text == "" || strings.ContainsAny(item.text, "*?"):
			h.refuseEntry(item.start, nextAlone, "%s of %q holds something other than the name of a tool", quoteText(m.name), h.slot.name)
		case only:
			h.server.Tools = append(h.server.Tools, item.text)
		default:
			h.server.Hide = append(h.server.Hide, item.text)
		}
	}
	if only && len(m.value.items) == 0 {
		h.server.Hide = append(h.server.Hide, "**")
	}
}
