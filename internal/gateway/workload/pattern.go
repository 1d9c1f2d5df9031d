package workload

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/policy/glob"
)

const (
	wildcards  = "*?"
	separators = ":@" // separators besides "/"; package glob already handles "/"
)

// pattern is the required value of a claim. It may have wildcards. A wildcard does not match ":" or "@".
type pattern struct {
	text  string
	parts []*glob.Pattern // parts of text between the separators; nil for an empty part; no parts if text has no wildcard
}

func hasWildcard(s string) bool { return strings.ContainsAny(s, wildcards) }

func newPattern(text string) (p pattern, err error) {
	p.text = text
	if !hasWildcard(text) {
		return p, nil
	}
	parts, _ := splitParts(text)
	p.parts = make([]*glob.Pattern, len(parts))
	for i, part := range parts {
		if part == "" {
			continue
		}
		if p.parts[i], err = glob.Compile(part); err != nil {
			return p, fmt.Errorf("%q: %w", text, err)
		}
	}
	return p, nil
}

// accepts reports whether a claim's value matches the pattern. A pattern with wildcards refuses a value
// with an empty step, "." or "..", because a wildcard must not stand for a change of folder.
func (p *pattern) accepts(value string) bool {
	if p.parts == nil {
		return value == p.text
	}
	parts, marks := splitParts(value)
	_, want := splitParts(p.text)
	if marks != want {
		return false
	}
	for i, part := range parts {
		for step := range strings.SplitSeq(part, "/") {
			if step == "" || step == "." || step == ".." {
				return false
			}
		}
		if p.parts[i] == nil || !p.parts[i].Match(part) {
			return false
		}
	}
	return true
}

// splitParts splits a text at the separators. marks has the separators in their order.
func splitParts(text string) (parts []string, marks string) {
	for {
		at := strings.IndexAny(text, separators)
		if at < 0 {
			return append(parts, text), marks
		}
		parts, marks, text = append(parts, text[:at]), marks+text[at:at+1], text[at+1:]
	}
}
