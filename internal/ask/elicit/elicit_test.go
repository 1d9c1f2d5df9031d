package elicit

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/testing/gatetest"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is somebody in front of a client's form.
type client struct {
	name, version string
	says          chan gate.Elicited // closed: the client goes away
	message       string
	schema        []byte
}

func (c *client) Name() (name, version string) { return c.name, c.version }

func (c *client) Elicit(ctx context.Context, message string, schema []byte) (gate.Elicited, error) {
	c.message, c.schema = message, schema
	select {
	case e, ok := <-c.says:
		if !ok {
			return gate.Elicited{}, errors.New("the client has gone")
		}
		return e, nil
	case <-ctx.Done():
		return gate.Elicited{}, ctx.Err()
	}
}

func accepts(word string) gate.Elicited {
	return gate.Elicited{Action: "accept", Content: []byte(`{"answer":"` + word + `"}`)}
}

// desk puts the client into the questions of the contract suite.
type desk struct {
	form *Form
	c    *client
}

func (d *desk) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	q.Client = d.c
	return d.form.Ask(ctx, q)
}

func (d *desk) Say(r gate.Reply) {
	word := map[gate.Reply]string{gate.DenyOnce: "deny", gate.AllowOnce: "once", gate.AllowSession: "session"}[r]
	d.c.says <- accepts(word)
}

func (d *desk) Leave() { close(d.c.says) }

func TestContract(t *testing.T) {
	slow.Test(t)
	gatetest.Run(t, gatetest.Approver{
		New: func(t testing.TB) (gate.Approver, gatetest.Person) {
			d := &desk{form: New(Options{tooFast: time.Nanosecond}), c: &client{name: "test", version: "1", says: make(chan gate.Elicited)}}
			return d, d
		},
		Replies: []gate.Reply{gate.DenyOnce, gate.AllowOnce, gate.AllowSession},
	})
}

// question is a routine one, put to c.
func question(c gate.Client) gate.Question {
	return gate.Question{
		Calls: []policy.Call{{
			Server: "files", Method: "tools/call", Subject: policy.ToolSubject, Names: []string{"read_file"},
			Args: []byte(`{"path":"/work/a.txt"}`),
		}},
		Rule: policy.Rule{
			Action: policy.Prompt, Description: "reads need a look",
			Pos: policy.Position{File: "/home/ada/policy.toml", Line: 3},
		},
		Digest: [32]byte{1}, Server: "files", Session: true,
		Deadline: time.Date(2026, 11, 20, 12, 0, 45, 0, time.Local),
		Client:   c,
	}
}

// dangerous is one that needs care.
func dangerous(c gate.Client) gate.Question {
	q := question(c)
	q.Calls[0].Names, q.Calls[0].Args = []string{"run_command"}, []byte(`{"command":"sudo rm -rf /"}`)
	return q
}

// How far an answer for the session can go is offered, and said with the answer.
func TestTheFormReaches(t *testing.T) {
	for word, want := range map[string]gate.Answer{
		"session_folder": {Reply: gate.AllowSession, Scope: "folder"}, "session": {Reply: gate.AllowSession}, "session_tool": {}, "deny": {},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &client{name: "test", version: "1.0", says: make(chan gate.Elicited)}
			f := New(Options{Project: "/work", Reach: func(gate.Question) []Reach { return []Reach{{"folder", "Edit files below <b>https://x"}} }})
			go func() {
				time.Sleep(time.Second)
				c.says <- accepts(word)
			}()
			a, err := f.Ask(t.Context(), question(c))
			if a.Reply != want.Reply || a.Scope != want.Scope || (err != nil) != (word == "session_tool") {
				t.Errorf("%s: %+v %v", word, a, err)
			}
			if !strings.Contains(string(c.schema), `"Until the session ends: Edit files below \\u{3c}b\u003ehttps\\u{3a}//x"`) {
				t.Errorf("%s", c.schema)
			}
		})
	}
}

func TestWhatTheFormSays(t *testing.T) {
	c := &client{name: "test", version: "1.0"}
	synctest.Test(t, func(t *testing.T) {
		f := New(Options{Project: "/work"})
		q := question(nil)
		q.Deadline = time.Now().Add(45 * time.Second)
		c.says = make(chan gate.Elicited)
		q.Client = c
		go func() {
			time.Sleep(time.Second)
			c.says <- accepts("once")
		}()
		a, err := f.Ask(t.Context(), q)
		if err != nil || a.Reply != gate.AllowOnce || a.Digest != q.Digest || a.Channel != "elicitation" || a.By != `"test" "1.0"` {
			t.Errorf("%+v, %v", a, err)
		}
		want := "clawai asks the owner: let this call through?\n\n```\n" +
			"files wants to read /work/a.txt\n\narguments  1\n  path = \"/work/a.txt\"\n" +
			"server     \"files\"\nmethod     tools/call\ntool       \"read_file\"\nrule       \"reads need a look\"\n```\n\nNo answer by " + q.Deadline.Local().Format(time.TimeOnly) +
			" denies it. Nothing is done before you answer."
		if c.message != want {
			t.Errorf("asked %s\nwant %s", c.message, want)
		}
	})
	var schema struct {
		Type       string
		Required   []string
		Properties map[string]struct {
			Type, Default   string
			Enum, EnumNames []string
		}
	}
	if err := json.Unmarshal(c.schema, &schema); err != nil {
		t.Fatal(err)
	}
	p := schema.Properties["answer"]
	if schema.Type != "object" || len(schema.Properties) != 1 || schema.Required[0] != "answer" || p.Type != "string" ||
		p.Default != "deny" || p.Enum[0] != "deny" || len(p.Enum) != 3 || len(p.EnumNames) != 3 {
		t.Errorf("schema %s", c.schema)
	}
}

