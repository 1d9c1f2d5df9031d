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
	Project, Home string // the working folder and the home folder; view.Options describes them
	// Reach lists the scopes of a session answer that allow more than q's call. The most usual
	// scope comes first. If Reach is nil, a session answer allows only q's call.
	Reach func(q gate.Question) []Reach
	// Clients is the table of clients; nil means the result of ListClients.
	Clients []Known

	// tooFast is a time that is too short for a person to read the form and answer. A faster answer
	// comes from a program.
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
	known func() ([]Known, error) // returns the table; called when a person is first asked

	mu        sync.Mutex
	automatic bool // the client has answered faster than a person can
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

// Name returns "elicitation", the channel's name in records and in the configuration.
func (*Form) Name() string { return "elicitation" }

var (
	errNone      = errors.New("the client offers no form of its own")
	errOutOfBand = errors.New("the rule demands an answer past the client")
	errFast      = errors.New("the client answered faster than a person can, so it is not asked in this session")
	errCancelled = errors.New("the form was closed without an answer")
)

// Available returns the reason why the client cannot ask about q; nil if it can.
func (f *Form) Available(_ context.Context, q gate.Question) error {
	_, err := f.formMessage(q)
	return err
}

// formMessage returns the message of the form for q. The error tells why the client cannot ask
// about q.
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

// Ask shows the form and returns the answer. If there is no answer, it returns an error.
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
	case ctx.Err() != nil: // an answer that comes after the end of ctx is not accepted
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

// clientText returns the client's name for the record. Nothing else is known about who answered.
func clientText(c gate.Client) string {
	name, version := c.Name()
	return term.VisibleValue(name) + " " + term.VisibleValue(version)
}

// choice is one answer of the form.
type choice struct {
	word, title string
	reply       gate.Reply
	scope       string // the scope of a session answer; "" for other answers
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

// formSchema returns the JSON schema of the form: one required choice; deny is the default. The
// titles are in enumNames, the notation of MCP 2025-06-18, because older clients do not know newer
// notations.
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

// readChoice returns the choice that the client sent. It returns an error if the text is not
// exactly one of the choices.
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
