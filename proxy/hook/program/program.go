// Package program holds the parts that both hook programs share. One is clawai-hook, the small
// program that clients start. The other is clawai hook, which can ask a person. The package parses
// the command line and reads the payload. It makes sure that there is always an answer.
package program

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/enrolment"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
	"github.com/clawai/clawai/proxy/hook"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/wrap/proxyargs"
)

// Line is a parsed command line. It has a CLIENT and options of clawai proxy.
type Line struct {
	Client string
	Event  string   // name of the event in the client's file; "" if the file names none
	Words  []string // all words of the command line
	// Held is the size of the payload if standard input stays open after the payload. Then the end
	// of the input means that the client has ended. 0 means that the input ends after the payload.
	Held int
	// Packs reads the packs that a policy names. nil means that this program cannot read packs;
	// then a policy with packs does not load.
	Packs func(policy.PackFile) (policy.Pack, error)
	proxyargs.Line
}

// hookOptions are the options of clawai proxy that a hook may have.
var hookOptions = []string{"policy", "layer", "state", "ask", "ask-timeout", "redact", "sync", "observe"}

const (
	heldOption  = "--held="
	eventOption = "--event="
)

// HeldOption returns the option that sets Held. It must be the first word of the command line.
func HeldOption(payload []byte) string { return heldOption + strconv.Itoa(len(payload)) }

// Parse parses the words after the program's name. The first or the last of them is the client.
func Parse(words []string) (Line, error) {
	l := Line{Words: words}
	if len(words) > 0 && strings.HasPrefix(words[0], heldOption) {
		n, err := strconv.Atoi(words[0][len(heldOption):])
		if err != nil || n <= 0 {
			return l, fmt.Errorf("%s names no size", words[0])
		}
		l.Held, words = n, words[1:]
	}
	if len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		l.Client, words = words[0], words[1:]
	}
	if len(words) > 0 && strings.HasPrefix(words[0], eventOption) {
		l.Event, words = words[0][len(eventOption):], words[1:]
	}
	line, err := proxyargs.Parse(words)
	if err != nil {
		if name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); unknown {
			err = fmt.Errorf("unknown option --%s", strings.TrimLeft(name, "-"))
		}
		return l, err
	}
	l.Line = line
	switch rest := words[line.Command:]; {
	case l.Client == "" && len(rest) == 1:
		l.Client = rest[0]
	case l.Client == "":
		l.Client = client.Unnamed
	case len(rest) > 0:
		return l, fmt.Errorf("what is %q?", rest[0])
	}
	for _, s := range line.Settings {
		if !slices.Contains(hookOptions, s.Name) {
			return l, fmt.Errorf("--%s is not an option of a hook; those are --%s", s.Name, strings.Join(hookOptions, ", --"))
		}
	}
	return l, nil
}

// OptionText returns the last value of an option, or "" if there is none.
func (l *Line) OptionText(name string) string {
	value, _ := l.OptionValue(name)
	return value
}

// BaseFiles returns the places of files for this command line. They are on the disk of this system,
// because clients run their tools on this machine.
func (l *Line) BaseFiles(project string) base.Files {
	f := base.Files{Policy: l.OptionText("policy"), State: l.OptionText("state"), Project: project, Disk: disk.SystemDisk(), Packs: l.Packs}
	for _, s := range l.Settings {
		if s.Name == "layer" {
			f.Layers = append(f.Layers, s.Value)
		}
	}
	return f
}

// Opened holds a loaded policy and an open record.
type Opened struct {
	Folders config.Folders
	Policy  *config.Loaded
	Record  interface {
		gate.Recorder
		Close() error
	}
}

// Open loads the policy and opens the record. session is the client's session, or "". The policy is
// needed only for the calls in the parameter calls. If calls is nil, it is needed for any call.
func (l *Line) Open(project, session string, calls []policy.Call) (o Opened, err error) {
	files := l.BaseFiles(project)
	files.Calls = calls
	if o.Folders, err = files.FindFolders(); err != nil {
		return o, err
	}
	if o.Policy, err = files.Load(o.Folders); err != nil {
		return o, err
	}
	shared := ""
	if session != "" {
		shared = l.Client + " " + session
	}
	o.Record, err = base.OpenCallRecord(o.Folders.State, l.OptionText("redact"), l.OptionText("sync"), shared)
	return o, err
}

// readPatience is the time limit for reading a payload. stopPatience is how long a judgement may
// continue after a signal. usual is the time in which a call ends if it waits for no person and no
// other program.
const (
	readPatience = 10 * time.Second
	stopPatience = 2 * time.Second
	usual        = 20 * time.Millisecond
)

// Judge judges a payload. It calls the function waits before each step that may take long.
type Judge func(ctx context.Context, payload []byte, waits func()) client.Answer

