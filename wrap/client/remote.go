package client

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// remote is how an entry says where its server is: by itself, or behind clawai
// in the form that wrap gives it (bridge.go).
type remote struct {
	url     *member // the address; behind clawai the member in the environment, or nil
	inner   *node   // behind clawai: the word after --
	headers []header
	was     []string // behind clawai: what the entry said in other words

	holder     *member // of the headers: the row's headers, or env-headers, or behind clawai env
	env        *member // the environment of a bare entry, which means nothing to its server
	bearer     *member
	envHeaders bool      // the headers name variables
	idle       []*member // ask for nothing, and break the file (cut.go)
}

// header is one header of a remote entry with the member it stands in.
type header struct {
	name   string
	member *member
}

// The environment of a wrapped remote server: what belongs on no command line
// (cmd/clawai/proxyremote.go reads it).
const (
	urlVariable       = "CLAWAI_URL"
	urlReference      = "env:" + urlVariable
	headerVariable    = "CLAWAI_HEADER_"     // CLAWAI_HEADER_1="Name: value"
	headerEnvVariable = "CLAWAI_HEADER_ENV_" // CLAWAI_HEADER_ENV_1="Name: ${VARIABLE}"
	bearerVariable    = headerEnvVariable + "0"
)

// shared are members that say of a process what they say of a remote server.
// Any other is refused unless it is empty: it may be how the client signs in.
var shared = []string{
	"name", "title", "description", "notes", "icon", "version", "source", "fromGalleryId", "gallery",
	"enabled", "disabled", "required", "bundled", "trust", "timeout", "timeoutMs", "initTimeout", "connectionTimeout",
	"startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec",
	"tools", "toolFilter", "includeTools", "excludeTools", "enabledTools", "disabledTools", "enabled_tools", "disabled_tools",
	"available_tools", "default_tools_approval_mode", "autoApprove", "alwaysAllow", "alwaysLoad", "deferTools",
}

// types are the words for transports that clawai speaks to a server, in any of
// the spellings of the clients.
var types = []string{"http", "sse", "streamablehttp", "remote"}

var (
	headerName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// ownHeader names headers that the transport sets, so that clawai refuses to be
// told them. Accept and Content-Type it is told often, and passes over.
var ownHeader = regexp.MustCompile(`(?i)^(accept-encoding|connection|content-encoding|content-length|host|last-event-id|mcp-.*|transfer-encoding|upgrade|te|trailer)$`)

const nextTake = "take it out, or keep the server as it is"

// readRemote reads a bare remote entry and refuses what would be lost on the way.
func (s *shapeReader) readRemote(entry *node) {
	r := s.remote
	s.touch(s.holder)
	s.touch(r.url.value)
	for _, key := range []string{s.row.commandKey(), s.row.argsKey()} {
		if m, _ := s.holder.get(key); m != nil {
			s.refuse(m.start, nextDuplicate, "the entry of %q has %q and a url", s.slot.name, key)
		}
	}
	s.checkURL()
	s.checkType()
	r.env, _ = s.holder.get(s.row.envKey())
	s.readHeaders()
	s.readBearer()
	s.checkMembers(entry)
	if s.holder != entry {
		s.checkMembers(s.holder)
	}
}

func (s *shapeReader) checkURL() {
	v := s.remote.url.value
	if v.kind != stringKind {
		s.refuse(v.start, "write it as a string", "the url of %q is %s, not a string", s.slot.name, v.kind)
		return
	}
	if s.row.fills(v.text) {
		if !s.row.EnvExpands {
			s.refuse(v.start, "write the url out", "the url of %q holds a variable, which this client fills in only there", s.slot.name)
		}
		return
	}
	u, err := url.Parse(v.text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		s.refuse(v.start, "write it like https://host/mcp", "the url of %q is none that clawai can reach", s.slot.name)
	case u.User != nil:
		s.refuse(v.start, "put them into a header", "the url of %q holds a name or a password", s.slot.name)
	case u.Fragment != "" || strings.HasSuffix(v.text, "#"):
		s.refuse(v.start, "take it out", "the url of %q holds a #fragment", s.slot.name)
	}
}

// checkType demands a transport that clawai speaks.
func (s *shapeReader) checkType() {
	if s.typ == nil || s.typ.value.kind == nullKind {
		s.typ = nil
		return
	}
	s.touch(s.typ.value)
	text := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s.typ.value.text))
	if s.typ.value.kind != stringKind || !slices.Contains(types, text) {
		s.refuse(s.typ.value.start, nextTake, "the entry of %q has the %s %s, which clawai does not speak", s.slot.name, s.typ.name, quote(s.typ.value.text))
	}
}

