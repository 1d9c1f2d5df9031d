package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/where"
)

// Assurances are what a server says to the good of a tool of its own, by annotations
// (MCP 2025-03-26 server/tools, ToolAnnotations). A server is not trusted, so they only
// keep rules from matching that tighten. The zero value is a tool of which nothing good
// is said, as one that was never listed.
type Assurances uint8

// What a server can say to the good of a tool.
const (
	ReadOnly    Assurances = 1 << iota // it changes nothing
	Additive                           // it destroys nothing
	Idempotent                         // done again, it changes nothing more
	ClosedWorld                        // it meets nothing but what is its own
)

// dangers are the words of rules, each for a tool of which the opposite is not said,
// by the bits of Assurances.
var dangers = []string{"not-read-only", "destructive", "not-idempotent", "open-world"}

// assurances are the words of records for the opposites.
var assurances = []string{"read-only", "not-destructive", "idempotent", "not-open-world"}

// AssurancesFromHints reads the hints of a tool; nil is one that is not given, whose default is
// the cautious one. A tool that is called read-only and destructive is neither.
func AssurancesFromHints(readOnly, destructive, idempotent, openWorld *bool) (a Assurances) {
	says := func(hint *bool, word bool) bool { return hint != nil && *hint == word }
	only := says(readOnly, true) && !says(destructive, true)
	for bit, assured := range map[Assurances]bool{
		ReadOnly:    only,
		Additive:    says(destructive, false) || only,
		Idempotent:  says(idempotent, true) || only && idempotent == nil,
		ClosedWorld: says(openWorld, false),
	} {
		if assured {
			a |= bit
		}
	}
	return a
}

// AnnotationHints gives annotations that say as much, by their names.
func (a Assurances) AnnotationHints() map[string]bool {
	return map[string]bool{
		"readOnlyHint": a&ReadOnly != 0, "destructiveHint": a&Additive == 0,
		"idempotentHint": a&Idempotent != 0, "openWorldHint": a&ClosedWorld == 0,
	}
}

// DangerWords gives the words of rules that are about such a tool.
func (a Assurances) DangerWords() (words []string) {
	for i, word := range dangers {
		if a&(1<<i) == 0 {
			words = append(words, word)
		}
	}
	return words
}

// UnmarshalJSON reads a record's list of AssuranceWords; other words say nothing.
func (a *Assurances) UnmarshalJSON(src []byte) error {
	var said []string
	if err := json.Unmarshal(src, &said); err != nil {
		return err
	}
	*a = readAssurances(said, assurances)
	return nil
}

func readAssurances(said, words []string) (a Assurances) {
	for i, word := range words {
		if slices.Contains(said, word) {
			a |= 1 << i
		}
	}
	return a
}

// AssuranceWords gives what is said, for the record. Nobody may write to them.
func (a Assurances) AssuranceWords() []string { return assuredWords()[a] }

// assuredWords are the words of all Assurances, for those of a call are asked for each time.
var assuredWords = sync.OnceValue(func() *[1 << 4][]string {
	var words [1 << 4][]string
	for a := range words {
		for i, word := range assurances {
			if a&(1<<i) != 0 {
				words[a] = append(words[a], word)
			}
		}
	}
	return &words
})

// annotated is the condition that a tool is in one of some dangers, as far as its
// server says. Beside a prompt it holds perhaps at the most: the rules below are asked
// as well, so that nothing a server says has a question asked in place of a denial.
type annotated struct {
	dangers Assurances
	prompts bool
}

func (t *annotated) matchCall(c *Call) where.Match {
	switch {
	case t.dangers&^c.Assurances == 0:
		return where.No
	case t.prompts:
		return where.Maybe
	}
	return where.Yes
}

func (t *annotated) meet(c *Call) { c.Assurances &^= t.dangers }
func (t *annotated) miss(c *Call) { c.Assurances |= t.dangers }

// readAnnotations reads words for dangers.
func (p *parser) readAnnotations(k ruleKey, e toml.Expression) {
	words := p.readWords(k, e, dangers, "some of "+listWords(dangers), func(word string) string { return fmt.Sprintf("unknown annotation %q", word) })
	p.currentRule().setCondition(k, Stated{Text: policytext.OneOrList(policytext.QuoteAll(words)), test: &annotated{dangers: readAssurances(words, dangers)}})
}

// checkAnnotations keeps a server's word from opening anything.
func (p *parser) checkAnnotations(r *ruleSource) {
	at := p.given[annotationsKey] - 1
	if at < 0 {
		return
	}
	fail := func(msg, hint string) { p.fail(at, at+len("annotations"), msg, hint) }
	if p.acts && r.Action == Allow {
		fail(`annotations beside action "allow"`, "a server writes them itself, so they may close and open nothing: write a deny or a prompt above the allow")
	}
	if r.subject != ToolSubject && r.subject != NoSubject {
		fail("annotations beside "+subjectKey(r.subject), "only tools have them")
	}
	r.conditionFor("annotations").test.(*annotated).prompts = r.Action == Prompt
}

// dropAnnotations takes the condition from a rule that a person's answer writes: an allow
// cannot have it, and a deny is wider without.
func (n *narrower) dropAnnotations() error { return n.dropCondition("annotations") }

func (n *narrower) dropAfter() error { return n.dropCondition("after") }

func (n *narrower) dropCondition(key string) error {
	n.rule.calls = slices.DeleteFunc(slices.Clone(n.rule.calls), func(s Stated) bool { return s.Key == key })
	return nil
}

func gotAnnotations(c *Call) string {
	if words := c.Assurances.DangerWords(); len(words) > 0 {
		return strings.Join(words, ", ")
	}
	return "none of these"
}
