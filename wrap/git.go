package wrap

import (
	"context"
	"os/exec"
	"path/filepath"
	"time"
)

// isTracked reports whether git tracks the file. It returns false if git is missing, or if the file
// is in no work tree. It disables the git option core.fsmonitor, because with it a project's
// configuration could start programs.
func isTracked(path string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false",
		"-C", filepath.Dir(path), "ls-files", "--error-unmatch", "--", filepath.Base(path))
	return cmd.Run() == nil
}
