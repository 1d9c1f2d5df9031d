// Package program has the parts that both programs around the hook share: the small one, which
// clients start, and clawai hook, which can ask. It reads the command line and the
// payload, and sees to it that there is an answer whatever happens.
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
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
	"github.com/clawai/clawai/proxy/hook"
	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/wrap/proxyargs"
)

// Line is a command line that was read: CLIENT, and options of clawai proxy.
type Line struct {
	Client string
	Event  string   // that the client's file names; "" when it names none
	Words  []string // all of it
	// Held is the size of the payload where our input stays open behind it: when that
	// ends, whoever waits for the answer is gone. 0 where the payload ends the input.
	Held int
	// Packs reads the packs that a policy names; nil where nothing is looked for, and such a
	// policy does not load.
	Packs func(policy.PackFile) (policy.Pack, error)
	proxyargs.Line
}

// taken are the options of clawai proxy that mean something to a hook.
var taken = []string{"policy", "layer", "state", "ask", "ask-timeout", "redact", "sync", "observe"}

const (
	heldOption  = "--held="
	eventOption = "--event="
)

// HeldOption gives the word, before all others, that sets Held.
func HeldOption(payload []byte) string { return heldOption + strconv.Itoa(len(payload)) }

// Parse reads the words behind the program's name. The client stands first or last.
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
		if !slices.Contains(taken, s.Name) {
			return l, fmt.Errorf("--%s is no option of a hook; those are --%s", s.Name, strings.Join(taken, ", --"))
		}
	}
	return l, nil
}

// OptionText gives the last value of an option; "" when it is not given.
func (l *Line) OptionText(name string) string {
	value, _ := l.OptionValue(name)
	return value
}

// BaseFiles gives where things lie by the command line. The disk is ours: what a client runs
// runs here.
func (l *Line) BaseFiles(project string) base.Files {
	f := base.Files{Policy: l.OptionText("policy"), State: l.OptionText("state"), Project: project, Disk: disk.SystemDisk(), Packs: l.Packs}
	for _, s := range l.Settings {
		if s.Name == "layer" {
			f.Layers = append(f.Layers, s.Value)
		}
	}
	return f
}

// Opened is a policy and a record.
type Opened struct {
	Folders config.Folders
	Policy  *config.Loaded
	Record  interface {
		gate.Recorder
		Close() error
	}
}

// Open loads the policy and begins the record. session is the client's; "" where it names none.
// calls are those that the policy is read for; nil for any.
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

// Patience is how long we wait for a payload, and for what judges to end when we are told
// to stop; and how long a call takes that waits for nobody.
const (
	readPatience = 10 * time.Second
	stopPatience = 2 * time.Second
	usual        = 20 * time.Millisecond
)

// Judge judges a payload. It calls waits before it does what may take long.
type Judge func(ctx context.Context, payload []byte, waits func()) client.Answer

// Run reads a payload and answers it. It returns the exit code, and has then written the
// answer: 0 or 2, since clients take any other for a hook that failed.
//
// To listen to signals is a tenth of what a call costs that waits for nobody. So those
// that tell us to end are ignored at first, and the answer comes; only who takes longer listens.
func Run(l Line, in io.Reader, out, errs io.Writer, judge Judge) int {
	ends := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	signal.Ignore(append(ends, syscall.SIGPIPE)...) // by that a client that reads no more would see us killed
	stops := make(chan os.Signal, 1)
	listen := sync.OnceFunc(func() { signal.Notify(stops, ends...) }) // to the end: we live no longer
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
	return a.Code
}

// growStack has the stack grow once, while there is little on it: by halves it is copied again
// at every step, which is a part of what a call costs.
//
//go:noinline
func growStack(used bool) (last byte) {
	if used { // never: what is used is cleared
		var stack [48 << 10]byte
		last = stack[os.Getpid()&1]
	}
	return last
}

// awaitAnswer gives the answer of what was told to end.
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
		err = tooLate() // and so it was answered
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

// NewRefusal gives a denial before, or in place of, a judgement.
func NewRefusal(l Line, why string) client.Answer {
	text := "Refused: clawai cannot judge it: " + why + "."
	if r := client.FindRow(l.Client); r != nil {
		return r.AnswerDeny(client.Event{Name: r.BeforeEventName()}, text)
	}
	return client.Answer{Stderr: []byte(text + "\n"), Code: 2}
}

// readPayload reads all that the client writes, or as much as is held out to us.
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

// HookOptions gives those of the hook that do not depend on the program.
func (l *Line) HookOptions(program string) hook.Options {
	return hook.Options{Client: l.Client, Event: l.Event, Program: program, Getenv: os.Getenv}
}
