package hub_test

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/hub"
)

// BenchmarkCall is a call and its answer, one after the other, over pipes in memory: through
// a hub of one server, and through the plain proxy. What differs is what the hub costs.
func BenchmarkCall(b *testing.B) {
	for _, way := range []string{"proxy", "hub"} {
		b.Run(way, func(b *testing.B) {
			y := &toy{id: "a", tools: []string{"x"}}
			clientIn, in := io.Pipe()
			out, clientOut := io.Pipe()
			guard := opened(b)
			ended := make(chan error, 1)
			name := "x"
			if way == "hub" {
				name = "a__x"
				go func() {
					ended <- hub.Run(b.Context(), hub.Options{
						ClientIn: clientIn, ClientOut: clientOut, Gate: guard, Servers: []hub.Server{{ID: "a", Prefix: "a", Open: y.open}},
					})
				}()
			} else {
				up, err := y.open()
				if err != nil {
					b.Fatal(err)
				}
				go func() {
					ended <- proxy.Run(b.Context(), proxy.Options{ClientIn: clientIn, ClientOut: clientOut, Gate: guard, Name: "a", Server: up})
				}()
			}
			lines := bufio.NewReader(out)
			ask := func(line string) {
				_, _ = io.WriteString(in, line+"\n")
				if _, err := lines.ReadString('\n'); err != nil {
					b.Fatal(err)
				}
			}
			ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
			for i := 1; b.Loop(); i++ {
				ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"path":"/tmp/a"}}}`, i, name))
			}
			b.StopTimer()
			_ = in.Close()
			go func() { _, _ = io.Copy(io.Discard, out) }()
			<-ended
			_ = clientOut.Close()
		})
	}
}

// BenchmarkInitialize is the start of a session with ten servers, none of which is needed yet.
func BenchmarkInitialize(b *testing.B) {
	var servers []hub.Server
	toys := make([]*toy, 10)
	for i := range toys {
		toys[i] = &toy{id: fmt.Sprint("s", i)}
		servers = append(servers, hub.Server{ID: toys[i].id, Prefix: toys[i].id, Open: toys[i].open})
	}
	for b.Loop() {
		clientIn, in := io.Pipe()
		out, clientOut := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			ended <- hub.Run(b.Context(), hub.Options{ClientIn: clientIn, ClientOut: clientOut, Gate: opened(b), Servers: servers})
		}()
		_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`+"\n")
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		_ = in.Close()
		go func() { _, _ = io.Copy(io.Discard, out) }()
		<-ended
		_ = clientOut.Close()
		b.StartTimer()
	}
	for _, y := range toys {
		if y.starts.Load() > 0 {
			b.Fatal("a server is started before anybody needs it")
		}
	}
}

// BenchmarkList is a list of ten servers with thirty tools each, which they have given.
func BenchmarkList(b *testing.B) {
	var servers []hub.Server
	for i := range 10 {
		y := &toy{id: fmt.Sprint("s", i)}
		for j := range 30 {
			y.tools = append(y.tools, fmt.Sprint("a_tool_", j))
		}
		servers = append(servers, hub.Server{ID: y.id, Prefix: y.id, Open: y.open})
	}
	clientIn, in := io.Pipe()
	out, clientOut := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- hub.Run(b.Context(), hub.Options{ClientIn: clientIn, ClientOut: clientOut, Gate: opened(b), Servers: servers, PrefixDescriptions: true})
	}()
	lines := bufio.NewReaderSize(out, 1<<20)
	ask := func(line string) {
		_, _ = io.WriteString(in, line+"\n")
		if _, err := lines.ReadString('\n'); err != nil {
			b.Fatal(err)
		}
	}
	ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	ask(`{"jsonrpc":"2.0","id":-1,"method":"tools/list"}`)
	for i := 1; b.Loop(); i++ {
		ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i))
	}
	b.StopTimer()
	_ = in.Close()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	<-ended
	_ = clientOut.Close()
}

