package session

import (
	"iter"
	"path/filepath"

	"github.com/clawai/clawai/internal/ask/remember"
	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
)

// makeRecorder returns the recorder for sessions of this state. This recorder passes its events to the
// recorder in the parameter all.
func (s *State) makeRecorder(all gate.Recorder) gate.Recorder {
	if s.Invocation == "" {
		return all
	}
	return &invocationRecorder{all, s.Invocation}
}

// invocationRecorder is a recorder that adds the invocation to each event.
type invocationRecorder struct {
	gate.Recorder
	name string
}

// Record implements gate.Recorder.
func (r *invocationRecorder) Record(events ...*event.Event) error {
	for _, ev := range events {
		ev.Invocation = r.name
	}
	return r.Recorder.Record(events...)
}

// NewRuleWriter returns the writer that adds the rules of "always" answers to the policy file at path.
func NewRuleWriter(path string, o policy.Options, folders config.Folders, v view.Options) *remember.Writer {
	return &remember.Writer{Policy: path, Options: o, Denied: deniedCalls{base.RecordDir(folders.State)}, View: v, Journal: filepath.Join(folders.State, "policy-edits")}
}

// deniedCalls reads from the record the calls that the rules denied.
type deniedCalls struct{ dir string }

// Calls yields the denied calls, oldest first.
func (d deniedCalls) Calls() iter.Seq2[remember.DeniedCall, error] {
	return func(yield func(remember.DeniedCall, error) bool) {
		for e, err := range audit.Read(d.dir, audit.Filter{Decision: "deny", Kinds: []event.Kind{event.Decision}}) {
			if err == nil && e.Policy != policy.Deny.String() {
				continue
			}
			call := policy.Call{
				Server: e.Server, Method: e.Method, Subject: policy.SubjectOf(e.Subject), Names: e.Names, Args: e.Args,
				Facts: e.Facts, Finds: e.FoundKinds(),
			}
			if !yield(remember.DeniedCall{Call: call, Cut: e.ArgsCut, Looked: e.Looked, NoRule: e.Code == gate.CodeNoRule, Rule: e.RuleText}, err) || err != nil {
				return
			}
		}
	}
}

// Redacted reports whether a text of the record was redacted. Such a text may differ from the text
// that was sent.
func (deniedCalls) Redacted(text string) bool { return redact.IsRedacted(text) }
