package client

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/redact"
)

// ReferencePrefix begins what stands for a secret that the vault keeps.
const ReferencePrefix = "clawai-vault:"

// Secret is a text in the environment of an entry behind clawai, which fills references
// to the vault in.
type Secret struct {
	Name   string // of the variable, or of the header that it carries
	Member string // the key it stands under
	Before string // what stands before it and stays: "Authorization: Bearer "
	Value  string // the secret, or the name of the vault's entry
	Token  string // all of it as the file writes it
}

// FindSecrets gives the texts of an entry that are secrets by their names or their looks. What
// the client fills in is none: the secret stands elsewhere.
func FindSecrets(r Row, src []byte, e Entry) ([]Secret, error) {
	return secretsOf(r, src, e, func(s *Secret) bool {
		return !strings.Contains(s.Value, ReferencePrefix) && !r.expandsText(s.Before+s.Value) && !strings.ContainsRune(s.Value, 0) && isSecret(s.Name, s.Value)
	})
}

// FindReferences gives the texts of an entry that stand for secrets in the vault.
func FindReferences(r Row, src []byte, e Entry) ([]Secret, error) {
	return secretsOf(r, src, e, func(s *Secret) bool {
		before, name, found := strings.Cut(s.Value, ReferencePrefix)
		s.Before, s.Value = s.Before+before, name
		return found
	})
}

func secretsOf(r Row, src []byte, e Entry, wanted func(*Secret) bool) (all []Secret, err error) {
	f, err := openFile(r, src)
	if err != nil {
		return nil, err
	}
	_, sh, err := f.findSlot(e)
	if err != nil {
		return nil, err
	}
	if v, wrapped := readInvocation(sh.words); !wrapped || v.failed != "" || sh.mixed != nil {
		return nil, nil
	}
	for _, m := range sh.envMembers() {
		if m.value.kind != stringKind || m.value.refused != "" || m.value.text == "" || m.name == urlVariable {
			continue
		}
		s := Secret{Name: m.name, Member: m.name, Value: m.value.text, Token: f.rawText(m.value)}
		if strings.HasPrefix(m.name, headerVariable) {
			name, value, _ := strings.Cut(m.value.text, ":")
			s.Name, s.Value = name, strings.TrimLeft(value, " ")
			if scheme, rest, two := strings.Cut(s.Value, " "); two && headerName().MatchString(scheme) && !strings.Contains(rest, " ") {
				s.Value = rest
			}
			s.Before = strings.TrimSuffix(m.value.text, s.Value)
		}
		if wanted(&s) {
			all = append(all, s)
		}
	}
	return all, nil
}

// envMembers gives the members of an entry's environment.
func (sh shape) envMembers() (all []*member) {
	if sh.remote != nil && sh.remote.holder != nil {
		for i := range sh.remote.holder.value.members {
			all = append(all, &sh.remote.holder.value.members[i])
		}
		return all
	}
	return sh.environment
}

// isSecret reports whether the record would not keep the value under the name.
func isSecret(name, value string) bool {
	src, err := json.Marshal(map[string]string{name: value})
	var kept map[string]string
	return err == nil && json.Unmarshal(redact.ScrubJSON(src), &kept) == nil && kept[name] != value
}

// Quote writes a text as a string that every format of files reads.
func Quote(text string) string { return quoteText(text) }

// DecodeToken reads a token of a file of the row; false when it is no string.
func DecodeToken(r Row, token string) (text string, ok bool) {
	var root *node
	var err error
	switch r.Format {
	case TOML:
		root, err = parseFile(Row{Format: TOML}, []byte("v = "+token+"\n"))
	case YAML:
		root, err = parseFile(Row{Format: YAML}, []byte("v: "+token+"\n"))
	default:
		root, err = parseFile(Row{Format: r.Format, KeyPath: []string{"v"}}, []byte(`{"v":`+token+`}`))
	}
	if err != nil {
		return "", false
	}
	m, twice := root.findMember("v")
	if m == nil || twice || m.value.kind != stringKind {
		return "", false
	}
	return m.value.text, true
}

// ReplaceVariables puts tokens, by the key they stand under, into the environment of an entry.
// Nothing else of what the file says is changed by that, or it is an *EditError.
func ReplaceVariables(r Row, src []byte, e Entry, tokens map[string]string) ([]byte, error) {
	f, err := openFile(r, src)
	if err != nil {
		return nil, err
	}
	s, sh, err := f.findSlot(e)
	if err != nil {
		return nil, err
	}
	var edits []edit
	for _, m := range sh.envMembers() {
		if token, ok := tokens[m.name]; ok {
			edits = append(edits, edit{m.value.start, m.value.end, token})
		}
	}
	after := spliceEdits(src, edits)
	failed := newEditError(src, s.at, "edit the entry by hand", "the environment of %q cannot be edited exactly", s.name)
	g, err := openFile(r, after)
	if err != nil || len(g.slots) != len(f.slots) || len(edits) != len(tokens) {
		return nil, failed
	}
	for i := range g.slots {
		before, now := readShape(r, f.slots[i]), readShape(r, g.slots[i])
		own := pathKey(f.slots[i].path) == pathKey(s.path)
		same := before.kind == now.kind && slices.Equal(nodeTexts(before.words), nodeTexts(now.words)) && sameVariables(before.envMembers(), now.envMembers(), own, tokens)
		if !same || !own && !slices.Equal(before.meaningWords(), now.meaningWords()) {
			return nil, failed
		}
	}
	return after, nil
}

// sameVariables says that nothing but the tokens of the entry itself has changed.
func sameVariables(before, now []*member, own bool, tokens map[string]string) bool {
	return slices.EqualFunc(before, now, func(a, b *member) bool {
		_, changed := tokens[a.name]
		return a.name == b.name && a.value.kind == b.value.kind && (own && changed || a.value.text == b.value.text)
	})
}
