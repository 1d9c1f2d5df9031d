package audit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/policy"
)

// stored mirrors a line of a segment.
type stored struct {
	Seq         uint64          `json:"seq"`
	Time        time.Time       `json:"time"`
	Session     string          `json:"session"`
	Record      string          `json:"record"`
	Kind        event.Kind      `json:"kind"`
	Server      string          `json:"server"`
	ServerGuess string          `json:"server_guess"`
	Invocation  string          `json:"invocation"`
	Client      string          `json:"client"`
	Direction   string          `json:"direction"`
	Method      string          `json:"method"`
	ID          json.RawMessage `json:"id"`
	Subject     string          `json:"subject"`
	Names       []string        `json:"names"`
	Args        json.RawMessage `json:"args"`
	ArgsBytes   int64           `json:"args_bytes"`
	policy.Facts
	Extra     json.RawMessage `json:"extra"`
	Trace     string          `json:"traceparent"`
	Digest    string          `json:"digest"`
	Bytes     int             `json:"bytes"`
	Folded    int             `json:"folded"`
	Sent      string          `json:"sent"`
	Finds     []string        `json:"finds"`
	Looked    []string        `json:"looked"`
	Altered   []string        `json:"altered"`
	Release   string          `json:"release"`
	Policy    string          `json:"policy"`
	Decision  string          `json:"decision"`
	Stage     string          `json:"stage"`
	Code      string          `json:"code"`
	Reason    string          `json:"reason"`
	RuleFile  string          `json:"rule_file"`
	RuleLine  int             `json:"rule_line"`
	Rule      string          `json:"rule"`
	Labels    labels          `json:"labels"`
	Ref       string          `json:"ref"`
	Channel   string          `json:"rung"`
	Answer    string          `json:"answer"`
	By        string          `json:"by"`
	Words     string          `json:"words"`
	WaitedMS  int64           `json:"waited_ms"`
	IsError   bool            `json:"is_error"`
	Declared  []string        `json:"declared"`
	Detail    string          `json:"detail"`
	Format    int             `json:"format"`
	File      string          `json:"file"`
	Redaction string          `json:"redaction"`
}

// labels is a list of labels as a line has it. A word that this version does not know is left out,
// because a newer version may have written it.
type labels policy.Seen

// UnmarshalJSON implements json.Unmarshaler.
func (l *labels) UnmarshalJSON(src []byte) error {
	var words []string
	if err := json.Unmarshal(src, &words); err != nil {
		return err
	}
	*l = 0
	for _, word := range words {
		if one, ok := policy.SeenOf([]string{word}); ok {
			*l |= labels(one &^ policy.Known)
		}
	}
	return nil
}

// parseEntry parses a copy of a segment's line.
func parseEntry(file string, it item) (event.Entry, error) {
	var w stored
	raw := bytes.Clone(it.raw)
	if err := json.Unmarshal(raw, &w); err != nil {
		return event.Entry{}, &event.Damage{File: file, Line: it.line, What: fmt.Sprintf("a line that is sound but no record: %v", err)}
	}
	e := event.Entry{
		Event: event.Event{
			Record: w.Record, Kind: w.Kind, Time: w.Time, Server: w.Server, ServerGuess: w.ServerGuess, Invocation: w.Invocation, Client: w.Client,
			Direction: w.Direction, Method: w.Method, ID: w.ID, Subject: w.Subject, Names: w.Names, Args: w.Args, Facts: w.Facts, Extra: w.Extra,
			Bytes: w.Bytes, Folded: w.Folded, Finds: w.Finds, Looked: w.Looked, Altered: w.Altered, Release: w.Release, Policy: w.Policy, Decision: w.Decision, Stage: w.Stage, Code: w.Code, Reason: w.Reason,
			RuleFile: w.RuleFile, RuleLine: w.RuleLine, RuleText: w.Rule, Labels: policy.Seen(w.Labels), Ref: w.Ref, Channel: w.Channel, Answer: w.Answer, By: w.By, Words: w.Words,
			Waited: time.Duration(w.WaitedMS) * time.Millisecond, IsError: w.IsError, Declared: w.Declared, Detail: w.Detail,
		},
		Seq: w.Seq, Session: w.Session, Digest: w.Digest, ArgsCut: w.ArgsBytes > 0, File: file, Line: it.line, Raw: raw,
	}
	e.At = w.Time
	if event.IsTraceparent(w.Trace) { // whoever ships a record can write anything there
		e.Traceparent = w.Trace
	}
	if plain, ok := strings.CutPrefix(w.Digest, "sha256:"); ok && len(plain) == hashLen {
		_, _ = hex.Decode(e.Event.Digest[:], []byte(plain)) // an error is ignored: the digest then stays zero
	}
	if plain, ok := strings.CutPrefix(w.Sent, "sha256:"); ok && len(plain) == hashLen {
		_, _ = hex.Decode(e.Sent[:], []byte(plain))
	}
	return e, nil
}

