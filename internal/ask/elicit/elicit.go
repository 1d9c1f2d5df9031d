package elicit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/ask/view"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/term"
)

// Options configure New.
type Options struct {
	Project, Home string // for finding what needs care; see view.Options
	// Reach lists the possible scopes of a session answer beyond q's call, the most sensible
	// first; nil: only the call.
	Reach func(q gate.Question) []Reach
	// Clients is the table of clients; nil: ListClients().
	Clients []Known

	// tooFast is a time in which no person can read and answer.
	tooFast time.Duration
}

// Reach is one possible scope of a session answer.
type Reach struct {
	Scope string // the word of the scope
	Title string // what it allows
}

// Form is the channel for one session. It is safe for concurrent use.
type Form struct {
	o     Options
	known func() ([]Known, error) // read when a person is first asked

	mu        sync.Mutex
	automatic bool // this client answered faster than a person can
}

// New returns the channel.
func New(o Options) *Form {
	if o.tooFast == 0 {
		o.tooFast = 400 * time.Millisecond
	}
	known := func() ([]Known, error) { return o.Clients, nil }
	if o.Clients == nil {
		known = sync.OnceValues(ListClients)
	}
	return &Form{o: o, known: known}
}

// Name returns the word for records and configuration.
func (*Form) Name() string { return "elicitation" }

var (
	errNone      = errors.New("the client offers no form of its own")
	errOutOfBand = errors.New("the rule demands an answer past the client")
	errFast      = errors.New("the client answered faster than a person can, so it is not asked in this session")
	errCancelled = errors.New("the form was closed without an answer")
)

// Available returns the reason why the client cannot be asked about q; nil when it can.
func (f *Form) Available(_ context.Context, q gate.Question) error {
	_, err := f.formMessage(q)
	return err
}

// formMessage returns the message for q, if q may be asked here.
func (f *Form) formMessage(q gate.Question) (string, error) {
	switch {
	case q.Client == nil:
		return "", errNone
	case q.Rule.OutOfBand:
		return "", errOutOfBand
	case f.isAutomatic():
		return "", errFast
	}
	name, version := q.Client.Name()
	all, err := f.known()
	if err != nil {
		return "", err
	}
	known := findClient(all, name, version)
	if known != nil && known.Use != Routine {
		return "", fmt.Errorf("%s %s", known.Title, known.Why)
	}
	v, err := view.NewQuestion(q.Calls, view.Options{Server: q.Server, Why: q.Why, Reply: q.Reply, Project: f.o.Project, Home: f.o.Home, Preview: q.Preview, Brief: true})
	if err != nil {
		return "", err
	}
	if known != nil && len(v.Dangers) > 0 {
		return "", fmt.Errorf("the call needs care (%s), and of %s it is known: %s", v.Dangers[0], known.Title, known.Why)
	}
	return renderMessage(v, q)
}

// Ask shows the form. An error means that there is no answer.
func (f *Form) Ask(ctx context.Context, q gate.Question) (gate.Answer, error) {
	a := gate.Answer{Digest: q.Digest, Channel: f.Name()}
	if ctx.Err() != nil {
		return a, context.Cause(ctx)
	}
	text, err := f.formMessage(q)
	if err != nil {
		return a, err
	}
	choices := f.choicesFor(q)
	sent := time.Now()
	got, err := q.Client.Elicit(ctx, text, formSchema(choices))
	switch {
	case err != nil:
		return a, err
	case ctx.Err() != nil: // an answer after the end of ctx is too late
		return a, context.Cause(ctx)
	case time.Since(sent) < f.o.tooFast:
		f.mu.Lock()
		f.automatic = true
		f.mu.Unlock()
		return a, errFast
	}
	a.By = clientText(q.Client)
	said, err := readChoice(got, choices)
	a.Reply, a.Scope = said.reply, said.scope
	return a, err
}

func (f *Form) isAutomatic() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.automatic
}

// clientText names the source of an answer: only the client is known.
func clientText(c gate.Client) string {
	name, version := c.Name()
	return term.VisibleValue(name) + " " + term.VisibleValue(version)
}

// choice is one answer of the form.
type choice struct {
	word, title string
	reply       gate.Reply
	scope       string // for a session answer
}

func (f *Form) choicesFor(q gate.Question) []choice {
	cs := []choice{{"deny", "Deny", gate.DenyOnce, ""}, {"once", "Allow once", gate.AllowOnce, ""}}
	if !q.Session {
		return cs
	}
	if f.o.Reach != nil {
		for _, r := range f.o.Reach(q) {
			cs = append(cs, choice{"session_" + r.Scope, "Until the session ends: " + escapeMarkup(term.VisibleText(r.Title)), gate.AllowSession, r.Scope})
		}
	}
	return append(cs, choice{"session", "Allow this call until the session ends", gate.AllowSession, ""})
}

// formSchema returns the form: one required choice, with deny preset. enumNames is the notation
// for enum titles since MCP 2025-06-18; older clients do not know newer notations.
func formSchema(cs []choice) []byte {
	type enum struct {
		Type      string   `json:"type"`
		Title     string   `json:"title"`
		Enum      []string `json:"enum"`
		EnumNames []string `json:"enumNames"`
		Default   string   `json:"default"`
	}
	answer := enum{Type: "string", Title: "Let it through?", Default: cs[0].word}
	for _, c := range cs {
		answer.Enum, answer.EnumNames = append(answer.Enum, c.word), append(answer.EnumNames, c.title)
	}
	out, err := json.Marshal(map[string]any{
		"type": "object", "properties": map[string]enum{"answer": answer}, "required": []string{"answer"},
	})
	if err != nil {
		panic(err) // does not happen: strings can always be encoded
	}
	return out
}

// readChoice returns the person's choice, if it is exactly one of the choices.
func readChoice(got gate.Elicited, cs []choice) (choice, error) {
	switch got.Action {
	case "decline":
		return choice{}, nil
	case "cancel":
		return choice{}, errCancelled
	case "accept":
	default:
		return choice{}, fmt.Errorf("the client answered %q", got.Action)
	}
	var content map[string]json.RawMessage
	var word string
	if json.Unmarshal(got.Content, &content) == nil && len(content) == 1 && json.Unmarshal(content["answer"], &word) == nil {
		for _, c := range cs {
			if c.word == word {
				return c, nil
			}
		}
	}
	return choice{}, errors.New("the client's answer is not one of the choices offered")
}
