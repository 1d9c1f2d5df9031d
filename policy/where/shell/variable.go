package shell

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/clawai/clawai/policy/glob"
)

// variable is a variable that a rule allows for a command.
type variable struct {
	name  string
	value *glob.Pattern // nil if any value is allowed
}

// harmless are the variables that are always allowed for a command. They change only how the
// command prints, and not what it runs, reads or contacts. Their value must be a plain word.
const harmless = `LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME
	TZ NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM TERM CI COLUMNS LINES`

// plainValue matches a text that is not an option, a path or an expression.
var plainValue = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.,:@+-]*(/[A-Za-z][A-Za-z0-9_+-]*){0,2})?$`)
})

// governsPrograms reports whether a shell, or the loader of every program, uses the variable to
// decide what to run. The effect of a command with such an assignment is never known.
func governsPrograms(name string) bool {
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "BASH_") ||
		listedIn("PATH IFS ENV HOME PWD OLDPWD SHELL SHELLOPTS BASHOPTS ZDOTDIR FPATH CDPATH path fpath cdpath argv status", name)
}

func parseVariables(list []string) (all []variable, err error) {
	for _, text := range list {
		name, value, valued := strings.Cut(text, "=")
		switch {
		case name == "" || identifierLength(name) != len(name):
			return nil, fmt.Errorf("%q is not a variable; write its name, such as \"GOFLAGS\", or what it may be, such as \"GOFLAGS=-mod=*\"", text)
		case governsPrograms(name):
			return nil, fmt.Errorf("%s changes which programs run, so no command is certain while it is set; leave it out", name)
		}
		v := variable{name: name}
		if valued {
			if v.value, err = glob.Compile(value); err != nil {
				return nil, fmt.Errorf("the value in %q: %w", text, err)
			}
		}
		all = append(all, v)
	}
	return all, nil
}

// allowsVariable reports whether an allow rule accepts a variable for a command.
func (j *judge) allowsVariable(name, value string) bool {
	if j.expands || governsPrograms(name) {
		return false
	}
	for _, v := range j.env {
		if v.name == name && (v.value == nil || v.value.Match(value) && countBlanks(value) == countBlanks(v.value.String())) {
			return true
		}
	}
	return listedIn(harmless, name) && plainValue().MatchString(value)
}

// countBlanks returns the number of blanks in a text. A wildcard must not match a blank in a
// variable's value, because in many variables another option begins after a blank:
// GOFLAGS='-mod=mod -toolexec=x' is more than -mod=*.
func countBlanks(text string) (n int) {
	for _, r := range text {
		if unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

// allowsAssigned reports whether an allow rule accepts all assignments in a program.
func (j *judge) allowsAssigned(p *program) bool {
	for _, a := range p.assigned {
		if !a.value.known || !j.allowsVariable(a.name, a.value.text) {
			return false
		}
	}
	return true
}
