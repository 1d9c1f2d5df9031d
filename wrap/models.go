package wrap

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/wrap/client"
)

// ModelFile is a file with the address at which a client reaches its model.
type ModelFile struct {
	Row       client.ModelRow
	Path      string // "" if the client has no file to edit
	Real      string // Path without symlinks
	Absent    bool   // the file does not exist
	Addresses []client.ModelAddress
	Over      []string // files that the client reads instead of this file
	Err       error    // why the file cannot be read and is not edited; nil if it can be read

	src []byte
}

// FindModelFiles reads the files of all clients on this machine, and of the clients in named.
func FindModelFiles(e client.Env, rows []client.ModelRow, named ...string) (all []ModelFile) {
	for _, row := range rows {
		if !row.IsInstalled(e) && !slices.Contains(named, row.Client) {
			continue
		}
		f := ModelFile{Row: row}
		if row.Editable() {
			f.readFile(e)
		}
		all = append(all, f)
	}
	return all
}

func (f *ModelFile) readFile(e client.Env) {
	path, exists := f.Row.FindFile(e)
	if path == "" {
		f.Err = errors.New("the place of its file is not known")
		return
	}
	f.Path, f.Real, f.Absent = path, path, !exists
	f.Over = slices.DeleteFunc(f.Row.FindOver(e), func(over string) bool { return over == path || !f.countsMore(e, over) })
	if f.Absent {
		f.Real = realFolder(path)
	} else {
		if f.Real, f.Err = resolveLinks(path); f.Err != nil {
			return
		}
		if f.src, f.Err = readRegularFile(f.Real); f.Err != nil {
			return
		}
		if f.src == nil {
			f.src = []byte{}
		}
	}
	f.Addresses, f.Err = client.ReadAddresses(f.Row, f.src)
}

// countsMore reports whether another file hides the address in the client's own file. The parameter
// over is the path of the other file. A file in the home folder or above it hides nothing, because
// the search for a project's files ends below the home folder.
func (f *ModelFile) countsMore(e client.Env, over string) bool {
	folder := filepath.Dir(over)
	if strings.HasPrefix(filepath.Base(folder), ".") {
		folder = filepath.Dir(folder)
	}
	if folder == e.Home || isInside(e.Home, folder) {
		return false
	}
	if f.Row.Format == client.DotEnv {
		return true
	}
	src, err := readRegularFile(over)
	if err != nil {
		return false // the client cannot read this file either
	}
	all, err := client.ReadAddresses(f.Row, src)
	return err == nil && slices.ContainsFunc(all, func(a client.ModelAddress) bool { return a.Text != "" })
}

// ModelState tells whether a client's requests to its model go through clawai's proxy.
type ModelState string

// Values of ModelState.
const (
	ModelLed        ModelState = "through clawai"
	ModelDrifted    ModelState = "drifted"    // the address differs from the one that wrap writes
	ModelBare       ModelState = "not led"    // the requests go directly to the service
	ModelByHand     ModelState = "by hand"    // wrap edits no file of this client
	ModelUnreadable ModelState = "unreadable" // the file cannot be read
)

// ModelState returns the state of a client, and a reason if the state needs one, otherwise "".
func (r *ModelRoutes) ModelState(f ModelFile) (ModelState, string) {
	switch {
	case f.Err != nil:
		return ModelUnreadable, f.Err.Error()
	case !f.Row.Editable():
		return ModelByHand, f.Row.Instead
	}
	led, bare := 0, 0
	for _, a := range f.Addresses {
		switch {
		case a.Ours == nil && r.Upstreams[a.Route] != "":
			return ModelDrifted, "it was led through clawai, and something has changed the address"
		case a.Ours == nil:
			bare++
		case a.Ours.Base != r.Base(a.Route):
			return ModelDrifted, "its address is not that of your proxy"
		case r.Upstreams[a.Route] == "":
			return ModelDrifted, "your proxy does not know where to lead it"
		default:
			led++
		}
	}
	switch {
	case led > 0 && client.FindElsewhere(f.Row, f.src) != "":
		return ModelDrifted, "in its file " + client.FindElsewhere(f.Row, f.src)
	case led > 0 && bare > 0:
		return ModelDrifted, fmt.Sprintf("%d of its %d addresses lead elsewhere", bare, led+bare)
	case led > 0 && len(f.Over) > 0:
		return ModelDrifted, "in this folder " + f.Over[0] + " counts instead"
	case led > 0:
		return ModelLed, ""
	case len(f.Addresses) == 0:
		return ModelBare, "no address of a service stands in its file"
	}
	return ModelBare, ""
}