// ParseLine parses one line of a segment, without its LF. It does not check the hashes in the line.
func ParseLine(line []byte) (event.Entry, error) { return parseEntry("", item{raw: line}) }

// Filter selects the records to read. The zero value takes all records except the first line of
// each segment.
type Filter struct {
	Server   func(string) bool // matches the server's name; for a server without a name, its guessed name
	Tool     func(string) bool // matches a tool's name
	Who      func(string) bool // matches a name of the caller
	Agent    func(string) bool // matches the agent that made a call
	Decision string            // "allow" or "deny": this is the final decision, or the decision that an observing session did not enforce; "prompt": a person had to be asked; "": any
	Session  string            // session id or the beginning of one
	Record   string            // a record id: matches this record, and the records that refer to it
	Kinds    []event.Kind
	Rule     func(*event.Entry) bool // matches the records of a rule
	Find     string                  // a kind of finding in the message; "*" matches any
	Since    time.Time
	Until    time.Time // only records before this time; zero means no end
	Last     int       // only this many of the latest records; 0 means all
	Tail     int64     // with Last: read only this many bytes at the end of each segment; 0 means the whole segment
	Caught   func()    // for Follow: called once, after all existing records were yielded; may be nil
	Replies  bool      // also take all replies that match Since, Until and Session, so that a reader can find the reply to a call; Last does not count replies
	Headers  bool      // also take the first line of each segment, if Kinds is empty
}

// matchesEntry reports whether a record matches the filter or is a reply that Replies asks for.
func (f *Filter) matchesEntry(e *event.Entry) bool { return f.Replies && f.isReply(e) || f.Takes(e) }

// isReply reports whether a record is the reply to another record and matches Since, Until and
// Session.
func (f *Filter) isReply(e *event.Entry) bool {
	return e.Ref != "" && (e.Kind == event.Outcome || e.Kind == event.Listed) && f.matchesPeriod(e)
}

func (f *Filter) matchesPeriod(e *event.Entry) bool {
	return !e.Time.Before(f.Since) && (f.Until.IsZero() || e.Time.Before(f.Until)) && strings.HasPrefix(e.Session, f.Session)
}

// Takes reports whether a record matches the filter. It ignores the field Replies.
func (f *Filter) Takes(e *event.Entry) bool {
	if !f.matchesPeriod(e) || !f.matchKind(e.Kind) {
		return false
	}
	if f.Rule != nil && (e.RuleLine == 0 || !f.Rule(e)) {
		return false
	}
	if f.Find != "" && !f.matchFind(e) {
		return false
	}
	if f.Record != "" && e.Record != f.Record && e.Ref != f.Record {
		return false
	}
	if f.Server != nil && !f.Server(serverOf(e)) {
		return false
	}
	if f.Tool != nil && !f.matchTool(e) {
		return false
	}
	if f.Agent != nil && (e.Agent == "" || !f.Agent(e.Agent)) || f.Who != nil && !slices.ContainsFunc(e.Who.List(), f.Who) {
		return false
	}
	switch f.Decision {
	case "":
		return true
	case "prompt":
		return e.WasAsked()
	}
	return e.Kind == event.Decision && (e.Decision == f.Decision || e.Stage == "observe" && e.UnenforcedDecision() == f.Decision)
}

func (f *Filter) matchKind(k event.Kind) bool {
	if slices.Contains(f.Kinds, k) {
		return true
	}
	return len(f.Kinds) == 0 && (k != event.Segment || f.Headers)
}

func (f *Filter) matchFind(e *event.Entry) bool {
	return f.Find == "*" && len(e.Finds) > 0 || slices.Contains(e.FoundKinds(), f.Find)
}

func (f *Filter) matchTool(e *event.Entry) bool {
	if e.Subject != "tool" {
		return false
	}
	return slices.ContainsFunc(e.Names, f.Tool)
}

func serverOf(e *event.Entry) string {
	if e.Server == "" {
		return e.ServerGuess
	}
	return e.Server
}
