//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A real Prometheus scrapes clawai proxy --listen --metrics, and its checker finds no fault in what
// it reads.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	s := newSite(t, allowAll)
	back := s.serves(remoteServers[0])
	out := s.starts(nil, clawai, "proxy", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--upstream", "s="+back)
	at := map[string]string{}
	for range 2 {
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		name, address, _ := strings.Cut(strings.TrimSpace(line), "  ")
		at[name] = address
	}
	if told, err := s.visitor(at["s"], false)(remoteServers[0].inspect...); err != nil {
		t.Fatalf("%v: %s", err, told)
	}
	figures := fetchText(t, at["metrics"])
	check := exec.Command("promtool", "check", "metrics")
	check.Stdin = strings.NewReader(figures)
	if told, err := check.CombinedOutput(); err != nil || len(told) > 0 {
		t.Errorf("promtool: %v\n%s\n%s", err, told, figures)
	}

	dir := t.TempDir()
	target, err := url.Parse(at["metrics"])
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("global:\n  scrape_interval: 1s\nscrape_configs:\n- job_name: clawai\n  static_configs:\n  - targets: [%q]\n", target.Host)
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	web := freeAddress(t)
	s.starts(nil, "prometheus", "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+web, "--log.level=error")
	last := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		resp, err := http.Get("http://" + web + "/api/v1/query?query=" + url.QueryEscape(`sum(clawai_decisions_total{job="clawai",server="s",decision="allow",method="tools/call"})`))
		if err != nil {
			last = err.Error()
			continue
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if last = string(text); strings.Contains(last, `"result":[{`) && strings.Contains(last, `"1"]`) {
			return
		}
	}
	t.Errorf("Prometheus has not scraped the call: %s", last)
}

func fetchText(t *testing.T, at string) string {
	t.Helper()
	resp, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %v", resp.StatusCode, err)
	}
	return string(text)
}
