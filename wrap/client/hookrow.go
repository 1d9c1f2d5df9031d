package client

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// HookRow describes the hooks of a client: where they are and what form they have. wrap has no
// other knowledge about the hooks of a client.
type HookRow struct {
	Client string `toml:"client"` // the client's word for the options --hooks and --client
	Word   string `toml:"word"`   // the client's word for clawai-hook, and the server's name in the record; "" means Client
	Name   string `toml:"name"`   // name for people
	// Paths are the possible places of the file. The first one that exists is edited. If none
	// exists, the first one is created. If a path has <event>, each event has its own file.
	Paths   Paths `toml:"paths"`
	Present Paths `toml:"present"` // the client is installed if one of these paths exists
	Used    Paths `toml:"used"`    // files that the client writes while it works; may be empty
	// Behind lists files that the client reads instead of Paths, if one of them exists.
	Behind  Paths    `toml:"behind"`
	Through []string `toml:"through"` // other clients; this client runs their hooks and has no hooks itself
	// Targets are the agents that a session of this client can use. Each agent runs the hooks of
	// certain clients.
	Targets []HookTarget `toml:"targets"`

	Format Format `toml:"format"` // a format of the JSON family, "toml", or "script"
	// List is the path from the root of the file to the list of an event. <event> stands for the
	// name of the event. If all events share one list, EventKey is the member of an element with
	// the name of its event.
	List     []string `toml:"list"`
	EventKey string   `toml:"event_key"`
	// Inner is the member of an element that lists the handlers; "" if the element itself is the
	// handler.
	Inner string `toml:"inner"`
	// Element is the text of one element. Words in it stand for JSON strings: <program> for the
	// path of clawai-hook, <args> for its arguments, <line> for a command line of the two, <event>
	// for the event. <command> stands for a JSON list of the program and the arguments. <matcher>
	// stands for the Matcher if the event is about tools.
	Element string      `toml:"element"`
	Windows string      `toml:"windows_element"` // replaces Element if the path of clawai-hook has backslashes; "" if Element fits all paths
	Former  []string    `toml:"former"`          // texts of Element in older versions of clawai
	Names   bool        `toml:"names_event"`     // <args> and <line> include the event, because the client's payload does not
	Matcher string      `toml:"matcher"`
	Events  []HookEvent `toml:"events"`
	Version string      `toml:"version"` // required value of "version" in the file, in the notation of the file; "" for none

	Types     []string            `toml:"types"`     // possible values of "type" in a handler; empty: unknown
	Values    map[string][]string `toml:"values"`    // possible values of members of a handler, by key
	BadDrops  bool                `toml:"bad_drops"` // in some versions of the client, one wrong handler disables the whole file
	Off       []HookSwitch        `toml:"off"`
	Settings  Paths               `toml:"settings"`   // other files with the same settings, also of a project
	Env       string              `toml:"env"`        // member of the settings with the environment of hooks; "" for none
	TrustFile Paths               `toml:"trust_file"` // Codex's file with the hooks that a person has reviewed; it can also disable all hooks
	Profiles  Paths               `toml:"profiles"`   // settings files for --profile; their names begin with the name of the profile

	Blocks string   `toml:"blocks"` // first version in which a failing hook blocks the tool; "always" for all versions, "" for none
	Probe  []string `toml:"probe"`  // command that prints the client's version
	Broken string   `toml:"broken"` // what a broken hook causes, in a few words
	After  string   `toml:"after"`  // what a person must do before the edit has an effect

	Confidence Confidence `toml:"confidence"`
	Source     string     `toml:"source"`
}

// HookEvent is an event at which clawai-hook is called.
type HookEvent struct {
	Name  string `toml:"name"`
	Tools bool   `toml:"tools"` // the event comes before a tool runs, and the hook can stop the tool
}

// HookTarget is an agent that a session of a client can use.
type HookTarget struct {
	Name    string   `toml:"name"`
	Through []string `toml:"through"` // clients whose hooks the agent runs; empty if it runs no hook on this machine
}

// HookStart holds the path of clawai-hook and the options of its command line.
type HookStart struct {
	Path    string
	Observe bool // the hook records only, and blocks nothing
}

const observeWord = "--observe"

// HookSwitch is a member of a file that can disable all hooks.
type HookSwitch struct {
	Key   []string `toml:"key"`
	Value string   `toml:"value"` // the value that disables all hooks, in the notation of the file, such as true
}

// HookWord returns the word for the client in the arguments of clawai-hook.
func (r HookRow) HookWord() string { return cmp.Or(r.Word, r.Client) }

// Script is the format of a hook that is a program file.
const Script Format = "script"

// listPath returns the path from the root to the lists of handlers. If named is true, there is one
// list for each event, below this path and the event's name.
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

// HookPlace is one file with hooks of a client.
type HookPlace struct {
	Path   string
	Events []string // the events whose hooks are in this file
	Exists bool
}

// FindPlaces returns the files that wrap edits: one, or one for each event. It returns none if a
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

// replaceWord replaces a word in each pattern by text.
func (p Paths) replaceWord(word, text string) Paths {
	each := func(patterns []string) (all []string) {
		for _, pattern := range patterns {
			all = append(all, strings.ReplaceAll(pattern, word, text))
		}
		return all
	}
	return Paths{All: each(p.All), Linux: each(p.Linux), MacOS: each(p.MacOS), Windows: each(p.Windows)}
}

// renderElement returns the text of the element for an event.
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

// shellLine returns a command line that each shell of the system understands. It begins with exec,
// so that the shell starts no further process.
func shellLine(program, word string) (string, error) {
	plain := func(more string) bool {
		return !strings.ContainsFunc(program, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,@=:~"+more, r))
		})
	}
	switch {
	case strings.Contains(program, `\`): // on Windows the shells have no common quotes
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
