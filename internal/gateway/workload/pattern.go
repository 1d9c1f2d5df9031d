package workload

import (
	"fmt"
	"strings"

	"github.com/clawai/clawai/policy/glob"
)

const (
	wildcards  = "*?"
	separators = ":@" // besides "/", which glob keeps apart
)

// pattern is what a claim must be: a text, or a text with wildcards, of which none passes a separator.
type pattern struct {
	text  string
	parts []*glob.Pattern // between separators; nil: an empty part; none at all: the text has no wildcard
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

// accepts reports whether a claim is as the pattern says. What a wildcard stands for must not be read as
// something else: a text with an empty part, "." or ".." between separators fits no pattern.
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

// splitParts returns the parts of a text between separators, and the separators in their order.
func splitParts(text string) (parts []string, marks string) {
	for {
		at := strings.IndexAny(text, separators)
		if at < 0 {
			return append(parts, text), marks
		}
		parts, marks, text = append(parts, text[:at]), marks+text[at:at+1], text[at+1:]
	}
}
