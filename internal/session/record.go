package session

import (
	"fmt"
	"iter"
	"path/filepath"

	"github.com/clawai/clawai/internal/approve/remember"
	"github.com/clawai/clawai/internal/audit"
	"github.com/clawai/clawai/internal/config"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/redact"
	"github.com/clawai/clawai/policy"
)

// OpenRecord begins the record in the state folder; without one nothing is
// started.
func OpenRecord(state string, keep redact.Mode) (*audit.Log, error) {
	if err := config.PrivateFolder(state); err != nil {
		return nil, fmt.Errorf("cannot keep a record: %w", err)
	}
	log, err := audit.Open(recordDir(state), audit.Options{Redact: keep})
	if err != nil {
		return nil, fmt.Errorf("cannot keep a record: %w", err)
	}
	return log, nil
}

func recordDir(state string) string { return filepath.Join(state, "audit") }

// deniedCalls is what the record knows of calls the rules denied.
type deniedCalls struct{ dir string }

// Calls yields them, oldest first.
func (d deniedCalls) Calls() iter.Seq2[remember.DeniedCall, error] {
	return func(yield func(remember.DeniedCall, error) bool) {
		for e, err := range audit.Read(d.dir, audit.Filter{Decision: "deny", Kinds: []event.Kind{event.Decision}}) {
			if err == nil && e.Policy != policy.Deny.String() {
				continue
			}
			call := policy.Call{
				Server: e.Server, Method: e.Method, Subject: policy.SubjectOf(e.Subject), Names: e.Names, Args: e.Args, At: e.Time,
			}
			if !yield(remember.DeniedCall{Call: call, Cut: e.ArgsCut}, err) || err != nil {
				return
			}
		}
	}
}

// Redacted says that a text of the record may not be what was sent.
func (deniedCalls) Redacted(text string) bool { return redact.IsRedacted(text) }
