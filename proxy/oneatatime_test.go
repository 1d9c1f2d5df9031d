package proxy_test

import (
	"bufio"
	"io"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/proxy"
)

// spoken is a server over pipes that hold nothing: each line it writes waits for its reader.
type spoken struct {
	*upstream
	io.Reader
	io.Writer
}

func (s spoken) Read(p []byte) (int, error)  { return s.Reader.Read(p) }
func (s spoken) Write(p []byte) (int, error) { return s.Writer.Write(p) }

// A server that does one thing at a time asks for something that is refused, and says more
// before it listens: what it says arrives, and then it hears the refusal. A proxy that waited
// for it to listen would wait for good.
func TestAServerThatSpeaksBeforeItListens(t *testing.T) {
	serverIn, toServer := io.Pipe()
	fromServer, serverOut := io.Pipe()
	w := newHarness(t, func(o *proxy.Options, _ *gate.Options) {
		o.Server = spoken{o.Server.(*upstream), fromServer, toServer}
	})
	t.Cleanup(func() { _, _ = serverOut.Close(), serverIn.Close() })
	heard := make(chan string, 1)
	go func() {
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`,
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
		} {
			_, _ = io.WriteString(serverOut, line+"\n")
		}
		line, _ := bufio.NewReader(serverIn).ReadString('\n')
		heard <- line
	}()
	for range 2 {
		w.client.wantsLike("list_changed")
	}
	select {
	case line := <-heard:
		if line == "" {
			t.Error("no refusal")
		}
	case <-time.After(patience):
		t.Error("the server hears nothing")
	}
}

// What the client says is never left to the goroutine that the server is read by: a server
// that speaks again before it reads would stop both.
func TestWhatAnotherHasQueuedIsNotWrittenByAReader(t *testing.T) {
	serverIn, toServer := io.Pipe()
	fromServer, serverOut := io.Pipe()
	w := newHarness(t, func(o *proxy.Options, _ *gate.Options) {
		o.Server = spoken{o.Server.(*upstream), fromServer, toServer}
	})
	t.Cleanup(func() { _, _ = serverOut.Close(), serverIn.Close() })
	const rounds = 2000
	go func() {
		in := bufio.NewReader(serverIn)
		for range rounds {
			if _, err := in.ReadString('\n'); err != nil {
				return
			}
			for range 2 {
				_, _ = io.WriteString(serverOut, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n")
			}
		}
	}()
	go func() {
		for range rounds {
			w.client.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		}
	}()
	for range 2 * rounds {
		w.client.wantsLike("list_changed")
	}
}
