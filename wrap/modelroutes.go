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

// ModelRoutes holds the address of the owner's proxy for models, and the services to which the
// proxy forwards requests.
type ModelRoutes struct {
	Listen    string            `json:"listen"`   // ADDRESS:PORT
	Secret    string            `json:"secret"`   // part of the path of each address
	Upstreams map[string]string `json:"services"` // addresses of the services, by route
}

// DefaultModelListen is the default address of the proxy for models.
const DefaultModelListen = "127.0.0.1:8809"

// ModelRoutesFile returns the path of the file with the routes. Only the owner can read it.
func ModelRoutesFile(state string) string { return filepath.Join(state, "model-routes.json") }

// ReadModelRoutes reads the routes. If there is no file, it returns no routes.
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

// LockModelRoutes locks out other clawai processes that want to write the routes, until the caller
// calls unlock.
func LockModelRoutes(state string) (unlock func(), err error) {
	return atomicfile.Lock(ModelRoutesFile(state))
}

// ForgetModelRoutes removes the given routes from the file in the state folder.
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

// Save writes the routes. A caller that reads, changes and saves them must hold the lock all the
// time.
func (r *ModelRoutes) Save(state string) error {
	src, err := json.MarshalIndent(r, "", "  ") //nolint:gosec // G117: the secret is for this file, which only the owner reads
	if err != nil {
		return err
	}
	return atomicfile.Write(ModelRoutesFile(state), append(src, '\n'), atomicfile.Options{Mode: 0o600})
}

// Leads reports whether requests of a client go through the proxy.
func (r *ModelRoutes) Leads(id string) bool {
	for route := range r.Upstreams {
		if name, _, _ := strings.Cut(route, "."); name == id {
			return true
		}
	}
	return false
}

// FindOther returns a client whose requests go through the proxy and that is not in clients; "" if
// there is none.
func (r *ModelRoutes) FindOther(clients []string) (other string) {
	for route := range r.Upstreams {
		if name, _, _ := strings.Cut(route, "."); !slices.Contains(clients, name) && (other == "" || name < other) {
			other = name
		}
	}
	return other
}

// Base returns the address for a route, without the last part, which tells how to undo the edit.
func (r *ModelRoutes) Base(route string) string {
	return "http://" + r.Listen + "/" + client.LedWord() + "/" + r.Secret + "/" + route
}

// ModelSeenFile returns the path of a file for a route. The proxy writes this file when a client
// uses the route.
func ModelSeenFile(state, route string) string {
	return filepath.Join(state, "model-seen", route)
}

// NoteModelSeen records the current time as the time when a client used a route, or when its file
// was edited to use it.
func NoteModelSeen(state, route string) error {
	path := ModelSeenFile(state, route)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, nil, 0o600)
}