// BenchmarkColdList is the first list of a session with ten servers of thirty tools each, which
// an earlier session has kept: none is started.
func BenchmarkColdList(b *testing.B) {
	o := hub.Options{PrefixDescriptions: true, ListWait: patience}
	toys := make([]*toy, 10)
	for i := range toys {
		toys[i] = &toy{id: fmt.Sprint("s", i)}
		for j := range 30 {
			toys[i].tools = append(toys[i].tools, fmt.Sprint("a_tool_", j))
		}
		o.Servers = append(o.Servers, hub.Server{ID: toys[i].id, Prefix: toys[i].id, Open: toys[i].open})
	}
	state := b.TempDir()
	session := func() {
		clientIn, in := io.Pipe()
		out, clientOut := io.Pipe()
		ended := make(chan error, 1)
		keeping(state)(&o)
		o.ClientIn, o.ClientOut, o.Gate = clientIn, clientOut, opened(b)
		lines := bufio.NewReaderSize(out, 1<<20)
		go func() { ended <- hub.Run(b.Context(), o) }()
		for i, ask := range []string{
			`"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`, `"tools/list"`,
		} {
			_, _ = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%s}`+"\n", i, ask)
			if got, err := lines.ReadString('\n'); err != nil || i > 0 && strings.Count(got, "a_tool_") != 300 {
				b.Fatal(got, err)
			}
		}
		b.StopTimer()
		_ = in.Close()
		go func() { _, _ = io.Copy(io.Discard, out) }()
		<-ended
		_ = clientOut.Close()
		b.StartTimer()
	}
	session()
	for b.Loop() {
		session()
	}
	for _, y := range toys {
		if y.starts.Load() != 1 {
			b.Fatal("a server is started though its list is kept")
		}
	}
}

// BenchmarkChange is from a server's word that its tools are others until its client has been
// told and has listed them: the waits in it are meant (coalesce).
func BenchmarkChange(b *testing.B) {
	var servers []hub.Server
	toys := make([]*toy, 10)
	for i := range toys {
		toys[i] = &toy{id: fmt.Sprint("s", i), tools: []string{"x"}}
		servers = append(servers, hub.Server{ID: toys[i].id, Prefix: toys[i].id, Open: toys[i].open})
	}
	clientIn, in := io.Pipe()
	out, clientOut := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- hub.Run(b.Context(), hub.Options{ClientIn: clientIn, ClientOut: clientOut, Gate: opened(b), Servers: servers, ListWait: patience})
	}()
	lines := bufio.NewReader(out)
	ask := func(line, want string) {
		_, _ = io.WriteString(in, line+"\n")
		if got, err := lines.ReadString('\n'); err != nil || !strings.Contains(got, want) {
			b.Fatal(got, err)
		}
	}
	ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, "serverInfo")
	ask(`{"jsonrpc":"2.0","id":0,"method":"tools/list"}`, `"s9__x"`)
	for i := 1; b.Loop(); i++ {
		toys[3].tools = []string{fmt.Sprint("x", i)}
		go toys[3].running().say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		if got, err := lines.ReadString('\n'); err != nil || !strings.Contains(got, "tools/list_changed") {
			b.Fatal(got, err)
		}
		ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i), fmt.Sprintf(`"s3__x%d"`, i))
	}
	b.StopTimer()
	_ = in.Close()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	<-ended
	_ = clientOut.Close()
}

// discard is a record that keeps nothing.
type discard struct{}

func (*discard) Record(...*event.Event) error { return nil }

func opened(b *testing.B) *gate.Session {
	b.Helper()
	p, err := policy.Parse("test.toml", []byte(rules), policy.Options{})
	if err != nil {
		b.Fatal(err)
	}
	guard, err := gate.New(gate.Options{
		Policy: p, Recorder: &discard{}, Approver: &person{},
		Concluder: gate.None{}, Inspector: gate.None{}, Labels: gate.None{}, Releases: gate.None{},
	})
	if err != nil {
		b.Fatal(err)
	}
	return guard
}
