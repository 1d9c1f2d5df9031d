package wrapcmd

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/wrap"
)

// version matches three numbers with dots between them.
var version = regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+`)

// TriedVersion returns the version of the client with which clawai was tested. It returns "" if
// this version does not have three numbers.
func TriedVersion(h wrap.Hooks) string {
	if row := client.FindRow(h.Row.HookWord()); row != nil {
		return version.FindString(row.Seen)
	}
	return ""
}

// InstalledVersion returns the version of the client on PATH, or "". It reads the path of the
// program, or the package.json of its package. It starts no program.
func InstalledVersion(h wrap.Hooks) string {
	if len(h.Row.Probe) == 0 {
		return ""
	}
	path, err := exec.LookPath(h.Row.Probe[0])
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return ""
	}
	if found := version.FindString(filepath.Base(path)); found != "" {
		return found // the installer of Claude Code writes the version into the program's path
	}
	const depth = 4 // how many folders upwards to search for package.json
	for dir, i := filepath.Dir(path), 0; i < depth; dir, i = filepath.Dir(dir), i+1 {
		if found := packageVersion(filepath.Join(dir, "package.json")); found != "" {
			return found
		}
	}
	return ""
}

// packageVersion returns the version in the package.json of an npm package, or "".
func packageVersion(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var p struct{ Version string }
	if json.NewDecoder(io.LimitReader(f, 1<<20)).Decode(&p) != nil {
		return ""
	}
	return version.FindString(p.Version)
}

// NewerClient returns a warning if the installed client is newer than the tested version, and
// otherwise "".
func NewerClient(h wrap.Hooks, installed string) string {
	tried := TriedVersion(h)
	if tried == "" || installed == "" || CompareVersions(installed, tried) <= 0 {
		return ""
	}
	return h.Row.Name + " " + installed + " is newer than " + tried + ", with which clawai was tried: how it names its tools, what it writes to a hook and what it does with the answer may differ"
}

// CompareVersions compares two versions of three numbers, with results as from cmp.Compare.
func CompareVersions(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, _ := strconv.Atoi(x[i]) // cannot fail, because the part has only digits
		n, _ := strconv.Atoi(y[i])
		if c := cmp.Compare(m, n); c != 0 {
			return c
		}
	}
	return 0
}
