package learn

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
)

// ToolClass is the probable effect of a tool, by the words of its name. The server's description of
// the tool is not used, because the record does not have it and it would prove nothing.
type ToolClass uint8

// Values of ToolClass, the worst effect first. A tool without a known word in its name is in Acts.
const (
	Executes ToolClass = iota // runs, deletes or sends something
	Reaches                   // reads from the network
	Acts                      // changes something
	Reads
)

func (c ToolClass) String() string {
	return [...]string{"executes", "reaches", "acts", "reads"}[min(c, Reads)]
}

// ClassOf returns the class of a tool, by its name. The word with the worst effect decides.
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

// placeWords are words in the names of arguments that hold a path or an address.
var placeWords = strings.Fields(`path paths file files filename filepath dir dirs directory directories folder folders root cwd
	source destination src dst dest target from to uri url urls href link location host repo repository workspace`)

// NamesPlace reports whether the name of an argument suggests that it holds a path or an address.
func NamesPlace(arg string) bool {
	return slices.ContainsFunc(textclass.LetterWords(arg), func(w string) bool { return slices.Contains(placeWords, w) })
}
