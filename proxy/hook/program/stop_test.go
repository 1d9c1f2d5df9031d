//go:build unix

package program_test

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/proxy/hook/program"
)

// Who waits for nobody is not stopped, but answers; who may wait is.
func TestStop(t *testing.T) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGUSR1) // begins what listens for signals outside of the bubble
	ends := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	defer signal.Reset(append(ends, syscall.SIGUSR1)...)
	run := func(judge program.Judge) (said string, code int) {
		line, err := program.Parse([]string{"claude-code"})
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code = program.Run(line, strings.NewReader("{}"), &out, &errs, judge)
		return errs.String(), code
	}
	stop := func() {
		for _, s := range append(ends, syscall.SIGUSR1) {
			if err := syscall.Kill(os.Getpid(), s.(syscall.Signal)); err != nil {
				t.Fatal(err)
			}
		}
		<-heard
	}
	answered := client.Answer{Stderr: []byte("answered"), Code: 2}
	synctest.Test(t, func(t *testing.T) { // the time does not go on
		said, code := run(func(ctx context.Context, _ []byte, _ func()) client.Answer {
			stop()
			if synctest.Wait(); ctx.Err() != nil {
				t.Error("it is told to end")
			}
			return answered
		})
		if said != "answered" || code != 2 {
			t.Errorf("stopped at once: %d %s", code, said)
		}
	})
	said, code := run(func(ctx context.Context, _ []byte, waits func()) client.Answer {
		waits()
		stop()
		<-ctx.Done()
		return answered
	})
	if said != "answered" || code != 2 {
		t.Errorf("stopped while it waits: %d %s", code, said)
	}
}