// PlanModels plans the changes of an operation on the addresses of models. If op is Wrap, it also
// adds the services to the routes.
func (r *ModelRoutes) PlanModels(op Op, files []ModelFile, before []Change) (changes []Change, errs []error) {
	for _, f := range files {
		for _, c := range before {
			if c.Real == f.Real {
				f.src, f.Absent = c.After, c.Gone
			}
		}
		after, routes, err := r.editModelFile(op, f)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.Row.Name, err))
			continue
		}
		if string(after) == string(f.src) && (after == nil) == (f.src == nil) {
			continue
		}
		c := Change{Op: op, Path: f.Path, Real: f.Real, Before: f.src, After: after, Model: &f.Row, Absent: f.src == nil, Gone: after == nil}
		row := client.Row{Client: f.Row.Client, Name: f.Row.Name, Restart: f.Row.After, Confidence: f.Row.Confidence}
		for _, route := range slices.Backward(routes) {
			c.Edits = append(c.Edits, Edit{Row: row, Entry: client.Entry{Name: route, KeyPath: []string{"model", route}, Line: 1}})
		}
		changes = append(changes, c)
	}
	return changes, errs
}

// editModelFile returns the file after an operation, and the names of the changed routes.
func (r *ModelRoutes) editModelFile(op Op, f ModelFile) (after []byte, routes []string, err error) {
	switch {
	case f.Err != nil:
		return nil, nil, fmt.Errorf("%s: %w", f.Path, f.Err)
	case !f.Row.Editable() && op == Wrap:
		return nil, nil, errors.New(f.Row.Instead)
	case len(f.Addresses) == 0 && op == Wrap:
		return nil, nil, fmt.Errorf("%s has no address of a service that could lead elsewhere; write the address that the client uses into it, and run the command again", f.Path)
	}
	if why := client.FindElsewhere(f.Row, f.src); why != "" && op == Wrap {
		return nil, nil, fmt.Errorf("%s: %s, and run the command again", f.Path, why)
	}
	after = f.src
	for _, a := range f.Addresses {
		var now []byte
		if op == Unwrap {
			now, err = client.TakeAddress(f.Row, after, a.KeyPath)
		} else {
			now, err = r.leadAddress(f, a, after)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		if string(now) != string(after) || (now == nil) != (after == nil) {
			routes = append(routes, a.Route)
		}
		if after = now; after == nil {
			break
		}
	}
	return after, routes, nil
}

// leadAddress returns the file with an address of our proxy at the place that the parameter a
// describes.
func (r *ModelRoutes) leadAddress(f ModelFile, a client.ModelAddress, src []byte) ([]byte, error) {
	service := a.Text
	if a.Ours != nil {
		service = a.Ours.Service(f.Row)
	}
	if service == "" {
		service = f.Row.Upstream
	}
	if service == "" {
		return nil, fmt.Errorf("it does not say where the service is; write %s=https://HOST/PATH into it, and run the command again", f.Row.Variable)
	}
	to, err := client.ParseService(service)
	if err != nil {
		return nil, err
	}
	if client.LeadsToUs(to, r.Listen) {
		known := "https://HOST/PATH"
		if was, err := client.ParseService(r.Upstreams[a.Route]); err == nil && !client.LeadsToUs(was, r.Listen) {
			known = was.String()
		}
		return nil, fmt.Errorf("the address at %s leads to clawai itself, and not as wrap has written it; write the service's address there (%s), or remove it for the client's own service, and run the command again", strings.Join(a.KeyPath, "."), known)
	}
	r.Upstreams[a.Route] = service
	return client.PutAddress(f.Row, src, a, r.Base(a.Route))
}
