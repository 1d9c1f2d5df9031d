package proxycmd

import (
	"context"
	"fmt"
	"os"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/cage"
	"github.com/clawai/clawai/internal/cage/clienttable"
	"github.com/clawai/clawai/internal/cage/hosts"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/proxy/stdio"
)

// planStart returns how clawai starts a server, under the policy in force and with the sandbox in
// the client's file.
func (p *proxyRun) planStart(all *session.Sessions, server policyfile.CagedServer) (policyfile.Start, error) {
	s, err := policyfile.PlanStartBy(all.Policy(), p.spec.Folders, server)
	name := server.Name
	switch {
	case err != nil && name == "":
		return s, fmt.Errorf("the server is not started: %w", err)
	case err != nil:
		return s, fmt.Errorf("the server %q is not started: %w", name, err)
	case s.Cage != nil:
		tellOwner(name, s.Cage.Notes) // before the start, because the start may fail for the same reasons
	}
	return s, nil
}

// readClientSandbox checks and stores the client's own sandbox. wrap has copied this sandbox from
// the client's file. A rule that cannot be read is an error, because the sandbox would be weaker
// without it.
func (p *proxyRun) readClientSandbox(words []string) error {
	if len(words) == 0 {
		return nil
	}
	if p.remote != nil {
		return cmdline.Usagef("--client-sandbox is about a server that is started here, and this one has an address")
	}
	if _, err := clienttable.Read(words); err != nil {
		return cmdline.Usagef("--client-sandbox: %w; correct the sandbox in the client's file, then: clawai wrap", err)
	}
	p.clientSandbox = words
	return nil
}

// noteStart records the installation that was started instead of a launcher, and the server's cage.
// It tells the owner which parts of the cage are weaker than the policy demands. If the record
// cannot be written, noteStart ends the server.
func noteStart(guard *gate.Session, name string, s policyfile.Start, child *stdio.Child) (err error) {
	note := func(code, text string) {
		if err == nil {
			err = guard.NoteEvents(&event.Event{Kind: event.Chatter, Server: name, Code: code, Detail: text})
		}
	}
	if s.Files != nil {
		note("installed", s.Files.Package+"@"+s.Files.Version+" is started in place of "+s.Files.Launcher)
	}
	if s.Passed != "" {
		tellOwner(name, []string{s.Passed})
		note("not-installed", s.Passed)
	}
	if s.Cage != nil {
		tellOwner(name, child.Cage().Weaker)
		note("sandbox", cage.Describe(s.Cage, child.Cage()))
	}
	if err != nil {
		ended, end := context.WithCancel(context.Background())
		end()
		_ = child.Close(ended)
	}
	return err
}

// noteRefusals returns a function that records a host that the server's sandbox has refused. If the
// record cannot be written, the function only tells the owner, because the sandbox has already
// refused the host.
func noteRefusals(guard *gate.Session, name string) func(hosts.Refusal) {
	return func(r hosts.Refusal) {
		err := guard.NoteEvents(&event.Event{Kind: event.Chatter, Server: name, Code: hosts.EventCode, Detail: r.Detail()})
		if err != nil {
			tellOwner(name, []string{"a refused host is not in the record: " + err.Error()})
		}
	}
}

func tellOwner(name string, notes []string) {
	for _, text := range notes {
		fmt.Fprintf(os.Stderr, "clawai: sandbox of %s: %s\n", name, term.VisibleText(text))
	}
}
