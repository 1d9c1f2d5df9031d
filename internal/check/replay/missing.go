package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/reading"
)

// Missing describes the parts of a call that the record does not have. Each of them may have had
// any value.
type Missing struct {
	names Why      // why a name of the call is unknown; "" if all names are known
	gaps  []gap    // the values in the arguments that are unknown
	open  bool     // the record lacks the end of the arguments: the rest of the member that the field last names, or members after it
	last  string   // if open: the name of the last recorded member
	seen  []string // if open: the names of all recorded members
	large bool     // the message was so large that judging a missing value could take too much work
	tool  builtin.Tool
}

// gap is a value in the arguments that is unknown.
type gap struct {
	path   []string // names of the members on the path to the value; an element of a list has the path of the list
	shared string   // a second name of the first member, which rules may use too; "" if it has only one
	why    Why
}

// namings returns the paths by which rules may name the value.
func (g *gap) namings() [][]string {
	if g.shared == "" {
		return [][]string{g.path}
	}
	return [][]string{g.path, append([]string{g.shared}, g.path[1:]...)}
}

// isSameName reports whether the judge takes both names of arguments for one.
func isSameName(a, b string) bool { return reading.FoldCase(a) == reading.FoldCase(b) }

const (
	// maxGaps is the maximum number of gaps. If there are more, all arguments count as missing.
	maxGaps = 256
	// largeFrame is the size of a message in bytes above which Missing.large is true.
	largeFrame = 256 << 10
)

// IsComplete reports whether the record has the complete call.
func (m *Missing) IsComplete() bool { return m.names == "" && len(m.gaps) == 0 && !m.open }

func (m *Missing) readEntry(e *event.Entry) Why {
	for _, name := range e.Names {
		if why := markOf(name); why != "" {
			m.names = why
		}
	}
	m.large, m.tool = e.Bytes > largeFrame, toolOf(e)
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

// toolOf returns the built-in tool that the recorded call is about. It returns the zero Tool if the
// call is about another tool.
func toolOf(e *event.Entry) (t builtin.Tool) {
	if e.Method != builtin.Method {
		return t
	}
	for _, name := range e.Names {
		if t = builtin.FindTool(e.Server, name); t.Class != "" {
			break
		}
	}
	return t
}

// readValue reads one JSON value. It returns false if there is none.
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
				m.noteGap(at, markOf(s)) // the name is unknown, so every member of this object may be missing
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
		g := gap{path: at, why: why}
		if len(at) > 0 {
			g.shared = m.tool.SharedName(at[0])
		}
		m.gaps = append(m.gaps, g)
	default:
		m.gaps[0] = gap{why: why}
	}
}

// cutOff reads arguments whose end is missing, and records the names of their members. All members
// before the last one are complete.
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

// markOf returns why a recorded text differs from the text that was sent; "" if it does not differ.
func markOf(s string) Why {
	switch {
	case !redact.IsRedacted(s):
		return ""
	case strings.Contains(s, "[redacted:"):
		return Redacted
	}
	return Cut
}

// whyUnknown returns why the record cannot show whether a rule matches the names and arguments of
// the call; "" if it can.
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

// needsUnrecorded reports whether a rule looks at data that not every record has.
func needsUnrecorded(s policy.Source) bool {
	return asksGroups(&s) || slices.ContainsFunc(s.Calls, func(c policy.Stated) bool {
		k, _ := policy.CallKeyOf(c.Key)
		return !k.Recorded
	})
}

// asksGroups reports whether a rule, or one of its exceptions, has a condition on the groups of the
// caller.
func asksGroups(s *policy.Source) bool {
	return slices.ContainsFunc(slices.Concat(s.Calls, s.Not.Calls), func(c policy.Stated) bool { return c.Key == groupKey })
}

