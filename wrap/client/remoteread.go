package client

import (
	"net/url"
	"slices"
	"strings"
)

const nextTake = "take it out, or keep the server as it is"

// readRemote reads a remote entry that is no bridge. It sets remote.kept if a part of the entry
// would be lost in a bridge.
func (s *shapeReader) readRemote(entry *node) {
	r := s.remote
	s.checkEditable(s.holder)
	s.checkEditable(r.url.value)
	for _, key := range []string{s.row.commandKey(), s.row.argsKey()} {
		if m, _ := s.holder.findMember(key); m != nil {
			s.keepProblem(m.start, nextDuplicate, "the entry of %q has %q and a url", s.slot.name, key)
		}
	}
	s.checkURL()
	// The checks below are about the bridge that the entry may become, so their problem goes to
	// r.kept.
	before := s.problem
	s.problem, s.hard = nil, false
	defer func() { r.kept, s.problem = s.problem, before }()
	defer s.adviseRedirect()
	s.checkType()
	r.env, _ = s.holder.findMember(s.row.envKey())
	s.readHeaders()
	s.readBearer()
	s.checkMembers(entry)
	if s.holder != entry {
		s.checkMembers(s.holder)
	}
}

// refuseForBridge adds a problem for a part that a redirected entry can have but a bridge cannot.
func (s *shapeReader) refuseForBridge(at int, next, what string, values ...any) {
	hard := s.hard
	s.keepProblem(at, next, what, values...)
	s.hard = hard
}

// adviseRedirect adds the advice to redirect the entry, if the entry can be redirected but cannot
// become a bridge.
func (s *shapeReader) adviseRedirect() {
	if s.problem != nil && !s.hard && s.canRedirect() {
		s.problem.next += nextProxy
	}
}

const nextProxy = "; or let the client go on speaking HTTP: clawai wrap --remote=proxy"

// canRedirect reports whether an address of clawai's proxy can replace the url.
func (s *shapeReader) canRedirect() bool {
	return PlainName(s.slot.name) && !s.row.fillsText(s.remote.url.value.text)
}

func (s *shapeReader) checkURL() {
	for _, key := range s.row.URLFields {
		if m, _ := s.holder.findMember(key); m != nil && m != s.remote.url && !m.value.isEmpty() && readRedirection(s.remote.url.value.text) == nil {
			s.keepProblem(m.start, nextDuplicate, "the entry of %q has %q and %q", s.slot.name, s.remote.url.name, key)
		}
	}
	v := s.remote.url.value
	if v.kind != stringKind {
		s.keepProblem(v.start, "write it as a string", "the url of %q is %s, not a string", s.slot.name, v.kind)
		return
	}
	if s.remote.redirected = readRedirection(v.text); s.remote.redirected != nil {
		return
	}
	if s.row.fillsText(v.text) {
		if !s.row.EnvExpands {
			s.keepProblem(v.start, "write the url out", "the url of %q holds a variable, which this client fills in only there", s.slot.name)
		}
		return
	}
	u, err := url.Parse(v.text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		s.keepProblem(v.start, "write it like https://host/mcp", "the url of %q is not one that clawai can reach", s.slot.name)
	case u.User != nil:
		s.keepProblem(v.start, "put them into a header", "the url of %q holds a name or a password", s.slot.name)
	case u.Fragment != "" || strings.HasSuffix(v.text, "#"):
		s.keepProblem(v.start, "take it out", "the url of %q holds a #fragment", s.slot.name)
	}
}

// checkType adds a problem if clawai does not support the transport.
func (s *shapeReader) checkType() {
	if s.typ == nil || s.typ.value.kind == nullKind {
		s.typ = nil
		return
	}
	s.checkEditable(s.typ.value)
	text := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s.typ.value.text))
	if s.typ.value.kind != stringKind || !slices.Contains(types, text) {
		s.keepProblem(s.typ.value.start, nextTake, "the entry of %q has the %s %s, which clawai does not speak", s.slot.name, s.typ.name, quoteText(s.typ.value.text))
	}
}

