package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/reading"
)

// Missing describes the parts of a call that the record does not contain. They
// may have had any value.
type Missing struct {
	names Why    // why names are unknown; "" when all are known
	gaps  []gap  // in the arguments
	open  bool   // the arguments were cut off,
	last  string // in or after this member
	seen  []string
	large bool // the message is so large that a missing part may itself decide
}

// gap is a place in the arguments whose value is unknown.
type gap struct {
	path []string // member names; list elements add none
	why  Why
}

const (
	// maxGaps bounds the places recorded; with more, everything counts as
	// missing.
	maxGaps = 256
	// largeFrame is the message size in bytes above which a missing value might
	// be too slow to judge.
	largeFrame = 256 << 10
)

// IsComplete reports whether the record contains the complete call.
func (m *Missing) IsComplete() bool { return m.names == "" && len(m.gaps) == 0 && !m.open }

func (m *Missing) readEntry(e *event.Entry) Why {
	for _, name := range e.Names {
		if why := markOf(name); why != "" {
			m.names = why
		}
	}
	m.large = e.Bytes > largeFrame
	if len(e.Args) == 0 {
		return ""
	}
	d := json.NewDecoder(bytes.NewReader(e.Args))
	d.UseNumber()
	if !m.readValue(d, nil) {
		return Unknown
	}
	if e.ArgsCut {
		return m.cutOff(e.Args)
	}
	return ""
}

// readValue reads one JSON value and reports whether there is one.
func (m *Missing) readValue(d *json.Decoder, at []string) bool {
	t, err := d.Token()
	if err != nil {
		return false
	}
	switch t := t.(type) {
	case string:
		m.noteGap(at, markOf(t))
	case json.Delim:
		for d.More() {
			below := at
			if t == '{' {
				name, err := d.Token()
				if err != nil {
					return false
				}
				s, _ := name.(string)
				m.noteGap(at, markOf(s)) // a member with an unknown name: it may be any member here
				below = append(slices.Clone(at), s)
			}
			if !m.readValue(d, below) {
				return false
			}
		}
		_, err = d.Token()
		return err == nil
	}
	return true
}

func (m *Missing) noteGap(at []string, why Why) {
	switch {
	case why == "":
	case len(m.gaps) < maxGaps:
		m.gaps = append(m.gaps, gap{at, why})
	default:
		m.gaps[0] = gap{why: why}
	}
}

// cutOff records which members of the arguments are complete: those before the
// last.
func (m *Missing) cutOff(args []byte) Why {
	d := json.NewDecoder(bytes.NewReader(args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return LeftOut
	}
	m.open = true
	for d.More() {
		name, err := d.Token()
		var skip json.RawMessage
		if err == nil {
			err = d.Decode(&skip)
		}
		if err != nil {
			return Unknown
		}
		m.last, _ = name.(string)
		m.seen = append(m.seen, m.last)
	}
	return ""
}

// markOf returns why a recorded text differs from the sent text, or "".
func markOf(s string) Why {
	switch {
	case !redact.IsRedacted(s):
		return ""
	case strings.Contains(s, "[redacted:"):
		return Redacted
	}
	return Cut
}

// whyUnknown returns why the record cannot show whether names and arguments
// match a rule, or "".
func (m *Missing) whyUnknown(s *policy.Source) Why {
	if m.names != "" && !matchesAnyText(s) {
		return m.names
	}
	for _, path := range s.ArgumentPaths() {
		if why := m.whyPathUnknown(path); why != "" {
			return why
		}
	}
	if s.WatchesUnnamedArgs() {
		return m.whyOthersUnknown(s)
	}
	return ""
}

// needsUnrecorded reports whether a rule looks at data that not every record
// contains.
func needsUnrecorded(s policy.Source) bool {
	return slices.ContainsFunc(s.Calls, func(c policy.Stated) bool {
		k, _ := policy.CallKeyOf(c.Key)
		return !k.Recorded
	})
}

// knowsConditions reports whether the record can decide all of a rule's
// conditions on the call as a whole. For a find, it must show that a kind was
// found or was looked for.
func (c *Call) knowsConditions(p *policy.Policy, s *policy.Source) bool {
	return !slices.ContainsFunc(s.Calls, func(stated policy.Stated) bool {
		k, _ := policy.CallKeyOf(stated.Key)
		return !k.Recorded && !(s.Finds != nil && stated.Key == findKey && c.knowsKinds(p, s.Finds))
	})
}

// findKey is the condition that a record may be able to decide.
const findKey = "find"

// knowsKinds reports whether the record shows if one of the kinds was found.
// Kinds of the owner's packs do not count, because the pack may have changed
// since.
func (c *Call) knowsKinds(p *policy.Policy, kinds []string) bool {
	if slices.Contains(kinds, "*") {
		kinds = p.KindsOn(policy.OnCall)
		if len(c.Finds) > 0 {
			return true
		}
	}
	if c.empty || slices.ContainsFunc(kinds, func(kind string) bool { return slices.Contains(c.Finds, kind) }) {
		return true
	}
	return !slices.ContainsFunc(kinds, func(kind string) bool {
		return !slices.Contains(c.lookedFor, kind) || !slices.Contains(policy.FindingKinds(), kind)
	})
}

// findsOf returns the kinds that a record lists as found, without those of
// packs.
func findsOf(e *event.Entry) []string {
	return slices.DeleteFunc(e.FoundKinds(), func(kind string) bool { return !slices.Contains(policy.FindingKinds(), kind) })
}

// whyOthersUnknown returns why the arguments that a rule does not name are not
// known well enough for the rule, or "".
func (m *Missing) whyOthersUnknown(s *policy.Source) Why {
	for _, g := range m.gaps {
		named := slices.ContainsFunc(s.ArgumentPaths(), func(path []string) bool {
			return len(path) <= len(g.path) && slices.Equal(path, g.path[:len(path)])
		}) || len(g.path) > 0 && slices.Contains(s.Further.Names, g.path[0])
		if named {
			continue
		}
		if len(g.path) == 0 || s.Further.Only {
			return g.why
		}
		// For some argument names the name decides, whatever the value is. A missing value does no
		// harm then.
		name := g.path[len(g.path)-1]
		if reading.SuspectReason(name, "x") == "" && reading.SuspectReason(name, "/x") != "" {
			return g.why
		}
	}
	if m.open {
		return LeftOut
	}
	return ""
}

// matchesAnyText reports whether a rule has the glob ** on texts. Other names
// may be refused, or have several readings.
func matchesAnyText(s *policy.Source) bool {
	return slices.Contains(s.Names, "**") && (s.Subject == policy.SamplingSubject || s.Subject == policy.ElicitationSubject)
}

// whyPathUnknown returns why the values for a condition on path are unknown, or
// "". A condition looks at the member and everything below it, and a gap may
// contain members. Names that differ only in case are readings of each other.
func (m *Missing) whyPathUnknown(path []string) Why {
	if policy.EveryArgument(path) {
		path = nil
	}
	for _, g := range m.gaps {
		n := min(len(path), len(g.path))
		if slices.EqualFunc(path[:n], g.path[:n], strings.EqualFold) {
			return g.why
		}
	}
	// An omitted member cannot have the name of a present member, not even in
	// another case: such a message is refused before it is judged.
	if m.open && (len(path) == 0 || strings.EqualFold(path[0], m.last) || !slices.Contains(m.seen, path[0])) {
		return LeftOut
	}
	return ""
}
