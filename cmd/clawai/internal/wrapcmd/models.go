package wrapcmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/httpproxy"
	"github.com/clawai/clawai/cmd/clawai/internal/modelproxy"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/wrap"
	"github.com/clawai/clawai/wrap/client"
)

func modelsFlag() cli.Flag {
	return &cli.BoolFlag{Name: "llm", Usage: "instead of servers, the address of the model of the clients that you name"}
}

// checkModels returns an error for options that cannot be used together with --llm.
func checkModels(c *cli.Context) error {
	for _, name := range []string{"client", "scope", "file", "remote", "hooks", "hub", "vault", "observe"} {
		if c.Bool("llm") && c.IsSet(name) {
			return cmdline.Usagef("--%s does not go with --llm; name the clients: clawai %s --llm CLIENT", name, c.Command.Name)
		}
	}
	return nil
}

// serveModels is the command that must run so that clients with our address can reach their models.
const serveModels = "clawai llm-proxy --wrapped"

// moveModels is the command that gives all clients another port. It is needed if another program
// uses our port.
const moveModels = "clawai wrap --llm --all --listen 127.0.0.1:PORT"

// FindModelFiles returns the files with addresses of models, for the clients on this machine and
// the named clients. It also returns the routes of the owner's proxy. The routes have the real
// addresses.
func (f *Found) FindModelFiles(named ...string) (*wrap.ModelRoutes, []wrap.ModelFile, error) {
	routes, err := wrap.ReadModelRoutes(f.folders.State)
	if err != nil {
		return nil, nil, err
	}
	files, err := f.findLedFiles(routes, named...)
	return routes, files, err
}

// findLedFiles returns the files with addresses of models. They are the files of the clients on
// this machine, of the named clients, and of the clients with a route through clawai.
func (f *Found) findLedFiles(routes *wrap.ModelRoutes, named ...string) ([]wrap.ModelFile, error) {
	rows, err := client.ModelRows()
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if routes.Leads(row.Client) {
			named = append(named, row.Client)
		}
	}
	return wrap.FindModelFiles(f.env, rows, named...), nil
}

// readModels reads the routes and returns the files with addresses of models. If the routes cannot
// be read, unwrap continues, because it needs only the files.
func (r *wrapRun) readModels(named ...string) (files []wrap.ModelFile, err error) {
	r.routes, err = wrap.ReadModelRoutes(r.folders.State)
	if err != nil && r.op == wrap.Unwrap {
		fmt.Fprintf(r.errs, "clawai: %v. The clients' files are enough for unwrap\n", err)
		r.routes, r.routesLost, err = &wrap.ModelRoutes{Upstreams: map[string]string{}}, true, nil
	}
	if err != nil {
		return nil, err
	}
	return r.findLedFiles(r.routes, named...)
}

// modelClients parses names of clients. It accepts the names of the catalogue and the names in
// rules.
func modelClients(names []string) (words []string, err error) {
	rows, err := client.ModelRows()
	if err != nil {
		return nil, err
	}
	var known []string
	for _, row := range rows {
		known = append(known, row.Client)
	}
	for _, name := range names {
		at := slices.IndexFunc(rows, func(row client.ModelRow) bool { return row.Client == name || row.Word == name })
		if at < 0 {
			slices.Sort(known)
			return nil, cmdline.Usagef("%s is not a client whose model clawai can stand before; they are %s", term.VisibleValue(name), strings.Join(known, ", "))
		}
		words = append(words, rows[at].Client)
	}
	return words, nil
}

// planModels plans the changes for --llm.
func (r *wrapRun) planModels() ([]wrap.Change, []error, error) {
	words, err := modelClients(r.selection.Names)
	if err != nil {
		return nil, nil, err
	}
	files, err := r.readModels(words...)
	if err != nil {
		return nil, nil, err
	}
	if err := r.chooseModelAddress(words); err != nil {
		return nil, nil, err
	}
	if len(words) == 0 && !r.all {
		return nil, nil, cmdline.Usagef("%s", r.modelChoices(files))
	}
	files = slices.DeleteFunc(files, func(f wrap.ModelFile) bool {
		return len(words) > 0 && !slices.Contains(words, f.Row.Client) || len(words) == 0 && (!f.Row.Editable() || r.op == wrap.Wrap && f.Err == nil && len(f.Addresses) == 0)
	})
	changes, refused := r.routes.PlanModels(r.op, files, nil)
	if len(changes) == 0 && len(refused) == 0 {
		for _, f := range files {
			state, why := r.routes.ModelState(f)
			fmt.Fprintf(r.prose, "%s: %s\n", f.Row.Name, appendReason(string(state), why))
		}
		fmt.Fprintf(r.prose, "Nothing to %s.\n", r.op)
	}
	return changes, refused, nil
}

