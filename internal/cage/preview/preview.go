// Package preview runs a command without its effects, to tell what it would do (docs/preview.md).
// The package finds the folders that the command may write and the secrets that it must not read.
// Then it starts the helper (internal/cage/preview/layer). The helper runs the command and lists
// the changes.
package preview

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/clawai/clawai/internal/cage/preview/report"
)

// MaxWait is how long a question may wait for a preview, including its preparation and its list.
const MaxWait = 3 * time.Second

const (
	maxBytes = 512 << 20
	maxList  = 200
	grace    = 200 * time.Millisecond
)

// slots limits the number of previews at a time. Each preview may use maxBytes of memory and
// maxBytes of files.
var slots = make(chan struct{}, 2)

// Options are a command and its surroundings.
type Options struct {
	Text    string   // a shell text; "" if Command is set
	Command []string // a program and its words
	Dir     string   // the command's working folder; "": the folder of this process
	Home    string
	Own     []string // clawai's folders and files, which the command sees as empty
	Env     []string // the command's variables; nil: the variables of this process
	Listed  int      // largest number of listed changes; 0 means maxList, as many as a person can read
	// Wait is the time limit of Run; 0 means MaxWait. The command itself may run for three quarters
	// of this time.
	Wait time.Duration
}

// Run runs a command and returns what it did, within Options.Wait. If there is no preview, the Fault of
// the Result is the reason. The command never changes anything outside its layers.
func Run(ctx context.Context, o Options) *report.Result {
	o.Wait = cmp.Or(o.Wait, MaxWait)
	ctx, stop := context.WithTimeout(ctx, o.Wait)
	defer stop()
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return &report.Result{Fault: "too many commands are tried at this moment"}
	}
	done := make(chan *report.Result, 1)
	go func() {
		defer func() { <-slots }()
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
		case <-time.After(grace): // the helper hangs, for example because the disk does not answer
			result = &report.Result{Fault: fmt.Sprintf("it was not ready within %s", o.Wait)}
		}
	}
	result.Changes, result.Programs, result.Hosts = append([]report.Change{}, result.Changes...), append([]string{}, result.Programs...), append([]string{}, result.Hosts...)
	return result
}
