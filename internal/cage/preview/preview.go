// Package preview runs a command without its effects, to tell what it would do (docs/preview.md):
// it finds the folders that the command may write and the secrets that it must not read, and starts
// the helper (internal/cage/preview/layer), which runs the command and lists what it did.
package preview

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/clawai/clawai/internal/cage/preview/report"
)

// MaxWait is how long a question may wait for a preview, with all that is around the command.
const MaxWait = 3 * time.Second

const (
	maxBytes = 512 << 20
	maxList  = 200
	grace    = 200 * time.Millisecond
)

// places are what commands are tried in. Each may take maxBytes of memory, and as much of files.
var places = make(chan struct{}, 2)

// Options are a command and what is around it.
type Options struct {
	Text    string   // a shell text; "" if there is Command
	Command []string // a program and its words
	Dir     string   // the folder that it starts in; "" for that of this process
	Home    string
	Own     []string // clawai's folders and files, which are empty inside
	Env     []string // the variables that the command finds; nil for those of this process
	Listed  int      // how many changes are listed; 0: as many as a person reads
	// Wait is how long all may take; 0 for MaxWait. The command gets three quarters of it.
	Wait time.Duration
}

// Run runs a command and returns what it did, within Options.Wait. A Result with a Fault says why there
// is no preview. The command has changed nothing then, and changes nothing later.
func Run(ctx context.Context, o Options) *report.Result {
	o.Wait = cmp.Or(o.Wait, MaxWait)
	ctx, stop := context.WithTimeout(ctx, o.Wait)
	defer stop()
	select {
	case places <- struct{}{}:
	case <-ctx.Done():
		return &report.Result{Fault: "too many commands are tried at this moment"}
	}
	done := make(chan *report.Result, 1)
	go func() {
		defer func() { <-places }()
		result, err := run(ctx, o)
		if err != nil {
			result = &report.Result{Fault: err.Error()}
		}
		done <- result
	}()
	var result *report.Result
	select {
	case result = <-done:
	case <-ctx.Done():
		select {
		case result = <-done:
		case <-time.After(grace): // the disk does not answer
			result = &report.Result{Fault: fmt.Sprintf("it was not ready within %s", o.Wait)}
		}
	}
	result.Changes, result.Programs, result.Hosts = append([]report.Change{}, result.Changes...), append([]string{}, result.Programs...), append([]string{}, result.Hosts...)
	return result
}