// chooseModelAddress sets the address on which the owner's proxy listens, and the secret in that
// address.
func (r *wrapRun) chooseModelAddress(words []string) error {
	if r.op == wrap.Wrap && r.c.IsSet("listen") {
		host, port, err := net.SplitHostPort(r.c.String("listen"))
		if err != nil || !httpproxy.IsLoopback(host) || port == "0" || port == "" {
			return cmdline.Usagef("--listen is ADDRESS:PORT of your proxy on this machine, as in %s", wrap.DefaultModelListen)
		}
		listen := r.c.String("listen")
		if other := r.routes.FindOther(words); other != "" && !r.all && listen != r.routes.Listen {
			return cmdline.Usagef("%s was led to %s and would not reach its model any more; move all clients: clawai wrap --llm --all --listen %s", other, r.routes.Listen, listen)
		}
		r.routes.Listen = listen
	}
	if r.routes.Listen == "" {
		r.routes.Listen = wrap.DefaultModelListen
	}
	if r.routes.Secret == "" {
		r.routes.Secret = rand.Text() // the secret is stored later, together with the other files
	}
	return nil
}

func (r *wrapRun) modelChoices(files []wrap.ModelFile) string {
	var b strings.Builder
	b.WriteString("which client's model? name clients, or take all of them with --all:")
	for _, f := range files {
		if f.Row.Editable() {
			fmt.Fprintf(&b, "\n  clawai %s --llm %s", r.op, f.Row.Client)
		}
	}
	return b.String()
}

