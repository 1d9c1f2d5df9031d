package cmdline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"unicode/utf8"

	"golang.org/x/term"
)

// ReadHidden prints the prompt at the terminal, and reads a line without echo. The echo ends before
// the prompt, so that fast typing is not shown. ReadHidden uses raw mode, because otherwise a
// terminal cuts a line after 4 KiB. At the end it restores the terminal, also after a signal or the
// end of ctx. The error is ErrLeft if the person leaves.
func ReadHidden(ctx context.Context, out io.Writer, prompt string) (string, error) {
	fd := int(os.Stdin.Fd())
	was, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	fmt.Fprint(out, prompt)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer func() {
		signal.Stop(ended)
		_ = term.Restore(fd, was)
		fmt.Fprintln(out)
	}()
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := readLine(os.Stdin)
		read <- line{text, err}
	}()
	select {
	case l := <-read:
		return l.text, l.err
	case <-ended:
		return "", ErrLeft
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// ErrLeft is the error of ReadHidden when the person leaves without an answer.
var ErrLeft = errors.New("the person left")

// longestHidden is the maximum number of bytes that ReadHidden reads. It is one byte more than the
// limit of every caller, so that the caller can see that a text is too long.
const longestHidden = 64<<10 + 1

// readLine reads the keys of a terminal in raw mode until Enter.
func readLine(keys io.Reader) (string, error) {
	const interrupt, end, back, erase, del = 0x03, 0x04, 0x08, 0x15, 0x7f
	var text []byte
	for key := make([]byte, 1); ; {
		if _, err := io.ReadFull(keys, key); err != nil {
			return "", err
		}
		switch k := key[0]; {
		case k == '\r' || k == '\n':
			return string(text), nil
		case k == interrupt:
			return "", ErrLeft
		case k == end && len(text) == 0:
			return "", ErrLeft
		case k == back || k == del:
			_, size := utf8.DecodeLastRune(text)
			text = text[:len(text)-size]
		case k == erase:
			text = text[:0]
		case (k >= ' ' || k == '\t') && len(text) < longestHidden:
			text = append(text, k)
		}
	}
}
