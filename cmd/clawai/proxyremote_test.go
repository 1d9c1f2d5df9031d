//go:build unix

package main

import (
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/internal/event"
)

// A session from the first message to the DELETE at its end.
func TestBridge(t *testing.T) {
	back := newBackServer(t)
	back.Start()
	r := prepareClawai(t, "--", back.URL+"/mcp").start()
	r.say(begin)
	r.wants(`"id":0,"result"`)
	r.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	r.call("1", "hello")
	r.wants(`"id":1,"result"`)
	r.say(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`)
	r.wants(`"id":2,"error"`, "4403")
	_ = r.in.Close()
	if code := r.code(inTime); code != 0 {
		t.Errorf("exit code %d", code)
	}
	all, texts := back.requests()
	for _, h := range all {
		if strings.Contains(texts, "initialize") && h.Header.Get("Mcp-Session-Id") != "session-1" && h != all[0] {
			t.Errorf("%s without the session", h.Method)
		}
		if h != all[0] && h.Header.Get("Mcp-Protocol-Version") != "2025-11-25" {
			t.Errorf("%s without the version", h.Method)
		}
	}
	if strings.Contains(texts, "passwd") || !strings.Contains(texts, "hello") || !strings.HasSuffix(texts, "DELETE \n") {
		t.Error(texts)
	}
	if start := r.records(event.Start); len(start) != 1 || !strings.Contains(start[0].Detail, "server "+back.URL+"/mcp") {
		t.Errorf("%+v", start)
	}
	r.quiet()
}

// Headers and keys reach the server, and are nowhere else to be read.
func TestSecretsOfARemoteServer(t *testing.T) {
	back := newBackServer(t)
	back.Start()
	var secrets []string
	for i := range 4 {
		secrets = append(secrets, fmt.Sprintf("s3cr3t-%d-%d", i, time.Now().UnixNano()))
	}
	r := prepareClawai(t, "--header-file", "", "--", "env:WHERE")
	r.cmd.Args[7] = r.path("headers")
	r.write("headers", "# of the owner\nAuthorization: Bearer ${TOKEN}\nX-Plain: "+secrets[1]+"\n")
	r.cmd.Env = append(r.cmd.Env, "TOKEN="+secrets[0], "CLAWAI_HEADER_1=X-Env: "+secrets[2], "WHERE="+back.URL+"/mcp?key="+secrets[3])
	r.start()
	r.say(begin)
	r.wants(`"id":0,"result"`)
	all, _ := back.requests()
	h := all[0]
	if h.Header.Get("Authorization") != "Bearer "+secrets[0] || h.Header.Get("X-Plain") != secrets[1] || h.Header.Get("X-Env") != secrets[2] || h.URL.Query().Get("key") != secrets[3] {
		t.Errorf("%s %v", h.URL, h.Header)
	}
	back.CloseClientConnections()
	back.Close()
	r.call("1", "hello")
	if line := r.wants(`"id":1`, "cannot be reached"); strings.Contains(line, "s3cr3t") {
		t.Error(line)
	}
	r.keeps(secrets, "headers")
	_ = r.in.Close()
	r.code(inTime)
	r.keeps(secrets, "headers")
	doctor := exec.Command("clawai", "doctor", "--all")
	doctor.Env = r.cmd.Env
	if out, _ := doctor.CombinedOutput(); strings.Contains(string(out), "s3cr3t") {
		t.Errorf("%s", out)
	}
}

// A server that cannot be reached is an answer to each request, and no end.
func TestBridgeToNowhere(t *testing.T) {
	r := prepareClawai(t, "--", "http://127.0.0.1:1/mcp").start()
	for i := range 3 {
		r.call(fmt.Sprint(i), "hello")
		r.wants(fmt.Sprintf(`"id":%d,"error"`, i), "cannot be reached")
	}
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	if code := r.code(inTime); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.quiet()
}

// What a server says unasked, behind its answer, is no answer to the next call, and
// nothing that a person gets to read.
func TestAnAnswerBehindTheAnswer(t *testing.T) {
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	left := make(chan struct{}, 100) // a connection that the proxy has given up
	go func() {
		for id := 1; ; id++ {
			c, err := in.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 64<<10))
			var both strings.Builder // in one piece: what comes later may meet the next call
			for i := range 2 {
				text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%d"}]}}`, id+i, i)
				fmt.Fprintf(&both, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
			}
			_, _ = io.WriteString(c, both.String())
			_, _ = c.Read(make([]byte, 1))
			_ = c.Close()
			left <- struct{}{}
		}
	}()
	r := prepareClawai(t, "--", "http://"+in.Addr().String()+"/mcp").start()
	for i := 1; i < 4; i++ {
		r.call(fmt.Sprint(i), "hello")
		r.wants(fmt.Sprintf(`"id":%d,`, i), `"text":"0"`)
		<-left // a call that comes before that may take the connection, and what lies on it
	}
	_ = r.in.Close()
	r.code(inTime)
	r.quiet()
}

