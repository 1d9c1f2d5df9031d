package learn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// Fixture is a request with the answer of the policy. Some requests come from the record, and a
// rule matches them. The others are similar requests that the policy does not allow.
type Fixture struct {
	Name     string // file name
	Of       *Rule  // the rule that the fixture is for
	What     string // description of the request
	Expected policy.Action
	JSON     []byte
}

// Fixtures returns fixtures for the rules of a learned policy: for recorded calls that the rules
// match, and for similar calls. It leaves out a similar call if some rule allows it.
func (l *Learner) Fixtures(text []byte, rules []*Rule) ([]Fixture, error) {
	p, err := policy.Parse("learned", text, l.o.ParseOptions)
	if err != nil {
		return nil, err
	}
	var all []Fixture
	for i, r := range rules {
		own, ok := r.recordedCall()
		if !ok {
			continue
		}
		add := func(what string, c policy.Call) {
			d := p.Decide(&c)
			if what != "" && d.Action == policy.Allow {
				return
			}
			f := Fixture{Of: r, What: what, Expected: d.Action, JSON: fixtureJSON(&c, d.Action)}
			f.Name = fmt.Sprintf("learned-%03d-%s-%s.json", i+1, plainName(r.Name), f.Expected)
			if what == "" {
				f.What = "as recorded"
			} else {
				f.Name = fmt.Sprintf("learned-%03d-%s-not-%s.json", i+1, plainName(r.Name), plainName(what))
			}
			all = append(all, f)
		}
		add("", own)
		for _, n := range r.neighbourCalls(own) {
			add(n.what, n.call)
		}
	}
	return all, nil
}

// recordedCall returns one of the rule's recorded calls. It leaves out arguments that the rule does
// not name, because they may be long or redacted. It returns false if the rule has no call, or is
// about sampling or elicitation.
func (r *Rule) recordedCall() (policy.Call, bool) {
	if len(r.calls) == 0 {
		return policy.Call{}, false
	}
	s := r.calls[0]
	c := s.call
	var args []member
	for _, m := range s.args {
		if slices.ContainsFunc(r.Conditions, func(c Condition) bool { return c.Arg == m.name }) {
			args = append(args, m)
		}
	}
	c.Args = encodeMembers(args)
	return c, c.Subject != policy.SamplingSubject && c.Subject != policy.ElicitationSubject
}

// neighbour is a call that differs in one point from a call which a rule matches.
type neighbour struct {
	what string
	call policy.Call
}

// neighbourCalls returns the neighbours of a call (the parameter own). The rule matches this call.
func (r *Rule) neighbourCalls(own policy.Call) (all []neighbour) {
	other := own
	other.Server = own.Server + "-other"
	all = append(all, neighbour{"other server", other})
	if r.Subject == policy.ResourceSubject {
		for _, n := range neighbourTexts(r.Name) {
			other := own
			other.Names = []string{n[1]}
			all = append(all, neighbour{n[0], other})
		}
		return all
	}
	other = own
	other.Names = []string{own.Names[0] + "_other"}
	all = append(all, neighbour{"other tool", other})
	for _, c := range r.Conditions {
		for _, n := range neighbourTexts(c.Globs[0]) {
			args := map[string]json.RawMessage{}
			if json.Unmarshal(own.Args, &args) != nil {
				continue
			}
			args[c.Arg], _ = json.Marshal(n[1]) // the error is ignored, because a string can always be encoded
			other := own
			other.Args, _ = json.Marshal(args)
			all = append(all, neighbour{c.Arg + " " + n[0], other})
		}
	}
	return all
}

// neighbourTexts returns pairs of a description and a text. Each text is similar to a text that the
// glob matches.
func neighbourTexts(glob string) [][2]string {
	dir, folder := strings.CutSuffix(strings.TrimRight(glob, "*"), "/")
	switch {
	case strings.HasPrefix(glob, "http") && strings.HasSuffix(glob, "*"):
		host := strings.TrimSuffix(strings.TrimRight(glob, "*"), "/")
		return [][2]string{{"other host", host + ".other.example/"}, {"other scheme", "ftp" + strings.TrimPrefix(strings.TrimPrefix(host, "https"), "http") + "/"}, {"user in front", strings.Replace(host, "://", "://"+host[strings.Index(host, "://")+3:]+"@other.example/", 1)}}
	case folder && strings.HasSuffix(glob, "*"):
		return [][2]string{
			{"sibling folder", dir + "-other/x"}, {"parent", dir[:strings.LastIndexByte(dir, '/')+1] + "x"},
			{"traversal", dir + "/../x"}, {"encoded traversal", dir + "/%2e%2e/x"}, {"keys", dir + "/.ssh/id_ed25519"}, {"environment", dir + "/.env"},
		}
	}
	return [][2]string{{"other value", glob + "-other"}}
}

func fixtureJSON(c *policy.Call, expected policy.Action) []byte {
	params := map[string]any{}
	if c.Subject == policy.ResourceSubject {
		params["uri"] = c.Names[0]
	} else {
		params["name"] = c.Names[0]
		if len(c.Args) > 0 {
			params["arguments"] = json.RawMessage(c.Args)
		}
	}
	var b bytes.Buffer
	doc := json.NewEncoder(&b)
	doc.SetEscapeHTML(false)
	doc.SetIndent("", "  ")
	_ = doc.Encode(struct { // the error is ignored, because strings and parsed JSON can always be encoded
		Server   string         `json:"server"`
		Method   string         `json:"method"`
		Params   map[string]any `json:"params"`
		Finds    []string       `json:"finds,omitempty"`
		Expected string         `json:"expected"`
	}{c.Server, c.Method, params, c.Finds, expected.String()})
	return b.Bytes()
}

// plainName returns a text in a form that is allowed in a file name.
func plainName(s string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, s)
	return strings.Trim(name[:min(len(name), 40)], "-")
}
