package remember

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

// Denied gives access to the calls in the record that the rules denied.
type Denied interface {
	// Calls yields the calls, oldest or newest first. An error means that a part of the record
	// cannot be read; no rule is written then.
	Calls() iter.Seq2[DeniedCall, error]
	// Redacted reports whether a text in the record can differ from the text that was sent, because
	// a secret was replaced.
	Redacted(text string) bool
}

// DeniedCall is one denied call, with the parts that the record has.
type DeniedCall struct {
	Call   policy.Call
	Cut    bool     // some arguments are missing
	Looked []string // the kinds of findings for which the call was searched; other kinds are unknown
	NoRule bool     // the call was denied because no rule matched it
	Rule   string   // description of the rule that denied the call
}

// checkDenied judges the denied calls in the record by the new policy. The error tells the person
// why the rule must not be written.
func (k *Writer) checkDenied(ctx context.Context, p *proposal) error {
	for d, err := range k.Denied.Calls() {
		if err != nil {
			return fmt.Errorf("the record cannot be read whole, so the rule cannot be checked against it: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if k.opensDenied(p, d) {
			return fmt.Errorf("the rule would also let through a call that the policy denied: %s", callText(&d.Call))
		}
	}
	return nil
}

// opensDenied reports whether the rule may allow a denied call. If the record lacks a fact,
// opensDenied assumes the value that the rule needs.
func (k *Writer) opensDenied(p *proposal, d DeniedCall) bool {
	c, exact := k.worstCase(p.call, d)
	if kinds, ruled := p.old.Screens(policy.OnCall); ruled {
		c.Screened = true
		exact = exact && !(p.old.FindsIn(&c) && slices.ContainsFunc(kinds, func(kind string) bool { return !slices.Contains(d.Looked, kind) }))
	}
	for _, s := range p.stated {
		switch key, _ := policy.CallKeyOf(s.Key); {
		case key.FillUnknown(&c, p.call):
			exact = false
		case key.Recorded:
		case key.Fill == nil:
			return true // the record does not show whether the call meets this condition, so assume that it does
		default:
			key.Fill(&c, p.call)
			exact = false
		}
	}
	if p.new.Decide(&c).Action != policy.Allow {
		return false
	}
	was := p.old.Decide(&c)
	if p.rest.hasRefused(&was) && (exact || d.NoRule || d.Rule != "" && d.Rule == p.rest.words) {
		return false
	}
	// If parts of the call are unknown, believe the recorded denial and not the decision that
	// the old rules give now.
	return was.Action == policy.Deny || !exact && was.Action != policy.Allow
}

// worstCase returns the recorded call. Unknown parts get the values of the call that asks now.
// exact means that no part was unknown.
func (k *Writer) worstCase(asked *policy.Call, d DeniedCall) (c policy.Call, exact bool) {
	c, exact = d.Call, !d.Cut
	c.Names = slices.Clone(c.Names)
	for i, name := range c.Names {
		if !k.Denied.Redacted(name) {
			continue
		}
		if len(asked.Names) != 1 {
			exact = false
			continue
		}
		c.Names[i] = asked.Names[0]
	}
	if k.Denied.Redacted(c.Server) {
		c.Server = asked.Server
	}
	if len(c.Args) == 0 && !d.Cut {
		return c, exact
	}
	ours, known := parseFields(asked.Args), parseFields(c.Args)
	if known == nil {
		// The arguments are not an object. They were cut, so that only a text or nothing is left.
		c.Args = asked.Args
		return c, false
	}
	for name, value := range known {
		if !k.hasRedacted(value) {
			continue
		}
		if own, ok := ours[name]; ok {
			known[name] = own
		} else {
			exact = false
		}
	}
	if d.Cut {
		for name, own := range ours {
			if _, ok := known[name]; !ok {
				known[name] = own
			}
		}
	}
	c.Args, _ = json.Marshal(known) // the error is ignored, because raw messages that were parsed can be encoded
	return c, exact
}

// hasRedacted reports whether any text inside the value was redacted.
func (k *Writer) hasRedacted(value json.RawMessage) bool {
	for d := json.NewDecoder(bytes.NewReader(value)); ; {
		t, err := d.Token()
		if err != nil {
			return false
		}
		if s, ok := t.(string); ok && k.Denied.Redacted(s) {
			return true
		}
	}
}

// parseFields parses a JSON object; nil if args is not an object.
func parseFields(args []byte) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(args, &m) != nil {
		return nil
	}
	return m
}

// callText returns a short description of a recorded call.
func callText(c *policy.Call) string {
	s := term.VisibleLine(c.Method)
	for _, name := range c.Names {
		s += " " + term.VisibleValue(name)
	}
	if len(c.Args) > 0 {
		s += " with " + term.VisibleValue(string(c.Args))
	}
	return s
}
