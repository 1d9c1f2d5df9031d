//go:build unix

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/cmd/clawai/internal/proxycmd"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/testing/hostile"
	"github.com/clawai/clawai/internal/testing/slow"
	"github.com/clawai/clawai/proxy/remote"
)

// transports are the ways through the proxy: a form of the command line, the room
// that carries it, and what is spoken with the server. What crosses, what is
// answered and what is recorded must be the same in all.
var transports = []struct {
	form, room string
	wire       wire
	start      func(*testing.T, journey, wire) *traveller
}{
	{"clawai proxy [options] -- COMMAND [ARGUMENTS...]", "stdio", pipes, overStdio},
	{"clawai proxy [options] -- https://HOST/PATH", "remote", streamable, overBridge},
	{"clawai proxy [options] -- https://HOST/PATH", "remote", twoWay, overBridge},
	{"clawai proxy [options] --listen ADDRESS:PORT --upstream NAME=URL", "remote/reverse", streamable, overReverse},
	{"clawai proxy [options] --listen ADDRESS:PORT --upstream NAME=URL", "remote/reverse", twoWay, overReverse},
}

// wire is a transport in the words of MCP.
type wire string

const (
	pipes      wire = "stdio"
	streamable wire = "Streamable HTTP"
	twoWay     wire = "HTTP+SSE"
)

// wires are those that a room speaks: all of HTTP in each room of remote servers.
func wires(room string) []wire {
	if room == "remote" || strings.HasPrefix(room, "remote/") {
		return []wire{streamable, twoWay}
	}
	return []wire{pipes}
}

// noTransport are the folders below proxy that carry nothing by themselves. The hub hands
// each message to a pump of its server's, under other names and ids than the client's. A hook
// carries payloads of agents, and model messages of model services. Listing and serve are no way from
// a client to a server.
var noTransport = []string{".", "hook", "hook/client", "hook/program", "hook/sample", "hub", "listing", "model", "serve"}

// overHub are the forms that lead to it (TestHubOverHTTP in proxy/remote/reverse).
var overHub = []string{
	"clawai proxy [options] --listen ADDRESS:PORT --hub",
	"clawai proxy [options] --listen ADDRESS:PORT --hub --invocations",
}

// A form of the command, or a room below proxy, that is not in this suite is a
// way through that nobody has compared.
func TestEveryTransportIsCompared(t *testing.T) {
	var forms []string
	rooms := map[string][]wire{}
	for _, tr := range transports {
		forms, rooms[tr.room] = append(forms, tr.form), append(rooms[tr.room], tr.wire)
	}
	if diff := gocmp.Diff(append(slices.Compact(forms), overHub...), strings.Split(proxycmd.Command().UsageText, "\n")); diff != "" {
		t.Error("the forms of clawai proxy are not those of this suite", diff)
	}
	found := map[string]bool{}
	err := filepath.WalkDir("../../proxy", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if dir, _ := filepath.Rel("../../proxy", filepath.Dir(path)); strings.HasSuffix(path, ".go") && !slices.Contains(noTransport, dir) {
			found[dir] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for room := range found {
		if diff := gocmp.Diff(wires(room), rooms[room]); diff != "" {
			t.Errorf("proxy/%s does not go through this suite in every way that it speaks, nor is it said to be no transport %s", room, diff)
		}
	}
}

// TestTransports sends every fixture and every hostile frame, each by the side
// that would send it, through every transport. Over HTTP a frame may hold line
// breaks, which count as blanks between its tokens; there it is sent with them.
func TestTransports(t *testing.T) {
	policies, err := filepath.Glob("../../fixtures/*/policy.toml")
	if err != nil || len(policies) == 0 {
		t.Fatal("no starter policies", err)
	}
	for _, path := range policies {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			if filepath.Base(filepath.Dir(path)) != "filesystem" {
				slow.Test(t)
			}
			t.Parallel()
			for server, fixtures := range byServer(t, filepath.Dir(path)) {
				j := journey{policy: path, name: cmp.Or(server, "unnamed"), answered: true}
				for id, fx := range fixtures {
					if fx.FromServer() {
						j.server = append(j.server, string(fx.BuildRequest(id)))
					} else {
						j.client = append(j.client, string(fx.BuildRequest(id)))
					}
				}
				compare(t, j)
			}
		})
	}
	t.Run("hostile", func(t *testing.T) {
		t.Parallel()
		j := journey{policy: policies[0], name: "unnamed"}
		for _, f := range hostile.Frames() {
			j.client = append(j.client, f.Line)
			// An event without data is none, and an answer without an id is that of the request
			// which waits alone, if one does: that is not the same in two runs.
			if strings.TrimSpace(f.Line) != "" && !(f.Code == "id" && !strings.Contains(f.Line, `"method"`)) {
				j.server = append(j.server, f.Line)
			}
		}
		compare(t, j)
	})
}