// knowsConditions reports whether the record has all data for the rule's conditions on the whole
// call. For the condition find, the record must show that a kind was found, or that the call was
// searched for it.
func (c *Call) knowsConditions(p *policy.Policy, s *policy.Source) bool {
	// The record has the groups of a caller only if a rule had a condition on groups. If the roles
	// are known, the groups were known too.
	if asksGroups(s) && c.Roles.IsKnown() && !c.Groups.IsKnown() {
		return false
	}
	return !slices.ContainsFunc(s.Calls, func(stated policy.Stated) bool {
		k, _ := policy.CallKeyOf(stated.Key)
		return !k.Recorded && !(s.Finds != nil && stated.Key == findKey && c.knowsKinds(p, s.Finds))
	})
}

// Keys of conditions for which only some records have the data.
const (
	findKey  = "find"
	groupKey = "group"
)

// knowsKinds reports whether the record shows that one of the kinds was found, or that none was.
// For kinds of the owner's packs it is false, because a pack may have changed since.
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

// findsOf returns the kinds of findings in a record, without the kinds of packs.
func findsOf(e *event.Entry) []string {
	return slices.DeleteFunc(e.FoundKinds(), func(kind string) bool { return !slices.Contains(policy.FindingKinds(), kind) })
}

// whyOthersUnknown returns why too little is known about the arguments that a rule does not name;
// "" if enough is known.
func (m *Missing) whyOthersUnknown(s *policy.Source) Why {
	for _, g := range m.gaps {
		if namesExactly(s, &g) {
			continue
		}
		if len(g.path) == 0 || s.Further.Only {
			return g.why
		}
		// This argument is not named in the rule. Its value matters only if its name does not
		// already decide whether it is suspicious.
		name := g.path[len(g.path)-1]
		if len(g.path) == 1 {
			name = cmp.Or(g.shared, name)
		}
		if reading.SuspectReason(name, "x") == "" && reading.SuspectReason(name, "/x") != "" {
			return g.why
		}
	}
	if m.open {
		return LeftOut
	}
	return ""
}

// namesExactly reports whether a rule names the argument of a gap, in the case that the call has. To
// the judge, an argument in another case is not named.
func namesExactly(s *policy.Source, g *gap) bool {
	return slices.ContainsFunc(g.namings(), func(of []string) bool {
		return len(of) > 0 && slices.Contains(s.Further.Names, of[0]) || slices.ContainsFunc(s.ArgumentPaths(), func(path []string) bool {
			return len(path) <= len(of) && slices.Equal(path, of[:len(path)])
		})
	})
}

// matchesAnyText reports whether a rule about sampling or elicitation matches every text. It
// returns false for other subjects, because their names may be refused or have several readings.
func matchesAnyText(s *policy.Source) bool {
	return slices.Contains(s.Names, "**") && (s.Subject == policy.SamplingSubject || s.Subject == policy.ElicitationSubject)
}

// whyPathUnknown returns why the values for a condition are unknown; "" if they are known. path is
// the path of the condition's argument. A condition looks at the member with this path and at
// everything inside it. So a gap matters if it is at this place, inside it, or around it.
func (m *Missing) whyPathUnknown(path []string) Why {
	if policy.EveryArgument(path) {
		path = nil
	}
	for _, g := range m.gaps {
		for _, of := range g.namings() {
			n := min(len(path), len(of))
			if slices.EqualFunc(path[:n], of[:n], isSameName) {
				return g.why
			}
		}
	}
	if m.open && (len(path) == 0 || m.mayFollow(path[0])) {
		return LeftOut
	}
	return ""
}

// mayFollow reports whether a member that rules name by this name may be in the part of the
// arguments that the record lacks. The frame's reader refuses a message with two members whose
// names differ only in case. So no name can follow that the record already has with its whole value.
// Names with ss are an exception: to the judge, but not to the frame's reader, ß equals ss.
func (m *Missing) mayFollow(name string) bool {
	if isSameName(name, m.last) || isSameName(name, m.tool.SharedName(m.last)) || strings.Contains(reading.FoldCase(name), "ss") {
		return true
	}
	return slices.ContainsFunc(append(m.tool.OwnNames(name), name), func(own string) bool {
		return !slices.ContainsFunc(m.seen, func(seen string) bool { return frame.FoldsTo(seen, own) })
	})
}
