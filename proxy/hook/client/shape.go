package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// A hook is registered in the file of one client, but other clients read the same file. So the form
// of the payload decides which row is used: the members that name the event, the event itself, and
// the members that only one client writes. If several rows fit equally well, the row that knows the
// tool's name wins, and after it the row of the registered client.

// members holds the top-level members of a payload, so that they are parsed only once.
type members []struct {
	name  string
	value jsonscan.Value
}

func (o object) topMembers() (all members) {
	for name, value := range o.Members() {
		if kind := value.Kind(); kind != jsonscan.Null {
			all = append(all, struct {
				name  string
				value jsonscan.Value
			}{name.Text(), value})
		}
	}
	return all
}

func (m members) memberValue(name string) jsonscan.Value {
	for i := range m {
		if m[i].name == name {
			return m[i].value
		}
	}
	return ""
}

func (m members) hasMember(place string) bool {
	first, _, _ := strings.Cut(place, ".")
	return m.memberValue(first) != ""
}

// matchesMark reports whether the payload has all parts of a mark. The mark "a&!b" needs the member
// a and forbids the member b.
func (m members) matchesMark(mark string) bool {
	for part := range strings.SplitSeq(mark, "&") {
		name, absent := strings.CutPrefix(part, "!")
		if m.hasMember(name) == absent {
			return false
		}
	}
	return true
}

// misfit is subtracted from a row's score if the payload has a member that the client never writes.
// Such a row is used only for the registered client, and only if no other row fits.
const misfit = 100

// matchShape compares the payload with the row. It returns the event and a score if the payload
// fits, and a nil event otherwise.
func (r *Row) matchShape(m members, registered string) (event *Event, score int) {
	event = r.identifyEvent(m, registered)
	switch {
	case event == nil, r.NeedSession && !m.hasOne(r.Session):
		return nil, 0
	case event.Kind == Before && event.Tool == "" && len(r.Tool) > 0 && !m.hasOne(r.Tool):
		return nil, 0
	}
	for _, name := range r.Marks {
		if m.matchesMark(name) {
			score++
		}
	}
	if slices.ContainsFunc(r.Without, m.matchesMark) {
		score -= misfit
	}
	return event, score
}

func (m members) hasOne(places []string) bool { return slices.ContainsFunc(places, m.hasMember) }

// identifyEvent returns the event that a payload names. If the payload names no event but asks for
// a tool, it returns the event before a tool runs. For any other payload it returns the registered
// event or, without one, the event that the members show.
func (r *Row) identifyEvent(m members, registered string) *Event {
	for _, place := range r.Event {
		switch v := m.memberValue(place); v.Kind() {
		case jsonscan.Absent:
			continue
		case jsonscan.String:
			return r.findEvent(v.Text())
		}
		return nil // not a string, so no event has this name
	}
	if !slices.ContainsFunc(r.Events, func(e Event) bool { return e.By != "" }) {
		return nil // the payloads of this client always name the event
	}
	var told *Event
	for i := range r.Events {
		if e := &r.Events[i]; e.By != "" && m.hasMember(e.By) {
			told = e
			break
		}
	}
	if told != nil && told.Kind == Before {
		return told
	}
	if e := r.findEvent(registered); e != nil && registered != "" {
		return e
	}
	return told
}

// candidate is a row that fits the payload.
type candidate struct {
	row   *Row
	event *Event
	score int
}

// recognizeRow returns the row and the event for a payload. sure is false if the tool's name
// decided between several rows, because a model chooses that name. The error text is for the agent.
func (r *Row) recognizeRow(m members, registered string) (row *Row, event *Event, sure bool, err error) {
	var best []candidate
	var own *candidate
	for i := range rows {
		row, name := r, registered
		if rows[i].ID != r.ID {
			row, name = completeRow(&rows[i]), ""
		}
		event, score := row.matchShape(m, name)
		if event == nil {
			continue
		}
		t := candidate{row, event, score}
		if row == r {
			own = &t
		} else if score < 0 {
			continue
		}
		if len(best) > 0 && score > best[0].score {
			best = best[:0]
		}
		if len(best) == 0 || score == best[0].score {
			best = append(best, t)
		}
	}
	if len(best) == 0 {
		return nil, nil, false, r.unknownShapeError(m)
	}
	registeredFits := own != nil && own.score == best[0].score
	knowing := slices.IndexFunc(best, func(t candidate) bool { return t.knowsTool(m) })
	if registeredFits && own.score < 0 && own.event.Kind == Before && !own.knowsTool(m) && hasAnothersTool(m) {
		return nil, nil, false, r.unknownShapeError(m) // neither the form of the payload nor the tool belongs to this client
	}
	switch {
	case registeredFits && (own.event.Kind != Before || knowing < 0 || own.knowsTool(m)), own != nil && knowing < 0 && own.knowsTool(m):
		return own.row, own.event, registeredFits, nil
	case knowing >= 0:
		return best[knowing].row, best[knowing].event, len(best) == 1, nil
	case len(best) == 1 || best[0].event.Kind != Before:
		return best[0].row, best[0].event, len(best) == 1, nil
	}
	return nil, nil, false, r.unknownShapeError(m)
}

// hasAnothersTool reports whether the payload asks for a built-in tool of any client, in the form
// of that client.
func hasAnothersTool(m members) bool {
	return slices.ContainsFunc(rows, func(row Row) bool {
		whole := completeRow(&row)
		event := whole.identifyEvent(m, "")
		return event != nil && event.Kind == Before && (&candidate{row: whole, event: event}).bringsTool(m)
	})
}

// bringsTool reports whether the tool in the payload is built into the candidate's client.
func (t *candidate) bringsTool(m members) bool {
	return slices.ContainsFunc(t.row.Tool, func(place string) bool {
		v := m.memberValue(place)
		return v.Kind() == jsonscan.String && builtin.FindTool(t.row.ID, v.Text()).Class != ""
	})
}

// knowsTool reports whether the tool in the payload is built into the candidate's client, or has
// the form of the client's names for servers' tools.
func (t *candidate) knowsTool(m members) bool {
	if t.event.Kind != Before || t.event.Tool != "" {
		return t.event.Tool != ""
	}
	for _, place := range t.row.Tool {
		v := m.memberValue(place)
		if first, rest, inside := strings.Cut(place, "."); inside {
			v = m.memberValue(first).Member(rest)
		}
		if v.Kind() != jsonscan.String {
			continue
		}
		tool := v.Text()
		return builtin.FindTool(t.row.ID, tool).Class != "" || strings.HasPrefix(tool, "mcp__") || t.row.MCP == slashed && strings.HasPrefix(tool, "@")
	}
	return false
}

// unknownShapeError returns an error that names the missing part in a payload of the registered
// client.
func (r *Row) unknownShapeError(m members) error {
	for _, place := range r.Event {
		v := m.memberValue(place)
		if v.Kind() == jsonscan.Absent {
			continue
		}
		if v.Kind() != jsonscan.String {
			return fmt.Errorf("%s is not text", strings.Join(r.Event, " or "))
		}
		e := r.findEvent(v.Text())
		switch {
		case e == nil:
			return fmt.Errorf("%s has no event %q that this version knows", r.ID, shortenText(v.Text()))
		case r.NeedSession && !m.hasOne(r.Session):
			return missingError(r.Session, nil)
		case e.Kind == Before && e.Tool == "" && !m.hasOne(r.Tool):
			return missingError(r.Tool, nil)
		}
	}
	if len(m) == 0 {
		return errors.New("it is empty")
	}
	return fmt.Errorf("it has the shape of no client that this version knows, and was registered for %s", r.ID)
}
