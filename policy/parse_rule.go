package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
)

var askWords = []string{"out-of-band"}

// label names a key in an error message.
type label struct {
	key  ruleKey
	path []string // the names after the key
}

func (l label) String() string { return policytext.DottedKey(ruleKeys[l.key], l.path...) }

// markGiven records that the current rule has the key k.
func (p *parser) markGiven(k ruleKey, at toml.KeyPart) {
	if p.given[k] == 0 {
		p.given[k] = at.Start + 1
	}
	if r := p.currentRule(); k.isSubject() && r.subject == NoSubject {
		r.subject = Subject(k)
	}
}

// rulePair reads one pair of a [[rule]].
func (p *parser) rulePair(e toml.Expression) {
	first := e.Key[0]
	k := findKey(first.Name)
	switch {
	case k == noKey:
		p.unknownKey(first)
	case keys[k].pair != nil:
		keys[k].pair(p, e)
	case len(e.Key) > 1:
		p.fail(first.Start, e.Key[len(e.Key)-1].End, ruleKeys[k]+" must be a string, not a table", "")
		p.markGiven(k, first)
	case p.given[k] > 0:
		p.fail(first.Start, first.End, ruleKeys[k]+" is given twice",
			fmt.Sprintf("the first is on line %d", p.lineOf(k)))
	case k.isSubject() && p.currentRule().subject != NoSubject:
		other := ruleKey(p.currentRule().subject)
		p.fail(first.Start, first.End, fmt.Sprintf("%s beside %s: a rule has one subject", ruleKeys[k], ruleKeys[other]),
			fmt.Sprintf("%s is on line %d; write two rules", ruleKeys[other], p.lineOf(other)))
	default:
		p.markGiven(k, first)
		keys[k].field(p, k, e)
	}
}

func (p *parser) lineOf(k ruleKey) int { return p.positionOf(p.given[k] - 1).Line }

func (p *parser) readDescription(k ruleKey, e toml.Expression) {
	if !e.Value.IsString() {
		p.wrongType(label{key: k}, "a string", e.Key, e.Value, "")
		return
	}
	p.currentRule().Description = e.Value.Text()
}

// readAbove reads the key "above": the description of the extended rule above which this rule
// stands.
func (p *parser) readAbove(k ruleKey, e toml.Expression) {
	r := p.currentRule()
	switch {
	case !e.Value.IsString() || e.Value.Text() == "":
		p.wrongType(label{key: k}, "the description of an extended rule", e.Key, e.Value, "")
	default:
		r.above, p.anchored = e.Value.Text(), true
	}
}

func (p *parser) readPinned(k ruleKey, e toml.Expression) {
	p.currentRule().Pinned = p.readBool(k, e)
}

// readPreview reads preview = true: the person who answers the question sees what the command would
// do.
func (p *parser) readPreview(k ruleKey, e toml.Expression) {
	p.currentRule().Preview = p.readBool(k, e)
}

func (p *parser) readBool(k ruleKey, e toml.Expression) bool {
	if !e.Value.IsBool() {
		p.wrongType(label{key: k}, "true or false", e.Key, e.Value, "")
		return false
	}
	return e.Value.Text() == "true"
}

func (p *parser) readAction(k ruleKey, e toml.Expression) {
	r := p.currentRule()
	choice := func() string { return "one of " + listWords(r.On.actionWords()) }
	if !e.Value.IsString() {
		p.wrongType(label{key: k}, "a string", e.Key, e.Value, choice())
		return
	}
	word := e.Value.Text()
	a := slices.Index(allActions, word)
	if p.acts = a >= 0; !p.acts {
		start, end, _ := e.Value.Span()
		p.fail(start, end, fmt.Sprintf("unknown action %q", word), suggestWord(word, allActions, choice()))
		return
	}
	r.Action = Action(a)
}

// readAsk reads ask = "out-of-band": clawai itself must ask the person, because an agent might fill
// in the client's form.
func (p *parser) readAsk(k ruleKey, e toml.Expression) {
	choice := fmt.Sprintf("it can be %q", listWords(askWords))
	if !e.Value.IsString() {
		p.wrongType(label{key: k}, "a string", e.Key, e.Value, choice)
		return
	}
	if word := e.Value.Text(); word != askWords[0] {
		start, end, _ := e.Value.Span()
		p.fail(start, end, fmt.Sprintf("unknown ask %q", word), suggestWord(word, askWords, choice))
	}
	p.currentRule().OutOfBand = true
}

// checkAsk reports the key ask in a rule that is not a prompt.
func (p *parser) checkAsk(r *ruleSource) { p.refuseUnasked(askKey, r) }

// checkPreview reports the key preview in a rule that is not a prompt.
func (p *parser) checkPreview(r *ruleSource) { p.refuseUnasked(previewKey, r) }

func (p *parser) refuseUnasked(k ruleKey, r *ruleSource) {
	if at := p.given[k] - 1; at >= 0 && p.acts && r.Action != Prompt {
		name := ruleKeys[k]
		p.fail(at, at+len(name), fmt.Sprintf("%s beside action %q", name, r.Action), `only action = "prompt" asks`)
	}
}

func (p *parser) readSubject(k ruleKey, e toml.Expression) {
	r := p.currentRule()
	r.patterns, r.written = p.readNames(k, label{key: k}, e.Key, e.Value)
	if r.subject != MethodSubject {
		return
	}
	for _, pattern := range r.patterns {
		if msg, hint := refuseMethod(pattern); msg != "" {
			start, end, known := e.Value.Span()
			if !known {
				start, end = e.Key[0].Start, e.Key[0].End
			}
			p.fail(start, end, msg, hint)
		}
	}
}

// unknownKey reports a key that rules do not have. If the key is a misspelling of action or of a
// subject, unknownKey treats the right key as given, so that one mistake gives only one error.
func (p *parser) unknownKey(at toml.KeyPart) {
	name := at.Name
	if k := findKey(nearestWord(name, ruleKeys)); k < argsKey {
		p.markGiven(k, at)
	}
	p.fail(at.Start, at.End, fmt.Sprintf("unknown key %q", name), suggestWord(name, ruleKeys, "a rule has "+listWords(ruleKeys)))
}

func listWords(words []string) string { return strings.Join(words, ", ") }
