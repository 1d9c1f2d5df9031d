package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/where"
)

// findKinds are the kinds of finds that rules can name: the kinds of the detectors, and the kinds
// that the gate finds without a detector. A rule with any other word would never match.
var findKinds = func() []string {
	words := inspect.KindWords()
	return slices.Insert(words, slices.Index(words, string(inspect.Unscreened)), "marker", "fence", "schema", "link")
}()

// planned are kinds that rules may name, but that no detector finds yet.
var planned = []string{
	"lookalike", "shadow", "names-tool", "personal", "health",
}

// onlyOn holds the kinds that are found only in calls, replies or lists, and tells in which. Every
// other kind is found everywhere.
var onlyOn = map[string][]On{"link": {OnReply, OnList}, "schema": {OnCall, OnReply}}

// anyKind is the word "*", which stands for all kinds.
const anyKind = "*"

// findWords are the words that the key find accepts.
var findWords = append(FindingKinds(), anyKind)

// FindingKinds returns the words that the key find accepts, except "*".
func FindingKinds() []string { return slices.Clone(findKinds) }

// found is the condition of the key find: a detector has found one of the named kinds.
type found struct {
	words  []string // as written
	alters bool     // the rule alters calls, so the rules below must also be judged
	pos    Position
}

// hasKind reports whether the condition names a kind.
func (t *found) hasKind(kind string) bool {
	return slices.Contains(t.words, kind) || slices.Contains(t.words, anyKind)
}

func (t *found) matchCall(c *Call) where.Match {
	switch {
	case !c.Screened:
		return where.Maybe
	case !slices.ContainsFunc(c.Finds, t.hasKind):
		return where.No
	case t.alters:
		return where.Maybe
	}
	return where.Yes
}

func (t *found) meet(c *Call) {
	c.Screened = true
	if kind := t.words[0]; kind != anyKind {
		c.Finds = []string{kind}
	} else {
		c.Finds = findKinds[:1:1]
	}
}

func (t *found) miss(c *Call) { c.Finds, c.Screened = nil, true }

// asWhole is a condition that is not written: a rule about replies or lists without a find has it.
// Such a rule judges the reply or the entry as a whole, and not single finds.
type asWhole struct{}

var whole = Stated{Key: "find", Text: "nothing: the whole is judged", test: asWhole{}}

func (asWhole) matchCall(c *Call) where.Match { return verdictOf(len(c.Finds) == 0) }

// callConditions returns the rule's conditions on the whole call. It adds asWhole if the rule
// implies it.
func (r *ruleSource) callConditions() []Stated {
	if r.On == OnCall || r.findCondition() != nil {
		return r.calls
	}
	return append(slices.Clip(r.calls), whole)
}

// findCondition returns the condition of the rule's key find; nil if the rule has no find.
func (r *ruleSource) findCondition() *found {
	if s := r.conditionFor("find"); s != nil {
		return s.test.(*found)
	}
	return nil
}

func gotFinds(c *Call) string {
	switch {
	case !c.Screened:
		return ""
	case len(c.Finds) == 0:
		return "nothing"
	}
	return listWords(c.Finds)
}

func (p *parser) readFind(k ruleKey, e toml.Expression) {
	words := p.readWords(k, e, findWords, func() string { return "one of " + listWords(findKinds) + `, or "*" for any` }, func(word string) string {
		if area, _, _ := strings.Cut(word, ":"); slices.Contains(planned, word) || slices.Contains(planned, area) {
			return fmt.Sprintf("nothing in this version finds %q", word)
		}
		return fmt.Sprintf("unknown kind %q", word)
	})
	p.currentRule().setCondition(k, Stated{Text: policytext.OneOrList(policytext.QuoteAll(words)), test: &found{words: words, pos: p.positionOf(e.Key[0].Start)}})
}

// checkFind reports a kind that detectors never find in the messages that the rule judges
// (onlyOn). In a rule about calls checkFind also reports the action allow, and a subject whose
// calls no detector reads.
func (p *parser) checkFind(r *ruleSource) {
	at := p.given[foundKey] - 1
	if at < 0 {
		return
	}
	r.findCondition().alters = r.On == OnCall && r.Action.AltersContent()
	fail := func(msg, hint string) { p.fail(at, at+len("find"), msg, hint) }
	for _, kind := range r.findCondition().words {
		if where := onlyOn[kind]; where != nil && !slices.Contains(where, r.On) {
			fail(fmt.Sprintf("nothing finds %q on a %v", kind, r.On), fmt.Sprintf("it is found on a %v and on a %v", where[0], where[1]))
		}
	}
	if r.On != OnCall {
		return
	}
	if p.acts && r.Action == Allow {
		fail(`find beside action "allow"`, "nobody knows all that can be found, so it closes and opens nothing: write a deny or a prompt above the allow")
	}
	switch r.subject {
	case ResourceSubject, MethodSubject:
		fail("find beside "+subjectKey(r.subject), "looked into are arguments of tools and prompts, and texts of sampling and elicitation")
	}
}

// refuseFind returns an error if the rule that asked has a find and the new rule is an allow. An
// allow cannot have a find, and without it the allow would cover more calls.
func (n *narrower) refuseFind() error {
	if n.asked.findCondition() != nil && n.rule.Action == Allow {
		return errors.New("the rule asks because of a finding, and an allow cannot have that condition")
	}
	return nil
}
