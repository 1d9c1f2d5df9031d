package wrap

import (
	"context"
	"os/exec"
	"path/filepath"
	"time"
)

// isTracked reports whether git tracks the file. Without git, or outside a work tree, nothing
// is tracked. The git call disables core.fsmonitor, since the project's configuration could
// start programs with it.
func isTracked(path string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false",
		"-C", filepath.Dir(path), "ls-files", "--error-unmatch", "--", filepath.Base(path))
	return cmd.Run() == nil
}
