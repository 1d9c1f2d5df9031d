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

// Missing is what the record does not keep of a call. What is missing may have
// been anything.
type Missing struct {
	names Why    // why names are not known, "" when all are
	gaps  []gap  // in the arguments
	open  bool   // the arguments were cut off:
	last  string // in or behind this member,
	seen  []string
	large bool // the message is so large that what is missing may itself decide
}

// gap is a place in the arguments whose value is not known.
type gap struct {
	path []string // names of members; elements of lists have none
	why  Why
}

const (
	// maxGaps bounds the places that are told apart; beyond, all is missing.
	maxGaps = 256
	// largeFrame is the size of a message up to which the value that is missing
	// cannot be one that takes too long to judge.
	largeFrame = 256 << 10
)

// IsComplete says that the record keeps all of the call.
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

// readValue reads one JSON value; false when there is none.
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
				m.noteGap(at, markOf(s)) // a member of another name: whatever is asked for here
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

// cutOff notes which members of the arguments are whole: those before the last.
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

// markOf says why a text of the record is not what was sent.
func markOf(s string) Why {
	switch {
	case !redact.IsRedacted(s):
		return ""
	case strings.Contains(s, "[redacted:"):
		return Redacted
	}
	return Cut
}

// whyUnknown says why the record does not tell whether names and arguments meet a rule, or "".
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

// needsUnrecorded says that a rule looks at what no record keeps of a call, or not each.
func needsUnrecorded(s policy.Source) bool {
	return slices.ContainsFunc(s.Calls, func(c policy.Stated) bool {
		k, _ := policy.CallKeyOf(c.Key)
		return !k.Recorded
	})
}

// knowsConditions says that the record tells, of all that a rule asks of a call as a whole, whether
// it holds: of what it wants found, whether that was found, or was looked for.
func (c *Call) knowsConditions(p *policy.Policy, s *policy.Source) bool {
	return !slices.ContainsFunc(s.Calls, func(stated policy.Stated) bool {
		k, _ := policy.CallKeyOf(stated.Key)
		return !k.Recorded && !(s.Finds != nil && stated.Key == findKey && c.knowsKinds(p, s.Finds))
	})
}

// findKey is the condition that a record may keep.
const findKey = "find"

// knowsKinds says that it is known whether one of some kinds was found. What was looked for by
// a pack of the owner's is not: the pack may have been another one then.
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

// findsOf gives the kinds that a record says were found, but for those of packs.
func findsOf(e *event.Entry) []string {
	return slices.DeleteFunc(e.FoundKinds(), func(kind string) bool { return !slices.Contains(policy.FindingKinds(), kind) })
}

// whyOthersUnknown says why arguments that a rule does not name are not known as far as it
// looks at them, or "".
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
		// Some names say all there is to know.
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

// matchesAnyText holds for the glob ** on texts: other names may be refused, or
// read in several ways.
func matchesAnyText(s *policy.Source) bool {
	return slices.Contains(s.Names, "**") && (s.Subject == policy.SamplingSubject || s.Subject == policy.ElicitationSubject)
}

// whyPathUnknown says why what a condition on path looks at is not known. A condition looks
// at the member and at what lies below it; and what a gap holds may have members.
// Names that differ in case alone are readings of each other.
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
	// What was left out has no name of those that are there, not even in another
	// case: such a message is refused before it is judged.
	if m.open && (len(path) == 0 || strings.EqualFold(path[0], m.last) || !slices.Contains(m.seen, path[0])) {
		return LeftOut
	}
	return ""
}
