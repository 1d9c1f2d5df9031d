package proxycmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/authcmd"
	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/cmd/clawai/internal/vaultplace"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/egress"
	"github.com/clawai/clawai/internal/state/oauth"
	"github.com/clawai/clawai/internal/state/vault"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/where/disk"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/hub"
	"github.com/clawai/clawai/proxy/remote"
	"github.com/clawai/clawai/proxy/stdio"
)

// hubOptions lists the options that clawai hub and clawai proxy have in common.
var hubOptions = append(serveOptions, "observe")

// HubCommand returns "clawai hub".
func HubCommand() *cli.Command {
	only := &cli.StringSliceFlag{Name: "only", Usage: "only these servers of config.toml: `ID,ID`; repeat for more"}
	return &cli.Command{
		Name:      "hub",
		Usage:     "serve the MCP servers of config.toml as one, and let through only what the policy allows",
		UsageText: "clawai hub [options]",
		Flags:     append([]cli.Flag{only}, Flags(hubOptions...)...),
		Action:    runHub,
	}
}

// hubRun is one run of a hub. The hub serves the client that started it, or the clients of
// --listen. Each client has separate servers.
type hubRun struct {
	run  *proxyRun
	hub  config.Hub
	only []string // the servers to use; empty for all enabled servers
	all  *session.Sessions

	mu       sync.Mutex           // guards the fields below; after the first session has begun, also hub.Servers
	used     [][]byte             // all values from the vault that servers have got so far
	urls     map[string]string    // latest address of each server, by the server's id
	sessions map[*hubSession]bool // the sessions that must be told when the list of servers changes
}

func runHub(c *cli.Context) error {
	if err := cmdline.NoArguments(c); err != nil {
		return err
	}
	moreProcessors()
	growHeap()
	h := &hubRun{run: &proxyRun{}}
	// The client has started us in its folder. After an error there is no project.
	h.run.spec.Files.Project, _ = os.Getwd()
	if err := h.readSetup(c); err != nil {
		return err
	}
	h.run.spec.Peer = h.hubPeer()
	one, err := session.Open(c.Context, h.run.spec)
	if err != nil {
		return openError(err)
	}
	h.all = one.All
	h.all.Go(h.followConfig)
	tellWaiting(c.App.ErrWriter, "hub", "To put it into a client: clawai wrap --hub CLIENT.")
	err = h.carrySession(h.all.Context(), hub.Options{
		ClientIn: stdio.Stdin(), ClientOut: stdio.Stdout(), ClientGone: stdio.StdoutGone(), Gate: one.Session,
		LongestLine: func(client string) int { return mcp.LongestLine(client, false) },
	})
	one.End(hubEnded, cmdline.ExitOK)
	h.all.CloseServerEnd() // must come after the session, because the session may start servers until its end
	return closeRun(one, err)
}

// readSetup reads the command line and the configured servers. It starts nothing.
func (h *hubRun) readSetup(c *cli.Context) (err error) {
	folders, err := config.ReadFolders()
	if err == nil {
		h.hub, err = config.LoadHub(folders, os.LookupEnv)
	}
	if err != nil {
		return proxyError(err)
	}
	for _, list := range c.StringSlice("only") {
		h.only = append(h.only, strings.Split(list, ",")...)
	}
	if err := h.chooseServers(folders.SettingsFile()); err != nil {
		return err
	}
	o := &h.run.spec
	o.Files.Disk, o.Stderr = h.serverDisk(), os.Stderr
	h.run.here = o.Files.Disk != nil
	o.Prepare = func() (*redact.Known, error) {
		tellUnusable(h.hub.Servers)
		return nil, nil //nolint:nilnil // no value from the vault is known yet
	}
	return h.run.readOptions(c)
}

// tellUnusable tells the owner which servers cannot be started, and why.
func tellUnusable(all []config.Upstream) {
	for _, s := range all {
		if s.Unusable != nil {
			fmt.Fprintf(os.Stderr, "clawai: upstream.%s is not started: %v\n", s.ID, s.Unusable)
		}
	}
}

// chooseServers removes the disabled servers, and the servers that are not in --only.
func (h *hubRun) chooseServers(file string) error {
	for _, id := range h.only {
		if !slices.ContainsFunc(h.hub.Servers, func(s config.Upstream) bool { return s.ID == id }) {
			return cmdline.Usagef("--only: %s has no [upstream.%s]", file, id)
		}
	}
	h.hub.Servers = h.filterServers(h.hub.Servers)
	if len(h.hub.Servers) == 0 {
		return cmdline.Usagef("which servers? write them into %s:\n\n  [upstream.files]\n  command = [\"npx\", \"-y\", \"@modelcontextprotocol/server-filesystem\", \"/a/folder\"]", file)
	}
	return nil
}

