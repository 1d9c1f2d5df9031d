package policy

import (
	"fmt"
	"slices"

	"github.com/clawai/clawai/policy/internal/toml"
)

// On tells what a rule judges: calls, replies, lists or uploads. The zero value means calls.
type On uint8

// The values of On.
const (
	OnCall   On = iota
	OnReply     // the reply to a call
	OnList      // one entry of a list: an offered tool, prompt or resource
	OnUpload    // content in a request to the agent's model service: the result of a call, or words (WordsMethod)

	OnCount = iota // number of the values above
)

// WordsMethod is the Method of a Call that stands for words on the way to a model. These are the
// words of the user and of the agent itself, but not the results of tools.
const WordsMethod = "model/words"

var onWords = []string{"call", "reply", "list", "upload"}

// String returns the word that policies use.
func (on On) String() string {
	if int(on) < len(onWords) {
		return onWords[on]
	}
	return fmt.Sprintf("On(%d)", uint8(on))
}

// onActions are the actions that a rule may have, by On. A rule about calls may also redact if the
// calls are a server's requests to the client (checkOn).
var onActions = [...][]Action{
	OnCall:   {Allow, Deny, Prompt},
	OnReply:  {Allow, Warn, Fence, Redact, Prompt, Deny},
	OnList:   {Allow, Redact, Prompt, Deny},
	OnUpload: {Allow, Redact, Prompt, Deny},
}

func (on On) allowedActions() []Action { return onActions[on] }

func (on On) actionWords() (words []string) {
	for _, a := range on.allowedActions() {
		words = append(words, a.String())
	}
	return words
}

func (p *parser) readOn(k ruleKey, e toml.Expression) {
	choice := "one of " + listWords(onWords)
	if !e.Value.IsString() {
		p.wrongType(label{key: k}, "a string", e.Key, e.Value, choice)
		return
	}
	word := e.Value.Text()
	on := slices.Index(onWords, word)
	if on < 0 {
		start, end, _ := e.Value.Span()
		p.fail(start, end, fmt.Sprintf("unknown on %q", word), suggestWord(word, onWords, choice))
		return
	}
	p.currentRule().On = On(on)
}

// onSubjects are the subjects that rules about replies, lists and uploads may have.
var onSubjects = [...]struct {
	subjects []Subject
	why      string
}{
	OnReply:  {[]Subject{ToolSubject, ResourceSubject, PromptSubject, MethodSubject}, "what a server asks of the client is judged as a call, and the answer to it is the client's own"},
	OnList:   {[]Subject{ToolSubject, ResourceSubject, PromptSubject}, "tools, resources and prompts are listed"},
	OnUpload: {[]Subject{ToolSubject, MethodSubject}, `what goes to a model is the result of a tool, or method = "` + WordsMethod + `"`},
}

// checkOn reports actions and keys that have no meaning in a rule about calls, replies, lists or
// uploads (r.On).
func (p *parser) checkOn(r *ruleSource) {
	fail := func(k ruleKey, msg, hint string) {
		at := p.given[k] - 1
		p.fail(at, at+len(ruleKeys[k]), msg, hint)
	}
	finds := p.given[foundKey] > 0
	switch asked := r.subject == SamplingSubject || r.subject == ElicitationSubject; {
	case !p.acts:
	case r.On == OnCall && r.Action == Redact && (asked || r.subject == NoSubject):
	case r.On == OnCall && r.Action == Redact:
		fail(actionKey, `action "redact" of a call`, `the arguments of a call are never edited; write on = "reply", or a rule about sampling or elicitation`)
	case !slices.Contains(r.On.allowedActions(), r.Action):
		fail(actionKey, fmt.Sprintf("action %q beside on = %q", r.Action, r.On.String()), "it can be "+listWords(r.On.actionWords())+alsoElsewhere(r.On))
	}
	if p.acts && r.Action == Redact && !finds && !p.broken {
		fail(actionKey, `action "redact" without a find`, `say what is taken out: find = ["secret"]`)
	}
	if r.On == OnCall {
		return
	}
	if p.acts && r.On == OnUpload && r.Action == Redact && r.subject != ToolSubject && !p.broken {
		fail(actionKey, `action "redact" beside on = "upload" without a tool`, "only results of tools are changed on their way to a model; name tools, and deny or prompt for the rest")
	}
	if known := onSubjects[r.On]; r.subject != NoSubject && !slices.Contains(known.subjects, r.subject) {
		fail(ruleKey(r.subject), fmt.Sprintf("%s beside on = %q", subjectKey(r.subject), r.On.String()), known.why)
	}
	for _, k := range []ruleKey{limitKey, pinnedKey, argsKey, whereKey, argsOnlyKey, argsOpenKey} {
		switch {
		case p.given[k] == 0:
		case k == limitKey:
			fail(k, fmt.Sprintf("limit beside on = %q", r.On.String()), "calls are counted, and not what comes back")
		case k == pinnedKey:
			fail(k, fmt.Sprintf("pinned beside on = %q", r.On.String()), "no answer to such a question is written as a rule")
		case r.On == OnList:
			fail(k, ruleKeys[k]+` beside on = "list"`, "what is listed is not called, and has no arguments")
		}
	}
	if r.subject == NoSubject && !p.broken {
		p.checkWithoutSubject(r)
	}
	if r.On == OnList && r.not.args != nil {
		fail(notKey, `not.args beside on = "list"`, "what is listed is not called, and has no arguments")
	}
}

// checkWithoutSubject reports keys that have no meaning in a rule without a subject, which is about
// all replies or all list entries.
func (p *parser) checkWithoutSubject(r *ruleSource) {
	hint := "a rule without a subject is about all that comes back; name a tool or a prompt"
	if r.On == OnUpload {
		hint = "a rule without a subject is about all that goes to a model; name a tool"
	}
	for _, k := range []ruleKey{argsKey, whereKey, argsOnlyKey, argsOpenKey, annotationsKey} {
		if at := p.given[k] - 1; at >= 0 {
			p.fail(at, at+len(ruleKeys[k]), ruleKeys[k]+" without a subject", hint)
		}
	}
	if at := p.given[notKey] - 1; r.not.args != nil || r.not.patterns != nil {
		p.fail(at, at+len("not"), "not."+exceptionOf(r)+" without a subject", hint)
	}
}

func exceptionOf(r *ruleSource) string {
	if r.not.patterns != nil {
		return ruleKeys[r.not.subject]
	}
	return ruleKeys[argsKey]
}

// coversSubject reports whether the rule may be about a subject.
func (r *ruleSource) coversSubject(s Subject) bool {
	return r.subject == s || r.subject == NoSubject && r.On != OnCall
}

func alsoElsewhere(on On) string {
	if on == OnCall {
		return `; warn and fence are for on = "reply"`
	}
	return ""
}
