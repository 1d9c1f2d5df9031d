//go:build attack

package url_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// place is where a program would go for a URL.
type place struct{ program, scheme, host, port, path string }

func (p *place) UnmarshalJSON(src []byte) error {
	var parts [5]string
	err := json.Unmarshal(src, &parts)
	*p = place{parts[0], strings.ToLower(parts[1]), plain(parts[2]), parts[3], parts[4]}
	return err
}

// plain is a host as a name server or a socket is asked for it.
func plain(host string) string {
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if a, ok := address(host); ok {
		return a.Unmap().String()
	}
	return host
}

// address reads a host as sockets do: also as inet_aton(3) does.
func address(host string) (netip.Addr, bool) {
	if strings.Contains(host, ":") { // only IPv6 has zones
		host, _, _ = strings.Cut(host, "%")
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a, true
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(octal(part), 0, 32)
		last := i == len(parts)-1
		if err != nil || !last && n > 255 || last && n >= 1<<(8*(4-i)) {
			return netip.Addr{}, false
		}
		if last {
			sum = sum<<(8*(4-i)) | n
		} else {
			sum = sum<<8 | n
		}
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

// octal writes 0177, and nothing else, as Go reads it.
func octal(s string) string {
	if strings.ContainsAny(s, "_+-oObB") && !strings.HasPrefix(strings.ToLower(s), "0x") || s == "" {
		return "x"
	}
	return s
}

// helper is a program that reads a URL a line and answers in a line.
type helper struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func startHelper(t *testing.T, name string, args ...string) *helper {
	t.Helper()
	cmd := exec.Command(name, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v (the attack step of .ci/run installs it)", name, err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, stderr.String())
		}
	})
	return &helper{in, bufio.NewReaderSize(out, 1<<20)}
}

// read asks about many URLs at once; the answers come in the same order.
func (h *helper) read(t *testing.T, urls []string) [][]place {
	t.Helper()
	sent := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(h.in)
		for _, u := range urls {
			text, _ := json.Marshal(u)
			w.Write(append(text, '\n'))
		}
		sent <- w.Flush()
	}()
	all := make([][]place, len(urls))
	for i, u := range urls {
		line, err := h.out.ReadBytes('\n')
		if err != nil {
			t.Fatalf("no answer about %q: %v", u, err)
		}
		if err := json.Unmarshal(line, &all[i]); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	return all
}

// inGo is where net/url and net/http would go.
func inGo(text string) (all []place) {
	if u, err := url.Parse(text); err == nil {
		all = append(all, place{"go net/url", strings.ToLower(u.Scheme), plain(u.Hostname()), u.Port(), u.Path})
	}
	if r, err := http.NewRequest(http.MethodGet, text, nil); err == nil {
		all = append(all, place{"go net/http", strings.ToLower(r.URL.Scheme), plain(r.URL.Hostname()), r.URL.Port(), r.URL.EscapedPath()})
	}
	return all
}
