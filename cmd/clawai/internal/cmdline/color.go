package cmdline

import (
	"errors"
	"io"
	"os"
	"runtime"

	"github.com/urfave/cli/v2"
	xterm "golang.org/x/term"
)

// Colors lists the values of --color.
var Colors = []string{"auto", "always", "never"}

// ColorFlag returns --color, for every command.
func ColorFlag() cli.Flag {
	mode := colorMode("auto")
	return &cli.GenericFlag{Name: "color", Value: &mode, Usage: "color what is shown: `WHEN` auto (on a terminal), always, or never"}
}

// colorMode is the value of --color. Set stores the value in the environment, because all code that
// prints colors reads the environment.
type colorMode string

func (m *colorMode) String() string { return string(*m) }

func (m *colorMode) Set(s string) error {
	var err error
	switch s {
	case "auto":
	case "always":
		if err = os.Unsetenv("NO_COLOR"); err == nil {
			err = os.Setenv("CLICOLOR_FORCE", "1")
		}
	case "never":
		err = os.Setenv("NO_COLOR", "1")
	default:
		return errors.New(notOneOf("mode", s, []string{"auto", "always", "never"}))
	}
	*m = colorMode(s)
	return err
}

// WantsColor reports whether to use colors: never with NO_COLOR, always with CLICOLOR_FORCE,
// otherwise only on a terminal that supports colors.
func WantsColor(w io.Writer, getenv func(string) string) bool {
	if getenv("NO_COLOR") != "" {
		return false
	}
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	f, ok := w.(*os.File)
	return ok && runtime.GOOS != "windows" && getenv("TERM") != "dumb" && xterm.IsTerminal(int(f.Fd()))
}

// These colors have a meaning. Paint uses them.
const (
	Bold   = "1"
	Dim    = "2"
	Red    = "31" // denied, broken, dangerous
	Green  = "32" // allowed, protected
	Yellow = "33" // asked, observed, failed: needs attention
)

// Paint returns s in a color if on is true. s must already be safe for a terminal.
func Paint(on bool, color, s string) string {
	if !on || color == "" || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}
