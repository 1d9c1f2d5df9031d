package learn

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Class is what a tool seems to do, by the words of its name: what a server says
// of its tools is not on record, and is a claim of the server's.
type Class uint8

// The classes, the worst first. What no word tells acts.
const (
	Executes Class = iota // runs, deletes, or sends
	Reaches               // gets what lies on the network
	Acts                  // changes something
	Reads
)

func (c Class) String() string {
	return [...]string{"executes", "reaches", "acts", "reads"}[min(c, Reads)]
}

// classWords tell what a tool does; of a word in two rows the upper one holds.
var classWords = [...]string{
	Executes: `run runs exec execute eval evaluate shell bash sh zsh cmd command commands powershell script code sql query
		python node process spawn start launch install uninstall deploy
		delete deletes remove removes rm rmdir unlink drop destroy purge erase wipe truncate kill terminate reset revert force
		upload send post publish push click type press fill
		email mail message transfer pay merge approve grant chmod chown sudo`,
	Reaches: "fetch http https request url download browse browser navigate goto visit web",
	Acts: `write writes create update edit set put add insert append move rename copy save modify change
		patch apply replace make mkdir touch commit checkout branch tag stash enable disable toggle trigger subscribe close assign`,
	Reads: "read reads get list ls search find show view describe stat info tree count check status diff log logs echo ping help version lookup head tail cat glob grep open",
}

var wordClasses = sync.OnceValue(func() map[string]Class {
	classes := map[string]Class{}
	for class, words := range slices.Backward(classWords[:]) {
		for word := range strings.FieldsSeq(words) {
			classes[word] = Class(class)
		}
	}
	return classes
})

// ClassOf judges a tool by its name. The worst word counts.
func ClassOf(name string) Class {
	worst, known := Reads, false
	for _, w := range split(name) {
		if class, found := wordClasses()[w]; found {
			worst, known = min(worst, class), true
		}
	}
	if !known {
		return Acts
	}
	return worst
}

// split takes a name apart: at what is no letter and where camel case turns.
func split(name string) []string {
	var b strings.Builder
	before := ' '
	for _, r := range name {
		if !unicode.IsLetter(r) {
			b.WriteByte(' ')
		} else {
			if unicode.IsUpper(r) && unicode.IsLower(before) {
				b.WriteByte(' ')
			}
			b.WriteRune(unicode.ToLower(r))
		}
		before = r
	}
	return strings.Fields(b.String())
}

// placeWords are names of arguments that say where, whatever their value.
var placeWords = sync.OnceValue(func() []string {
	return strings.Fields(`path paths file files filename filepath dir dirs directory directories folder folders root cwd
	source destination src dst dest target from to uri url urls href link location host repo repository workspace`)
})

func namesPlace(arg string) bool {
	return slices.ContainsFunc(split(arg), func(w string) bool { return slices.Contains(placeWords(), w) })
}
