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

// peers knows the processes that have connected. A program that a client starts, such as a script with an
// agent of its own, has the client's address from it, and none of the client's hooks.
type peers struct {
	own netip.AddrPort // our address

	mu      sync.Mutex          // guards the fields below; who starts the client holds it until root is known
	root    string              // the key of the process that was started here; "" for none
	words   []string            // what leads that process to us, in its command
	all     map[string]peer     // by the address of their connection
	clients map[string][]string // the programs of those that no client has started, by their keys
}

// peer is a process that has connected.
type peer struct {
	pid     int      // 0: not known
	program []string // as of readProgram
	nested  bool     // another program than the client, which the client has started
	started bool     // it was started here, or is the same program
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
		one.pid = flow.FindPeer(from, p.own) // it looks at all processes
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one.program = readProgram(one.pid)
	one.nested = p.isNested(&one)
	p.all[address] = one
	return one
}

// isOther reports whether another program than the client has connected from an address. It is told by its file
// if it is no child of the client any more, as what has left its terminal. Where the system shows no processes, all are
// clients.
func (p *peers) isOther(address string, row *client.Row) bool {
	one := p.find(address)
	return one.nested || showsProcesses() && !one.started && !isProgramOf(one.program, row.ID)
}

// changesHooks reports whether a client's process turns its hooks off, by its command without the words that lead it
// to us, or by its environment.
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

// forget is told what becomes of connections.
func (p *peers) forget(c net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.all, c.RemoteAddr().String())
	}
}

// start has start begin the client's process, whose requests wait until it is known. words lead it to us.
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

// isNested reports whether a process is no client, but was started by one. A client that starts the same
// program, such as Claude Code its agents, has the same hooks there. Where the system shows no processes, all are
// clients.
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

// interpreters are programs that run the file in their first argument that is no option.
var interpreters = []string{"node", "nodejs", "bun", "deno", "python", "ruby", "perl", "sh", "bash"}

// readProgram returns what a process runs: its file and, of an interpreter, the file that this runs. It is nil if that cannot be
// read.
func readProgram(pid int) []string {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	file, err := os.Readlink(filepath.Join(proc, "exe"))
	line, failed := os.ReadFile(filepath.Join(proc, "cmdline"))
	if err != nil || failed != nil {
		return nil
	}
	program := []string{strings.TrimSuffix(file, " (deleted)")} // an update has put another in its place
	if name := strings.TrimRight(filepath.Base(file), "0123456789."); slices.Contains(interpreters, name) {
		words := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")[1:]
		at := slices.IndexFunc(words, func(word string) bool { return !strings.HasPrefix(word, "-") })
		if at < 0 || slices.ContainsFunc(words[:at], func(word string) bool { return word == "-e" || word == "-c" || word == "-m" || word == "-p" }) {
			return nil // a program in the arguments, or on standard input
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
