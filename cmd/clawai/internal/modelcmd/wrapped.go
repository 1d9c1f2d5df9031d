package modelcmd

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/clientfiles"
	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/modelproxy"
	"github.com/clawai/clawai/internal/page"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/model"
	"github.com/clawai/clawai/wrap"
	catalogue "github.com/clawai/clawai/wrap/client"
)

// wrappedRun serves the clients whose files contain our address (clawai wrap --llm), until it is
// interrupted. Each agent's session has its own gate.
type wrappedRun struct {
	modelRun
	all   *session.Sessions
	peers *peers
	rows  map[string]*catalogue.ModelRow // rows of the catalogue; the key is ModelRow.Client

	mu     sync.Mutex // guards the fields below
	routes *wrap.ModelRoutes
	read   time.Time // modification time of the file from which routes were read
	agents map[string]*agent
	noted  map[string]time.Time
}

// agent is one session of an agent.
type agent struct {
	session *session.Session
	handler *model.Server
	used    time.Time
	busy    int // number of open requests
}

// maxAgents is the maximum number of sessions in memory. If the session of an agent was dropped,
// the agent's next request gets a new session.
const maxAgents = 64

func runWrapped(c *cli.Context) error {
	if c.NArg() > 0 {
		return cmdline.Usagef("--wrapped serves the clients that clawai wrap --llm has led here; nothing follows --")
	}
	for _, name := range []string{"client", "upstream"} {
		if c.IsSet(name) {
			return cmdline.Usagef("--%s is for a client that is started here; with --wrapped the clients' files say it", name)
		}
	}
	w := &wrappedRun{modelRun: modelRun{judge: c.String("judge")}, agents: map[string]*agent{}, noted: map[string]time.Time{}, rows: map[string]*catalogue.ModelRow{}}
	if err := w.readOptions(c); err != nil {
		return err
	}
	w.folder, w.spec.Files.Project, w.spec.View.Project = "", "", ""
	w.spec.Parent = false
	rows, err := catalogue.ModelRows()
	if err != nil {
		return err
	}
	for i := range rows {
		w.rows[rows[i].Client] = &rows[i]
	}
	if w.routes, err = wrap.ReadModelRoutes(w.spec.Folders.State); err != nil {
		return &cmdline.ExitError{Code: cmdline.ExitFailed, Err: err}
	}
	if len(w.routes.Upstreams) == 0 {
		return cmdline.Usagef("--wrapped: no client was led here yet; do it with: clawai wrap --llm claude-code")
	}
	if w.all, err = session.Listen(c.Context, w.spec); err != nil {
		return exitError(err)
	}
	err = w.serveAgents(c.App.Writer)
	w.closeAgents(func(*agent) bool { return true })
	if closing := w.all.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return exitError(err)
	}
	return nil
}

func (w *wrappedRun) serveAgents(out io.Writer) error {
	listener, err := net.Listen("tcp", w.routes.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen, so your clients do not reach their models: %w; see what runs there, or lead the clients to another port: clawai wrap --llm --all --listen 127.0.0.1:PORT", err)
	}
	w.peers = newPeers(listener.Addr().(*net.TCPAddr).AddrPort())
	server := &http.Server{
		Handler: w, ReadHeaderTimeout: 30 * time.Second,
		BaseContext: func(net.Listener) context.Context { return w.all.Context() },
		ConnState:   w.peers.forget,
	}
	verb := "judges the calls of"
	if w.judge == "off" {
		verb = "hears"
	}
	fmt.Fprintf(cmdline.ProseWriter(out), "clawai llm-proxy %s your clients at %s. Stop it with Ctrl-C; until it runs again they do not reach their models.\n", verb, w.routes.Listen)
	return page.Serve(w.all.Context(), server, listener)
}

