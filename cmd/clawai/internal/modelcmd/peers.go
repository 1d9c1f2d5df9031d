package modelcmd

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/state/flow"
)

// peers knows the processes that have connected. A program that a client starts, such as a script with an
// agent of its own, has the client's address from it, and none of the client's hooks.
type peers struct {
	own netip.AddrPort // our address

	mu      sync.Mutex          // guards the fields below; who starts the client holds it until root is known
	root    string              // the key of the process that was started here; "" for none
	all     map[string]peer     // by the address of their connection
	clients map[string][]string // the programs of those that no client has started, by their keys
}

// peer is a process that has connected.
type peer struct {
	pid    int  // 0: not known
	nested bool // another program than the client, which the client has started
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
	one.nested = p.isNested(one.pid)
	p.all[address] = one
	return one
}

// forget is told what becomes of connections.
func (p *peers) forget(c net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.all, c.RemoteAddr().String())
	}
}

// start has start begin the client's process, whose requests wait until it is known.
func (p *peers) start(start func() (pid int, err error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	pid, err := start()
	if err == nil {
		p.root = flow.ProcessKey(pid)
	}
	return err
}

// isNested reports whether a process is no client, but was started by one. A client that starts the same
// program, such as Claude Code its agents, has the same hooks there. Where the system shows no processes, all are
// clients.
func (p *peers) isNested(pid int) bool {
	if len(flow.Ancestry(os.Getpid())) == 0 {
		return false
	}
	keys := flow.Ancestry(pid)
	if len(keys) == 0 || p.root != "" && !slices.Contains(keys, p.root) {
		return true
	}
	program := readProgram(pid)
	for _, key := range keys[1:] {
		if of, is := p.clients[key]; is {
			return program == nil || !slices.Equal(program, of)
		}
	}
	p.clients[keys[0]] = program
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
	program := []string{file}
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
