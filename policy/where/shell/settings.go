package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/where"
)

// Settings are the keys that the constraint has if its value is a table. If the value is a list,
// the list belongs to the first key. docs/where.md explains the keys.
var Settings = []string{"run", "not", "options", "without", "env", "dir", "paths", "redirect", "hosts", "search"}

// TakesPlaces reports whether the list of a key holds places on the disk.
func TakesPlaces(key string) bool { return key == "dir" || key == "paths" || key == "redirect" }

// Setting is one key with its list.
type Setting struct {
	Name string
	List []string
}

// Ports holds what the constraint needs from other packages.
type Ports struct {
	// Place resolves a path. It is disk.LocatePath with the home and the disk filled in; base is
	// the folder at which relative paths start. If Place is nil, no place is known.
	Place func(path, base string) (stands, leads string, known bool)
	Home  string // the folder that ~ stands for, absolute; "" if it is not known
	// Hosts returns a constraint: the host of a URL must match one of the globs.
	Hosts func(globs []string) (where.Constraint, error)
	// Windows means that cmd.exe or PowerShell may run the texts.
	Windows bool
}

// commands is the constraint `command`.
type commands struct {
	windows          bool
	home             string // the folder that ~ stands for; "" if it is not known
	patterns, not    []*pattern
	options, without []string
	env              []variable
	// nil if the constraint does not have the key
	dir, files, redirect *places
	hosts                where.Constraint // nil if the constraint does not have the key
	search               string           // "" if the constraint does not have the key
	settings             []Setting
	size                 int // number of bytes of all lists
}

// New returns the constraint `command = [...]` or `command = { run = [...], ... }`.
// Each pattern is one simple command: words separated by blanks, each a glob; see the
// package comment. The error says what is wrong and what to write.
func New(settings []Setting, ports Ports) (where.Constraint, error) {
	c := &commands{settings: settings, windows: ports.Windows, home: ports.Home}
	if run, given := c.findSetting("run"); len(run) == 0 {
		if len(settings) > 1 || !given && len(settings) > 0 {
			return nil, errors.New(`a table needs run, the commands it is about; write run = ["**"] for all`)
		}
		return nil, errors.New("the list of commands is empty; name at least one, such as \"git status\"")
	}
	for _, name := range Settings {
		list, given := c.findSetting(name)
		if !given {
			continue
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("%s is an empty list; leave it out, or name something", name)
		}
		if err := c.applySetting(name, list, ports); err != nil {
			return nil, err
		}
		for _, text := range list {
			c.size += len(text)
		}
	}
	return c, nil
}

// findSetting returns the list of a key. It returns false if the constraint does not have the key.
func (c *commands) findSetting(name string) (list []string, given bool) {
	for i := range c.settings {
		if c.settings[i].Name == name {
			return c.settings[i].List, true
		}
	}
	return nil, false
}

func (c *commands) applySetting(name string, list []string, ports Ports) (err error) {
	switch name {
	case "run":
		c.patterns, err = parsePatterns(list)
	case "not":
		c.not, err = parsePatterns(list)
	case "options":
		c.options, err = list, checkOptions(list)
	case "without":
		c.without, err = list, checkOptions(list)
	case "env":
		c.env, err = parseVariables(list)
	case "dir":
		c.dir, err = parsePlaces(list, ports.Place)
	case "paths":
		c.files, err = parsePlaces(list, ports.Place)
	case "redirect":
		c.redirect, err = parsePlaces(list, ports.Place)
	case "hosts":
		c.hosts, err = ports.Hosts(list)
	case "search":
		c.search, err = parseSearch(list)
	}
	if err != nil && name != "run" {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return err
}

func parsePatterns(list []string) (all []*pattern, err error) {
	all = make([]*pattern, 0, len(list))
	for _, source := range list {
		p, err := parsePattern(source)
		if err != nil {
			return nil, fmt.Errorf("the command pattern %q %w", source, err)
		}
		all = append(all, p)
	}
	return all, nil
}

func checkOptions(list []string) error {
	for _, o := range list {
		if name := strings.TrimLeft(o, "-"); name == "" || len(name) == len(o) || strings.ContainsAny(o, "= *?\t\n'\"") {
			return fmt.Errorf("%q is not an option; write it as a command has it, such as \"-f\" or \"--force\", without a value", o)
		}
	}
	return nil
}

// String returns the constraint as people write it.
func (c *commands) String() string {
	var parts []string
	for _, name := range Settings {
		if list, given := c.findSetting(name); given {
			quoted := make([]string, len(list))
			for i, text := range list {
				quoted[i] = fmt.Sprintf("%q", text)
			}
			parts = append(parts, name+" = ["+strings.Join(quoted, ", ")+"]")
		}
	}
	if len(parts) == 1 {
		return "command" + strings.TrimPrefix(parts[0], "run")
	}
	return "command = { " + strings.Join(parts, ", ") + " }"
}

// JudgeCost returns the cost of two readings of a text. Each reading also reads the shell texts
// inside the text, compares every word with every pattern, and asks the disk about each place.
// BenchmarkHolds measures the cost.
func (c *commands) JudgeCost(n int) int {
	n = min(n, maxText)
	cost := 10_000 + n*(1_500+4*(len(c.patterns)+len(c.not))+c.size/16)
	cost += c.dir.diskCost(n) + c.files.diskCost(n) + c.redirect.diskCost(n)
	if c.hosts != nil {
		cost += n * 2_000
	}
	return cost
}

// AsksDisk reports whether a constraint `command` depends on where paths lead.
func AsksDisk(c where.Constraint) bool {
	commands, ok := c.(*commands)
	return ok && (commands.dir != nil || commands.files != nil || commands.redirect != nil)
}

// AsksPlaces reports whether a constraint `command` depends on where paths lead, or on the folder
// in which a text starts. A rule that allows a cd into this folder also depends on the folder.
func AsksPlaces(c where.Constraint) bool {
	if AsksDisk(c) {
		return true
	}
	commands, ok := c.(*commands)
	return ok && slices.ContainsFunc(commands.patterns, func(p *pattern) bool { return strings.HasPrefix(p.source, "cd ") })
}
