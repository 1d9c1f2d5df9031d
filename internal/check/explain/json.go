package explain

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// Document is the explanation as JSON, for programs. docs/explain.md describes its members. Later
// versions may add members, but never rename one.
type Document struct {
	Revision string         `json:"policy_revision"`
	Decision string         `json:"decision"` // allow, deny, prompt
	Rule     *RuleDocument  `json:"rule,omitempty"`
	Reading  string         `json:"reading,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Refused  string         `json:"refused,omitempty"` // why the proxy refuses the message before the rules
	Calls    []CallDocument `json:"calls"`
}

// RuleDocument is the position of a rule and its effect.
type RuleDocument struct {
	Index       int    `json:"index"` // index in the policy, from 0
	File        string `json:"file"`
	Line        int    `json:"line"`
	Action      string `json:"action"`
	Description string `json:"description,omitempty"`
	OutOfBand   bool   `json:"out_of_band,omitempty"`
	Approval    string `json:"approval,omitempty"` // who must allow the call at a team's centre
	// Limit is the limit of the rule, if it has one. An explanation does not know how many calls
	// were counted so far.
	Limit *LimitDocument `json:"limit,omitempty"`
}

// LimitDocument is the limit of a rule.
type LimitDocument struct {
	Calls   int    `json:"calls"`
	Sum     string `json:"sum,omitempty"`  // the argument whose amounts are added; Calls is then 0
	Most    string `json:"most,omitempty"` // maximum of the sum, a decimal number
	Seconds int    `json:"seconds"`        // length of the time window in seconds
	Per     string `json:"per"`            // what is counted together: rule, tool, server; for a limit over all tools: all, tool, server
	Over    string `json:"over"`           // action when the limit is exceeded: deny or prompt
}

// CallDocument is one call with the results of the rules.
type CallDocument struct {
	Server  string          `json:"server,omitempty"`
	Method  string          `json:"method"`
	Subject string          `json:"subject"`
	Names   []string        `json:"names"`
	Args    json.RawMessage `json:"args,omitempty"`
	At      *time.Time      `json:"at,omitempty"`
	Cwd     string          `json:"cwd,omitempty"`
	OS      string          `json:"os,omitempty"`
	Who     []string        `json:"who,omitzero"` // absent if unknown, like Roles and Groups
	Roles   []string        `json:"roles,omitzero"`
	Groups  []string        `json:"groups,omitzero"`
	Env     string          `json:"env,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	// Elsewhere means that a relative path may also start in another folder.
	Elsewhere bool            `json:"elsewhere,omitempty"`
	Decision  string          `json:"decision"`
	Rule      *RuleDocument   `json:"rule,omitempty"`
	Reading   string          `json:"reading,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Cut       bool            `json:"cut,omitempty"`
	Values    []ValueDocument `json:"values"`
	Steps     []StepDocument  `json:"steps"`
	Layers    []LayerDocument `json:"layers,omitempty"`
	// Limits holds the [[limit]] tables that count this call.
	Limits []TableDocument `json:"limits,omitempty"`
}

// TableDocument is a [[limit]] table with its position.
type TableDocument struct {
	File        string        `json:"file"`
	Line        int           `json:"line"`
	Description string        `json:"description,omitempty"`
	Limit       LimitDocument `json:"limit"`
}

// LayerDocument holds the results of one layer.
type LayerDocument struct {
	Name  string         `json:"name"`
	File  string         `json:"file"`
	Steps []StepDocument `json:"steps"`
}

// ValueDocument is one value of the call that a rule looked at.
type ValueDocument struct {
	Argument string            `json:"argument"` // path of the argument, such as args.path; "uri" for a resource
	Readings []ReadingDocument `json:"readings"`
}

// ReadingDocument is one reading of a value.
type ReadingDocument struct {
	Text    string   `json:"text"`
	How     []string `json:"how,omitempty"` // how the reading is made from the value, in words for people
	Absent  bool     `json:"absent,omitempty"`
	Refused string   `json:"refused,omitempty"`
}

// StepDocument is the result of one rule.
type StepDocument struct {
	Rule      RuleDocument     `json:"rule"`
	Match     string           `json:"match"`               // no, maybe, yes
	Reached   bool             `json:"reached"`             // no rule above has decided all readings of the call
	Condition string           `json:"condition,omitempty"` // tool, server, when, args.path, where.path, args_only, subject
	Want      []string         `json:"want,omitempty"`
	Got       string           `json:"got,omitempty"` // the value that the call has: a name, a server, or the value of a call key
	Reading   *ReadingDocument `json:"reading,omitempty"`
	Took      *ReadingDocument `json:"took,omitempty"`
}

// Document returns the explanation in the form of JSON.
func (e *Explanation) Document() Document {
	d := Document{
		Revision: e.Revision, Decision: e.Decision.Action.String(), Reading: e.Decision.Reading, Reason: e.Decision.Reason,
		Refused: e.Refused, Calls: []CallDocument{},
	}
	if r := e.Decision.Rule; r != nil {
		doc := ruleDocument(r)
		d.Rule = &doc
	}
	for i := range e.Calls {
		d.Calls = append(d.Calls, e.callDocument(&e.Calls[i]))
	}
	return d
}

func ruleDocument(r *policy.Rule) RuleDocument {
	d := RuleDocument{r.Index, r.Pos.File, r.Pos.Line, r.Action.String(), r.Description, r.OutOfBand, r.Approval.String(), nil}
	if r.Rate.HasLimit() {
		d.Limit = limitDocument(&r.Rate)
	}
	return d
}

func limitDocument(l *policy.Rate) *LimitDocument {
	return &LimitDocument{l.Count, l.Sum, l.MaxAmount(), int(l.Every.Seconds()), l.Per.String(), l.Over.String()}
}

func (e *Explanation) callDocument(j *Judged) CallDocument {
	c := CallDocument{
		Server: j.Server, Method: j.Method, Subject: j.Subject.RuleKey(), Names: j.Names,
		Decision: j.Decision.Action.String(), Reading: j.Decision.Reading, Reason: j.Decision.Reason, Cut: j.Cut,
		Values: []ValueDocument{},
	}
	if json.Valid(j.Args) {
		c.Args = j.Args
	}
	if !j.At.IsZero() {
		c.At = &j.At
	}
	c.Cwd, c.OS, c.Elsewhere = j.Cwd, j.OS, j.Elsewhere
	c.Who, c.Roles, c.Groups, c.Env, c.Agent = j.Who.List(), j.Roles.List(), j.Groups.List(), j.Env, j.Agent
	if r := j.Decision.Rule; r != nil {
		doc := ruleDocument(r)
		c.Rule = &doc
	}
	for i := range j.Values {
		v := &j.Values[i]
		doc := ValueDocument{Argument: argumentKey(v.Path)}
		for k := range v.Readings {
			doc.Readings = append(doc.Readings, *readingDocument(&v.Readings[k]))
		}
		c.Values = append(c.Values, doc)
	}
	for i := range j.Limits {
		l := &j.Limits[i]
		doc := TableDocument{l.Pos.File, l.Pos.Line, l.Description, *limitDocument(&l.Rate)}
		if l.Rate.Per == policy.PerRule {
			doc.Limit.Per = "all"
		}
		c.Limits = append(c.Limits, doc)
	}
	c.Steps = stepDocuments(&j.Trace, e.sources)
	for i := range j.Layers {
		l := &j.Layers[i]
		c.Layers = append(c.Layers, LayerDocument{l.Name, l.File, stepDocuments(&l.Trace, l.sources)})
	}
	return c
}

func stepDocuments(t *policy.Trace, sources []policy.Source) []StepDocument {
	docs := []StepDocument{}
	for i := range t.Steps {
		s := &t.Steps[i]
		src := &sources[s.Rule]
		doc := StepDocument{
			Rule: ruleDocument(&src.Rule), Match: s.Match.String(), Reached: s.Reached,
			Want: s.At.Want, Got: s.At.Got, Reading: readingDocument(s.At.Reading), Took: readingDocument(s.Took),
		}
		if s.At.Kind != policy.Unasked {
			doc.Condition = conditionKey(&s.At, src.Subject)
		}
		docs = append(docs, doc)
	}
	return docs
}

func readingDocument(r *policy.Reading) *ReadingDocument {
	if r == nil {
		return nil
	}
	return &ReadingDocument{r.Text, r.How, r.Absent, r.Refused}
}

func argumentKey(path []string) string {
	if path == nil {
		return "uri"
	}
	return policytext.DottedKey("args", path...)
}

// unnamedArguments lists arguments that no rule has read, at most fewValues of them.
func (j *Judged) unnamedArguments() (names []string) {
	seen := map[string]bool{}
	for i := range j.Values {
		path := j.Values[i].Path
		if policy.EveryArgument(path) {
			return nil
		}
		if len(path) > 0 {
			seen[strings.ToLower(path[0])] = true
		}
	}
	d := json.NewDecoder(bytes.NewReader(j.Args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() && len(names) < fewValues {
		name, err := d.Token()
		var skip json.RawMessage
		if err == nil {
			err = d.Decode(&skip)
		}
		if err != nil {
			return names
		}
		if s, _ := name.(string); !seen[strings.ToLower(s)] {
			names = append(names, term.VisibleText(policytext.DottedKey("args", s)))
		}
	}
	return names
}
