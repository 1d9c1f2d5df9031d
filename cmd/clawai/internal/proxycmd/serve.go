package proxycmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/vaultplace"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/internal/state/vault"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy/where/disk"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/serve"
	"github.com/clawai/clawai/proxy/stdio"
)

// serveOptions lists the options that clawai serve and clawai proxy have in common.
var serveOptions = strings.Fields("policy layer ask ask-timeout max-frame deny-as redact sync state")

// ServeCommand returns "clawai serve".
func ServeCommand() *cli.Command {
	return &cli.Command{
		Name:      "serve",
		Usage:     "run clawai's own MCP server: the session's status, and credentials that you show to agents",
		UsageText: "clawai serve [options]",
		Flags:     Flags(serveOptions...),
		Action:    runServe,
	}
}

// ownServer is one run of clawai serve, clawai's own MCP server.
type ownServer struct {
	run     *proxyRun
	hide    func(*redact.Known) // keeps the values out of the record
	tally   *tally
	servers []string // names of all servers, with the hub's servers

	mu   sync.Mutex
	used [][]byte // the values that the agent has received so far
}

func runServe(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	s := &ownServer{run: &proxyRun{here: true}, servers: []string{serve.Name}}
	spec := &s.run.spec
	spec.Peer, spec.Files.Disk = session.Peer{Name: serve.Name, Is: "clawai's own server"}, disk.SystemDisk()
	spec.Files.Project, _ = os.Getwd() // the client has started us in its folder
	if err := s.run.readOptions(c); err != nil {
		return err
	}
	// A form of the client would ask on the agent's side, and the agent must not approve its own
	// request for a credential.
	spec.NoForm = true
	var tools config.Serve
	spec.Prepare = func() (_ *redact.Known, err error) {
		tools, err = config.LoadServe(spec.Folders)
		return nil, err
	}
	spec.Through = func(log gate.Recorder) gate.Recorder {
		s.tally = &tally{Recorder: log}
		return s.tally
	}
	one, err := session.Open(c.Context, *spec)
	if err != nil {
		return openError(err)
	}
	s.hide = one.All.HideValues
	tellWaiting(c.App.ErrWriter, "serve", "Give a client an entry with the command clawai and the argument serve.")
	return closeRun(one, s.serveClient(one, tools))
}

// serveClient answers the client until the client ends.
func (s *ownServer) serveClient(one *session.Session, tools config.Serve) error {
	if h, err := config.LoadHub(s.run.spec.Folders, os.LookupEnv); err == nil {
		for _, one := range h.Servers {
			if !one.Disabled {
				s.servers = append(s.servers, one.ID)
			}
		}
	}
	o := serve.Options{Version: cmdline.Version}
	if tools.Status {
		o.Status = s.sessionStatus
	}
	if tools.Vault {
		o.Secret = s.readSecret
	}
	own, err := serve.New(o)
	if err != nil {
		return err
	}
	err = proxy.Run(one.All.Context(), proxy.Options{
		ClientIn: stdio.Stdin(), ClientOut: stdio.Stdout(), ClientGone: stdio.StdoutGone(), Server: own, Gate: one.Session,
		Name: serve.Name, Limits: s.run.limits, DenyAsError: s.run.asError,
	})
	if errors.Is(err, proxy.ErrServerEnded) {
		err = nil
	}
	one.End(own.Status(), cmdline.ExitOK)
	return err
}

// sessionStatus returns what the agent may know about its session. The result contains no rules, no
// facts about other sessions, and no arguments of calls.
func (s *ownServer) sessionStatus(detail string) (any, error) {
	s.tally.mu.Lock()
	defer s.tally.mu.Unlock()
	said := map[string]any{
		"version": cmdline.Version, "source": "mcp", "mode": "serve", "servers": s.servers,
		"policy": s.tally.policy, "labels": s.sessionLabels(), "calls": s.tally.counts,
	}
	if detail == serve.Activity {
		said["recent_activity"] = slices.Clone(s.tally.recent)
	}
	return said, nil
}

// sessionLabels returns the labels of the agent's session.
func (s *ownServer) sessionLabels() []string {
	labels := []string{}
	all, err := flow.ListSessions(s.run.spec.Folders.State)
	if err != nil {
		return append(labels, "unknown")
	}
	keys := flow.CurrentKeys(s.run.spec.Folders.State, session.AgentKeys(s.run.spec.Files.Project), os.Getenv)
	for _, one := range all {
		if !slices.ContainsFunc(append(one.Also, one.Key), func(key string) bool { return slices.Contains(keys, key) }) {
			continue
		}
		for _, seen := range one.Seen {
			if word := fmt.Sprint(seen.Kind); !slices.Contains(labels, word) {
				labels = append(labels, word)
			}
		}
	}
	return labels
}

// errNotShown is also the error for a missing entry, so that the agent cannot find out the names of
// entries.
var errNotShown = errors.New("there is no such credential for agents; the owner says which there are")

// readSecret returns the value of an entry in the vault, if the owner lets agents see this entry.
func (s *ownServer) readSecret(skill, key string) (string, error) {
	name := skill + "." + key
	if strings.Contains(skill, ".") || vault.CheckName(name) != nil {
		return "", errors.New("a skill has letters, digits, _ and -, and a key these and dots")
	}
	store, err := vaultplace.Open()
	if err != nil {
		return "", errors.New("the vault cannot be opened; tell the owner")
	}
	e, err := store.Get(name)
	if errors.Is(err, vault.ErrNone) || err == nil && !e.Reveal {
		return "", errNotShown
	}
	if err != nil {
		return "", errors.New("the vault cannot be read; tell the owner")
	}
	if _, expired := e.ExpiryTime(time.Now()); expired {
		return "", errors.New("it is too old to be used; tell the owner")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.used, func(v []byte) bool { return bytes.Equal(v, e.Value) }) {
		s.used = append(s.used, e.Value)
		s.hide(redact.NewKnown(s.used))
	}
	return string(e.Value), nil
}

// tally is a recorder that also counts the decisions in a session.
type tally struct {
	gate.Recorder
	mu     sync.Mutex // guards the fields below
	policy string     // revision of the policy in force
	counts counts
	recent []callDoc // the latest call first
}

// counts holds the numbers of tool calls by result.
type counts struct {
	Allowed int `json:"allowed"`
	Denied  int `json:"denied"`
	Asked   int `json:"asked"` // each of these calls is also in Allowed or Denied
}

// callDoc is one tool call in the status for the agent.
type callDoc struct {
	Tool     string `json:"tool"`
	Decision string `json:"decision"`
	Record   string `json:"record"`
}

const maxRecent = 20

// Record implements gate.Recorder.
func (t *tally) Record(events ...*event.Event) error {
	if err := t.Recorder.Record(events...); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, ev := range events {
		if ev.Kind == event.Start || ev.Kind == event.Policy && ev.Code == "policy_loaded" {
			if _, revision, ok := strings.Cut(ev.Detail, "revision "); ok {
				t.policy = revision
			}
		}
		if ev.Kind != event.Decision || ev.Method != "tools/call" || len(ev.Names) == 0 {
			continue
		}
		if ev.Decision == "allow" {
			t.counts.Allowed++
		} else {
			t.counts.Denied++
		}
		if ev.WasAsked() {
			t.counts.Asked++
		}
		t.recent = slices.Insert(t.recent, 0, callDoc{strings.Clone(ev.Names[0]), ev.Decision, ev.Record})
		t.recent = t.recent[:min(len(t.recent), maxRecent)]
	}
	return nil
}
