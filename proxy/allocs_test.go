//go:build unix && !race

package proxy_test

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"strconv"
	"testing"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/text/redact"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy"

	"github.com/clawai/clawai/internal/testing/slow"
)

// What a client passes on to a server, and back, allocates nothing: from the bytes read to
// the bytes written, with the record on. Not asked of the race detector, under which
// sync.Pool forgets at random.
func TestAnAllowedCallAllocatesNothing(t *testing.T) {
	slow.Test(t)
	const nested = `{"path":"/home/user/projects/app/main.go","edits":[` +
		`{"old":"a \"b\"\n","new":"ünder","at":{"line":3,"column":14.5}},{"old":"x","new":"y","at":{"line":9,"column":1}}],"dry_run":true}`
	for _, mode := range []redact.Mode{redact.Redacted, redact.Full} {
		for name, params := range map[string]string{
			"plain":  `{"name":"read_file","arguments":{"path":"/home/user/projects/app/main.go"}}`,
			"nested": `{"name":"edit_file","arguments":` + nested + `}`,
			"token":  `{"name":"edit_file","arguments":` + nested + `,"_meta":{"progressToken":"a-1"}}`,
		} {
			t.Run(mode.String()+"/"+name, func(t *testing.T) {
				if per := allocations(t, mode, params); per > 0.1 { // a chunk of frames and one of ids now and then
					t.Errorf("%.2f allocations per call", per)
				}
			})
		}
	}
}

// allocations are those of a call with these params and of its answer, on average.
func allocations(t *testing.T, mode redact.Mode, params string) float64 {
	log, err := audit.Open(t.TempDir()+"/audit", audit.Options{Redact: mode})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	rules, err := policy.Parse("policy.toml", []byte(allocRules), policy.Options{Home: "/home/user"})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := gate.New(gate.Options{
		Policy: rules, Recorder: log, Approver: &person{}, Facts: policy.Facts{Cwd: "/home/user/projects/app"},
		Concluder: gate.None{}, Inspector: gate.None{}, Labels: gate.None{}, Releases: gate.None{},
	})
	if err != nil {
		t.Fatal(err)
	}
	client, server := newWire(), newWire()
	ended := make(chan error)
	go func() {
		ended <- proxy.Run(context.Background(), proxy.Options{
			ClientIn: client, ClientOut: client, Server: &mirror{wire: server}, Gate: guard, Guess: "mirror",
		})
	}()
	line, id := make([]byte, 0, 1024), 0
	calls := func(n int) {
		for range n {
			id++
			line = append(line[:0], `{"jsonrpc":"2.0","id":`...)
			line = strconv.AppendInt(line, int64(id), 10)
			line = append(append(append(line, `,"method":"tools/call","params":`...), params...), "}\n"...)
			client.in <- line
			if got := <-client.out; !bytes.Contains(got, []byte(`"result":{"content"`)) {
				t.Errorf("the client got %s", got)
			}
		}
	}
	calls(300) // what is kept for the calls to come
	var before, after runtime.MemStats
	const n = 2000
	runtime.ReadMemStats(&before)
	calls(n)
	runtime.ReadMemStats(&after)
	close(client.in)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return float64(after.Mallocs-before.Mallocs) / n
}

const allocRules = `
[[rule]]
action = "deny"
tool = "*"
args.path = "**/.ssh/**"

[[rule]]
action = "allow"
tool = ["read_*", "edit_*"]
args.path = "/home/user/projects/**"
`

// wire is a stream in memory: what is sent on in is read, what is written comes from out.
type wire struct {
	in, out chan []byte
	rest    []byte
}

func newWire() *wire { return &wire{in: make(chan []byte, 1), out: make(chan []byte, 1)} }

func (w *wire) Read(p []byte) (int, error) {
	if len(w.rest) == 0 {
		line, open := <-w.in
		if !open {
			return 0, io.EOF
		}
		w.rest = line
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

func (w *wire) Write(p []byte) (int, error) {
	w.out <- p
	return len(p), nil
}

// mirror is a server that answers each call as soon as it is written.
type mirror struct {
	*wire
	answer []byte
}

func (m *mirror) Write(p []byte) (int, error) {
	_, behind, _ := bytes.Cut(p, []byte(`"id":`))
	m.answer = append(m.answer[:0], `{"jsonrpc":"2.0","id":`...)
	m.answer = append(m.answer, behind[:bytes.IndexByte(behind, ',')]...)
	m.answer = append(m.answer, `,"result":{"content":[{"type":"text","text":"fine"}]}}`+"\n"...)
	m.in <- m.answer
	return len(p), nil
}

func (m *mirror) Done() <-chan struct{}       { return nil }
func (m *mirror) Status() string              { return "" }
func (m *mirror) Close(context.Context) error { close(m.in); return nil }
