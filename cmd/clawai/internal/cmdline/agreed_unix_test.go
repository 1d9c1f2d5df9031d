//go:build linux || darwin

package cmdline

import (
	"bufio"
	"os"
	"testing"

	"github.com/creack/pty"
	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"
)

// A yes that was typed before the question could be read agrees to nothing.
func TestConfirmActionTakesNothingTypedBefore(t *testing.T) {
	for typed, agrees := range map[string]bool{"n\n": false, "y\n": true} {
		keyboard, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		in, out := os.Stdin, os.Stdout
		os.Stdin, os.Stdout = tty, tty
		t.Cleanup(func() {
			os.Stdin, os.Stdout = in, out
			_, _ = keyboard.Close(), tty.Close()
		})
		if _, err := keyboard.WriteString("y\n"); err != nil {
			t.Fatal(err)
		}
		for ready := 0; ready == 0; { // the kernel hands it over in its own time
			ready, _ = unix.Poll([]unix.PollFd{{Fd: int32(tty.Fd()), Events: unix.POLLIN}}, 100)
		}
		agreed := make(chan error, 1)
		app := cli.NewApp()
		app.Writer = os.Stdout
		go func() { agreed <- ConfirmAction(cli.NewContext(app, nil, nil), "Do it?", "Nothing was done.", true) }()
		shown := bufio.NewReader(keyboard)
		if _, err := shown.ReadString(']'); err != nil { // of [y/N]
			t.Fatal(err)
		}
		if _, err := keyboard.WriteString(typed); err != nil {
			t.Fatal(err)
		}
		if err := <-agreed; (err == nil) != agrees {
			t.Errorf("%q: %v", typed, err)
		}
	}
}
