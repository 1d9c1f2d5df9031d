//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// listing names what the server of BenchmarkLists lists: pages and tools of each.
const listing = "CLAWAI_BENCH_LISTING"

// listTools is that server.
func listTools(pages, each int) {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Cursor int `json:",string"`
			}
		}
		_ = json.Unmarshal(in.Bytes(), &m)
		switch m.Method {
		case "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"lists","version":"1"}}}`+"\n", m.ID)
		case "tools/list":
			out := bufio.NewWriter(os.Stdout)
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[`, m.ID)
			for i := range each {
				name := fmt.Sprintf("page_%d_tool_%d", m.Params.Cursor, i)
				fmt.Fprintf(out, `%s{"name":%q,"description":"Does the work of %s, for whoever asks for it in a repository of theirs.","inputSchema":{"type":"object","properties":{"owner":{"type":"string","description":"Whose it is."},"repo":{"type":"string"},"limit":{"type":"integer","minimum":1,"default":30}}}}`, strings.Repeat(",", min(i, 1)), name, name)
			}
			next := ""
			if m.Params.Cursor+1 < pages {
				next = fmt.Sprintf(`,"nextCursor":"%d"`, m.Params.Cursor+1)
			}
			fmt.Fprintf(out, "]%s}}\n", next)
			_ = out.Flush()
		}
	}
}

// BenchmarkLists starts clawai proxy before a server of many tools, reads its list to the
// end, and prints what the proxy has used until then.
func BenchmarkLists(b *testing.B) {
	dir := b.TempDir()
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-o", dir, "../cmd/clawai").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for _, size := range []struct{ pages, each int }{{1, 8000}, {1000, 8}} {
		for _, pin := range []string{"off", "record", "first", "ask", "known"} {
			b.Run(fmt.Sprintf("pages=%d/pin=%s", size.pages, pin), func(b *testing.B) {
				var processor time.Duration
				var peak float64
				for b.Loop() {
					home := b.TempDir()
					if pin == "known" {
						readList(b, dir, home, "first", size.pages, size.each)
					}
					used, high := readList(b, dir, home, pin, size.pages, size.each)
					processor, peak = processor+used, peak+high
				}
				b.ReportMetric(processor.Seconds()/float64(b.N), "cpu-s/op")
				b.ReportMetric(peak/float64(b.N), "peak-MiB/op")
			})
		}
	}
}

func readList(b *testing.B, dir, home, pin string, pages, each int) (used time.Duration, peak float64) {
	b.Helper()
	if pin == "known" {
		pin = "first"
	}
	policy := filepath.Join(home, "policy.toml")
	if err := os.WriteFile(policy, fmt.Appendf(nil, "[server.x]\npin = %q\n[[rule]]\naction = \"allow\"\ntool = \"**\"\n", pin), 0o600); err != nil {
		b.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	c := exec.CommandContext(b.Context(), filepath.Join(dir, "clawai"), "proxy", "--server", "x", "--policy", policy, "--", self)
	c.Env = append(os.Environ(), "HOME="+home, "CLAWAI_STATE_DIR="+filepath.Join(home, "state"), "CLAWAI_CONFIG_DIR="+filepath.Join(home, "config"), "GOGC=",
		fmt.Sprintf("%s=%d %d", listing, pages, each))
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	from := bufio.NewReader(out)
	for i := -1; i < pages; i++ {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{"cursor":"%d"}}`, i, i)
		if i < 0 {
			line = strings.TrimSpace(begin)
		} else if i == 0 {
			line = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		}
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			b.Fatal(err)
		}
		if _, err := from.ReadString('\n'); err != nil {
			b.Fatal(err)
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	_, high, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(high)[0])
	if err != nil {
		b.Fatal(err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid)) // not of the server, which Wait would count
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')'):]))
	for _, ticks := range fields[12:14] {
		n, err := strconv.Atoi(ticks)
		if err != nil {
			b.Fatal(err)
		}
		used += time.Duration(n) * 10 * time.Millisecond // proc(5): USER_HZ is 100
	}
	_ = in.Close()
	if err := c.Wait(); err != nil {
		b.Fatal(err)
	}
	return used, float64(kib) / 1024
}
