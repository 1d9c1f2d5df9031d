package proxyargs

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Line is a command line of clawai proxy, parsed as the command itself parses it.
type Line struct {
	Settings []Setting // the options, --help included, in the order of the command line
	// Command is the index of the first word of the server's command. If there is no such word,
	// Command is the number of words.
	Command int
	// Dashes means that "--" is directly before Command, as the proxy requires.
	Dashes bool
}

// Setting is one option in a command line.
type Setting struct{ Name, Value string }

// OptionValue returns the value of an option. If the option is repeated, it returns the last value.
// ok is false if the option is missing.
func (l Line) OptionValue(name string) (value string, ok bool) {
	for _, s := range l.Settings {
		if s.Name == name {
			value, ok = s.Value, true
		}
	}
	return value, ok
}

// OptionValues returns all values of an option, in the order of the command line.
func (l Line) OptionValues(name string) (all []string) {
	for _, s := range l.Settings {
		if s.Name == name {
			all = append(all, s.Value)
		}
	}
	return all
}

// Parse parses the words after "proxy". An error means that the proxy would not start. In that case
// Parse also returns the words that it parsed before the error.
func Parse(words []string) (Line, error) {
	line, rest, err := parseOptions(words)
	line.Command = len(words) - len(rest)
	if at := line.Command - 1; err == nil && at >= 0 && words[at] == "--" {
		_, _, failed := parseOptions(words[:at]) // this is an error if "--" is the value of an option, as in "--server --"
		line.Dashes = failed == nil
	}
	help, _ := line.OptionValue("help") // the command then prints its help, whatever the values are
	if name := line.emptyOption(); err == nil && name != "" && help != "true" {
		err = fmt.Errorf("--%s has an empty value", name)
	}
	return line, err
}

// emptyOption returns the name of an option whose value is empty, or "". The proxy refuses such a
// value.
func (l Line) emptyOption() string {
	for _, s := range l.Settings {
		if last, _ := l.OptionValue(s.Name); s.Value == "" && (last == "" || isList(s.Name)) {
			return s.Name
		}
	}
	return ""
}

func isList(name string) bool {
	return slices.ContainsFunc(options, func(o Option) bool { return o.Name == name && o.Kind == List })
}

// parseOptions parses the options with package flag, as the command itself does.
func parseOptions(words []string) (line Line, rest []string, err error) {
	if len(words) == 0 || len(words[0]) < 2 || words[0][0] != '-' {
		return line, words, nil // package flag would stop at this word
	}
	set := flag.NewFlagSet("proxy", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	defineOptions(set, &line, words)
	err = set.Parse(words)
	return line, set.Args(), err
}

// defineOptions defines the options that words may name. Package flag looks up no other, and to define
// all of them takes most of the time that a client's file takes to read.
func defineOptions(set *flag.FlagSet, line *Line, words []string) {
	names := make([]string, len(words))
	for i, w := range words {
		names[i], _, _ = strings.Cut(strings.TrimLeft(w, "-"), "=")
	}
	for _, list := range [][]Option{options, help} {
		for _, o := range list {
			if slices.Contains(names, o.Name) {
				set.Var(&option{o, line}, o.Name, "")
			}
		}
	}
}

// help are the options that package flag itself would take for a call for help.
var help = []Option{{Name: "help", Kind: Switch}, {Name: "h", Kind: Switch}}

// option is a flag.Value that adds each use of an Option to line.
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