// saveModelRoutes stores the routes before any client's file is changed. It locks and reads the
// routes again and repeats the planning, because another clawai may have changed them. The
// parameter shown has the changes that the person has seen. If the new plan differs from them,
// saveModelRoutes returns an error.
func (r *wrapRun) saveModelRoutes(shown []wrap.Change) (changes []wrap.Change, refused []error, err error) {
	unlock, err := wrap.LockModelRoutes(r.folders.State)
	if err != nil {
		return nil, nil, fmt.Errorf("nothing was written: %w", err)
	}
	defer unlock()
	if changes, refused, err = r.planModels(); err != nil {
		return nil, nil, err
	}
	if changes, refused, err = r.dropUnwritable(changes, refused); err != nil {
		return nil, nil, err
	}
	for _, c := range changes {
		if !slices.ContainsFunc(shown, func(s wrap.Change) bool { return s.Real == c.Real && string(s.Before) == string(c.Before) }) {
			return nil, nil, fmt.Errorf("nothing was written, as %s has changed since it was shown; run the command again", r.ShortPath(c.Path))
		}
	}
	if len(changes) == 0 {
		return nil, refused, nil
	}
	err = r.routes.Save(r.folders.State)
	for _, c := range changes {
		for _, e := range c.Edits {
			if err == nil {
				err = wrap.NoteModelSeen(r.folders.State, e.Entry.Name)
			}
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("nothing was written, as the proxy would not know where to lead: %w", err)
	}
	return changes, refused, nil
}

// forgetModelRoutes removes the routes of the clients whose files have got back the address of
// their service.
func (r *wrapRun) forgetModelRoutes(changes []wrap.Change, failed []error) error {
	if r.op != wrap.Unwrap || r.routes == nil || r.routesLost {
		return nil
	}
	var gone []string
	for i, c := range changes {
		for _, e := range c.Edits {
			if c.Model != nil && failed[i] == nil {
				gone = append(gone, e.Entry.Name)
			}
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return wrap.ForgetModelRoutes(r.folders.State, gone)
}

// tellModel prints the change of one address, and what the person must do next.
func (r *wrapRun) tellModel(c wrap.Change) {
	switch {
	case c.Gone:
		fmt.Fprintf(r.prose, "Removed %s, which held nothing but clawai's address (%s).\n", r.ShortPath(c.Path), c.Model.Name)
	case r.op == wrap.Unwrap:
		fmt.Fprintf(r.prose, "%s goes to its model by itself again (%s).\n", c.Model.Name, r.ShortPath(c.Path))
	default:
		fmt.Fprintf(r.prose, "%s goes to its model through clawai (%s).\n", c.Model.Name, r.ShortPath(c.Path))
	}
	r.tellAftercare(c)
}

// tellModelProxy prints how to start the proxy that the clients need now.
func (r *wrapRun) tellModelProxy(failed []error) {
	if r.op != wrap.Wrap || r.routes == nil || !slices.Contains(failed, nil) {
		return
	}
	judge, err := modelproxy.Probe(r.c.Context, r.routes)
	switch {
	case err == nil:
		fmt.Fprintf(r.prose, "clawai llm-proxy runs at %s (--judge %s).\n", r.routes.Listen, judge)
		return
	case errors.Is(err, modelproxy.ErrStranger):
		fmt.Fprintf(r.prose, "At %s %v. Lead the clients to a free port: %s\n", r.routes.Listen, err, moveModels)
		return
	}
	fmt.Fprintf(r.prose, "The model is reached only while this runs, which it does not yet: %s\n", serveModels)
	fmt.Fprintln(r.prose, "It only hears; --judge uncovered makes it judge calls. docs/llm-proxy.md says how to start it with your session.")
}

// ModelStatus is the state of one client's connection to its model.
type ModelStatus struct {
	Client string          `json:"client"`
	Name   string          `json:"name"`
	State  wrap.ModelState `json:"state"`
	Why    string          `json:"why,omitempty"`
	Path   string          `json:"path,omitempty"`
	// Seen is the time of the last request to the proxy. Before the first request, it is the time
	// when the client's file was changed.
	Seen   *time.Time `json:"seen,omitempty"`
	Unseen bool       `json:"unseen,omitempty"`
}

// ModelsStatus is the state of all clients' connections to their models.
type ModelsStatus struct {
	Clients []ModelStatus `json:"clients"`
	Listen  string        `json:"listen,omitempty"` // address of the proxy; "" if no client has a route
	Judge   string        `json:"judge,omitempty"`  // value of --judge of the running proxy
	Stopped string        `json:"stopped,omitempty"`

	stranger bool // another program listens on the proxy's port
}

// NextCommand returns the command after which the clients can reach their models again.
func (s *ModelsStatus) NextCommand() string {
	if s.stranger {
		return moveModels
	}
	return serveModels
}

// unseenAfter is how long a client may work without a request to the proxy before clawai reports
// this.
const unseenAfter = 10 * time.Minute

// FindModels returns the state of all clients' connections to their models.
func (f *Found) FindModels(ctx context.Context) (s ModelsStatus, err error) {
	routes, files, err := f.FindModelFiles()
	if err != nil {
		return s, err
	}
	s.Clients = []ModelStatus{}
	led := len(routes.Upstreams) > 0
	for _, file := range files {
		m := ModelStatus{Client: file.Row.Client, Name: file.Row.Name, Path: file.Path}
		if m.State, m.Why = routes.ModelState(file); m.State == wrap.ModelByHand {
			continue
		}
		if m.State == wrap.ModelLed {
			led = true
			m.Seen, m.Unseen = f.lastSeen(file)
		}
		s.Clients = append(s.Clients, m)
	}
	if !led {
		return s, nil
	}
	s.Listen = routes.Listen
	if s.Judge, err = modelproxy.Probe(ctx, routes); err != nil {
		s.Stopped, s.stranger = err.Error(), errors.Is(err, modelproxy.ErrStranger)
	}
	return s, nil
}

// lastSeen returns the time of a client's last request to the proxy. unseen is true if the client
// has worked in the last day, but more than unseenAfter after its last request.
func (f *Found) lastSeen(file wrap.ModelFile) (seen *time.Time, unseen bool) {
	for _, a := range file.Addresses {
		info, err := os.Stat(wrap.ModelSeenFile(f.folders.State, a.Route))
		if err == nil && (seen == nil || info.ModTime().After(*seen)) {
			at := info.ModTime()
			seen = &at
		}
	}
	var used time.Time
	for _, path := range (client.Row{Paths: file.Row.Used}).FindFiles(f.env) {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(used) {
			used = info.ModTime()
		}
	}
	return seen, seen != nil && time.Since(used) < 24*time.Hour && used.Sub(*seen) > unseenAfter
}

// IsBroken reports whether a client should use the proxy but does not use it or cannot reach it.
func (s *ModelsStatus) IsBroken() bool {
	return s.Stopped != "" || slices.ContainsFunc(s.Clients, func(m ModelStatus) bool { return m.State == wrap.ModelDrifted || m.Unseen })
}

// UnseenText describes a client that has worked without sending its requests to the proxy.
const UnseenText = "it has worked since its requests came here the last time; its sessions of before go to the service directly, and so do those that a setting leads elsewhere"

// printModels writes the state of the clients' connections to their models.
func (p *statusPrinter) printModels(s ModelsStatus) {
	told := slices.ContainsFunc(s.Clients, func(m ModelStatus) bool { return m.State != wrap.ModelBare && m.State != wrap.ModelUnreadable })
	if !told && s.Listen == "" {
		return
	}
	state := "hears"
	switch {
	case s.Stopped != "":
		state = p.paint(cmdline.Red, "not running")
	case s.Judge != "off":
		state = "judges (" + s.Judge + ")"
	}
	fmt.Fprintf(&p.out, "\nThe model's own channel: clawai llm-proxy at %s %s\n", s.Listen, state)
	if s.Stopped != "" {
		p.printParagraph("  ", strings.ToUpper(s.Stopped[:1])+s.Stopped[1:]+". The clients below do not reach their models until it does.")
	}
	for _, m := range s.Clients {
		if m.State == wrap.ModelBare {
			continue
		}
		line := m.Name + ": " + string(m.State)
		if m.Seen != nil {
			line += ", came (or was led) there last at " + m.Seen.Local().Format(time.DateTime)
		}
		if m.Why != "" {
			line += ": " + term.VisibleText(m.Why)
		}
		p.printParagraph("  ", line)
		if m.Unseen {
			p.printParagraph("    ", UnseenText+". Next: start it again; clawai doctor --live "+m.Client)
		}
	}
	if s.Stopped != "" {
		fmt.Fprintln(&p.out, "  Next: "+s.NextCommand())
	}
}
