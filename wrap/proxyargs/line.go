package proxyargs

import (
	"flag"
	"io"
	"slices"
	"strconv"
)

// Line is a command line, parsed as clawai proxy parses it.
type Line struct {
	Settings []Setting // in their order, including --help
	// Command is the index of the first word that is not an option of the proxy; the number of
	// words when there is none.
	Command int
	// Dashes means that -- comes before Command, as the proxy requires.
	Dashes bool
}

// Setting is one given option.
type Setting struct{ Name, Value string }

// OptionValue returns the effective value of an option with one value; ok means that the option
// was given.
func (l Line) OptionValue(name string) (value string, ok bool) {
	for _, s := range l.Settings {
		if s.Name == name {
			value, ok = s.Value, true
		}
	}
	return value, ok
}

// Parse parses the words after "proxy". On an error the proxy does not start; Parse still
// returns what it parsed before the error.
func Parse(words []string) (Line, error) {
	line, rest, err := parseOptions(words)
	line.Command = len(words) - len(rest)
	if at := line.Command - 1; err == nil && at >= 0 && words[at] == "--" {
		_, _, failed := parseOptions(words[:at]) // in "--server --", the -- is the name, and without it the value is missing
		line.Dashes = failed == nil
	}
	return line, err
}

// parseOptions uses the same package as the command to parse options.
func parseOptions(words []string) (line Line, rest []string, err error) {
	if len(words) == 0 || len(words[0]) < 2 || words[0][0] != '-' {
		return line, words, nil // the package would parse none of them
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

// option records each use of an Option.
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
