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

// Missing describes the parts of a call that the record does not contain. They may have had any
// value.
type Missing struct {
	names Why      // why some name is unknown; "" when all names are known
	gaps  []gap    // places in the arguments whose value is unknown
	open  bool     // the recorded arguments end in or after the member last
	last  string   // name of the last recorded member; only if open is true
	seen  []string // names of all recorded members; only if open is true
	large bool     // the message is so large that judging a missing value might take too much work
}

// gap is a place in the arguments whose value is unknown.
type gap struct {
	path []string // member names; an element of a list has the path of the list
	why  Why
}

const (
	// maxGaps bounds the number of gaps. If there are more, all arguments count as missing.
	maxGaps = 256
	// largeFrame is the message size in bytes above which Missing.large is true.
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
				m.noteGap(at, markOf(s)) // if the name is unknown, any member of this object may be the one
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

// cutOff records the names of the members in arguments that were cut off. All members before the
// last one are complete.
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

// markOf returns why a recorded text differs from the sent text, or "" if it does not differ.
func markOf(s string) Why {
	switch {
	case !redact.IsRedacted(s):
		return ""
	case strings.Contains(s, "[redacted:"):
		return Redacted
	}
	return Cut
}

// whyUnknown returns why the record cannot show whether a rule matches the names and arguments, or
// "" if the record can.
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
	return asksGroups(&s) || slices.ContainsFunc(s.Calls, func(c policy.Stated) bool {
		k, _ := policy.CallKeyOf(c.Key)
		return !k.Recorded
	})
}

// asksGroups reports whether a rule, or an exception of it, asks for the caller's groups.
func asksGroups(s *policy.Source) bool {
	return slices.ContainsFunc(slices.Concat(s.Calls, s.Not.Calls), func(c policy.Stated) bool { return c.Key == groupKey })
}

// knowsConditions reports whether the record can decide all conditions of a rule on the call as a
// whole. For the condition find, the record must show that a kind was found or was looked for.
func (c *Call) knowsConditions(p *policy.Policy, s *policy.Source) bool {
	// The groups of a caller are kept only where a rule asked for some. They were known if the roles were.
	if asksGroups(s) && c.Roles.IsKnown() && !c.Groups.IsKnown() {
		return false
	}
	return !slices.ContainsFunc(s.Calls, func(stated policy.Stated) bool {
		k, _ := policy.CallKeyOf(stated.Key)
		return !k.Recorded && !(s.Finds != nil && stated.Key == findKey && c.knowsKinds(p, s.Finds))
	})
}

// The keys of conditions that some records can decide and some cannot.
const (
	findKey  = "find"
	groupKey = "group"
)

// knowsKinds reports whether the record shows that one of the kinds was found, or that none was. It
// does not trust records about kinds of the owner's packs, because the pack may have changed since.
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
		// The argument is a further argument. Its value matters only if the name alone does not
		// decide whether it is suspicious.
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

// matchesAnyText reports whether a rule is about texts of sampling or elicitation and matches all of
// them. For other subjects the result is false, because a name may be refused or have several
// readings.
func matchesAnyText(s *policy.Source) bool {
	return slices.Contains(s.Names, "**") && (s.Subject == policy.SamplingSubject || s.Subject == policy.ElicitationSubject)
}

// whyPathUnknown returns why the values for a condition on path are unknown, or "". A condition looks
// at the member and everything below it, and a gap may contain members. Names that differ only in
// case count as the same name.
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
