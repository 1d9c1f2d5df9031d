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

// Assurances are a server's assurances about its own tool, made by annotations (MCP 2025-03-26
// server/tools, ToolAnnotations). A server is not trusted, so an assurance can only keep a deny
// or a prompt from matching. The zero value is a tool without assurances, such as a tool that
// was never listed.
type Assurances uint8

// The assurances that a server can give.
const (
	ReadOnly    Assurances = 1 << iota // the tool changes nothing
	Additive                           // the tool destroys nothing
	Idempotent                         // repeating a call changes nothing more
	ClosedWorld                        // the tool does not reach external systems
)

// dangers holds one word for each bit of Assurances. With this word a rule names the tools that
// lack the assurance.
var dangers = []string{"not-read-only", "destructive", "not-idempotent", "open-world"}

// assurances holds one word for each bit of Assurances. With this word a record names the
// assurance.
var assurances = []string{"read-only", "not-destructive", "idempotent", "not-open-world"}

// AssurancesFromHints converts the hints of a tool. A nil hint is missing and gets the cautious
// default. A tool that is called both read-only and destructive gets neither assurance.
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

// AnnotationHints returns the MCP annotations that express the assurances, by name.
func (a Assurances) AnnotationHints() map[string]bool {
	return map[string]bool{
		"readOnlyHint": a&ReadOnly != 0, "destructiveHint": a&Additive == 0,
		"idempotentHint": a&Idempotent != 0, "openWorldHint": a&ClosedWorld == 0,
	}
}

// DangerWords returns the words that rules use for the missing assurances ("destructive").
func (a Assurances) DangerWords() (words []string) {
	for i, word := range dangers {
		if a&(1<<i) == 0 {
			words = append(words, word)
		}
	}
	return words
}

// UnmarshalJSON parses a record's list of AssuranceWords. It ignores other words.
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

// AssuranceWords returns the words that records use for the assurances. Callers must not write
// to the slice.
func (a Assurances) AssuranceWords() []string { return assuredWords()[a] }

// assuredWords holds the result of AssuranceWords for every Assurances value: it is computed
// once, because every call needs it.
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

// annotated is the condition of the key annotations. It matches a tool that lacks at least one of
// the assurances that the key lists. In a prompt rule matchCall returns at most Maybe: the rules
// below are judged too, so that a server's annotations never turn a denial into a question.
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

func (p *parser) readAnnotations(k ruleKey, e toml.Expression) {
	words := p.readWords(k, e, dangers, func() string { return "some of " + listWords(dangers) }, func(word string) string { return fmt.Sprintf("unknown annotation %q", word) })
	p.currentRule().setCondition(k, Stated{Text: policytext.OneOrList(policytext.QuoteAll(words)), test: &annotated{dangers: readAssurances(words, dangers)}})
}

// checkAnnotations refuses annotations in an allow rule, so that a server's word never allows a
// call. It also refuses them in rules that are not about tools.
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

// dropAnnotations removes the key annotations from the new rule, which stores a person's answer.
// An allow rule cannot have this key. A deny rule may lose the key, because it then covers more
// calls.
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
