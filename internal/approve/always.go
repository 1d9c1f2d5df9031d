package approve

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/clawai/clawai/internal/atomicfile"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/term"
	"github.com/clawai/clawai/policy"
)

// Denied is what the record knows of calls that the rules denied.
type Denied interface {
	// Calls yields them, oldest or newest first. An error means that the record
	// cannot be read whole; no rule is written then.
	Calls() iter.Seq2[DeniedCall, error]
	// Redacted says that a text of the record is not, or may not be, what was
	// sent.
	Redacted(text string) bool
}

// DeniedCall is one recorded call, as far as the record keeps it.
type DeniedCall struct {
	Call policy.Call
	Cut  bool // arguments were left out
}

// Always writes the rules that "always" answers ask for. Nothing is written
// that would let through a call the policy has denied.
type Always struct {
	Policy  string // path of the policy file
	Options policy.Options
	Denied  Denied
}

// proposal is a rule that could be written, and the policy with and without it.
type proposal struct {
	call     policy.Call
	rule     policy.Rule // the one that asked
	text     string      // of the new one
	src      []byte      // of the file, before and after
	next     []byte
	old, new *policy.Policy
}

// propose makes the rule that allows the call from now on. When there is none,
// whyNot says so in one harmless line; it is empty when nobody wants to know.
func (a *Always) propose(q gate.Question) (p *proposal, whyNot string) {
	if a == nil {
		return nil, ""
	}
	p, err := a.narrow(q)
	if err != nil {
		return nil, term.Text(err.Error())
	}
	return p, ""
}

func (a *Always) narrow(q gate.Question) (*proposal, error) {
	if len(q.Calls) != 1 {
		return nil, errors.New("several requests are asked about at once")
	}
	if a.Denied == nil {
		return nil, errors.New("there is no record to check a rule against")
	}
	p := proposal{call: q.Calls[0]}
	var err error
	if p.src, err = os.ReadFile(a.Policy); err != nil {
		return nil, err
	}
	if p.old, err = policy.Parse(a.Policy, p.src, a.Options); err != nil {
		return nil, fmt.Errorf("the policy file does not load: %w", err)
	}
	d := p.old.Decide(&p.call)
	if d.Action != policy.Prompt || d.Rule == nil || !same(*d.Rule, q.Rule) {
		return nil, errors.New("the policy file has changed since the rule asked")
	}
	p.rule = *d.Rule
	if p.text, err = p.old.Narrow(p.rule, &p.call); err != nil {
		return nil, err
	}
	if p.next, err = policy.InsertAbove(p.src, p.rule, p.text); err != nil {
		return nil, err
	}
	if p.new, err = policy.Parse(a.Policy, p.next, a.Options); err != nil {
		return nil, fmt.Errorf("the policy would not load with the rule: %w", err)
	}
	if p.new.Decide(&p.call).Action != policy.Allow {
		return nil, errors.New("a rule above still stops this call")
	}
	return &p, nil
}

// same says that two policies hold the same rule in the same place; the file
// may be named in two ways.
func same(a, b policy.Rule) bool {
	a.Pos.File, b.Pos.File = "", ""
	return a == b
}

// write puts the rule into the file, unless someone changed the file meanwhile.
func (a *Always) write(p *proposal) error {
	return atomicfile.Write(a.Policy, p.next, atomicfile.Options{Was: p.src})
}

// note says for the record what was written.
func (p *proposal) note() string {
	return fmt.Sprintf("wrote an allow rule above %s:%d", filepath.Base(p.rule.Pos.File), p.rule.Pos.Line)
}

// Words of the page that confirms a rule.
const wordWrite = "write"

// confirmation shows the rule before it is written.
func (a *Always) confirmation(p *proposal, foot string) page {
	facts := []string{
		fmt.Sprintf("This rule would be written into %s,", term.Text(a.Policy)),
		fmt.Sprintf("above the rule that asked, on line %d:", p.rule.Pos.Line),
		"",
	}
	for line := range strings.Lines(p.text) {
		facts = append(facts, "  "+term.Text(strings.TrimRight(line, "\n")))
	}
	facts = append(facts, "",
		"It keeps every condition of the rule that asked and names every argument of this call.",
		"Further arguments stay open: a call that has more of them than these is let through too.")
	return page{
		facts:    facts,
		decision: "clawai asks: write this rule and allow?",
		choices: []choice{
			{wordDeny, "Deny, write nothing"},
			{wordWrite, "Write the rule and allow"},
			{wordAllow, "Allow once, write nothing"},
		},
		footer: foot,
	}
}

// refused tells the person that nothing is written, and why.
func refused(why error, foot string) page {
	return page{
		facts:    []string{"Nothing is written.", term.Text(why.Error())},
		decision: "clawai asks: let this call through?",
		choices:  []choice{{wordDeny, "Deny"}, {wordAllow, "Allow once"}},
		footer:   foot,
	}
}
