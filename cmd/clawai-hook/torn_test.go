//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// What a process that died left half written in the record stops no later call, and is
// told of by verify.
func TestTornRecord(t *testing.T) {
	slow.Test(t)
	for _, torn := range []string{"ledger.ndjson", "2*.ndjson"} {
		t.Run(torn, func(t *testing.T) {
			dir := home(t, rules)
			stdin := payload("Read", `{"file_path":"`+dir+`/a"}`)
			read := func() {
				t.Helper()
				if stdout, stderr, code := answer(t, command(dir), stdin); stdout+stderr != "" || code != 0 {
					t.Errorf("%d %s %s", code, stdout, stderr)
				}
			}
			read()
			read()
			found, err := filepath.Glob(filepath.Join(dir, ".local/state/clawai/audit", torn))
			if err != nil || len(found) == 0 {
				t.Fatalf("%q %v", found, err)
			}
			file, err := os.OpenFile(found[0], os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_, err = file.WriteString(`{"seq":3,"time":"2026-`)
				err = errors.Join(err, file.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			stdin = strings.Replace(stdin, `"session_id":"s"`, `"session_id":"another"`, 1) // which begins a segment
			read()
			verify := exec.Command(built("clawai"), "log", "verify")
			verify.Env = command(dir).Env
			stdout, stderr, code := answer(t, verify, "")
			if code != 0 || !strings.Contains(stdout+stderr, filepath.Base(found[0])) {
				t.Errorf("%d %s %s", code, stdout, stderr)
			}
		})
	}
}

// Where the room ends in the middle of a record, wherever that is, no call is let through
// whose decision is not there.
func TestNoRoomInTheMiddle(t *testing.T) {
	slow.Test(t)
	dir := home(t, rules)
	stdin := payload("Read", `{"file_path":"`+dir+`/a"}`)
	let, refused := 0, 0
	for blocks := range 6 { // of 512 bytes, each file
		state := filepath.Join(dir, strconv.Itoa(blocks))
		hook := command(dir, "--state", state)
		hook.Args = append([]string{"sh", "-c", "ulimit -f " + strconv.Itoa(blocks) + ` && exec "$0" "$@"`, hook.Path}, hook.Args[1:]...)
		hook.Path = "/bin/sh"
		stdout, stderr, code := answer(t, hook, stdin)
		if code != 0 || stdout+stderr != "" {
			denied(t, stdout, stderr, code, "Refused")
			refused++
			continue
		}
		let++
		if d := decision(t, dir, state); !strings.Contains(d, "decision:allow") {
			t.Errorf("let through with %d blocks, and recorded %s", blocks, d)
		}
	}
	if let == 0 || refused < 3 {
		t.Errorf("%d let through, %d refused", let, refused)
	}
}

// decision is the one decision of a record, without what is new each time.
func decision(t *testing.T, dir, state string) string {
	t.Helper()
	p := &paritySite{dir: dir, state: state, programs: filepath.Dir(built("clawai"))}
	rows := p.decisions(t)
	if len(rows) != 1 {
		t.Fatal(rows)
	}
	return rows[0]
}
