package learn

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
)

// ToolClass is what a tool seems to do, by the words of its name: what a server says
// of its tools is not on record, and is a claim of the server's.
type ToolClass uint8

// The classes, the worst first. What no word tells acts.
const (
	Executes ToolClass = iota // runs, deletes, or sends
	Reaches                   // gets what lies on the network
	Acts                      // changes something
	Reads
)

func (c ToolClass) String() string {
	return [...]string{"executes", "reaches", "acts", "reads"}[min(c, Reads)]
}

// ClassOf judges a tool by its name. The worst word counts.
func ClassOf(name string) ToolClass {
	switch does := textclass.EffectsOf(textclass.LetterWords(name)); {
	case does&textclass.Executes != 0:
		return Executes
	case does&textclass.Reaches != 0:
		return Reaches
	case does&textclass.Reads != 0 && does&textclass.Acts == 0:
		return Reads
	}
	return Acts
}

// placeWords are names of arguments that say where, whatever their value.
var placeWords = strings.Fields(`path paths file files filename filepath dir dirs directory directories folder folders root cwd
	source destination src dst dest target from to uri url urls href link location host repo repository workspace`)

// NamesPlace reports whether an argument's name says where: a path, an address.
func NamesPlace(arg string) bool {
	return slices.ContainsFunc(textclass.LetterWords(arg), func(w string) bool { return slices.Contains(placeWords, w) })
}
