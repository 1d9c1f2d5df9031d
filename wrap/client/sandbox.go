package client

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/cage/clienttable"
)

// A client may start a server in its own sandbox. In that sandbox the proxy could not write its
// record. So Wrap moves the sandbox: it sets the member that enables the sandbox from true to
// false, and the option --client-sandbox of the wrapper gets the rules. The proxy then starts the
// server with these rules. Unwrap only sets the member to true again. The rules stay in the file,
// because the client ignores them without the sandbox.

const sandboxFlag = "--client-sandbox"

// clientSandbox is the client's own sandbox for an entry.
type clientSandbox struct {
	enabled *member  // the member that enables the sandbox; nil if there is none
	on      bool     // the client starts the process in the sandbox
	words   []string // words for the wrapper, if the sandbox is in use
	fault   *fault   // why the wrapper cannot carry the rules; nil if it can
}

const nextSandbox = "write true or false"

// readSandbox reads the client's own sandbox for an entry.
func (s *shapeReader) readSandbox(entry *node) {
	if s.row.SandboxField == "" {
		return
	}
	b := &s.sandbox
	if b.enabled, _ = entry.findMember(s.row.SandboxField); b.enabled == nil {
		return
	}
	v := b.enabled.value
	b.on = !v.isEmpty()
	if b.on && (v.kind != otherKind || v.text != "true") {
		b.fault = &fault{v.start, nextSandbox, fmt.Sprintf("%q of %q is neither true nor false, so it cannot be told whether %s would start it in a sandbox", s.row.SandboxField, s.slot.name, s.row.Name)}
		return
	}
	b.words = []string{clienttable.On}
	rules := s.findRules(entry)
	if rules != nil {
		s.readRules(rules)
	}
	if cwd, _ := entry.findMember("cwd"); cwd != nil && cwd.value.kind != nullKind { // VS Code allows writes in this folder too
		s.readRule("allowWrite", cwd.value)
	}
}

// findRules returns the member with the rules, from the entry or the file. Only one of the two may
// exist, because clients disagree on which one they use.
func (s *shapeReader) findRules(entry *node) *member {
	own, _ := entry.findMember(s.row.SandboxRules)
	shared, twice := s.slot.beside.findMember(s.row.SandboxRules)
	none := func(m *member) bool { return m == nil || m.value.isEmpty() }
	switch {
	case twice:
		s.refuseSandbox(shared.start, nextDuplicate, "the key %q is there twice beside the servers", s.row.SandboxRules)
	case none(shared):
		return own
	case none(own):
		return shared
	default:
		s.refuseSandbox(own.start, nextDuplicate, "%q stands in the entry of %q and beside the servers, and it cannot be told which one counts", s.row.SandboxRules, s.slot.name)
	}
	return nil
}

func (s *shapeReader) refuseSandbox(at int, next, what string, values ...any) {
	if s.sandbox.fault == nil {
		s.sandbox.fault = &fault{at, next, fmt.Sprintf(what, values...)}
	}
}

const nextRule = "take it out to have clawai judge the server's calls, or leave the server to that sandbox"

// readRules reads the rules of a sandbox. It refuses a member that it does not know, because the
// member may restrict the server.
func (s *shapeReader) readRules(rules *member) {
	for _, part := range s.ruleMembers(rules) {
		keys, known := clienttable.RuleKeys[part.name]
		if !known {
			s.refuseSandbox(part.start, nextRule, "clawai does not know %q in the sandbox of %q", part.name, s.slot.name)
			continue
		}
		for _, rule := range s.ruleMembers(part) {
			switch {
			case !slices.Contains(keys, rule.name):
				s.refuseSandbox(rule.start, nextRule, "clawai does not know %q in the sandbox of %q", part.name+"."+rule.name, s.slot.name)
			case rule.value.kind == nullKind:
			case rule.value.kind != listKind:
				s.refuseSandbox(rule.value.start, "write a list of strings", "%q in the sandbox of %q is %s, not a list", rule.name, s.slot.name, rule.value.kind)
			default:
				for _, item := range rule.value.items {
					s.readRule(rule.name, item)
				}
			}
		}
	}
}

