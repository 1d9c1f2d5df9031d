package wrap

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/wrap/client"
)

// ModelRoutes holds the address of the owner's proxy of models, and the services to which the proxy
// forwards the requests of clients.
type ModelRoutes struct {
	Listen    string            `json:"listen"`   // ADDRESS:PORT
	Secret    string            `json:"secret"`   // part of every path
	Upstreams map[string]string `json:"services"` // address of each service, by route
}

// DefaultModelListen is the address where the proxy of models listens by default.
const DefaultModelListen = "127.0.0.1:8809"

// ModelRoutesFile returns the path of the routes. Only the owner can read the file.
func ModelRoutesFile(state string) string { return filepath.Join(state, "model-routes.json") }

// ReadModelRoutes reads the routes. Without a file they are empty.
func ReadModelRoutes(state string) (*ModelRoutes, error) {
	r := &ModelRoutes{Upstreams: map[string]string{}}
	path := ModelRoutesFile(state)
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(src, r)
	}
	if err == nil && (len(r.Secret) < 16 || r.Listen == "") {
		err = errors.New("it has no secret or no address")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; remove it and run: clawai wrap --llm --all", path, err)
	}
	if r.Upstreams == nil {
		r.Upstreams = map[string]string{}
	}
	return r, nil
}

// LockModelRoutes keeps other clawai processes from writing the routes until unlock.
func LockModelRoutes(state string) (unlock func(), err error) {
	return atomicfile.Lock(ModelRoutesFile(state))
}

// ForgetModelRoutes removes routes from those in the state folder.
func ForgetModelRoutes(state string, gone []string) error {
	unlock, err := LockModelRoutes(state)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := ReadModelRoutes(state)
	if err != nil || len(r.Upstreams) == 0 {
		return err
	}
	for _, route := range gone {
		delete(r.Upstreams, route)
	}
	return r.Save(state)
}

// Save writes the routes. A caller that has read the routes must hold the lock from the read until
// Save returns.
func (r *ModelRoutes) Save(state string) error {
	src, err := json.MarshalIndent(r, "", "  ") //nolint:gosec // G117: the secret is for this file, which only the owner reads
	if err != nil {
		return err
	}
	return atomicfile.Write(ModelRoutesFile(state), append(src, '\n'), atomicfile.Options{Mode: 0o600})
}

// Leads reports whether a client was led through the proxy.
func (r *ModelRoutes) Leads(id string) bool {
	for route := range r.Upstreams {
		if name, _, _ := strings.Cut(route, "."); name == id {
			return true
		}
	}
	return false
}

// FindOther returns a client that was led through the proxy and is not in clients; "" for none.
func (r *ModelRoutes) FindOther(clients []string) (other string) {
	for route := range r.Upstreams {
		if name, _, _ := strings.Cut(route, "."); !slices.Contains(clients, name) && (other == "" || name < other) {
			other = name
		}
	}
	return other
}

// Base returns the address of a route without its last part, which tells how to undo the edit.
func (r *ModelRoutes) Base(route string) string {
	return "http://" + r.Listen + "/" + client.LedWord() + "/" + r.Secret + "/" + route
}

// ModelSeenFile returns the path of the file that the proxy writes when a client uses a route.
func ModelSeenFile(state, route string) string {
	return filepath.Join(state, "model-seen", route)
}

// NoteModelSeen records that a client uses a route now, or that its file was edited to use it now.
func NoteModelSeen(state, route string) error {
	path := ModelSeenFile(state, route)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, nil, 0o600)
}
