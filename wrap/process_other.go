//go:build !linux

package wrap

import (
	"encoding/csv"
	"os/exec"
	"path"
	"strings"
)

// RunningPrograms returns the names of the running programs, from ps or tasklist.
func RunningPrograms() ([]string, error) {
	if goos == "windows" {
		return listTasks()
	}
	out, err := exec.Command("/bin/ps", "-axo", "comm=").Output()
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		names = append(names, path.Base(strings.TrimSpace(line)))
	}
	return names, nil
}

func listTasks() ([]string, error) {
	out, err := exec.Command("tasklist", "/fo", "csv", "/nh").Output()
	if err != nil {
		return nil, err
	}
	rows := csv.NewReader(strings.NewReader(string(out)))
	rows.FieldsPerRecord = -1
	all, err := rows.ReadAll()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, row := range all {
		names = append(names, row[0])
	}
	return names, nil
}
