package client

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// HookRow describes where a client's hooks are and which form they have. It is all that wrap needs to
// know about a client's hooks.
type HookRow struct {
	Client string `toml:"client"` // value of --hooks, and of --client
	Word   string `toml:"word"`   // argument of clawai-hook, and the server's name in the record; Client when empty
	Name   string `toml:"name"`   // name for people
	// Paths are the possible places of the file. The first one that exists is edited; when none
	// exists, the first one is created. With <event> in a path, each event has its own file.
	Paths   Paths `toml:"paths"`
	Present Paths `toml:"present"` // the client is on this machine when one of these paths exists
	Used    Paths `toml:"used"`    // files that the client writes while it works; may be empty
	// Behind lists files. When one of them exists, the client reads this file instead of Paths.
	Behind  Paths    `toml:"behind"`
	Through []string `toml:"through"` // clients whose hooks this client runs too, instead of Paths
	// Targets are the agents that a session of this client can use. Each agent runs the hooks
	// of its own clients.
	Targets []HookTarget `toml:"targets"`

	Format Format `toml:"format"` // one of the JSON family, "toml", or "script"
	// List is the path from the root to an event's list; <event> stands for the event's name.
	// When the events share a list, EventKey is the member of an element that names its event.
	List     []string `toml:"list"`
	EventKey string   `toml:"event_key"`
	// Inner is the member of an element that lists its handlers; "" when the element is itself
	// a handler.
	Inner string `toml:"inner"`
	// Element is the text of one element. These words in it stand for JSON strings: <program> for
	// the path of clawai-hook, <args> for its arguments, <line> for a command line with the program
	// and the arguments, and <event> for the event. <command> stands for a JSON list of the program
	// and the arguments, and <matcher> for the Matcher, if the event is about tools.
	Element string      `toml:"element"`
	Windows string      `toml:"windows_element"` // Element if the path of clawai-hook has backslashes; "" when it is the same
	Former  []string    `toml:"former"`          // elements that older versions of clawai wrote
	Names   bool        `toml:"names_event"`     // <args> and <line> name the event, because the client's payload does not
	Matcher string      `toml:"matcher"`
	Events  []HookEvent `toml:"events"`
	Version string      `toml:"version"` // required value of "version" in the file, as it is written; "" when there is none

	Types     []string            `toml:"types"`     // allowed values of "type" in a handler; empty: not known
	Values    map[string][]string `toml:"values"`    // allowed values of members of a handler, by key
	BadDrops  bool                `toml:"bad_drops"` // in some versions one wrong handler disables the whole file
	Off       []HookSwitch        `toml:"off"`
	Settings  Paths               `toml:"settings"`   // other files, a project's too, from which the client reads the same settings
	Env       string              `toml:"env"`        // member of the settings that is the environment of hooks; "" when there is none
	TrustFile Paths               `toml:"trust_file"` // file where Codex lists the hooks that a person has reviewed; it may disable all hooks
	Profiles  Paths               `toml:"profiles"`   // settings files for --profile, whose names begin with the profile's name

	Blocks string   `toml:"blocks"` // whether the client blocks a tool when the hook fails: "always", the first version that does, or "" for never
	Probe  []string `toml:"probe"`  // command that prints the client's version
	Broken string   `toml:"broken"` // effect of a broken hook, in a few words
	After  string   `toml:"after"`  // what a person must do for the edit to take effect

	Confidence Confidence `toml:"confidence"`
	Source     string     `toml:"source"`
}

// HookEvent is an event at which clawai-hook is called.
type HookEvent struct {
	Name  string `toml:"name"`
	Tools bool   `toml:"tools"` // the event comes before a tool runs, and can stop the tool
}

// HookTarget is an agent that works in a client's window.
type HookTarget struct {
	Name    string   `toml:"name"`
	Through []string `toml:"through"` // clients whose hooks run; empty when no hook on this machine runs
}

// HookStart holds the path and options with which clawai-hook is started.
type HookStart struct {
	Path    string
	Observe bool // the hook enforces nothing
}

const observeWord = "--observe"

// HookSwitch is a member of the file that disables all hooks.
type HookSwitch struct {
	Key   []string `toml:"key"`
	Value string   `toml:"value"` // the disabling value as the file writes it, such as true
}

// HookWord returns the argument of clawai-hook that names the client.
func (r HookRow) HookWord() string { return cmp.Or(r.Word, r.Client) }

// Script is the format of a hook that is a program file, and not an entry in a settings file.
const Script Format = "script"

