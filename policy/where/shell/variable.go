package shell

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/clawai/clawai/policy/glob"
)

// variable is one that a rule lets a command be given.
type variable struct {
	name  string
	value *glob.Pattern // nil for any
}

// harmless are the variables that a command may be given unasked: they change how
// it prints, and nothing about what it runs, reads or contacts. A value is a plain
// word.
const harmless = `LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME
	TZ NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM TERM CI COLUMNS LINES`

// plainValue is a text that is no option, no path and no expression.
var plainValue = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.,:@+-]*(/[A-Za-z][A-Za-z0-9_+-]*){0,2})?$`)
})

// governsPrograms reports whether by a variable a shell, or the loader of every program,
// decides what to run: no command is known that is given one.
func governsPrograms(name string) bool {
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "BASH_") ||
		listedIn("PATH IFS ENV HOME PWD OLDPWD SHELL SHELLOPTS BASHOPTS ZDOTDIR FPATH CDPATH path fpath cdpath argv status", name)
}

func parseVariables(list []string) (all []variable, err error) {
	for _, text := range list {
		name, value, valued := strings.Cut(text, "=")
		switch {
		case name == "" || identifierLength(name) != len(name):
			return nil, fmt.Errorf("%q is no variable; write its name, such as \"GOFLAGS\", or what it may be, such as \"GOFLAGS=-mod=*\"", text)
		case governsPrograms(name):
			return nil, fmt.Errorf("%s decides which programs run, and beside it no command is known; leave it out", name)
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

// allowsVariable reports whether a rule that allows lets a command be given a variable.
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

// countBlanks counts them: a wildcard stands for none in a variable's value, as many hold options
// and take another behind each. GOFLAGS='-mod=mod -toolexec=x' is more than -mod=*.
func countBlanks(text string) (n int) {
	for _, r := range text {
		if unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

// allowsAssigned says the same of all that stand before the commands of a program.
func (j *judge) allowsAssigned(p *program) bool {
	for _, a := range p.assigned {
		if !a.value.known || !j.allowsVariable(a.name, a.value.text) {
			return false
		}
	}
	return true
}
