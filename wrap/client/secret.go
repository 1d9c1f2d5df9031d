package client

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/redact"
)

// ReferencePrefix begins a reference to a secret in the vault.
const ReferencePrefix = "clawai-vault:"

// Secret is a secret in the environment of a wrapped entry, or a reference to a secret. At its
// start clawai gets the secrets for such references from the vault.
type Secret struct {
	Name   string // name of the variable, or of the header in its value
	Member string // key of the variable
	Before string // text before the secret, such as "Authorization: Bearer "; it stays
	Value  string // the secret; for a reference, the name of the secret in the vault
	Token  string // the complete value of the variable, in the notation of the file
}

// FindSecrets returns the texts of an entry that are probably secrets, by their names or their
// form. A text that the client expands is left out, because the secret itself is not in the file.
func FindSecrets(r Row, src []byte, e Entry) ([]Secret, error) {
	return secretsOf(r, src, e, func(s *Secret) bool {
		return !strings.Contains(s.Value, ReferencePrefix) && !r.expandsText(s.Before+s.Value) && !strings.ContainsRune(s.Value, 0) && isSecret(s.Name, s.Value)
	})
}

// FindReferences returns the references of an entry to secrets in the vault.
func FindReferences(r Row, src []byte, e Entry) ([]Secret, error) {
	return secretsOf(r, src, e, func(s *Secret) bool {
		before, name, found := strings.Cut(s.Value, ReferencePrefix)
		s.Before, s.Value = s.Before+before, name
		return found
	})
}

func secretsOf(r Row, src []byte, e Entry, wanted func(*Secret) bool) (all []Secret, err error) {
	f, _, sh, err := openSlot(r, src, e)
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

func (sh shape) envMembers() (all []*member) {
	if sh.remote != nil && sh.remote.holder != nil {
		for i := range sh.remote.holder.value.members {
			all = append(all, &sh.remote.holder.value.members[i])
		}
		return all
	}
	return sh.environment
}

// isSecret reports whether the record would replace this value of a member by a marker.
func isSecret(name, value string) bool {
	src, err := json.Marshal(map[string]string{name: value})
	var kept map[string]string
	return err == nil && json.Unmarshal(redact.ScrubJSON(src), &kept) == nil && kept[name] != value
}

// Quote returns a string literal for a text that is valid in every file format.
func Quote(text string) string { return quoteText(text) }

// DecodeToken decodes a token of a file in the row's format. ok is false if the token is no string.
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

// ReplaceVariables replaces values in the environment of an entry. tokens has the new tokens by the
// names of the variables. It returns an *EditError if anything else would change.
func ReplaceVariables(r Row, src []byte, e Entry, tokens map[string]string) ([]byte, error) {
	f, s, sh, err := openSlot(r, src, e)
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

// sameVariables reports whether the variables of an entry are unchanged. If the parameter own is
// true, the entry is the edited one, and the values of the variables in tokens may differ.
func sameVariables(before, now []*member, own bool, tokens map[string]string) bool {
	return slices.EqualFunc(before, now, func(a, b *member) bool {
		_, changed := tokens[a.name]
		return a.name == b.name && a.value.kind == b.value.kind && (own && changed || a.value.text == b.value.text)
	})
}
