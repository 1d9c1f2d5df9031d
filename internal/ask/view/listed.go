package view

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

// listedMethod is the method of the call that stands for a question about a server's list. A real
// message with this method always has a subject, so it cannot be mistaken for such a question.
const listedMethod = "clawai/listed"

// Listed is a difference between a server's list and the approved list, or a new entry.
type Listed struct {
	Entry   string `json:"entry"` // the changed entry, such as "tool get_issue"
	Class   string `json:"class"` // kind of difference: "text", "new", ... (docs/pins.md)
	At      string `json:"at"`    // the changed member, such as "description"; "" for the whole entry
	Was     string `json:"was"`
	Is      string `json:"is"`
	What    string `json:"what"`    // description of the change if Was and Is do not show it
	Refused bool   `json:"refused"` // the difference cannot be allowed by any answer
}

// ListedCall returns the call that stands for a question about the differences of a server's list.
func ListedCall(server string, all []Listed) policy.Call {
	args, err := json.Marshal(all)
	if err != nil {
		panic(err) // texts can always be encoded
	}
	return policy.Call{Server: server, Method: listedMethod, Args: args}
}

const whyListed = "an allow lets these words and parameters reach the agent from now on, in every session"

// listedRequest returns the request of a question about a server's list. It has a headline for each
// entry and the changes of the entry's text.
func (m *builder) listedRequest(c *policy.Call) (Request, error) {
	r := Request{Server: serverName(c.Server), Method: "what the server lists", Word: "method", Dangers: []string{whyListed}}
	var all []Listed
	if err := json.Unmarshal(c.Args, &all); err != nil {
		return r, ErrUnreadable
	}
	entry, entries, refused := "", 0, 0
	for i := range all {
		d := &all[i]
		if d.Entry != entry {
			entry = d.Entry
			entries++
			if d.Refused {
				refused++
			}
			r.Diff = append(r.Diff, DiffLine{'#', term.VisibleText(entry) + d.outcomeText()})
		}
		if r.Diff = append(r.Diff, d.diffLines()...); len(r.Diff) > m.diff {
			return r, ErrTooMany
		}
	}
	m.diff -= len(r.Diff)
	tail := ": 1 entry"
	if entries > 1 {
		tail = fmt.Sprintf(": %d entries", entries)
	}
	if refused > 0 {
		tail += fmt.Sprintf(", %d refused whatever you say", refused)
	}
	r.deed = deed{verb: "lists what you have not approved", tail: tail}
	return r, nil
}

func (d *Listed) outcomeText() string {
	switch {
	case d.Refused:
		return " (" + d.Class + ": stays out whatever you say)"
	case d.Class == "text":
		return " (reads another way; until you allow it, it is as it was)"
	case d.Class == "new":
		return " (new; left out until you allow it)"
	}
	return " (" + d.Class + "; left out until you allow it)"
}

func (d *Listed) diffLines() (all []DiffLine) {
	if d.At != "" {
		all = append(all, DiffLine{'@', term.VisibleText(d.At)})
	}
	if d.What != "" {
		return append(all, DiffLine{'@', term.VisibleText(d.What)})
	}
	for _, line := range DiffWords(d.Was, d.Is) {
		if strings.TrimSpace(line.Text) != "" {
			all = append(all, line)
		}
	}
	return all
}