// compare holds every transport to what standard input and output show.
func compare(t *testing.T, j journey) {
	t.Helper()
	var want seen
	for i, tr := range transports {
		got := tr.start(t, j, tr.wire).travel(t, j, len(want.AtServer))
		if i == 0 {
			want = got
		} else if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s, %q, %s: what was seen over it is not what standard input and output show\n%s", filepath.Dir(j.policy), tr.form, tr.wire, diff)
		}
	}
}

// journey is what both sides send in one session.
type journey struct {
	policy, name   string
	client, server []string
	answered       bool // each request of the client gets an answer, of one id
}

// script is what the server says of itself, line by line.
func (j *journey) script() (lines []string) {
	for _, line := range append(slices.Clone(j.server), lastOfServer) {
		lines = append(lines, unbroken(line))
	}
	return lines
}

// seen is what came of it, without what differs from session to session.
type seen struct {
	AtServer, AtClient []string // every line, sorted
	Record             []string
}

// traveller is one session through a transport.
type traveller struct {
	say   func(line string) // to the proxy, and waits until it has been dealt with
	heard func() (atServer, atClient []string)
	end   func()
	state string
	// breaks: frames may hold line breaks.
	breaks bool
}

const (
	// no rule about replies has anything to say of it
	lastOfServer = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	begun        = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// unbroken is a frame as a line: line breaks, which HTTP allows between its tokens, are blanks,
// and one in a string stays what no frame may hold.
func unbroken(line string) string { return string(remote.OneLine([]byte(line))) }

// travel sends everything and waits until all of it has arrived: at the server as
// many lines as elsewhere, 0 where that is not known.
func (tr *traveller) travel(t *testing.T, j journey, known int) (s seen) {
	t.Helper()
	tr.say(begin)
	tr.say(begun)
	for _, line := range j.client {
		if !tr.breaks {
			line = unbroken(line)
		}
		tr.say(line)
	}
	refused := 0 // of the server's requests: each is answered
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s.AtServer, s.AtClient = tr.heard()
		if slices.Contains(s.AtClient, lastOfServer) {
			refused++
		}
		if refused > 40 || refused > 4 && len(s.AtServer) == known {
			break // 200 ms after the last line: what is answered to the server has arrived
		}
	}
	if refused == 0 {
		t.Fatal("what the server says has not arrived")
	}
	tr.end()
	s.AtServer, s.AtClient = tr.heard()
	for _, lines := range []*[]string{&s.AtServer, &s.AtClient} {
		for i, line := range *lines {
			(*lines)[i] = fenceWord.ReplaceAllString(sessionWord.ReplaceAllString(line, "RECORD"), "untrusted ID")
		}
		slices.Sort(*lines)
	}
	s.Record = ofRecord(t, filepath.Join(tr.state, "audit"))
	return s
}

// sessionWord is a record's id; fenceWord, what a fence begins with.
var (
	sessionWord = regexp.MustCompile(`\b[a-z0-9]{10}-[0-9]+\b`)
	fenceWord   = regexp.MustCompile(`\buntrusted [0-9a-f]{16,}`)
)

// ofRecord is the record, sorted, without times, sessions and what only one
// transport has to say about itself.
func ofRecord(t *testing.T, dir string) (all []string) {
	t.Helper()
	for e, err := range audit.Read(dir, audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		ev := e.Event
		if bytes.HasPrefix(ev.ID, []byte(`"ping`)) {
			continue
		}
		switch ev.Kind {
		case event.Start, event.End, event.Policy, event.Segment, event.Upkeep:
			continue
		case event.Chatter:
			if ev.Code != "" {
				continue
			}
		}
		ev.Time, ev.Record, ev.ServerGuess, ev.Waited, ev.Digest, ev.Sent, ev.Cwd, ev.At = time.Time{}, "", "", 0, [32]byte{}, [32]byte{}, "", time.Time{}
		if ev.Ref != "" {
			ev.Ref = "RECORD"
		}
		all = append(all, sessionWord.ReplaceAllString(fmt.Sprintf("%+v", ev), "RECORD"))
	}
	slices.Sort(all)
	return all
}
