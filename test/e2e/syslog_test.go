//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/testing/exectest"
	"github.com/clawai/clawai/internal/testing/tlstest"
)

// rsyslog takes messages over TLS and writes what it understood of each as JSON.
const rsyslogConf = `
global(workDirectory="%[1]s" defaultNetstreamDriver="ossl" defaultNetstreamDriverCAFile="%[1]s/ca.pem" defaultNetstreamDriverCertFile="%[1]s/server.pem" defaultNetstreamDriverKeyFile="%[1]s/server.key")
module(load="imtcp" streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="anon")
input(type="imtcp" address="127.0.0.1" port="%[2]s" ruleset="all")
template(name="parsed" type="list") { property(name="jsonmesg") constant(value="\n") }
ruleset(name="all") { action(type="omfile" file="%[1]s/out" template="parsed") }
`

// A real receiver reads each event back, whatever a server called its tool, and none in parts.
func TestSyslogIsReadByRsyslog(t *testing.T) {
	rsyslogd := "/usr/sbin/rsyslogd"
	if _, err := os.Stat(rsyslogd); err != nil {
		t.Fatalf("%v; `bash .ci/run e2e` installs what these tests need", err)
	}
	dir := t.TempDir()
	authority := tlstest.NewAuthority(t, "Company Root")
	cert, key := authority.Issue(tlstest.Leaf{Names: []string{"127.0.0.1"}})
	ca := tlstest.WriteFile(t, dir, "ca.pem", authority.PEM)
	tlstest.WriteFile(t, dir, "server.pem", cert)
	tlstest.WriteFile(t, dir, "server.key", key)
	port := exectest.ReservePort(t)
	conf := tlstest.WriteFile(t, dir, "rsyslog.conf", fmt.Appendf(nil, rsyslogConf, dir, port))
	server := exec.Command(rsyslogd, "-n", "-f", conf, "-i", filepath.Join(dir, "pid"))
	server.Stdout, server.Stderr = os.Stderr, os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	await(t, "rsyslogd listens", func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})

	record, err := audit.Open(filepath.Join(dir, "state", "audit"), audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tools := []string{
		"write_file", "x\n<108>1 2026-12-01T10:02:03Z h clawai s m - forged", `a"] [forged b="c"`, `\"]`, `\`, "cs1=y|z", "\u00e4\u043f\u4e2d",
		strings.Repeat(`]"\`, 900), "10 <108>1 - - - - - - forged",
	}
	const many = 300
	for i := range many {
		e := &event.Event{
			Kind: event.Decision, Server: "s", Method: "tools/call", Subject: "tool", Names: []string{tools[i%len(tools)]}, Decision: "deny", Policy: "deny",
			Args: []byte(`{"text":"` + strings.Repeat("a ", 50*i) + `"}`),
		}
		if err := record.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := record.Close(); err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, form := range []string{"syslog", "cef"} {
		export := exec.Command(clawai, "log", "export", "--format", form, "--to", "syslog+tls://127.0.0.1:"+port)
		export.Env = append(os.Environ(), "HOME="+dir, "CLAWAI_STATE_DIR="+filepath.Join(dir, "state"), "SSL_CERT_FILE="+ca)
		if out, err := export.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %s", err, out)
		}
		var lines []string
		await(t, "rsyslogd has written all", func() bool {
			text, _ := os.ReadFile(filepath.Join(dir, "out"))
			lines = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			return len(lines) >= read+many && strings.HasSuffix(string(text), "\n")
		})
		if len(lines) != read+many {
			t.Fatalf("%d messages of %d were read as %d", many, many, len(lines)-read)
		}
		for i, line := range lines[read:] {
			var m struct {
				Message    string `json:"msg"`
				App        string `json:"app-name"`
				Kind       string `json:"msgid"`
				Data       string `json:"structured-data"`
				Severity   string `json:"syslogseverity"`
				Facility   string `json:"syslogfacility"`
				Escaped    string `json:"rawmsg"`
				Protocol   string `json:"protocol-version"`
				ReportedAt string `json:"timereported"`
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			id := fmt.Sprintf("-%d", i+2)
			if m.App != "clawai" || m.Kind != "decision:deny" || m.Severity != "4" || m.Facility != "13" || m.Protocol != "1" {
				t.Fatalf("%s %d: %s", form, i, line)
			}
			switch form {
			case "syslog":
				if !strings.HasPrefix(m.Data, "[clawai@32473 ") || !strings.Contains(m.Data, id+`" digest=`) && !strings.Contains(m.Data, id+`" hash=`) || !strings.HasSuffix(m.Data, `"]`) || !strings.HasPrefix(m.Message, "deny tools/call ") {
					t.Fatalf("%d: %s", i, line)
				}
			case "cef":
				if !strings.HasPrefix(m.Message, "CEF:0|clawai|clawai|") || !strings.Contains(m.Message, id+" ") || m.Data != "-" {
					t.Fatalf("%d: %s", i, line)
				}
			}
		}
		read += many
	}
}
