package oauth

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"time"
)

// OpenBrowser opens a page in the owner's browser. name is the program that opens the page; ""
// means the system's own. The program gets the address as one argument, without a shell.
func OpenBrowser(ctx context.Context, name, page string) error {
	if err := CheckPage(page); err != nil {
		return err
	}
	args := []string{page}
	if name == "" {
		switch runtime.GOOS {
		case "darwin":
			name = "open"
		case "windows":
			name, args = "rundll32", []string{"url.dll,FileProtocolHandler", page}
		default:
			name = "xdg-open"
		}
	}
	// The program may be the browser itself and run for long, so we do not wait for its end. The
	// program continues to run after our end, even after Ctrl-C.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	detachProcess(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w; open it yourself: %s", err, page)
	}
	failed := make(chan error, 1)
	go func() { failed <- cmd.Wait() }()
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case err := <-failed:
		if err != nil {
			return fmt.Errorf("%s: %w; open it yourself: %s", name, err, page)
		}
	case <-t.C:
	case <-ctx.Done():
	}
	return nil
}