// A server that never answers does not keep the proxy from ending.
func TestBridgeEndsInTime(t *testing.T) {
	back := newBackServer(t)
	hang := make(chan struct{})
	defer close(hang)
	back.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	})
	back.Start()
	r := prepareClawai(t, "--", back.URL+"/mcp").start()
	r.say(begin)
	r.call("1", "hello")
	time.Sleep(50 * time.Millisecond)
	_ = r.in.Close()
	if code := r.code(inTime); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TLS and HTTP/2, with a certificate that the system trusts, and none that it
// does not.
func TestBridgeOverTLS(t *testing.T) {
	back := newBackServer(t)
	back.StartTLS()
	r := prepareClawai(t, "--", back.URL+"/mcp")
	r.write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: back.Certificate().Raw})))
	r.cmd.Env = append(r.cmd.Env, "SSL_CERT_FILE="+r.path("ca.pem"), "SSL_CERT_DIR="+r.dir)
	r.start()
	r.call("1", "hello")
	r.wants(`"id":1,"result"`)
	if all, _ := back.requests(); all[0].ProtoMajor != 2 {
		t.Errorf("spoken: %s", all[0].Proto)
	}
	stranger := prepareClawai(t, "--", back.URL+"/mcp").start()
	stranger.call("1", "hello")
	stranger.wants(`"id":1,"error"`, "certificate")
	if _, texts := back.requests(); strings.Count(texts, "POST") != 1 {
		t.Error(texts)
	}
}

// What a remote server sends unasked does not reach the client.
func TestBridgeJudgesTheServer(t *testing.T) {
	back := newBackServer(t)
	back.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":99,"result":{"evil":1}}`, `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[],"evil":1}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":"evil"}}`, `evil`, `{"jsonrpc":"2.0","id":1,"result":{"content":["evil"]}}`,
		} {
			fmt.Fprintf(w, "data: %s\r\r", line)
		}
	})
	back.Start()
	r := prepareClawai(t, "--", back.URL+"/mcp").start()
	r.call("1", "hello")
	if line := r.wants(`"id":1,"error"`); strings.Contains(line, "evil") {
		t.Error(line)
	}
	_ = r.in.Close()
	r.code(inTime)
	if rest, _ := r.out.ReadString('\n'); rest != "" {
		t.Errorf("also came %q", rest)
	}
}

func TestAHeaderFileThatOthersRead(t *testing.T) {
	r := prepareClawai(t, "--header-file", "", "--", "http://127.0.0.1:1/mcp")
	r.cmd.Args[7] = r.path("headers")
	r.write("headers", "X-Key: s3cr3t\n")
	if err := os.Chmod(r.path("headers"), 0o640); err != nil {
		t.Fatal(err)
	}
	r.start()
	if code := r.code(patience); code != cmdline.ExitUsage {
		t.Errorf("exit code %d", code)
	}
	if said := r.read("stderr"); !strings.Contains(said, r.path("headers")) || strings.Contains(said, "s3cr3t") {
		t.Error(said)
	}
}
