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

// peers identifies the processes that have connected. A client may start another program, such as a script
// with its own agent. This program inherits our address from the client, but does not run the client's
// hooks.
type peers struct {
	own netip.AddrPort // our address

	mu      sync.Mutex          // guards the fields below; start holds it until root is known
	root    string              // the key of the process that was started here; "" for none
	words   []string            // the words in that process's command that contain our address
	all     map[string]peer     // the connected processes, by the address of their connection
	clients map[string][]string // programs of the processes that no client has started, by the key of the process
}

// peer is a process that has connected.
type peer struct {
	pid     int      // 0: not known
	program []string // result of readProgram
	nested  bool     // the client has started it, and it is another program than the client
	started bool     // it is the process that was started here, or one that this process has started
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
		one.pid = flow.FindPeer(from, p.own) // called without the lock, because it searches all processes
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one.program = readProgram(one.pid)
	one.nested = p.isNested(&one)
	p.all[address] = one
	return one
}

// isOther reports whether another program than the client has connected from an address. A process that
// is not a descendant of the client any more, for example a daemon, is identified by its program's file.
// On a system that shows no processes, every process counts as the client.
func (p *peers) isOther(address string, row *client.Row) bool {
	one := p.find(address)
	return one.nested || showsProcesses() && !one.started && !isProgramOf(one.program, row.ID)
}

// changesHooks reports whether a client's process turns its hooks off by its command or its environment.
// It ignores the words in the command that clawai has added.
func (p *peers) changesHooks(address string, row *client.Row) bool {
	one := p.find(address)
	if p.root == "" || !showsProcesses() {
		return false
	}
	_, hooks := describeProcess(row.ID, one.pid, p.words...)
	return !hooks
}

// showsProcesses reports whether the system shows the processes of other programs.
func showsProcesses() bool { return len(flow.Ancestry(os.Getpid())) > 0 }

// forget is a callback for http.Server.ConnState. It removes closed connections.
func (p *peers) forget(c net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.all, c.RemoteAddr().String())
	}
}

// start calls the function start, which starts the client's process. Requests of this process wait until
// its id is known. words are the words in its command that contain our address.
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

// isNested reports whether a process was started by a client and is another program. If a client starts
// its own program again, as Claude Code does for its agents, the same hooks run there. On a system that
// shows no processes, every process counts as the client.
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

// interpreters are programs that run a script: their first argument that is not an option.
var interpreters = []string{"node", "nodejs", "bun", "deno", "python", "ruby", "perl", "sh", "bash"}

// readProgram returns the program of a process: its executable file and, for an interpreter, also the
// script. It returns nil if these are not known.
func readProgram(pid int) []string {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	file, err := os.Readlink(filepath.Join(proc, "exe"))
	line, failed := os.ReadFile(filepath.Join(proc, "cmdline"))
	if err != nil || failed != nil {
		return nil
	}
	program := []string{strings.TrimSuffix(file, " (deleted)")} // an update has replaced the file
	if name := strings.TrimRight(filepath.Base(file), "0123456789."); slices.Contains(interpreters, name) {
		words := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")[1:]
		at := slices.IndexFunc(words, func(word string) bool { return !strings.HasPrefix(word, "-") })
		if at < 0 || slices.ContainsFunc(words[:at], func(word string) bool { return word == "-e" || word == "-c" || word == "-m" || word == "-p" }) {
			return nil // the script is in the arguments, or comes from standard input
		}
		program = append(program, words[at])
	}
	return program
}

// isProgramOf reports whether a program belongs to a client. It compares the client's name with the name of the
// program's file, of the folder of its versions, and of the package from which an interpreter runs a file. The
// name of a system, such as linux-x64, may follow.
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
