package wrap

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// RunningPrograms returns the names of the running programs. A process can have three names: the
// kernel's name (at most 15 bytes), the base name of its executable, and the base name of the first
// word of its command line.
func RunningPrograms() ([]string, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		dir := filepath.Join("/proc", e.Name())
		if comm, err := os.ReadFile(filepath.Join(dir, "comm")); err == nil { // an error is ignored, because the process may have ended
			names = append(names, string(bytes.TrimSpace(comm)))
		}
		if exe, err := os.Readlink(filepath.Join(dir, "exe")); err == nil {
			names = append(names, filepath.Base(exe))
		}
		if line, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil {
			word, _, _ := bytes.Cut(line, []byte{0})
			names = append(names, filepath.Base(string(word)))
		}
	}
	return names, nil
}
