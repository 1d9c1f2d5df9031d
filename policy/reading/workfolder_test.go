package reading

import "testing"

func TestIsWorkFolder(t *testing.T) {
	for _, name := range []string{"cwd", "CWD", "workdir", "workingDirectory", "working_directory", "work-dir", "current_working_directory", "chdir"} {
		if !IsWorkFolder(name) {
			t.Errorf("%q is none", name)
		}
	}
	for _, name := range []string{"", "path", "directory", "cwds", "current_working_directory_of_it", "\u212Awd"} {
		if IsWorkFolder(name) {
			t.Errorf("%q is one", name)
		}
	}
}
