package hook_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/hook/program"
)

// A client that never ends its payload is told no in time, and what it ends too late is
// judged by nobody.
func TestPayloadThatDoesNotEnd(t *testing.T) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // begins what listens for signals outside of the bubble
	defer signal.Reset(syscall.SIGHUP)
	synctest.Test(t, func(t *testing.T) {
		line, err := program.Parse([]string{"claude-code"})
		if err != nil {
			t.Fatal(err)
		}
		in, theirs := io.Pipe()
		var out, errs bytes.Buffer
		start := time.Now()
		code := program.Run(line, in, &out, &errs, func(context.Context, []byte, func()) client.Answer {
			t.Error("it is judged")
			return client.Answer{}
		})
		if took := time.Since(start); code != 2 || took != 10*time.Second || !strings.Contains(errs.String(), "did not end within 10s") || !strings.Contains(out.String(), "deny") {
			t.Errorf("%d after %v: %s %s", code, took, &out, &errs)
		}
		theirs.Close()
		synctest.Wait()
	})
}