// listPath returns the path from the root to the lists of handlers. When named is true, each
// list is below this path under the name of its event.
func (r HookRow) listPath() (keys []string, named bool) {
	if last := len(r.List) - 1; last >= 0 && r.List[last] == "<event>" {
		return r.List[:last], true
	}
	return r.List, false
}

// EventNames returns the names of the events, in the row's order.
func (r HookRow) EventNames() (names []string) {
	for _, e := range r.Events {
		names = append(names, e.Name)
	}
	return names
}

// ToolEvents returns the names of the events that can stop a tool.
func (r HookRow) ToolEvents() (names []string) {
	for _, e := range r.Events {
		if e.Tools {
			names = append(names, e.Name)
		}
	}
	return names
}

// IsInstalled reports whether the client is on this machine.
func (r HookRow) IsInstalled(e Env) bool { return len(Row{Paths: r.Present}.FindFiles(e)) > 0 }

// HookPlace is one file of a client's hooks.
type HookPlace struct {
	Path   string
	Events []string // events in this file
	Exists bool
}

// FindPlaces returns the files to edit: one, or one for each event. It returns none when a
// variable or the home is unknown.
func (r HookRow) FindPlaces(e Env) (places []HookPlace) {
	each := r.EventNames()
	groups := [][]string{each}
	if r.hasEventFiles() {
		groups = nil
		for _, name := range each {
			groups = append(groups, []string{name})
		}
	}
	for _, events := range groups {
		paths := r.Paths
		if r.hasEventFiles() {
			paths = paths.replaceWord("<event>", events[0])
		}
		found := Row{Paths: paths}.FindFiles(e)
		if len(found) > 0 {
			places = append(places, HookPlace{found[0], events, true})
			continue
		}
		if c := e.candidatePaths(paths, false); len(c) > 0 && !c[0].glob {
			places = append(places, HookPlace{c[0].path, events, false})
		}
	}
	return places
}

// hasEventFiles reports whether each event has its own file.
func (r HookRow) hasEventFiles() bool {
	return slices.ContainsFunc(r.Paths.allPaths(), func(p string) bool { return strings.Contains(p, "<event>") })
}

// replaceWord replaces a word of every pattern by text.
func (p Paths) replaceWord(word, text string) Paths {
	each := func(patterns []string) (all []string) {
		for _, pattern := range patterns {
			all = append(all, strings.ReplaceAll(pattern, word, text))
		}
		return all
	}
	return Paths{All: each(p.All), Linux: each(p.Linux), MacOS: each(p.MacOS), Windows: each(p.Windows)}
}

// renderElement returns the text of the element of an event.
func (r HookRow) renderElement(event string, start HookStart) (string, error) {
	words := []string{r.HookWord()}
	if r.Names {
		words = append(words, "--event="+event)
	}
	if start.Observe {
		words = append(words, observeWord)
	}
	form := r.Element
	if r.Windows != "" && strings.Contains(start.Path, `\`) {
		form = r.Windows
	}
	line, err := shellLine(start.Path, strings.Join(words, " "))
	if err != nil && strings.Contains(form, "<line>") {
		return "", err
	}
	matcher := ""
	if slices.Contains(r.ToolEvents(), event) {
		matcher = r.Matcher
	}
	command := make([]string, 0, len(words)+1)
	for _, word := range append([]string{start.Path}, words...) {
		command = append(command, quoteText(word))
	}
	quoted := quoteText
	if r.Format == Script {
		quoted = func(s string) string { return s }
	}
	for i := range words {
		words[i] = quoted(words[i])
	}
	return strings.NewReplacer("<program>", quoted(start.Path), "<command>", "["+strings.Join(command, ",")+"]", "<line>", quoted(line), "<args>", strings.Join(words, ","),
		"clawai <event>", "clawai "+event, "<event>", quoted(event), "<matcher>", matcher).Replace(form), nil
}

// shellLine returns a command line that every shell of the system understands. With exec, the shell
// starts no further process.
func shellLine(program, word string) (string, error) {
	plain := func(more string) bool {
		return !strings.ContainsFunc(program, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,@=:~"+more, r))
		})
	}
	switch {
	case strings.Contains(program, `\`): // the shells of Windows have no common quotes
		if !plain(`\`) {
			return "", fmt.Errorf("the path %s cannot be written into a command line that every shell of Windows reads alike; install clawai in a folder without such characters", program)
		}
		return program + " " + word, nil
	case plain(""):
		return "exec " + program + " " + word, nil
	case strings.ContainsAny(program, "'\n"):
		return "", fmt.Errorf("the path %q cannot be written into a command line; install clawai in a folder without such characters", program)
	}
	return "exec '" + program + "' " + word, nil
}