func (h *hubRun) filterServers(all []config.Upstream) []config.Upstream {
	return slices.DeleteFunc(all, func(s config.Upstream) bool {
		return s.Disabled && len(h.only) == 0 || len(h.only) > 0 && !slices.Contains(h.only, s.ID)
	})
}

// serverDisk returns the disk of this machine if all servers run on it. Otherwise it returns nil,
// because the disk of a server elsewhere is unknown.
func (h *hubRun) serverDisk() disk.Disk {
	if slices.ContainsFunc(h.hub.Servers, isElsewhere) {
		return nil
	}
	return disk.SystemDisk()
}

func isElsewhere(s config.Upstream) bool { return s.URL != "" || stdio.RunsElsewhere(s.Command) }

// hubEnded is the reason for the end of a hub's session, for the record.
const hubEnded = "all servers of the hub were closed"

// hubPeer describes the hub for the record.
func (h *hubRun) hubPeer() session.Peer {
	h.mu.Lock()
	defer h.mu.Unlock()
	return session.Peer{Guess: "hub", Is: "hub of " + joinIDs(h.hub.Servers), URLs: h.urlOf}
}

// urlOf returns the latest address of the server with this id, or "" if the server is started here.
// It also works after the server was removed from the configuration, because answers may still
// arrive.
func (h *hubRun) urlOf(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.urls[id]
}

// carrySession runs one session of the hub. o has the client and the gate.
func (h *hubRun) carrySession(ctx context.Context, o hub.Options) error {
	over, end := context.WithCancel(context.WithoutCancel(ctx))
	s := &hubSession{guard: o.Gate, over: over.Done(), updates: make(chan []hub.Server)}
	s.open = func(u config.Upstream) (proxy.Upstream, error) { return h.openServer(s.guard, u) }
	s.kept = h.openCatalogue
	o.Version, o.Limits, o.DenyAsError = cmdline.Version, h.run.limits, h.run.asError
	o.PrefixDescriptions, o.ListWait, o.Updates = h.hub.PrefixDescriptions, h.hub.ListWait, s.updates
	o.Servers = s.hubServers(h.addSession(s))
	defer h.removeSession(s)
	defer end()
	return hub.Run(ctx, o)
}

// toolFilter returns a function that reports whether the configuration allows a tool of a server.
func toolFilter(s config.Upstream) func(string) bool {
	among := func(all []*glob.Pattern, tool string) bool {
		return slices.ContainsFunc(all, func(p *glob.Pattern) bool { return p.Match(tool) })
	}
	return func(tool string) bool {
		return (len(s.Tools) == 0 || among(s.Tools, tool)) && !among(s.Hide, tool)
	}
}

// openServer starts a local server, or prepares the connection to a remote server.
func (h *hubRun) openServer(guard *gate.Session, s config.Upstream) (proxy.Upstream, error) {
	note := func(code, text string) {
		_ = guard.NoteEvents(&event.Event{Kind: event.Chatter, Server: s.ID, Code: code, Detail: text})
	}
	if err := h.noteAddress(s); err != nil {
		return nil, err
	}
	if s.URL != "" {
		return h.dialServer(s, note)
	}
	env, used, err := fillEnv(s)
	if err != nil {
		note("start", err.Error())
		return nil, adviseOwner(err, s)
	}
	hidden := h.hideValues(used)
	stderr, given, err := hidden.shareStderr(h.all.Stderr())
	if err != nil {
		return nil, err
	}
	start, err := h.run.planStart(h.all, policyfile.CagedServer{Name: s.ID, Command: s.Command, Dir: s.Dir})
	if err != nil {
		given()
		note("start", err.Error())
		return nil, err
	}
	child, err := stdio.Start(stdio.Options{Args: start.Command, Env: env, Dir: s.Dir, Stderr: stderr, Cage: start.Cage, Refused: noteRefusals(guard, s.ID)})
	given()
	if err == nil {
		err = noteStart(guard, s.ID, start, child)
	}
	if err != nil {
		note("start", err.Error())
		return nil, err
	}
	// The record gets only the program, because an argument may be the value of a hidden variable.
	note("start", "command "+cmdline.Quote(s.Command[:1]))
	return child, nil
}

