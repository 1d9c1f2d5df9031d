//go:build linux

package soak_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/hub"
	"github.com/clawai/clawai/proxy/stdio"
)

// toyServer is a server of MCP in a shell, which is there at once.
const toyServer = `while read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}
  case $line in
  *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}}' ;;
  *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}' ;;
  *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[]}}' ;;
  esac
done`

// TestHubSoak runs sessions of a hub with ten servers, each a process when it is needed.
func TestHubSoak(t *testing.T) {
	if !listsChildren(t) {
		t.Skip("this kernel does not list the children of a process")
	}
	r := &record{}
	before := held()
	session := func(int) { hubSession(t, r) }
	run(session, 0, sessions()/2)
	half := held()
	run(session, sessions()/2, sessions())
	whole := held()
	left := children(t)
	t.Logf("%d sessions; before %v, half %v, whole %v; %d processes left", sessions(), before, half, whole, left)
	if int(r.requests.Load()) != 2*sessions() {
		t.Errorf("%d calls are recorded of %d", r.requests.Load(), 2*sessions())
	}
	if whole.heap > half.heap+2<<20 {
		t.Errorf("memory grows: %v, then %v", half, whole)
	}
	if left != 0 {
		t.Errorf("%d processes are left", left)
	}
	for end := time.Now().Add(2 * time.Minute); held().files > before.files+2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("descriptors leak: %v, then %v", before, held())
		}
	}
}

// hubSession is a client that calls two of ten servers, and goes.
func hubSession(t *testing.T, r *record) {
	in, toHub := io.Pipe()
	fromHub, out := io.Pipe()
	o := hub.Options{ClientIn: in, ClientOut: out, Gate: newGate(t, r), ListWait: time.Minute}
	for i := range 10 {
		id := fmt.Sprint("s", i)
		o.Servers = append(o.Servers, hub.Server{ID: id, Prefix: id, Timeout: time.Minute, Open: func() (proxy.Upstream, error) {
			return stdio.Start(stdio.Options{Args: []string{"sh", "-c", toyServer}})
		}})
	}
	ended := make(chan error, 1)
	go func() { ended <- hub.Run(t.Context(), o); _ = out.Close() }()
	lines := bufio.NewScanner(fromHub)
	ask := func(id, rest string) {
		_, _ = fmt.Fprintf(toHub, `{"jsonrpc":"2.0","id":%q,%s}`+"\n", id, rest)
		for lines.Scan() {
			if strings.Contains(lines.Text(), `"id":"`+id+`"`) {
				if strings.Contains(lines.Text(), `"error"`) {
					t.Errorf("%s", lines.Text())
				}
				return
			}
		}
		t.Errorf("no answer to %s", id)
	}
	ask("i", `"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	ask("a", `"method":"tools/call","params":{"name":"s3__t","arguments":{}}`)
	ask("b", `"method":"tools/call","params":{"name":"s7__t","arguments":{}}`)
	_ = toHub.Close()
	go func() { _, _ = io.Copy(io.Discard, fromHub) }()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// listsChildren sees that one that is there is counted.
func listsChildren(t *testing.T) bool {
	c := exec.Command("cat")
	in, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	n := children(t)
	_ = in.Close()
	_ = c.Wait()
	return n == 1
}

// children are the processes that this one has started and that are still there.
func children(t *testing.T) (n int) {
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tasks {
		src, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue // a thread that has ended, or a kernel that does not tell
		}
		n += len(strings.Fields(string(src)))
	}
	return n
}
