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

// HookFile is one file of a client's hooks; it may be missing.
type HookFile struct {
	Row    client.HookRow
	Path   string   // path where the client looks
	Real   string   // path that is edited: Path with its symlinks resolved
	Events []string // events in the file
	Absent bool     // the file does not exist
	Hooked client.Hooked
	Err    error // reason why it cannot be read; nothing in it can be edited

	src []byte
}

// Hooks holds the hooks of one client.
type Hooks struct {
	Row   client.HookRow
	Files []HookFile // none when the client runs another client's hooks
	Trust client.Trust
	Err   error // reason why they are unknown, or none of them runs
	// Without lists the profiles in which the client runs no hook, each with the reason.
	Without []string
}

// FindHooks reads the hooks of every client on this machine, and of the named clients.
func FindHooks(e client.Env, rows []client.HookRow, p Program, named ...string) (all []Hooks) {
	program, _ := p.HookPath() // "" when there is none; the hooks in the file are then compared with ""
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

// realFolder returns the path that a new file will have, with symlinks of its existing folders
// resolved.
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

// findTrust reads which hooks the person has reviewed, for a client that runs no others.
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

// findHookBlocker returns the part of a client's settings that keeps its hooks from running, or
// leads them to other rules; "" when there is none. The project's settings count too, and an
// agent may write there.
func findHookBlocker(e client.Env, row client.HookRow) string {
	own, others := (client.Row{Paths: row.Paths}).FindFiles(e), (client.Row{Paths: row.Settings}).FindFiles(e)
	for _, path := range append(slices.Clip(own), others...) {
		src, err := readRegularFile(path)
		if err != nil {
			continue
		}
		off, _ := client.ReadSettings(row, src)
		if off != "" && !slices.Contains(own, path) { // for its own file, other code reports this
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

// switchedOff returns, for each file that disables all hooks, the setting and the path.
func switchedOff(e client.Env, paths client.Paths) (all []string) {
	for _, path := range (client.Row{Paths: paths}).FindFiles(e) {
		src, err := readRegularFile(path)
		if off := client.HooksOff(src); err == nil && off != "" {
			all = append(all, off+" in "+path)
		}
	}
	return all
}

// HookPath returns the path of clawai-hook for clients' files: it is beside clawai.
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

// ErrHookMissing means that only one of the two programs is installed.
var ErrHookMissing = errors.New("it comes with clawai and belongs beside it: install both (docs/install.md)")

// hookUsable returns the reason why a client cannot start the hook, or why its owner cannot
// trust it.
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
		if err := notForOthers(at); err != nil {
			return err
		}
	}
	return nil
}

// notForOthers refuses a path that everybody may write or replace: the hook runs with all
// rights of the client's user. In a folder with the sticky bit, others cannot replace files.
func notForOthers(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return withoutPath(err)
	}
	if goos != "windows" && info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("other users can write %s, and so decide what clawai-hook does; run: chmod o-w %s", path, path)
	}
	return nil
}