// Run reads a payload, writes the answer and returns the exit code. The code is 0 or 2, because
// clients treat any other code as a failed hook.
//
// Listening to signals takes a tenth of the time of a quick call. So at first the terminating
// signals are ignored, and the answer is still written. Only a call that takes longer listens to
// signals.
func Run(l Line, in io.Reader, out, errs io.Writer, judge Judge) int {
	ends := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	signal.Ignore(append(ends, syscall.SIGPIPE)...) // otherwise SIGPIPE would end this process when the client stops reading
	stops := make(chan os.Signal, 1)
	listen := sync.OnceFunc(func() { signal.Notify(stops, ends...) }) // never stopped, because the process ends soon
	ctx, gone := context.WithCancel(context.Background())
	defer gone()
	time.AfterFunc(usual, listen)
	late := time.NewTimer(readPatience)
	answers := make(chan client.Answer, 1)
	go func() {
		growStack(false)
		answers <- answerPayload(ctx, gone, late, l, in, func(ctx context.Context, payload []byte) client.Answer {
			return judge(ctx, payload, listen)
		})
	}()
	var a client.Answer
	select {
	case a = <-answers:
	case <-late.C:
		a = refuseUnreadable(l, tooLate())
	case <-stops:
		gone()
		a = awaitAnswer(l, answers)
	case <-ctx.Done():
		a = awaitAnswer(l, answers)
	}
	_, _ = errs.Write(a.Stderr)
	if _, err := out.Write(a.Stdout); err != nil && a.Code == 0 && len(a.Stdout) > 0 {
		return 2
	}
	if l.Held == 0 { // if another hook program has started this process, that program calls wantCentre
		wantCentre(l)
	}
	return a.Code
}

// wantCentre starts the process that exchanges data with the team's centre, if none runs. It is
// called after the answer. On a laptop that is not enrolled it only checks one file.
func wantCentre(l Line) {
	folders, err := l.BaseFiles("").FindFolders()
	if err == nil && enrolment.WantSync(folders.State, time.Now()) {
		_ = enrolment.StartSync(folders.State) // the error is ignored, because clawai status shows since when the centre was not reached
	}
}

// growStack grows the stack once, while little of it is used. Otherwise the stack would grow in
// several steps, and each copy would make the call slower.
//
//go:noinline
func growStack(used bool) (last byte) {
	if used { // never true: the stack grows when the function is entered, and if the array were used, it would have to be cleared first
		var stack [48 << 10]byte
		last = stack[os.Getpid()&1]
	}
	return last
}

// awaitAnswer waits for the answer of a stopped call, at most stopPatience.
func awaitAnswer(l Line, answers <-chan client.Answer) client.Answer {
	select {
	case a := <-answers:
		return a
	case <-time.After(stopPatience):
		return NewRefusal(l, "it was stopped")
	}
}

func answerPayload(ctx context.Context, gone func(), late *time.Timer, l Line, in io.Reader, judge func(context.Context, []byte) client.Answer) (a client.Answer) {
	defer func() {
		if cause := recover(); cause != nil {
			a = NewRefusal(l, fmt.Sprintf("it failed inside clawai; tell the owner (%v)", cause))
		}
	}()
	payload, err := readPayload(in, l.Held)
	if !late.Stop() {
		err = tooLate() // Run has already answered with this error
	}
	if l.Held > 0 {
		go func() {
			defer gone()
			_, _ = io.Copy(io.Discard, in)
		}()
	}
	if err != nil {
		return refuseUnreadable(l, err)
	}
	return judge(ctx, payload)
}

func tooLate() error { return fmt.Errorf("it did not end within %v", readPatience) }

func refuseUnreadable(l Line, err error) client.Answer {
	return NewRefusal(l, "the client's request cannot be read: "+err.Error())
}

// NewRefusal returns the answer that denies a call which could not be judged.
func NewRefusal(l Line, why string) client.Answer {
	text := "Refused: clawai cannot judge it: " + why + "."
	if r := client.FindRow(l.Client); r != nil {
		return r.AnswerDeny(client.Event{Name: r.BeforeEventName()}, text)
	}
	return client.Answer{Stderr: []byte(text + "\n"), Code: 2}
}

// readPayload reads the whole input if held is 0. Otherwise it reads only the first `held` bytes.
func readPayload(in io.Reader, held int) ([]byte, error) {
	limit := int64(client.Limit + 1)
	if held > 0 {
		limit = min(limit, int64(held))
	}
	payload, err := io.ReadAll(io.LimitReader(in, limit))
	if err == nil && held > 0 && int64(len(payload)) < limit {
		err = io.ErrUnexpectedEOF
	}
	return payload, err
}

// HookOptions returns those options of the hook that are the same in both programs.
func (l *Line) HookOptions(program string) hook.Options {
	return hook.Options{Client: l.Client, Event: l.Event, Program: program, Getenv: os.Getenv}
}
