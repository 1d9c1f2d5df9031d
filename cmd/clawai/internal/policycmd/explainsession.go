package policycmd

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
)

// inSession is a stored session of an agent. It also has the effect of the session's labels on a
// call, which adds to the decision of the rules.
type inSession struct {
	flow.Shown
	Counted int    `json:"counted"` // number of calls that limits have counted so far
	Granted int    `json:"granted"` // number of calls that a person has allowed until the session ends
	Level   string `json:"level,omitempty"`
	// Then is the action that Level requires for a call that the rules do not deny.
	Then string `json:"then,omitempty"`
	Why  string `json:"why,omitempty"`

	state string
}

// sessionFlag returns the session of --session, or nil without this flag.
func sessionFlag(c *cli.Context) (*inSession, error) {
	name := c.String("session")
	if !c.IsSet("session") {
		return nil, nil //nolint:nilnil // the flag is not set
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return nil, err
	}
	all, err := flow.ListSessions(folders.State)
	if err != nil {
		return nil, err
	}
	named := func(key string) bool {
		_, id, _ := strings.Cut(key, ":")
		return key == name || id == name
	}
	for _, one := range all {
		if !named(one.Key) && !slices.ContainsFunc(one.Also, named) {
			continue
		}
		s := &inSession{Shown: one, state: folders.State}
		s.Counted, s.Granted, err = one.TallyCalls(folders.State, time.Now())
		return s, err
	}
	return nil, cmdline.Usagef("there is no session %q that has seen anything; clawai status lists them", name)
}

// markCalls marks calls as calls of this session, so that rules about labels can match.
func (s *inSession) markCalls(calls []policy.Call) {
	var words []string
	for _, one := range s.Seen {
		words = append(words, one.Kind)
	}
	seen, _ := policy.SeenOf(words)
	for i := range calls {
		calls[i].Seen = seen
	}
}

// weighCalls sets Level to the flow level of the policy. It sets Then and Why to what this level
// requires for the calls.
func (s *inSession) weighCalls(p *policy.Policy, server string, calls []policy.Call, decided policy.Action) {
	s.Level = p.FlowLevel().String()
	if p.FlowLevel() == policy.Off || decided == policy.Deny || len(calls) == 0 {
		return
	}
	one := flow.New(s.state, []string{s.Key})
	defer one.Close()
	one.ListenKeys(s.Also...)
	action, _, why := one.NewServer(server, "", func() *flow.Known { return nil }, p).Judge(calls)
	s.Then, s.Why = action.String(), why
}

// writeSession prints the session. The decision about a call comes after it in the output.
func (s *inSession) writeSession(w io.Writer) {
	fmt.Fprintf(w, "session %s", term.VisibleText(s.Key))
	if len(s.Also) > 0 {
		fmt.Fprintf(w, ", also %s", term.VisibleText(strings.Join(s.Also, ", ")))
	}
	fmt.Fprintln(w)
	for _, one := range s.Seen {
		fmt.Fprintf(w, "  %-9s  %s, %s\n", one.Kind, term.VisibleText(one.Source), one.At.Local().Format(time.DateTime))
	}
	if len(s.Seen) == 0 {
		fmt.Fprintln(w, "  has seen nothing that is labelled")
	}
	fmt.Fprintf(w, "  %s by limits, %s until it ends\n",
		cmdline.CountText(s.Counted, "1 call is counted", "%d calls are counted"), cmdline.CountText(s.Granted, "1 call is allowed", "%d calls are allowed"))
}

func (s *inSession) writeThen(w io.Writer) {
	switch {
	case s.Then == "":
	case s.Why == "":
		fmt.Fprintf(w, "[flow] level %q: nothing to add\n", s.Level)
	default:
		fmt.Fprintf(w, "[flow] level %q: %s, %s\n", s.Level, s.Then, term.VisibleText(s.Why))
	}
}