// ServeHTTP finds the session of the request's agent, and passes the request to the handler of that
// session.
func (w *wrappedRun) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	routes := w.currentRoutes()
	if modelproxy.AnswerProbe(out, r, routes.Secret, w.judge) {
		return
	}
	parts := strings.SplitN(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/", 5)
	if len(parts) < 4 || parts[0] != catalogue.LedWord() || !modelproxy.SameText(parts[1], routes.Secret) {
		http.Error(out, "clawai: there is nothing here", http.StatusNotFound)
		return
	}
	route := parts[2]
	service := routes.Upstreams[route]
	id, _, _ := strings.Cut(route, ".")
	row := w.rows[id]
	if service == "" || row == nil {
		http.Error(out, "clawai: no service is known for "+id+"; run: clawai wrap --llm "+id, http.StatusNotFound)
		return
	}
	to, err := catalogue.ParseService(service)
	if err != nil {
		http.Error(out, "clawai: "+err.Error(), http.StatusBadGateway)
		return
	}
	if catalogue.LeadsToUs(to, w.peers.own.String()) {
		http.Error(out, "clawai: the service of "+id+" would be clawai itself; run: clawai unwrap --llm "+id+", write the service's address into its file, and run: clawai wrap --llm "+id, http.StatusBadGateway)
		return
	}
	a, err := w.findAgent(r, row, route, to, strings.Join(parts[:4], "/"))
	if err != nil {
		http.Error(out, "clawai: the session cannot begin: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.noteSeen(route)
	defer w.leaveAgent(a)
	a.handler.ServeHTTP(out, r)
}

// currentRoutes returns the routes. If their file has changed, it reads the file again.
func (w *wrappedRun) currentRoutes() *wrap.ModelRoutes {
	w.mu.Lock()
	defer w.mu.Unlock()
	state := w.spec.Folders.State
	info, err := os.Stat(wrap.ModelRoutesFile(state))
	if err != nil || info.ModTime().Equal(w.read) {
		return w.routes
	}
	if now, err := wrap.ReadModelRoutes(state); err == nil && now.Secret != "" {
		w.routes, w.read = now, info.ModTime()
	}
	return w.routes
}

// noteSeen stores that a client has sent a request on a route. It does this at most once a minute.
func (w *wrappedRun) noteSeen(route string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.noted[route]) > time.Minute {
		w.noted[route] = time.Now()
		// Only clawai status reads this note, so an error does not matter.
		_ = wrap.NoteModelSeen(w.spec.Folders.State, route)
	}
}

// findAgent returns the agent's session to which a request belongs. It finds the session by the id
// in the request, or else by the process that has connected. The session's folder is the work
// folder of that process.
func (w *wrappedRun) findAgent(r *http.Request, row *catalogue.ModelRow, route string, to *url.URL, prefix string) (*agent, error) {
	pid := w.peers.find(r.RemoteAddr).pid
	key := model.SessionOf(r.Header)
	var keys []string
	switch {
	case key != "":
		keys = []string{flow.IDKey(key)}
	case pid != 0:
		if own := flow.ProcessKey(pid); own != "" {
			keys, key = []string{own}, own
		}
	}
	if keys == nil { // requests without an id and without a process share one session
		keys = flow.OwnKeys()
	}
	folder, hooks := describeProcess(row.Word, pid)
	key = strings.Join([]string{route, to.String(), prefix, key, folder, fmt.Sprint(hooks)}, " ")
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.agents[key]
	if a == nil {
		w.dropOldest()
		var err error
		if a, err = w.openAgent(row, to, prefix, keys, folder, hooks); err != nil {
			return nil, err
		}
		w.agents[key] = a
	}
	a.used = time.Now()
	a.busy++
	return a, nil
}

// describeProcess returns the work folder of a client's process. hooks is false if the options or
// the environment of the process switch off the client's hooks. The parameter without has the words
// that clawai has added to the command; describeProcess ignores them. If the process cannot be
// examined, folder is "" and hooks is false.
func describeProcess(id string, pid int, without ...string) (folder string, hooks bool) {
	if pid == 0 {
		return "", false
	}
	proc := filepath.Join("/proc", fmt.Sprint(pid))
	folder, err := os.Readlink(filepath.Join(proc, "cwd"))
	command, failed := os.ReadFile(filepath.Join(proc, "cmdline"))
	env, hidden := os.ReadFile(filepath.Join(proc, "environ"))
	if err != nil || failed != nil || hidden != nil {
		return "", false
	}
	words := "\x00" + string(command)
	if len(without) > 0 {
		words = strings.Replace(words, "\x00"+strings.Join(without, "\x00")+"\x00", "\x00", 1)
	}
	return folder, !changesHooks(id, strings.Split(words, "\x00"), strings.Split(string(env), "\x00"))
}

func (w *wrappedRun) leaveAgent(a *agent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a.busy--
}

// dropOldest closes one session if there are too many: the one that was not used for the longest
// time and has no open request.
func (w *wrappedRun) dropOldest() {
	var key string
	for k, a := range w.agents {
		if a.busy == 0 && (key == "" || a.used.Before(w.agents[key].used)) {
			key = k
		}
	}
	if len(w.agents) >= maxAgents && key != "" {
		w.agents[key].end()
		delete(w.agents, key)
	}
}

func (a *agent) end() {
	a.session.End("no longer used", cmdline.ExitOK)
	_ = a.session.Close() // the record stays open, because all sessions share it
}

func (w *wrappedRun) closeAgents(which func(*agent) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, a := range w.agents {
		if which(a) {
			a.end()
			delete(w.agents, key)
		}
	}
}

func (w *wrappedRun) openAgent(row *catalogue.ModelRow, to *url.URL, prefix string, keys []string, folder string, hooks bool) (*agent, error) {
	one, err := w.all.OpenAgent(session.Peer{Name: row.Word, Is: "model channel of " + row.Word}, keys...)
	if err != nil {
		return nil, err
	}
	hook := client.FindRow(row.Word)
	o := w.options(one, hook, to, prefix, w.peers)
	o.Cwd, o.Covers = folder, newCovers(hook, folder, hooks, w.peers)
	o.Servers = func() (owners, others []string) { return clientfiles.ListServers(hook, folder) }
	return &agent{session: one, handler: model.NewServer(o)}, nil
}
