package wrap

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/clawai/clawai/internal/atomicfile"
	"github.com/clawai/clawai/wrap/client"
)

// Front is the owner's proxy for clients that go on speaking HTTP (clawai proxy
// --listen), and where it has to lead: what is not in Upstreams it does not reach.
type Front struct {
	Base      string            // its address up to /mcp; "": remote servers get a process instead
	Secret    string            // the part of the path that is its own; "" when there is none yet
	Upstreams map[string]string // address by name
}

func upstreamsPath(state string) string { return filepath.Join(state, "wrapped-upstreams.json") }

// ReadUpstreams reads the addresses that clients were led away from, by name. A
// missing file has none.
func ReadUpstreams(state string) (map[string]string, error) {
	path := upstreamsPath(state)
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	if err := json.Unmarshal(src, &known); err != nil {
		return nil, fmt.Errorf("%s: %w; remove it and run: clawai wrap --all --remote=proxy", path, err)
	}
	return known, nil
}

// SaveUpstreams writes them. An address may hold a key, so nobody else reads it.
func SaveUpstreams(state string, known map[string]string) error {
	src, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(upstreamsPath(state), append(src, '\n'), atomicfile.Options{Mode: 0o600})
}

// redirects says that an entry gets the proxy's address, or has it.
func (f *Front) redirects(e client.Entry) bool {
	return f.Base != "" && e.Kind == client.Remote && (e.Wrapped == nil || e.Wrapped.Front != "")
}

// address is where an entry has to lead: every client has an agent session, and
// so a gate, of its own.
func (f *Front) address(t Target) string {
	return f.Base + "/" + t.Place.Row.Client + "/" + t.Entry.Name
}

// redirect is the file with the entry leading to the proxy.
func (f *Front) redirect(t Target, src []byte) ([]byte, error) {
	name, address := t.Entry.Name, t.Entry.URL
	if !client.PlainName(name) {
		return nil, errors.New("its name cannot stand in an address; rename it with letters, digits, -, _ and . alone, or use --remote=bridge")
	}
	if known, taken := f.Upstreams[name]; taken && known != address {
		return nil, errors.New("another server of this name is reached through the proxy, at another address; rename one of them, or use --remote=bridge")
	}
	after, err := client.Redirect(t.Place.Row, src, t.Entry, f.address(t))
	if err == nil {
		f.Upstreams[name] = address
	}
	return after, err
}

// state is that of an entry whose url leads to the proxy.
func (f *Front) state(e client.Entry) (State, string) {
	first, _, _ := strings.Cut(strings.TrimPrefix(afterHost(e.Wrapped.Front), "/"), "/")
	switch {
	case f.Secret == "" || first != f.Secret:
		return Drifted, "its url is not that of your proxy; run: clawai wrap --remote=proxy"
	case f.Upstreams[e.Wrapped.Server] != e.URL || e.Wrapped.Outdated:
		return Drifted, "your proxy does not lead to its server; run: clawai wrap --remote=proxy"
	}
	return Wrapped, "through your proxy at " + strings.TrimSuffix(e.Wrapped.Front, afterHost(e.Wrapped.Front))
}

// afterHost is the path of a front.
func afterHost(front string) string {
	_, rest, _ := strings.Cut(front, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return ""
}

// stale says that redirect would change an entry.
func (f *Front) stale(t Target) bool {
	w := t.Entry.Wrapped
	return w == nil || w.Front != f.address(t) || f.Upstreams[t.Entry.Name] != t.Entry.URL
}
