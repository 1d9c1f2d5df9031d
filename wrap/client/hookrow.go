package client

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// HookRow describes where a client takes its hooks from and how they stand there.
// Everything that wrap needs to know of a client's hooks is data in a HookRow.
type HookRow struct {
	Client string `toml:"client"` // the word that --hooks takes, as --client does
	Word   string `toml:"word"`   // what clawai-hook takes, and the record calls the server; Client when empty
	Name   string `toml:"name"`   // for people
	// Paths are where the file can be, of which the first that exists is edited; where
	// none does the first is made. With <event> in it, each event has a file of its own.
	Paths   Paths `toml:"paths"`
	Present Paths `toml:"present"` // the client is on this machine when one exists
	Used    Paths `toml:"used"`    // what the client writes while it works; may be empty
	// Behind are files that, where one exists, the client reads instead of Paths.
	Behind  Paths    `toml:"behind"`
	Through []string `toml:"through"` // clients whose hooks this one runs too, in place of Paths
	// Targets are the agents that a session of this client may be with, each of which runs the
	// hooks of its own clients.
	Targets []HookTarget `toml:"targets"`

	Format Format `toml:"format"` // of the JSON family, "toml", or "script"
	// List leads from the root to an event's list, with <event> where the name stands. Where
	// the events share a list, EventKey is the member of an element that names its event.
	List     []string `toml:"list"`
	EventKey string   `toml:"event_key"`
	// Inner is the member of an element that lists its handlers; "" when an element is one.
	Inner string `toml:"inner"`
	// Element is one element as it is written: <program> is the path of clawai-hook, <args> its
	// arguments, <line> a command line that starts it with them, <event> the event, each as
	// JSON strings; <command> a JSON list of the program and its arguments; <matcher> the
	// Matcher, of an event about tools.
	Element string      `toml:"element"`
	Windows string      `toml:"windows_element"` // Element for a path of Windows; "" when it is the same
	Former  []string    `toml:"former"`          // what an older clawai wrote in its place
	Names   bool        `toml:"names_event"`     // the client's payload does not name its event: <args> and <line> do
	Matcher string      `toml:"matcher"`
	Events  []HookEvent `toml:"events"`
	Version string      `toml:"version"` // what "version" must be in the file, as it is written; "" when there is none

	Types     []string            `toml:"types"`     // what "type" of a handler may be; empty: not known
	Values    map[string][]string `toml:"values"`    // what members of a handler may be, by key
	BadDrops  bool                `toml:"bad_drops"` // in some versions one handler that is wrong switches off the whole file
	Off       []HookSwitch        `toml:"off"`
	Settings  Paths               `toml:"settings"`   // other files that the client reads the same settings from, a project's too
	Env       string              `toml:"env"`        // the member of its settings that is the environment of hooks; "" when there is none
	TrustFile Paths               `toml:"trust_file"` // where Codex keeps the hooks that its person has reviewed, and may switch all off
	Profiles  Paths               `toml:"profiles"`   // its other settings, for a start with --profile and the name in front

	Blocks string   `toml:"blocks"` // the client blocks when the hook breaks: "always", or since this version; "" never
	Probe  []string `toml:"probe"`  // what prints the client's version
	Broken string   `toml:"broken"` // what happens when the hook breaks, in a few words
	After  string   `toml:"after"`  // what a person does for the edit to take effect

	Confidence Confidence `toml:"confidence"`
	Source     string     `toml:"source"`
}

// HookEvent is one event that clawai-hook is called at.
type HookEvent struct {
	Name  string `toml:"name"`
	Tools bool   `toml:"tools"` // it comes before a tool runs, and can stop it
}

// HookTarget is an agent that works in a client's window.
type HookTarget struct {
	Name    string   `toml:"name"`
	Through []string `toml:"through"` // whose hooks run; none where nothing on this machine is asked
}

// HookStart is how clawai-hook is started.
type HookStart struct {
	Path    string
	Observe bool // nothing is enforced
}

const observeWord = "--observe"

// HookSwitch is a member of the file that switches all hooks off.
type HookSwitch struct {
	Key   []string `toml:"key"`
	Value string   `toml:"value"` // as it is written: true
}

// HookWord gives the word that names the client to clawai-hook.
func (r HookRow) HookWord() string { return cmp.Or(r.Word, r.Client) }

// Script is the format of a hook that is a program file of its own.
const Script Format = "script"

// listPath leads from the root to the lists of handlers; named says that each stands below it
// under the name of its event.
func (r HookRow) listPath() (keys []string, named bool) {
	if last := len(r.List) - 1; last >= 0 && r.List[last] == "<event>" {
		return r.List[:last], true
	}
	return r.List, false
}

// EventNames gives the names of the events, in the row's order.
func (r HookRow) EventNames() (names []string) {
	for _, e := range r.Events {
		names = append(names, e.Name)
	}
	return names
}

// ToolEvents gives those that can stop a tool.
func (r HookRow) ToolEvents() (names []string) {
	for _, e := range r.Events {
		if e.Tools {
			names = append(names, e.Name)
		}
	}
	return names
}

// IsInstalled says that the client is on this machine.
func (r HookRow) IsInstalled(e Env) bool { return len(Row{Paths: r.Present}.FindFiles(e)) > 0 }

// HookPlace is one file of a client's hooks.
type HookPlace struct {
	Path   string
	Events []string // that stand there
	Exists bool
}

// FindPlaces gives the files to edit: one, or one for each event. None where a variable or the home
// is not known.
func (r HookRow) FindPlaces(e Env) (places []HookPlace) {
	each := r.EventNames()
	groups := [][]string{each}
	if r.perEvent() {
		groups = nil
		for _, name := range each {
			groups = append(groups, []string{name})
		}
	}
	for _, events := range groups {
		paths := r.Paths
		if r.perEvent() {
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

func (r HookRow) perEvent() bool {
	return slices.ContainsFunc(r.Paths.allPaths(), func(p string) bool { return strings.Contains(p, "<event>") })
}

// replaceWord puts text in the place of a word of every pattern.
func (p Paths) replaceWord(word, text string) Paths {
	each := func(patterns []string) (all []string) {
		for _, pattern := range patterns {
			all = append(all, strings.ReplaceAll(pattern, word, text))
		}
		return all
	}
	return Paths{All: each(p.All), Linux: each(p.Linux), MacOS: each(p.MacOS), Windows: each(p.Windows)}
}

// renderElement writes the entry of an event.
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

// shellLine gives a command line for any shell. Codex pays for its login shell at every call;
// exec saves it one more process.
func shellLine(program, word string) (string, error) {
	plain := func(more string) bool {
		return !strings.ContainsFunc(program, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,@=:~"+more, r))
		})
	}
	switch {
	case strings.Contains(program, `\`): // Windows, whose shells agree on no quotes
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