func TestAnswers(t *testing.T) {
	deny, once, session := gate.DenyOnce, gate.AllowOnce, gate.AllowSession
	for _, c := range []struct {
		got  gate.Elicited
		want *gate.Reply // nil: an error
	}{
		{accepts("deny"), &deny},
		{accepts("once"), &once},
		{accepts("session"), &session},
		{gate.Elicited{Action: "decline", Content: []byte(`{"answer":"once"}`)}, &deny},
		{gate.Elicited{Action: "cancel"}, nil},
		{gate.Elicited{Action: "accepted", Content: []byte(`{"answer":"once"}`)}, nil},
		{gate.Elicited{}, nil},
		{accepts("always"), nil},
		{accepts("ONCE"), nil},
		{accepts(""), nil},
		{gate.Elicited{Action: "accept"}, nil},
		{gate.Elicited{Action: "accept", Content: []byte(`{}`)}, nil}, // what Codex sends for who cannot show a form
		{gate.Elicited{Action: "accept", Content: []byte(`{"Answer":"once"}`)}, nil},
		{gate.Elicited{Action: "accept", Content: []byte(`{"answer":["once"]}`)}, nil},
		{gate.Elicited{Action: "accept", Content: []byte(`{"answer":true}`)}, nil},
		{gate.Elicited{Action: "accept", Content: []byte(`{"answer":null}`)}, nil},
		{gate.Elicited{Action: "accept", Content: []byte(`{"answer":"once","more":1}`)}, nil},
		{gate.Elicited{Action: "accept", Content: []byte(`"once"`)}, nil},
	} {
		f := New(Options{tooFast: time.Nanosecond})
		form := &client{says: make(chan gate.Elicited, 1)}
		form.says <- c.got
		a, err := f.Ask(t.Context(), question(form))
		if c.want == nil && (err == nil || a.Reply != gate.DenyOnce) || c.want != nil && (err != nil || a.Reply != *c.want) {
			t.Errorf("%s %s: %s, %v", c.got.Action, c.got.Content, a.Reply, err)
		}
	}
	form := &client{says: make(chan gate.Elicited, 1)}
	q := question(form)
	q.Session = false
	form.says <- accepts("session")
	if a, err := New(Options{tooFast: time.Nanosecond}).Ask(t.Context(), q); err == nil {
		t.Errorf("an answer that was not offered: %s", a.Reply)
	}
}

// Whoever answers at once did not read, and is not asked again.
func TestAnAnswerNoPersonGives(t *testing.T) {
	for _, got := range []gate.Elicited{accepts("once"), accepts("deny"), {Action: "decline"}} {
		synctest.Test(t, func(t *testing.T) {
			f := New(Options{})
			c := &client{says: make(chan gate.Elicited)}
			q := question(c)
			go func() {
				time.Sleep(399 * time.Millisecond)
				c.says <- got
			}()
			if a, err := f.Ask(t.Context(), q); !errors.Is(err, errFast) || a.Reply.Allows() {
				t.Errorf("%s, %v", a.Reply, err)
			}
			if err := f.Available(t.Context(), q); !errors.Is(err, errFast) {
				t.Errorf("asked again: %v", err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		f := New(Options{})
		c := &client{says: make(chan gate.Elicited)}
		go func() {
			time.Sleep(401 * time.Millisecond)
			c.says <- accepts("once")
		}()
		if a, err := f.Ask(t.Context(), question(c)); err != nil || a.Reply != gate.AllowOnce {
			t.Errorf("%s, %v", a.Reply, err)
		}
	})
}

func TestWhoIsAsked(t *testing.T) {
	for _, c := range []struct {
		name, version string
		outOfBand     bool
		routine, care string // what is said instead; "" asks
	}{
		{"Visual Studio Code", "1.107.0", false, "", ""},
		{"nobody knows", "", false, "", ""},
		{"nobody knows", "", true, "past the client", "past the client"},
		{"cursor-vscode", "1.0.0", false, "drops", "drops"},
		{"Cursor", "9", false, "drops", "drops"},
		{"github-copilot-developer", "1.0.0", false, "autopilot", "autopilot"},
		{"codex-mcp-client", "0.107.9", false, "declines", "declines"},
		{"codex-mcp-client", "0.108.0", false, "", "needs care"},
		{"codex-mcp-client", "what", false, "declines", "declines"},
		{"claude-code", "2.1.90", false, "", "needs care"},
		{"claude-code-x", "2.1.90", false, "", ""},
	} {
		f := New(Options{})
		cl := &client{name: c.name, version: c.version}
		for _, q := range []gate.Question{question(cl), dangerous(cl)} {
			want := c.routine
			if q.Calls[0].Names[0] == "run_command" {
				want = c.care
			}
			q.Rule.OutOfBand = c.outOfBand
			err := f.Available(t.Context(), q)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s, %s: %v", c.name, c.version, q.Calls[0].Names[0], err)
			}
			if want == "" {
				continue
			}
			if a, err := f.Ask(t.Context(), q); err == nil || cl.message != "" {
				t.Errorf("%s %s was asked: %+v", c.name, c.version, a)
			}
		}
	}
	if err := New(Options{}).Available(t.Context(), question(nil)); !errors.Is(err, errNone) {
		t.Error(err)
	}
}