// readHeaders finds the headers, in the one member that a process can have in
// their place.
func (s *shapeReader) readHeaders() {
	r := s.remote
	for i, field := range []string{s.row.HeadersField, s.row.EnvHeadersField} {
		m, _ := s.holder.get(field)
		if field == "" || m == nil || m.value.kind == nullKind {
			continue
		}
		if r.holder != nil {
			s.refuse(m.start, "move the headers of one into a header file", "the entry of %q has %q and %q", s.slot.name, r.holder.name, field)
			return
		}
		r.holder, r.envHeaders = m, i == 1
	}
	if r.holder == nil {
		return
	}
	s.touch(r.holder.value)
	if r.holder.value.kind != objectKind {
		s.refuse(r.holder.value.start, nextCommand, "the %s of %q are %s", r.holder.name, s.slot.name, r.holder.value.kind)
		return
	}
	for i := range r.holder.value.members {
		m := &r.holder.value.members[i]
		s.checkHeader(m)
		r.headers = append(r.headers, header{m.name, m})
	}
	if r.env == nil {
		return
	}
	if len(r.headers) > 0 && s.row.strict() {
		s.refuse(r.env.start, nextTake, "the entry of %q has headers and %q", s.slot.name, r.env.name)
	}
	if len(r.headers) == 0 {
		r.holder = nil // the environment that is there will do
	}
}

