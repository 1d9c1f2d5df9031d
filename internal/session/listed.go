package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/policy"
)

// listAsker asks a person about changes in a server's lists. No call waits for the answer.
type listAsker struct {
	asking    *asking
	approver  gate.Approver
	concluder gate.Concluder
	asked     atomic.Uint64 // number of questions so far
}

// listQuestions is added to the number of a question about a list. The gate numbers its own
// questions from 1, so no two questions have the same number.
const listQuestions = 1 << 63

func (l *listAsker) askDifferences(ctx context.Context, server string, all []pin.Difference) (approved, answered bool) {
	call := view.ListedCall(server, shownDifferences(all))
	now := time.Now()
	q := gate.Question{
		Number: listQuestions + l.asked.Add(1), Calls: []policy.Call{call}, Digest: sha256.Sum256(call.Args), Reply: true,
		Asked: now, Deadline: now.Add(cmp.Or(l.asking.settings.Timeout.Is, 45*time.Second)), Server: server,
		Rule: policy.Rule{Action: policy.Prompt, Pinned: true},
	}
	ctx, cancel := context.WithDeadline(ctx, q.Deadline)
	defer cancel()
	answer, err := l.approver.Ask(ctx, q)
	ev := &event.Event{Kind: event.Answered, Digest: q.Digest, Method: call.Method, Waited: time.Since(now)}
	if err != nil || answer.Digest != q.Digest || answer.Reply == gate.HandOver {
		ev.Kind, ev.Code, ev.Reason = event.Chatter, "not_approved", "nobody has said whether what the server lists may pass"
		_ = l.asking.guard.noteServerEvents(ev)
		return false, false
	}
	ev.Channel, ev.Answer, ev.By, ev.Words, ev.Detail = answer.Channel, answer.Reply.String(), answer.By, answer.Words, answer.Note
	if l.asking.guard.noteServerEvents(ev) != nil { // an answer that could not be recorded is ignored
		return false, false
	}
	v := gate.Verdict{Action: policy.Deny, Code: gate.CodeDeniedByPerson}
	if approved = answer.Reply.Allows(); approved {
		v = gate.Verdict{Action: policy.Allow, Code: gate.CodeAllowedByPerson}
	}
	l.concluder.Concluded(q, v)
	return approved, true
}

// shownDifferences returns differences in the form that a question shows.
func shownDifferences(all []pin.Difference) (shown []view.Listed) {
	for _, d := range all {
		one := view.Listed{Entry: strings.TrimSpace(d.Kind.String() + " " + d.Name), Class: d.Class.String(), Refused: d.Class == pin.Refused}
		for _, c := range d.Changes {
			next := one
			if c.Class == pin.Added {
				shown = append(shown, entryMembers(one, c.Is)...)
				continue
			}
			next.At, next.Was, next.Is, next.What = c.At, pin.ValueText(c.Was), pin.ValueText(c.Is), c.What
			shown = append(shown, next)
		}
	}
	return shown
}

// entryMembers returns one copy of the parameter shown for each member of a new entry. The copy
// gets the member's name and value.
func entryMembers(shown view.Listed, entry json.RawMessage) (all []view.Listed) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(entry, &members) // cannot fail, because clawai has encoded the entry
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name != "name" {
			shown.At, shown.Is = name, pin.ValueText(members[name])
			all = append(all, shown)
		}
	}
	if len(all) == 0 {
		all = append(all, shown)
	}
	return all
}
