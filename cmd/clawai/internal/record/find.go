package record

import (
	"cmp"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/text/term"
)

// FindDecision returns the decision with this id. If the id is that of another record, it returns
// the decision to which that record belongs. The start of an id is enough if it is unique. A number
// after a dash must be complete.
func FindDecision(dir, id string) (*event.Entry, error) {
	seen := 0
	var damage error // returned if no decision is found; otherwise only log verify reports the damage
	for range 2 {
		var of string
		for e, err := range audit.Read(dir, audit.Filter{Record: id}) {
			if err != nil {
				damage = err
			}
			if err != nil || e.Record != id {
				continue
			}
			if replay.IsJudged(&e) {
				return &e, nil
			}
			seen++
			if of = e.Ref; of == "" {
				return nil, cmdline.Usagef("record %s is of kind %s: no rule judged it%s", term.VisibleText(id), term.VisibleText(string(e.Kind)), inBrackets(Short(cmp.Or(e.Reason, e.Detail), MaxText)))
			}
		}
		if of == "" {
			break
		}
		id = of
	}
	if e, err := findBegun(dir, id); seen == 0 && (e != nil || err != nil) {
		return e, err
	}
	if seen > 0 {
		return nil, cmdline.Usagef("the decision that this record belongs to, %s, is gone", term.VisibleText(id))
	}
	if damage != nil {
		return nil, cmdline.Usagef("record %q was not found: %v", id, damage)
	}
	return nil, cmdline.Usagef("no record %q in %s; clawai log shows the ids", id, dir)
}

// FindReply returns the recorded reply to a call. If there are several, it prefers the reply with
// the given id, and then the last reply. It returns nil if there is none.
func FindReply(dir string, call *event.Entry, id string) (found *event.Entry) {
	for e, err := range audit.Read(dir, audit.Filter{Record: call.Record}) {
		if err == nil && e.Ref == call.Record && (isReply(&e) || judgesReply(&e)) && (found == nil || found.Record != id) {
			found = &e
		}
	}
	return found
}

// findBegun returns the decision whose id begins with the parameter id. It returns nil if there is
// none, and an error if there are several. It skips damaged records, because the caller has already
// reported them.
func findBegun(dir, id string) (found *event.Entry, err error) {
	session, number, whole := strings.Cut(id, "-")
	for e, err := range audit.Read(dir, audit.Filter{Session: session, Kinds: []event.Kind{event.Decision}}) {
		if err != nil || !replay.IsJudged(&e) || whole && !strings.HasSuffix(e.Record, "-"+number) {
			continue
		}
		if found != nil {
			return nil, cmdline.Usagef("%s fits more than one record, such as %s and %s", term.VisibleText(id), term.VisibleText(found.Record), term.VisibleText(e.Record))
		}
		found = &e
	}
	return found, nil
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}
