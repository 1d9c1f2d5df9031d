package proxyargs

import (
	"flag"
	"io"
	"slices"
	"strconv"
)

// Line is a command line as clawai proxy reads it.
type Line struct {
	Settings []Setting // in their order; --help is one
	// Command is the index, among the words that were read, of the first that is no
	// option of the proxy's; their number when there is none.
	Command int
	// Dashes: -- stands before it, as the proxy demands.
	Dashes bool
}

// Setting is one option that was given.
type Setting struct{ Name, Value string }

// OptionValue gives what counts of an option that takes one; ok when it was given.
func (l Line) OptionValue(name string) (value string, ok bool) {
	for _, s := range l.Settings {
		if s.Name == name {
			value, ok = s.Value, true
		}
	}
	return value, ok
}

// Parse reads the words behind "proxy". The error is that of the proxy, which then
// does not start; what was read until there is given too.
func Parse(words []string) (Line, error) {
	line, rest, err := parseOptions(words)
	line.Command = len(words) - len(rest)
	if at := line.Command - 1; err == nil && at >= 0 && words[at] == "--" {
		_, _, failed := parseOptions(words[:at]) // of "--server --", which is a name, it lacks the value
		line.Dashes = failed == nil
	}
	return line, err
}

// parseOptions leaves the grammar to the package that the command reads its options with.
func parseOptions(words []string) (line Line, rest []string, err error) {
	if len(words) == 0 || len(words[0]) < 2 || words[0][0] != '-' {
		return line, words, nil // it would read none of them
	}
	set := flag.NewFlagSet("proxy", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	help := []Option{{Name: "help", Kind: Switch}, {Name: "h", Kind: Switch}}
	for _, o := range slices.Concat(ListOptions(), help) {
		set.Var(&option{o, &line}, o.Name, "")
	}
	err = set.Parse(words)
	return line, set.Args(), err
}

// option notes each use of one.
type option struct {
	Option
	line *Line
}

func (o *option) String() string   { return "" }
func (o *option) IsBoolFlag() bool { return o.Kind == Switch }

func (o *option) Set(value string) error {
	if o.Kind == Switch {
		on, err := strconv.ParseBool(value)
		if err != nil {
			return err
		}
		value = strconv.FormatBool(on)
	}
	name := o.Name
	if name == "h" {
		name = "help"
	}
	o.line.Settings = append(o.line.Settings, Setting{name, value})
	return nil
}
