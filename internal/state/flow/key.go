package flow

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The kinds of keys, the strongest first: each is written in front of a key's value.
const (
	bySession    = "session:"    // an id that the client gives, in a message, to a hook, in the environment
	byProcess    = "process:"    // the client's process
	byInvocation = "invocation:" // what an owner has begun at a process that listens; none other is of it
	byFolder     = "folder:"     // the user and the folder: two clients in one folder share it
)

// sessionVars name the session in the environment; the owner's word is the first.
var sessionVars = []string{"CLAWAI_SESSION", "CLAUDE_CODE_SESSION_ID"}

// SessionKeys gives those of whoever started us: the ids of the environment, or else the client's
// process, or else the user and the folder.
func SessionKeys(getenv func(string) string, dir string) (keys []string) {
	for _, name := range sessionVars {
		if id := getenv(name); id != "" {
			keys = append(keys, bySession+shortID(id))
		}
	}
	if len(keys) == 0 {
		keys = ClientKeys()
	}
	if len(keys) == 0 {
		keys = append(keys, byFolder+strconv.Itoa(os.Geteuid())+":"+dir)
	}
	return keys
}

// ClientKeys gives the key of the client that has started us, whatever else is known of it;
// none where that cannot be told.
func ClientKeys() []string {
	if p := ourClient(); p != "" {
		return []string{byProcess + p}
	}
	return nil
}

// OwnKeys gives the key of a process that serves many clients itself.
func OwnKeys() []string {
	if p := processKey(os.Getpid()); p != "" {
		return []string{byProcess + p}
	}
	return []string{byFolder + strconv.Itoa(os.Geteuid()) + ":"}
}

// IDKey is the key of an id that the client itself gives, in a message or to a hook.
func IDKey(id string) string { return bySession + shortID(id) }

// InvocationKey gives that of an invocation that begins now: none of the same name has had it.
func InvocationKey(name string) string { return byInvocation + name + ":" + rand.Text()[:8] }

// shortID bounds an id of the client's.
func shortID(id string) string {
	const most = 200
	if len(id) > most {
		return fileOf(id)
	}
	return id
}

// between are programs that stand between a client and a server that it starts.
var between = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox", "env", "npx", "uvx", "uv", "npm", "timeout", "nice", "clawai", "clawai-hook"}

// ourClient is that of this process, whoever becomes its parent later.
var ourClient = sync.OnceValue(func() string { return findClient(os.Getppid()) })

// findClient gives the first ancestor, from pid on, that is none of these. "" where that cannot be told.
func findClient(pid int) string {
	for range 32 {
		p := readStat(pid)
		if p.start == "" || pid <= 1 {
			return ""
		}
		first, _, _ := strings.Cut(p.name, " ") // "npm exec ..."
		if !slices.Contains(between, first) {
			return p.uniqueKey()
		}
		pid = p.parent
	}
	return ""
}

// processKey names a process that runs, for as long as the machine does; "" of one that has
// ended and that its parent has not asked about yet.
func processKey(pid int) string { return readStat(pid).uniqueKey() }

// running is what the system says of a process; the zero value is none.
type running struct {
	pid, parent        int
	name, state, start string
}

// uniqueKey names it: pid, start and boot, since a pid is used again.
func (p running) uniqueKey() string {
	if p.start == "" || p.state == "Z" || p.state == "X" || boot() == "" {
		return ""
	}
	return strconv.Itoa(p.pid) + ":" + p.start + ":" + boot()
}

var boot = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// readStat reads /proc/PID/stat (proc(5)); a name may have blanks and brackets in it.
func readStat(pid int) running {
	all, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, behind, _ := strings.Cut(string(all), "(")
	end := strings.LastIndexByte(behind, ')')
	fields := strings.Fields(behind[end+1:])
	if end < 0 || len(fields) < 20 {
		return running{}
	}
	parent, _ := strconv.Atoi(fields[1])
	return running{pid, parent, behind[:end], fields[0], fields[19]}
}
