package flow

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A hook's word is the client's: what the user has typed, and that a conversation is over. A program
// that the agent starts could say the same to the same hook. So such a word counts only if the
// client itself has started the hook, as far as the system tells: on Linux, by the chain of parents.

var (
	errByShell  = errors.New("a shell's command or script has started the hook, and not the client")
	errByOthers = errors.New("another program than the session's client has started the hook")
)

// CheckStarter returns an error if a shell's pipe or script has started this process rather than
// the client. It returns nil where the system does not tell.
func CheckStarter() error { return checkStarter(os.Getppid()) }

// checkStarter looks at the processes between us and the client, from pid on. A hook's command
// replaces the shell that a client starts it with (exec), or is all that the shell runs.
func checkStarter(pid int) error {
	for range 32 {
		p := readStat(pid)
		first, _, _ := strings.Cut(p.name, " ")
		if p.start == "" || pid <= 1 || !slices.Contains(between, first) {
			return nil
		}
		if !strings.HasPrefix(first, "clawai") && !runsOneCommand(pid) {
			return errByShell
		}
		pid = p.parent
	}
	return errByShell
}

// runsOneCommand reports whether the last argument of a process is one plain command of clawai.
func runsOneCommand(pid int) bool {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	words := bytes.Split(bytes.TrimSuffix(line, []byte{0}), []byte{0})
	last := words[len(words)-1]
	return err == nil && len(words) > 1 && bytes.Contains(last, []byte("clawai")) && !bytes.ContainsAny(last, "|<>;&\n`$(")
}

// checkClient returns an error if a program that the session's client has started, and not the
// client, has started us.
func checkClient(dir, session string, pid int) error {
	own := findClient(pid)
	found, err := readJournal(filepath.Join(dir, fileOf(session)))
	if own == "" || err != nil {
		return nil // the system tells nothing, or it is the first word of the session
	}
	for range 32 {
		p := readStat(pid)
		if p.start == "" || pid <= 1 {
			break
		}
		if key := p.uniqueKey(); key != "" && key != own && slices.Contains(found.links, fileOf(byProcess+key)) {
			return errByOthers
		}
		pid = p.parent
	}
	return nil
}
