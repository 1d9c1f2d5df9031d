package wrap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/wrap/client"
)

// HookFile is one file for the hooks of a client. It need not exist.
type HookFile struct {
	Row    client.HookRow
	Path   string   // path where the client looks for the file
	Real   string   // path of the edited file: Path without symlinks
	Events []string // the events whose hooks are in this file
	Absent bool     // the file does not exist
	Hooked client.Hooked
	Err    error // why the file cannot be read and is not edited; nil if it can be read

	src []byte
}

// Hooks holds the hooks of one client.
type Hooks struct {
	Row   client.HookRow
	Files []HookFile // empty if the client runs the hooks of another client
	Trust client.Trust
	Err   error // why the hooks are unknown, or why none of them runs; otherwise nil
	// Without lists the profiles for which the client runs no hook. Each text has the setting and
	// the path of the file.
	Without []string
}

// FindHooks reads the hooks of all clients on this machine, and of the clients in named.
func FindHooks(e client.Env, rows []client.HookRow, p Program, named ...string) (all []Hooks) {
	program, _ := p.HookPath() // "" if there is no clawai-hook; HookDiffers then reports the error
	for _, row := range rows {
		if !row.IsInstalled(e) && !slices.Contains(named, row.Client) {
			continue
		}
		h := Hooks{Row: row}
		if behind := (client.Row{Paths: row.Behind}).FindFiles(e); len(behind) > 0 {
			h.Err = fmt.Errorf("%s reads %s instead of %s; move its hooks over and remove it", row.Name, behind[0], placePaths(row.FindPlaces(e)))
		}
		for _, place := range row.FindPlaces(e) {
			h.Files = append(h.Files, readHookFile(row, place, program))
		}
		h.Trust = findTrust(e, row, h.Files)
		if off := switchedOff(e, row.TrustFile); len(off) > 0 && h.Err == nil {
			h.Err = fmt.Errorf("%s runs no hook, as %s; take that out first", row.Name, off[0])
		}
		if undone := findHookBlocker(e, row); undone != "" && h.Err == nil {
			h.Err = fmt.Errorf("%s; take that out first", undone)
		}
		h.Without = switchedOff(e, row.Profiles)
		all = append(all, h)
	}
	return all
}

func placePaths(places []client.HookPlace) string {
	var paths []string
	for _, p := range places {
		paths = append(paths, p.Path)
	}
	return strings.Join(paths, ", ")
}

func readHookFile(row client.HookRow, place client.HookPlace, program string) HookFile {
	f := HookFile{Row: row, Path: place.Path, Events: place.Events}
	if f.Absent = !place.Exists; f.Absent {
		f.Real = realFolder(place.Path)
		return f
	}
	if f.Real, f.Err = resolveLinks(place.Path); f.Err != nil {
		return f
	}
	if f.src, f.Err = readRegularFile(f.Real); f.Err != nil {
		return f
	}
	f.Hooked, f.Err = client.ReadHooks(row, f.src, f.Events, client.HookStart{Path: program})
	return f
}

// realFolder returns the path of a new file, with the symlinks of its existing folders resolved.
func realFolder(path string) string {
	dir, base := filepath.Split(filepath.Clean(path))
	if dir = filepath.Clean(dir); dir == path {
		return path
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Join(real, base)
	}
	return filepath.Join(realFolder(dir), base)
}

// findTrust tells whether a person has reviewed our hooks, if the client only runs reviewed hooks.
func findTrust(e client.Env, row client.HookRow, files []HookFile) client.Trust {
	paths := (client.Row{Paths: row.TrustFile}).FindFiles(e)
	if len(row.TrustFile.All) == 0 || len(files) == 0 {
		return client.TrustUnneeded
	}
	if len(paths) == 0 {
		return client.Untrusted
	}
	src, err := readRegularFile(paths[0])
	if err != nil {
		return client.TrustUnknown
	}
	return client.HooksTrusted(src, files[0].Hooked.Ours, files[0].Path, files[0].Real)
}

// findHookBlocker returns a phrase about a setting that disables a client's hooks, or makes them
// use other rules; "" if there is none. It also reads the settings of the project, because an agent
// may write there.
func findHookBlocker(e client.Env, row client.HookRow) string {
	own, others := (client.Row{Paths: row.Paths}).FindFiles(e), (client.Row{Paths: row.Settings}).FindFiles(e)
	for _, path := range append(slices.Clip(own), others...) {
		src, err := readRegularFile(path)
		if err != nil {
			continue
		}
		off, _ := client.ReadSettings(row, src)
		if off != "" && !slices.Contains(own, path) { // HookDiffers and applyOp report a setting in the hooks' own file
			return fmt.Sprintf("%s runs no hook, as %s in %s", row.Name, off, path)
		}
	}
	for _, s := range listSettings(e, row) {
		if what := reservedFor(s.Name); what != "" && e.Getenv(s.Name) != s.Value {
			return s.renderSteering(what)
		}
	}
	return ""
}

// switchedOff lists the settings that disable all hooks, each with the path of its file.
func switchedOff(e client.Env, paths client.Paths) (all []string) {
	for _, path := range (client.Row{Paths: paths}).FindFiles(e) {
		src, err := readRegularFile(path)
		if off := client.HooksOff(src); err == nil && off != "" {
			all = append(all, off+" in "+path)
		}
	}
	return all
}

// HookPath returns the path of clawai-hook for files of clients. clawai-hook is in the same folder
// as clawai.
func (p Program) HookPath() (string, error) {
	if p.Err != nil {
		return "", p.Err
	}
	name := "clawai-hook"
	if goos == "windows" {
		name += ".exe"
	}
	path := filepath.Join(filepath.Dir(p.Path), name)
	if err := hookUsable(path); err != nil {
		return "", err
	}
	return path, nil
}

// ErrHookMissing means that clawai is installed without clawai-hook.
var ErrHookMissing = errors.New("it comes with clawai and belongs beside it: install both (docs/install.md)")

// hookUsable returns the reason why a client cannot start the hook, or why the owner cannot trust
// the hook; nil if there is none.
func hookUsable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no clawai-hook at %s; %w", path, ErrHookMissing)
	case err != nil:
		return fmt.Errorf("clawai-hook at %s: %w", path, withoutPath(err))
	case !info.Mode().IsRegular():
		return fmt.Errorf("clawai-hook at %s is not a program", path)
	case goos != "windows" && info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("clawai-hook at %s cannot be started; run: chmod +x %s", path, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("clawai-hook at %s: %w", path, withoutPath(err))
	}
	for _, at := range []string{real, filepath.Dir(real), filepath.Dir(path)} {
		if err := checkNotPublic(at); err != nil {
			return err
		}
	}
	return nil
}

// checkNotPublic returns an error if every user may write the path, because the hook runs with all
// rights of the client's user. A folder with the sticky bit is allowed: other users cannot replace
// files in it.
func checkNotPublic(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return withoutPath(err)
	}
	if goos != "windows" && info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("other users can write %s, and so decide what clawai-hook does; run: chmod o-w %s", path, path)
	}
	return nil
}
