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

// version is the first one of three numbers in a text.
var version = regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+`)

// TriedVersion gives the version of a client with which clawai was tried; "" where it has none of
// three numbers.
func TriedVersion(h wrap.Hooks) string {
	if row := client.FindRow(h.Row.HookWord()); row != nil {
		return version.FindString(row.Seen)
	}
	return ""
}

// InstalledVersion gives that of the client on PATH by what lies on the disk: the program's path,
// or the package.json of the package that it stands in. No program is started.
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
		return found // Claude Code's installer names the program by its version
	}
	const depth = 4 // from a package's program to its package.json
	for dir, i := filepath.Dir(path), 0; i < depth; dir, i = filepath.Dir(dir), i+1 {
		if found := packageVersion(filepath.Join(dir, "package.json")); found != "" {
			return found
		}
	}
	return ""
}

// packageVersion gives what an npm package says of itself.
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

// NewerClient says of a client that is newer than the one that was tried what may differ; "" where
// it is not.
func NewerClient(h wrap.Hooks, installed string) string {
	tried := TriedVersion(h)
	if tried == "" || installed == "" || CompareVersions(installed, tried) <= 0 {
		return ""
	}
	return h.Row.Name + " " + installed + " is newer than " + tried + ", with which clawai was tried: how it names its tools, what it writes to a hook and what it does with the answer may differ"
}

// CompareVersions compares two of three numbers, as cmp.Compare does.
func CompareVersions(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, _ := strconv.Atoi(x[i]) // of digits alone
		n, _ := strconv.Atoi(y[i])
		if c := cmp.Compare(m, n); c != 0 {
			return c
		}
	}
	return 0
}