// ruleMembers returns the members of an object in the rules of a sandbox.
func (s *shapeReader) ruleMembers(of *member) (all []*member) {
	n := of.value
	if n.kind != objectKind && n.kind != nullKind {
		s.refuseSandbox(n.start, "write an object", "%q in the sandbox of %q is %s, not an object", of.name, s.slot.name, n.kind)
	}
	if m := n.findDuplicate(); m != nil {
		s.refuseSandbox(m.start, nextDuplicate, "the key %q is there twice in the sandbox of %q", m.name, s.slot.name)
	}
	for i := range n.members {
		all = append(all, &n.members[i])
	}
	return all
}

func (s *shapeReader) readRule(key string, value *node) {
	if value.kind != stringKind {
		s.refuseSandbox(value.start, "write it as a string", "what %q of %q names is %s, not a string", key, s.slot.name, value.kind)
		return
	}
	rule := key + "=" + value.text
	err := clienttable.CheckRule(rule)
	switch {
	case strings.ContainsRune(value.text, 0):
		s.refuseSandbox(value.start, nextRule, "%q of %q holds a NUL", key, s.slot.name)
	case err != nil:
		s.refuseSandbox(value.start, nextRule, "clawai cannot carry out the sandbox of %q: %v", s.slot.name, err)
	default:
		s.sandbox.words = append(s.sandbox.words, rule)
	}
}

// CarriesSandbox reports whether a wrapper carries a client's sandbox. words are the words of the
// wrapper's command as they are written in the client's file.
func CarriesSandbox(words []string) bool { return slices.Contains(words, quoteText(sandboxFlag)) }

// carriedWords returns the words for the client's sandbox that Wrap must write. The parameter older
// has the sandbox words of the present wrapper; nil if it has none.
func (sh *shape) carriedWords(older []string) []string {
	if sh.sandbox.on || len(older) > 0 {
		return sh.sandbox.words
	}
	return nil
}

// checkSandbox returns the reason why Wrap cannot move the client's sandbox into the wrapper; nil
// if it can. The parameter older has the sandbox words of the present wrapper.
func (sh *shape) checkSandbox(r Row, name string, at int, older []string) *fault {
	switch b := sh.sandbox; {
	case b.fault != nil && (b.on || len(older) > 0):
		return b.fault
	case r.SandboxField == "" && len(older) > 0:
		return &fault{at, "take " + sandboxFlag + " with what follows it out of the entry, or run clawai unwrap",
			fmt.Sprintf("the wrapper of %q carries the sandbox of another client, and %s has none", name, r.Name)}
	case b.enabled == nil && len(older) > 0:
		return &fault{at, fmt.Sprintf(`write "%s": false there again, or run clawai unwrap`, r.SandboxField),
			fmt.Sprintf("the wrapper carries a sandbox of %s, and the entry of %q no longer has the member %q", r.Name, name, r.SandboxField)}
	}
	return nil
}

// switchSandbox returns the edit that switches the client's sandbox on or off. It returns nil if
// the member already has this value, or has a value that is not a boolean.
func (sh *shape) switchSandbox(on bool) []edit {
	m, from, to := sh.sandbox.enabled, "true", "false"
	if on {
		from, to = to, from
	}
	if m == nil || m.value.text != from {
		return nil
	}
	return []edit{{m.value.start, m.value.end, to}}
}

// carriedDiffers tells how the sandbox words of a wrapper differ from the client's sandbox in the
// file; "" if they do not differ.
func (sh *shape) carriedDiffers(r Row, older []string) string {
	switch {
	case sh.sandbox.on:
		return fmt.Sprintf("%s starts the proxy in a sandbox of its own (%s), in which it cannot keep its record", r.Name, r.SandboxField)
	case !slices.Equal(sh.carriedWords(older), older):
		return "the sandbox in the file says something else than the wrapper carries: " + strings.Join(differentWords(older, sh.sandbox.words), ", ")
	}
	return ""
}

// differentWords returns the words that only one list has, with + for words of b.
func differentWords(a, b []string) (all []string) {
	marks := map[string]string{}
	for _, word := range a {
		marks[word] = "-"
	}
	for _, word := range b {
		switch marks[word] {
		case "":
			marks[word] = "+"
		case "-":
			marks[word] = "="
		}
	}
	for _, word := range slices.Sorted(maps.Keys(marks)) {
		if marks[word] != "=" {
			all = append(all, marks[word]+word)
		}
	}
	if len(all) == 0 {
		all = []string{"their order"}
	}
	return all
}
