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

// The kinds of keys, the strongest first. The kind is written in front of a key's value.
const (
	bySession    = "session:"    // an id from the client, which stands in a message, in a hook's input, or in the environment
	byProcess    = "process:"    // the process of the client
	byInvocation = "invocation:" // an invocation that was begun at clawai proxy --listen; it shares labels with no other key
	byFolder     = "folder:"     // the user and the folder; two clients in one folder share this key
)

// sessionVars are the environment variables that name the session; the owner's variable is first.
var sessionVars = []string{"CLAWAI_SESSION", "CLAUDE_CODE_SESSION_ID"}

// SessionKeys returns the keys of the agent's session that started us. It uses the ids in the
// environment. Without ids, it uses the client's process. Without a client, it uses the user and
// the folder dir.
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

// ClientKeys returns the key of the client process that started us. It returns nil if it cannot
// find that process.
func ClientKeys() []string {
	if p := ourClient(); p != "" {
		return []string{byProcess + p}
	}
	return nil
}

// OwnKeys returns the key of this process, for a process that serves many clients.
func OwnKeys() []string {
	if key := ProcessKey(os.Getpid()); key != "" {
		return []string{key}
	}
	return []string{byFolder + strconv.Itoa(os.Geteuid()) + ":"}
}

// JoinProcess links the session with the key of a client's process. It ignores a process that
// cannot be found.
func (s *Session) JoinProcess(pid int) error {
	if key := ProcessKey(pid); key != "" {
		return s.JoinKey(key)
	}
	return nil
}

// IDKey returns the key of an id that the client itself gives, in a message or to a hook.
func IDKey(id string) string { return bySession + shortID(id) }

// InvocationKey returns a new key for an invocation that begins now. An earlier invocation of the
// same name had another key.
func InvocationKey(name string) string { return byInvocation + name + ":" + rand.Text()[:8] }

// shortID limits the length of a client's id.
func shortID(id string) string {
	const most = 200
	if len(id) > most {
		return fileOf(id)
	}
	return id
}

// between holds programs that may run between a client and the server that the client starts.
var between = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox", "env", "npx", "uvx", "uv", "npm", "timeout", "nice", "clawai", "clawai-hook"}

// ourClient returns the key of the client process that started us; "" if the client cannot be
// found. The search runs only once, because our parent process may change later.
var ourClient = sync.OnceValue(func() string { return findClient(os.Getppid()) })

// findClient looks at the process pid, its parent, and so on. It returns the uniqueKey of the first
// process whose program is not in the list between. It returns "" if it finds no such process.
func findClient(pid int) string {
	for range 32 {
		p := readStat(pid)
		if p.start == "" || pid <= 1 {
			return ""
		}
		first, _, _ := strings.Cut(p.name, " ") // the name can contain arguments, as in "npm exec ..."
		if !slices.Contains(between, first) {
			return p.uniqueKey()
		}
		pid = p.parent
	}
	return ""
}

// processKey returns the uniqueKey of the process pid. It returns "" for a process that has ended,
// even if its parent has not waited for the process yet.
func processKey(pid int) string { return readStat(pid).uniqueKey() }

// running holds the system's facts about a process; the zero value means that there is no process.
type running struct {
	pid, parent        int
	name, state, start string
}

// uniqueKey returns a name of the process that is never used again: pid, start time and boot id.
// The pid alone is not enough, because the system uses it again.
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

// readStat reads /proc/PID/stat (proc(5)); the process name may contain blanks and brackets.
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