// noteAddress stores the address of a server. If the server cannot be opened, it returns the reason
// as an error.
func (h *hubRun) noteAddress(s config.Upstream) error {
	if s.Unusable != nil {
		return s.Unusable
	}
	if vault.HasReference(s.URL) || vault.HasReference(s.Dir) {
		return fmt.Errorf("%s is in its url or cwd, where nothing is filled in; put it into its headers or env", vault.Prefix)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.urls == nil {
		h.urls = map[string]string{}
	}
	h.urls[s.ID] = s.URL
	return nil
}

// fillEnv returns the environment of a server, with values from the vault in place of references.
// The result used has these values.
func fillEnv(s config.Upstream) (env []string, used [][]byte, err error) {
	if slices.ContainsFunc(s.Command, vault.HasReference) {
		return nil, nil, fmt.Errorf("%s is in an argument, which every process can read; put it into its env", vault.Prefix)
	}
	resolver := vaultplace.NewResolver(s.ID, s.Command, s.Dir)
	env, err = resolver.FillEnv(serverEnv(s.Env))
	return env, resolver.UsedValues(), err
}

// fillHeader returns the headers of a remote server, with values from the vault in place of
// references. The result used has these values.
func fillHeader(s config.Upstream) (header http.Header, used [][]byte, err error) {
	header = http.Header{}
	for _, name := range slices.Sorted(maps.Keys(s.Header)) {
		one, err := remote.ParseHeaders(name+": ${IT}", func(string) (string, bool) { return s.Header[name], true })
		if err != nil {
			return nil, nil, fmt.Errorf("the header %s: %w", name, err)
		}
		maps.Copy(header, one)
	}
	resolver := vaultplace.NewResolver(s.ID, []string{s.URL}, "")
	err = resolver.FillHeader(header)
	return header, resolver.UsedValues(), err
}

// adviseOwner tells the owner on standard error why the vault refused an entry, and with which
// command the owner lets the server use the entry. This advice has COMMAND in place of the server's
// command, because an argument of that command may be the value of a hidden variable. The client
// and the record get only the returned error, which has no advice.
func adviseOwner(err error, s config.Upstream) error {
	shown := vaultplace.NewResolver(s.ID, s.Command, s.Dir).Server
	if !shown.ReadsFolder() {
		shown.Dir = ""
	}
	shown.Command = nil
	fmt.Fprintf(os.Stderr, "clawai: upstream.%s: %v\n", s.ID, vaultplace.AdviseBinding(err, shown))
	return err
}

// hideValues removes these values from everything that is recorded from now on. It also does this
// for all values that it got before.
func (h *hubRun) hideValues(values [][]byte) (hidden secrets) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.used = append(h.used, values...)
	if len(h.used) == 0 {
		return hidden
	}
	hidden.known = redact.NewKnown(h.used)
	h.all.HideValues(hidden.known)
	return hidden
}

func (h *hubRun) dialServer(s config.Upstream, note func(code, text string)) (proxy.Upstream, error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, errors.New("its url cannot be read; write it like https://host/mcp")
	}
	header, used, err := fillHeader(s)
	if err != nil {
		note("start", err.Error())
		return nil, adviseOwner(err, s)
	}
	h.hideValues(used)
	o := remote.Options{URL: u, Header: header, Limits: h.run.limits, SSE: s.SSE, Note: note, Network: egress.Network{Folders: h.run.spec.Folders}}
	if o.Header.Get("Authorization") == "" {
		o.Credentials = oauth.New(authcmd.SignInOptions(h.run.spec.Folders, u, authcmd.OpenPage))
	}
	return remote.Dial(o)
}

// inherited lists the environment variables that every server gets from us. The servers get no
// other variables, because a variable may be for one server only.
var inherited = strings.Fields("PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TEMP TMP TERM " +
	"SYSTEMROOT WINDIR COMSPEC PATHEXT USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES USERNAME SYSTEMDRIVE " +
	"HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS")

// serverEnv returns the environment of a server: inherited variables, and the variables of its own
// configuration.
func serverEnv(more map[string]string) (env []string) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		upper := strings.ToUpper(name)
		if slices.Contains(inherited, upper) || strings.HasPrefix(upper, "LC_") || strings.HasPrefix(upper, "XDG_") {
			env = append(env, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		env = append(env, name+"="+more[name])
	}
	return env
}
