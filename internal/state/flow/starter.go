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

// For the client, a hook reports the texts of the user and the end of a conversation. But a program
// that the agent starts could call the hook with a false report. So a report is accepted only if
// the client itself has started the hook. Only Linux shows this, by the chain of parent processes.
// On other systems every report is accepted.

var (
	errByShell  = errors.New("a shell's command or script has started the hook, and not the client")
	errByOthers = errors.New("another program than the session's client has started the hook")
	errByFile   = errors.New("a file is the hook's input, and clients write into a pipe")
)

// CheckStarter returns an error if the pipe or the script of a shell has started this process
// instead of the client. It also returns an error if the input is a file, because a shell that
// replaces itself by this process (exec) leaves no other sign. It returns nil if the system does
// not show which program has started this process.
func CheckStarter() error {
	if info, err := os.Stdin.Stat(); err == nil && info.Mode().IsRegular() {
		return errByFile
	}
	return checkStarter(os.Getppid())
}

// checkStarter checks the processes between us and the client, from pid upwards. A shell among them
// is allowed only if it runs nothing but the hook's command.
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

// checkClient returns an error if a program of the session's client has started us, and not the
// client itself. session is the key of the session, and pid our parent process.
func checkClient(dir, session string, pid int) error {
	own := findClient(pid)
	found, err := readJournal(filepath.Join(dir, fileOf(session)))
	switch {
	case err != nil:
		return nil // this is the first report of the session
	case own == "" && boot() != "" && len(found.links) > 0:
		return errByOthers // our parent has ended; it was not the client, because the client waits for its hooks
	case own == "":
		return nil
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
