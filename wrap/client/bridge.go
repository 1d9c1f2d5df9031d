package client

import (
	"slices"
	"strings"
)

// A bridge is an edited entry of a remote server. The client starts the process clawai proxy, and
// this process connects to the server's address. Wrap changes each token in place, so that the edit
// can be undone: the key of the url becomes the key of the command, the headers become the
// environment, and each value keeps its bytes. The option --was keeps what would be lost: the keys
// and the type of the entry.

const wasFlag = "--was"

// wasWords returns the value of --was: the keys and the type of the remote entry before the edit,
// and the words in the parameter cut, which come from cutMembers.
func (sh shape) wasWords(cut []string) string {
	r := sh.remote
	words := []string{r.url.name}
	if sh.typ != nil {
		words = append(words, "type="+sh.typ.value.text)
	}
	for _, m := range []*member{r.holder, r.bearer, r.env} {
		if m != nil {
			words = append(words, m.name)
		}
	}
	return strings.Join(append(words, cut...), ",")
}

// readBridge reads an entry as a bridge. A process without the option --was is no bridge.
func (s *shapeReader) readBridge() {
	v, wrapped := readInvocation(s.words)
	if !wrapped || v.was == "" || s.problem != nil {
		return
	}
	s.kind, s.remote = Remote, &remote{original: strings.Split(v.was, ",")}
	if v.inner != len(s.words)-1 {
		s.keepProblem(s.words[len(s.words)-1].start, "take the others out", "the -- of %q is not followed by one address", s.slot.name)
		return
	}
	r := s.remote
	r.inner = s.words[v.inner]
	env, _ := s.holder.findMember(s.row.envKey())
	if r.holder = env; env != nil {
		s.checkEditable(env.value)
		for i := range env.value.members {
			s.readVariable(&env.value.members[i])
		}
	}
	if r.inner.text == urlReference && (r.url == nil || r.url.value.kind != stringKind) {
		s.keepProblem(r.inner.start, "write the address there", "the environment of %q has no %s", s.slot.name, urlVariable)
	}
	s.checkWas()
}

// readVariable reads a member of a bridge's environment: an address, a bearer token or a header.
func (s *shapeReader) readVariable(m *member) {
	r := s.remote
	switch {
	case m.name == urlVariable:
		r.url = m
	case m.name == bearerVariable:
		r.bearer = m
	case strings.HasPrefix(m.name, headerVariable) && m.value.kind == stringKind:
		r.envHeaders = strings.HasPrefix(m.name, headerEnvVariable)
		name, _, _ := strings.Cut(m.value.text, ":")
		if !headerName().MatchString(name) {
			s.keepProblem(m.value.start, "write it as Name: value", "%s of %q is not a header", m.name, s.slot.name)
		}
		r.headers = append(r.headers, header{name, m})
	}
	s.checkEditable(m.value)
}

// checkWas adds a problem if --was has a word that this version of clawai does not know.
func (s *shapeReader) checkWas() {
	for i, word := range s.remote.original {
		known := []string{s.row.HeadersField, s.row.EnvHeadersField, s.row.BearerField, s.row.envKey()}
		if i == 0 {
			known = s.row.URLFields
		}
		if typed := i > 0 && (strings.HasPrefix(word, "type=") || strings.HasPrefix(word, cutWord)); !typed && (word == "" || !slices.Contains(known, word)) {
			s.keepProblem(s.words[0].start, "edit the entry by hand, or use the clawai that wrote it", "%s of %q says %s, which is not known", wasFlag, s.slot.name, quoteText(word))
		}
	}
}
