package layer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/cage/confine"
	"github.com/clawai/clawai/internal/cage/preview/report"
)

// ResultFD is the descriptor on which the helper writes the Result.
const ResultFD = confine.ReportFD

// runner is the state of one run of the helper. Its process is the first one of its namespace: when it
// ends, the kernel ends all other processes of the namespace and removes the layers.
type runner struct {
	spec   Spec
	layers []*layer
	covers []cover
	closed []string // folders over which no layer could be made
	fault  error    // error for the first folder in closed
	result report.Result
}

// Run runs the command of a Spec and writes a Result. name is the name of the program, for its
// messages.
func Run(name string, words []string) int {
	runtime.LockOSThread() // the kernel lets only the thread that started a trace continue it
	unix.CloseOnExec(ResultFD)
	r := &runner{}
	err := r.run(words)
	if err != nil {
		r.result = report.Result{Fault: err.Error()}
	}
	text, err := json.Marshal(&r.result)
	for err == nil && len(text) > 0 {
		var n int
		n, err = unix.Write(ResultFD, text)
		text = text[max(n, 0):]
		if errors.Is(err, unix.EINTR) {
			err = nil
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: nobody reads the preview: %v\n", name, err)
		return confine.ExitFault
	}
	_ = unix.Close(ResultFD) // this ends the result, so the reader does not wait while the kernel removes the layers
	return 0
}

func (r *runner) run(words []string) error {
	begun := time.Now()
	if len(words) != 1 {
		return errors.New("clawai starts this program, with what a preview runs")
	}
	from := json.NewDecoder(bytes.NewReader([]byte(words[0])))
	from.DisallowUnknownFields()
	if err := from.Decode(&r.spec); err != nil {
		return fmt.Errorf("cannot read what the preview runs: %w", err)
	}
	if r.spec.Format != Format {
		return fmt.Errorf("the preview is of format %d, and this program knows %d: install clawai and clawai-sandbox of one version", r.spec.Format, Format)
	}
	if os.Getpid() != 1 {
		return errors.New("the preview was not started in namespaces of its own")
	}
	if err := r.arrangeDisk(); err != nil {
		return err
	}
	net, err := openNetwork()
	if err != nil {
		return fmt.Errorf("cannot make a network that leads nowhere: %w", err)
	}
	started := time.Now()
	if err := r.runCommand(begun.Add(r.spec.Time)); err != nil {
		return err
	}
	r.result.Took = time.Since(started).Milliseconds()
	r.result.Hosts = net.finish()
	r.result.Closed = r.closed
	r.listChanges(begun.Add(r.spec.Until))
	return nil
}