// readHeaders finds the headers. All headers must be in one member, because this member becomes the
// environment of the bridge.
func (s *shapeReader) readHeaders() {
	r := s.remote
	for i, field := range []string{s.row.HeadersField, s.row.EnvHeadersField} {
		m, _ := s.holder.findMember(field)
		if field == "" || m == nil || m.value.kind == nullKind {
			continue
		}
		if r.holder != nil {
			s.refuseForBridge(m.start, "move the headers of one into a header file", "the entry of %q has %q and %q", s.slot.name, r.holder.name, field)
			return
		}
		r.holder, r.envHeaders = m, i == 1
	}
	if r.holder == nil {
		return
	}
	s.checkEditable(r.holder.value)
	if r.holder.value.kind != objectKind {
		s.keepProblem(r.holder.value.start, nextCommand, "the %s of %q are %s", r.holder.name, s.slot.name, r.holder.value.kind)
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
	if len(r.headers) > 0 && s.row.isStrict() {
		s.refuseForBridge(r.env.start, nextTake, "the entry of %q has headers and %q", s.slot.name, r.env.name)
	}
	if len(r.headers) == 0 {
		r.holder = nil // the key of the environment can stay
	}
}

func (s *shapeReader) checkHeader(m *member) {
	v, name := m.value, m.name
	s.checkEditable(v)
	switch {
	case v.kind != stringKind:
		s.keepProblem(v.start, "write it as a string", "the header %q of %q is %s, not a string", name, s.slot.name, v.kind)
	case !headerName().MatchString(name) || ownHeader().MatchString(name):
		s.keepProblem(m.last, "take it out", "the header %q of %q is not one that clawai can send", name, s.slot.name)
	case slices.ContainsFunc(s.remote.headers, func(h header) bool { return strings.EqualFold(h.name, name) }):
		s.keepProblem(m.last, nextDuplicate, "the header %q of %q is there twice", name, s.slot.name)
	case strings.ContainsFunc(v.text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		s.keepProblem(v.start, "write the value on one line", "the header %q of %q holds a control character", name, s.slot.name)
	case s.remote.envHeaders && !variableName().MatchString(v.text):
		s.keepProblem(v.start, "write the name of a variable", "the header %q of %q does not name a variable", name, s.slot.name)
	case !s.row.EnvExpands && s.row.fillsText(v.text), matchesAny(s.row.FillsHeaders, v.text):
		s.refuseForBridge(v.start, "write the value out, or keep the header in a file: clawai proxy --header-file",
			"the header %q of %q holds a variable, which this client fills in only there", name, s.slot.name)
	}
}

// readBearer finds the member with the name of the variable that holds the bearer token.
func (s *shapeReader) readBearer() {
	m, _ := s.holder.findMember(s.row.BearerField)
	if s.row.BearerField == "" || m == nil || m.value.kind == nullKind {
		return
	}
	if m.value.kind != stringKind || !variableName().MatchString(m.value.text) {
		s.keepProblem(m.value.start, "write the name of a variable", "the %s of %q does not name a variable", m.name, s.slot.name)
	}
	for _, h := range s.remote.headers {
		if strings.EqualFold(h.name, "Authorization") {
			s.keepProblem(m.start, nextDuplicate, "the entry of %q has an Authorization header and %s", s.slot.name, m.name)
		}
	}
	s.remote.bearer = m
}

// checkMembers adds a problem for a member that has no effect for a process.
func (s *shapeReader) checkMembers(n *node) {
	known := append([]string{
		s.remote.url.name, s.row.typeKey(), s.row.NameField, s.row.HeadersField, s.row.EnvHeadersField,
		s.row.BearerField, s.row.envKey(), s.row.Nested,
	}, s.row.RemoteKeeps...)
	for i := range n.members {
		m := &n.members[i]
		switch {
		case slices.Contains(known, m.name) || slices.Contains(shared, m.name) || m.value.isEmpty() && !s.row.isStrict():
			continue
		case m.value.isEmpty() && !m.block && n == s.holder:
			s.remote.idle = append(s.remote.idle, m)
			continue
		}
		s.refuseForBridge(m.start, nextTake, "the entry of %q has %s, which would say nothing of a server that is started", s.slot.name, quoteText(m.name))
	}
}
