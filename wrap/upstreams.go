package wrap

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/wrap/client"
)

// HTTPProxy is the owner's proxy for clients that connect over HTTP (clawai proxy --listen). It
// only connects to the servers in Upstreams.
type HTTPProxy struct {
	Base      string            // address of the proxy up to /mcp; "" if Wrap turns remote servers into processes instead
	Secret    string            // secret part of the path; "" if there is none yet
	Upstreams map[string]string // original addresses of the servers, by name
	Listeners map[string]string // ADDRESS:PORT of the proxy in the url of each server, by name
}

// DefaultListen is the default address of the proxy.
const DefaultListen = "127.0.0.1:8808"

// ReadUpstreams reads the original addresses of redirected entries, by name. If there is no file,
// it returns an empty map.
func ReadUpstreams(state string) (map[string]string, error) {
	return readNames(filepath.Join(state, "wrapped-upstreams.json"))
}

// ReadListeners reads the ADDRESS:PORT of the proxy in the url of each redirected entry, by name.
func ReadListeners(state string) (map[string]string, error) {
	return readNames(filepath.Join(state, "wrapped-doors.json"))
}

func readNames(path string) (map[string]string, error) {
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

// SaveState adds Upstreams and Listeners to the files in the state folder. Only the owner can read
// these files, because an address may contain a secret.
func (f *HTTPProxy) SaveState(state string) error {
	unlock, err := atomicfile.Lock(filepath.Join(state, "wrapped-upstreams.json"))
	if err != nil {
		return err
	}
	defer unlock()
	upstreams, err := ReadUpstreams(state)
	if err != nil {
		return err
	}
	listeners, err := ReadListeners(state)
	if err != nil {
		return err
	}
	maps.Copy(upstreams, f.Upstreams)
	maps.Copy(listeners, f.Listeners)
	if err := saveNames(filepath.Join(state, "wrapped-upstreams.json"), upstreams); err != nil {
		return err
	}
	return saveNames(filepath.Join(state, "wrapped-doors.json"), listeners)
}

func saveNames(path string, known map[string]string) error {
	src, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(src, '\n'), atomicfile.Options{Mode: 0o600})
}

// redirectsEntry reports whether Wrap would replace, or has replaced, the url of an entry by an
// address of the proxy.
func (f *HTTPProxy) redirectsEntry(e client.Entry) bool {
	return f.Base != "" && e.Kind == client.Remote && (e.Wrapped == nil || e.Wrapped.ProxyURL != "")
}

// SetAddress sets the ADDRESS:PORT of the proxy for new urls.
func (f *HTTPProxy) SetAddress(address string) { f.Base = baseURL(address, f.Secret) }

func baseURL(address, secret string) string { return "http://" + address + "/" + secret + "/mcp" }

// listenAddress returns the ADDRESS:PORT of Base.
func (f *HTTPProxy) listenAddress() string {
	address, _, _ := strings.Cut(strings.TrimPrefix(f.Base, "http://"), "/")
	return address
}

// entryAddress returns the address of the proxy for the url of an entry. It contains the client's
// name, because each client has its own session and its own gate.
func (f *HTTPProxy) entryAddress(t Target) string {
	return f.Base + "/" + t.File.Row.Client + "/" + t.Entry.Name
}

// redirectEntry returns the file in which the url of an entry is the address of the proxy.
func (f *HTTPProxy) redirectEntry(t Target, src []byte) ([]byte, error) {
	name, address := t.Entry.Name, t.Entry.URL
	if !client.PlainName(name) {
		return nil, errors.New("its name cannot stand in an address; rename it with letters, digits, -, _ and . alone, or use --remote=bridge")
	}
	if known, taken := f.Upstreams[name]; taken && known != address {
		return nil, errors.New("another server of this name is reached through the proxy, at another address; rename one of them, or use --remote=bridge")
	}
	after, err := client.RedirectEntry(t.File.Row, src, t.Entry, f.entryAddress(t))
	if err == nil {
		f.Upstreams[name], f.Listeners[name] = address, f.listenAddress()
	}
	return after, err
}

// findDifferences returns how a redirected entry differs from the saved address of its server.
func (f *HTTPProxy) findDifferences(p *ConfigFile, e client.Entry) []string {
	address, known := f.Listeners[e.Name]
	if !known {
		address = DefaultListen
	}
	switch {
	case f.Secret == "" || e.Wrapped.ProxyURL != baseURL(address, f.Secret)+"/"+p.Row.Client+"/"+e.Name:
		return []string{"its url is not that of your proxy; run: clawai wrap --remote=proxy"}
	case f.Upstreams[e.Wrapped.Server] != e.URL:
		return []string{"your proxy does not lead to its server; run: clawai wrap --remote=proxy"}
	}
	return nil
}

// afterHost returns the part of a url from the first slash of its path on.
func afterHost(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return ""
}

// needsRedirect reports whether redirectEntry would change an entry.
func (f *HTTPProxy) needsRedirect(t Target) bool {
	w := t.Entry.Wrapped
	return w == nil || w.ProxyURL != f.entryAddress(t) || f.Upstreams[t.Entry.Name] != t.Entry.URL
}
