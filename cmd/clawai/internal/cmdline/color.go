package cmdline

import (
	"errors"
	"io"
	"os"
	"runtime"

	"github.com/urfave/cli/v2"
	xterm "golang.org/x/term"
)

// Colors are what --color takes.
var Colors = []string{"auto", "always", "never"}

// ColorFlag gives --color, for every command.
func ColorFlag() cli.Flag {
	mode := colorMode("auto")
	return &cli.GenericFlag{Name: "color", Value: &mode, Usage: "color what is shown: `WHEN` auto (on a terminal), always, or never"}
}

// colorMode tells the environment what the option says, where all look that color:
// also those that draw lists and questions.
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

// WantsColor reports whether to color: not with NO_COLOR, always with CLICOLOR_FORCE,
// and else on a terminal that knows colors.
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

// The colors that carry meaning, for Paint.
const (
	Bold   = "1"
	Dim    = "2"
	Red    = "31" // denied, broken, dangerous
	Green  = "32" // allowed, protected
	Yellow = "33" // asked, watched, failed: look here
)

// Paint colors a harmless text.
func Paint(on bool, color, s string) string {
	if !on || color == "" || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}
