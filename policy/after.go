package policy

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/where"
)

// Seen is a set: the kinds of data that a call's session has seen before the call. The zero
// value means that the kinds are not known.
type Seen uint8

// The kinds of data that a session can have seen. A session that has seen a secret has also
// seen private data. A team's centre keeps these bits in its database, so their values never
// change.
const (
	Known Seen = 1 << iota // the kinds are known: a kind whose bit is not set has not been seen
	Untrusted
	PrivateData
	Secret
)

// seenWords are the words that rules and fixtures use for the bits of Seen, from Untrusted on.
var seenWords = []string{"untrusted", "private", "secret"}

// SeenOf converts words of SeenWords to a set that also has the bit Known. It returns false if
// a word is unknown.
func SeenOf(words []string) (s Seen, whole bool) {
	s = Known
	for _, word := range words {
		i := slices.Index(seenWords, word)
		if i < 0 {
			return 0, false
		}
		s |= Untrusted << i
	}
	if s&Secret != 0 {
		s |= PrivateData
	}
	return s, true
}

// SeenWords returns the words for all kinds.
func SeenWords() []string { return slices.Clone(seenWords) }

// LabelWords returns the words for the kinds in the set.
func (s Seen) LabelWords() (words []string) {
	for i, word := range seenWords {
		if s&(Untrusted<<i) != 0 {
			words = append(words, word)
		}
	}
	return words
}

// Each returns the kinds in the set, one after the other.
func (s Seen) Each() iter.Seq[Seen] {
	return func(yield func(Seen) bool) {
		for i := range seenWords {
			if one := s & (Untrusted << i); one != 0 && !yield(one) {
				return
			}
		}
	}
}

// afterSeen is the condition of the key "after". It matches a call if the call's session has seen
// all the kinds that the key lists. In a prompt rule matchCall returns at most Maybe: the rules
// below are judged too, so that a session's history never turns a denial into a question.
type afterSeen struct {
	kinds   Seen
	prompts bool
}

func (t *afterSeen) matchCall(c *Call) where.Match {
	switch {
	case c.Seen&Known == 0:
		return where.Maybe
	case t.kinds&^c.Seen != 0:
		return where.No
	case t.prompts:
		return where.Maybe
	}
	return where.Yes
}

func (t *afterSeen) meet(c *Call) { c.Seen |= t.kinds }
func (t *afterSeen) miss(c *Call) { c.Seen = Known }

func (p *parser) readAfter(k ruleKey, e toml.Expression) {
	words := p.readWords(k, e, seenWords, func() string { return "some of " + listWords(seenWords) }, func(word string) string { return fmt.Sprintf("unknown label %q", word) })
	kinds, _ := SeenOf(words)
	p.currentRule().setCondition(k, Stated{Text: policytext.OneOrList(policytext.QuoteAll(words)), test: &afterSeen{kinds: kinds}})
}

// checkAfter refuses the key "after" in an allow rule, so that a session's history never allows a
// call.
func (p *parser) checkAfter(r *ruleSource) {
	at := p.given[afterKey] - 1
	if at < 0 {
		return
	}
	if p.acts && r.Action == Allow {
		p.fail(at, at+len("after"), `after beside action "allow"`,
			"what a session has seen may close and open nothing: write a deny or a prompt above the allow")
	}
	after := r.conditionFor("after").test.(*afterSeen)
	after.prompts, r.After = r.Action == Prompt, after.kinds&^Known
}

func gotSeen(c *Call) string {
	switch words := c.Seen.LabelWords(); {
	case c.Seen&Known == 0:
		return ""
	case len(words) > 0:
		return strings.Join(words, ", ")
	}
	return "none of these"
}

// Labelled reports whether an answer may depend on Call.Seen.
func (p *Policy) Labelled() bool {
	return p.labelled || slices.ContainsFunc(p.options.Above, (*Policy).Labelled)
}
