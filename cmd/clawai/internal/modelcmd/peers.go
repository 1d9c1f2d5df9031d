package modelcmd

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/proxy/hook/client"
)

// peers identifies the processes that connect to us. A client may start another program, such as a
// script with its own agent. That program inherits our address, but it does not run the client's
// hooks.
type peers struct {
	own netip.AddrPort // the address on which we listen

	mu      sync.Mutex          // guards the fields below; the method start locks it until root is known
	root    string              // key of the process that we have started; "" for none
	words   []string            // the words with our address in that process's command
	all     map[string]peer     // the connected processes, by their end of the connection
	clients map[string][]string // the programs of processes that no client has started; the key of the map is the process's key
}

// peer is one process that has connected.
type peer struct {
	pid     int      // 0 if it is not known
	program []string // the result of readProgram
	nested  bool     // a client has started this process, but the process runs another program than the client
	started bool     // it is the process that we have started, or a child of that process
}

func newPeers(own netip.AddrPort) *peers {
	return &peers{own: own, all: map[string]peer{}, clients: map[string][]string{}}
}

// find returns the process that has connected from an address.
func (p *peers) find(address string) peer {
	p.mu.Lock()
	one, known := p.all[address]
	p.mu.Unlock()
	if known {
		return one
	}
	if from, err := netip.ParseAddrPort(address); err == nil {
		one.pid = flow.FindPeer(from, p.own) // without the lock, because FindPeer searches all processes
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one.program = readProgram(one.pid)
	one.nested = p.isNested(&one)
	p.all[address] = one
	return one
}

// isOther reports whether another program than the client has connected from an address. A process
// may no longer descend from the client, for example a daemon. Then isOther looks at the file of
// its program. If the system does not show processes, it returns false.
func (p *peers) isOther(address string, row *client.Row) bool {
	one := p.find(address)
	return one.nested || showsProcesses() && !one.started && !isProgramOf(one.program, row.ID)
}

// changesHooks reports whether a client's process has switched off its hooks, by its command or its
// environment. It ignores the words that clawai has added to the command.
func (p *peers) changesHooks(address string, row *client.Row) bool {
	one := p.find(address)
	if p.root == "" || !showsProcesses() {
		return false
	}
	_, hooks := describeProcess(row.ID, one.pid, p.words...)
	return !hooks
}

// showsProcesses reports whether this system lets clawai see other processes.
func showsProcesses() bool { return len(flow.Ancestry(os.Getpid())) > 0 }

// forget removes a closed connection. It is a callback for http.Server.ConnState.
func (p *peers) forget(c net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.all, c.RemoteAddr().String())
	}
}

// start runs the function in its parameter start, which starts the client's process. Requests of
// this process wait until the id of the process is known. The parameter words has the words with
// our address in the client's command.
func (p *peers) start(words []string, start func() (pid int, err error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.words = words
	pid, err := start()
	if err == nil {
		p.root = flow.ProcessKey(pid)
	}
	return err
}

// isNested reports whether a client has started this process, but the process runs another program
// than the client. A client may also start its own program again, as Claude Code does for its
// agents. The same hooks then run there, so isNested returns false. It also returns false if the
// system does not show processes.
func (p *peers) isNested(one *peer) bool {
	if !showsProcesses() {
		return false
	}
	keys := flow.Ancestry(one.pid)
	if len(keys) == 0 || p.root != "" && !slices.Contains(keys, p.root) {
		return true
	}
	one.started = keys[0] == p.root
	for _, key := range keys[1:] {
		if of, is := p.clients[key]; is {
			one.started = key == p.root
			return one.program == nil || !slices.Equal(one.program, of)
		}
	}
	p.clients[keys[0]] = one.program
	return false
}

// interpreters are programs that run a script. The script is their first argument that is not an
// option.
var interpreters = []string{"node", "nodejs", "bun", "deno", "python", "ruby", "perl", "sh", "bash"}

// readProgram returns the program of a process: the executable file and, for an interpreter, also
// the script. It returns nil if these are unknown.
func readProgram(pid int) []string {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	file, err := os.Readlink(filepath.Join(proc, "exe"))
	line, failed := os.ReadFile(filepath.Join(proc, "cmdline"))
	if err != nil || failed != nil {
		return nil
	}
	// The system adds " (deleted)" if an update has replaced the file.
	program := []string{strings.TrimSuffix(file, " (deleted)")}
	if name := strings.TrimRight(filepath.Base(file), "0123456789."); slices.Contains(interpreters, name) {
		words := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")[1:]
		at := slices.IndexFunc(words, func(word string) bool { return !strings.HasPrefix(word, "-") })
		if at < 0 || slices.ContainsFunc(words[:at], func(word string) bool { return word == "-e" || word == "-c" || word == "-m" || word == "-p" }) {
			return nil // there is no script file: the script is an argument or comes from standard input
		}
		program = append(program, words[at])
	}
	return program
}

// isProgramOf reports whether a program belongs to a client. It searches for the client's name in
// three places: the file's name, the folder of the client's versions, and the package of a script.
// The name of a system, such as linux-x64, may follow the client's name.
func isProgramOf(program []string, id string) bool {
	name, _, _ := strings.Cut(id, "-")
	named := regexp.MustCompile(`^@?` + regexp.QuoteMeta(name) + `([-_.](code|cli|ai|x86_64|x64|aarch64|arm64|linux|unknown|musl|gnu|baseline|exe|js|mjs|cjs))*$`).MatchString
	if len(program) == 0 {
		return false
	}
	parts := strings.Split(program[len(program)-1], "/")
	if named(parts[len(parts)-1]) {
		return true
	}
	if len(program) == 1 {
		at := slices.Index(parts, "versions")
		return at > 0 && named(parts[at-1])
	}
	at := slices.Index(parts, "node_modules")
	return at >= 0 && slices.ContainsFunc(parts[at:], named)
}