func (s *shapeReader) checkHeader(m *member) {
	v, name := m.value, m.name
	s.touch(v)
	switch {
	case v.kind != stringKind:
		s.refuse(v.start, "write it as a string", "the header %q of %q is %s, not a string", name, s.slot.name, v.kind)
	case !headerName.MatchString(name) || ownHeader.MatchString(name):
		s.refuse(m.last, "take it out", "the header %q of %q is none that clawai can be given", name, s.slot.name)
	case slices.ContainsFunc(s.remote.headers, func(h header) bool { return strings.EqualFold(h.name, name) }):
		s.refuse(m.last, nextDuplicate, "the header %q of %q stands twice", name, s.slot.name)
	case strings.ContainsFunc(v.text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		s.refuse(v.start, "write the value on one line", "the header %q of %q holds a control character", name, s.slot.name)
	case s.remote.envHeaders && !variableName.MatchString(v.text):
		s.refuse(v.start, "write the name of a variable", "the header %q of %q does not name a variable", name, s.slot.name)
	case !s.row.EnvExpands && s.row.fills(v.text):
		s.refuse(v.start, "write the value out, or keep the header in a file: clawai proxy --header-file",
			"the header %q of %q holds a variable, which this client fills in only there", name, s.slot.name)
	}
}

// readBearer finds the variable of a bearer token.
func (s *shapeReader) readBearer() {
	m, _ := s.holder.get(s.row.BearerField)
	if s.row.BearerField == "" || m == nil || m.value.kind == nullKind {
		return
	}
	if m.value.kind != stringKind || !variableName.MatchString(m.value.text) {
		s.refuse(m.value.start, "write the name of a variable", "the %s of %q does not name a variable", m.name, s.slot.name)
	}
	for _, h := range s.remote.headers {
		if strings.EqualFold(h.name, "Authorization") {
			s.refuse(m.start, nextDuplicate, "the entry of %q has an Authorization header and %s", s.slot.name, m.name)
		}
	}
	s.remote.bearer = m
}

// checkMembers refuses what a process would not be told.
func (s *shapeReader) checkMembers(n *node) {
	known := append([]string{
		s.remote.url.name, s.row.typeKey(), s.row.NameField, s.row.HeadersField, s.row.EnvHeadersField,
		s.row.BearerField, s.row.envKey(), s.row.Nested,
	}, s.row.RemoteKeeps...)
	for i := range n.members {
		m := &n.members[i]
		switch {
		case slices.Contains(known, m.name) || slices.Contains(shared, m.name) || m.value.empty() && !s.row.strict():
			continue
		case m.value.empty() && !m.block && n == s.holder:
			s.remote.idle = append(s.remote.idle, m)
			continue
		}
		s.refuse(m.start, nextTake, "the entry of %q has %s, which would say nothing of a server that is started", s.slot.name, quote(m.name))
	}
}

// empty says that a value asks for nothing.
func (n *node) empty() bool {
	switch n.kind {
	case nullKind:
		return true
	case objectKind:
		return len(n.members) == 0
	case listKind:
		return len(n.items) == 0
	}
	return n.kind == otherKind && n.text == "false"
}

// strict: a member of the other kind of entry breaks the file.
func (r Row) strict() bool { return r.StrictKeys || len(r.ExclusiveFields) > 0 }

// fills says that the client may put something else in the place of a text in
// a url or a header.
func (r Row) fills(text string) bool {
	return strings.Contains(text, "$") && !r.EnvExpands || r.expands(text)
}

// Hidden says that a remote entry's address may hold a secret, or is not known
// before the client has filled it in.
func Hidden(r Row, address string) bool { return r.hidden(address) }

// hidden says that an address must not stand on a command line: it is not known
// yet, or has a part that may be a key.
func (r Row) hidden(address string) bool {
	u, err := url.Parse(address)
	if err != nil || r.fills(address) || u.User != nil || strings.ContainsAny(address, "?#") {
		return true
	}
	return slices.ContainsFunc(strings.Split(u.Path, "/"), func(segment string) bool {
		return len(segment) >= 16 && strings.ContainsAny(segment, "0123456789")
	})
}

// means is what an entry says to start or to reach, for comparing: words, or the
// address and the headers as they will be sent.
func (sh shape) means() []string {
	if sh.kind != Remote {
		return texts(sh.words)
	}
	r := sh.remote
	said := []string{"remote", r.address()}
	for _, h := range r.headers {
		text := h.member.value.text
		if r.was == nil {
			text = lead(h.name, h.member.value.plain, r.envHeaders) + text
			if r.envHeaders {
				text += "}"
			}
		}
		name, value, _ := strings.Cut(text, ":")
		said = append(said, name+":"+strings.TrimSpace(value)) // as it is sent
	}
	if r.bearer != nil {
		text := r.bearer.value.text
		if r.was == nil {
			text = bearerLine(text)
		}
		said = append(said, text)
	}
	return said
}

func (r *remote) address() string {
	switch {
	case r.url != nil:
		return r.url.value.text
	case r.inner != nil:
		return r.inner.text
	}
	return ""
}

// signsIn says that no Authorization header is sent.
func (r *remote) signsIn() bool {
	return r.bearer == nil && !slices.ContainsFunc(r.headers, func(h header) bool { return strings.EqualFold(h.name, "Authorization") })
}

func bearerLine(variable string) string { return fmt.Sprintf("Authorization: Bearer ${%s}", variable) }

// lead is what stands before a header's value in the environment. A bare YAML
// scalar stays bare when no blank follows the colon.
func lead(name string, plain, variable bool) string {
	switch {
	case variable:
		return name + ": ${"
	case plain:
		return name + ":"
	}
	return name + ": "
}
