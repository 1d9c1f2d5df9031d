package approvecmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/internal/ask/console"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
)

// BenchmarkOverview opens the overview on a record of a million lines, until its first page is full.
func BenchmarkOverview(b *testing.B) {
	dirs := config.Folders{State: b.TempDir(), Home: "/home/user"}
	o := overview.New(dirs, 0)
	l, err := audit.Open(o.Dir, audit.Options{})
	for i := range 1_000_000 {
		if err == nil {
			err = l.Record(&event.Event{
				Kind: event.Decision, Server: "files", Direction: "client", Method: "tools/call", Subject: "tool", Names: []string{"read_file"},
				Args: fmt.Appendf(nil, `{"path":"/home/user/projects/app/internal/file-%d.go"}`, i), Policy: "allow", Decision: "allow", Stage: "policy", Code: "allowed_by_rule",
				RuleFile: "/home/user/.config/clawai/policy.toml", RuleLine: 7, RuleText: "Read files in the projects folder",
			})
		}
	}
	files, globbed := filepath.Glob(filepath.Join(o.Dir, "*Z-*.ndjson"))
	for i, file := range files[:max(0, len(files)-1)] { // a day's work before the next
		written := time.Now().AddDate(0, 0, i-len(files))
		err = errors.Join(err, os.Chtimes(file, written, written))
	}
	if err := errors.Join(err, globbed); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	b.ReportAllocs()
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		n := 0
		_ = followCalls(o)(ctx, func(r console.Row) {
			r.Line(80)
			if n++; n == console.MaxCalls {
				cancel()
			}
		}, func(string) {})
		cancel()
	}
}
