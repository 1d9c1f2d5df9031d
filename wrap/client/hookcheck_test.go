package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// check tells what is wrong with one row.
func (r HookRow) check() []error {
	var f findings
	f.when(!word().MatchString(r.Client) || !word().MatchString(r.HookWord()), "client and word must be lower-case words joined by -")
	f.when(r.Name == "", "name is missing")
	f.when(r.Source == "", "source is missing: say where these facts come from")
	f.when(r.Broken == "", "broken is missing: say what happens when the hook breaks")
	f.when(len(r.Present.every()) == 0, "present is missing")
	oneOf(&f, "confidence", r.Confidence, First, Experimental)
	for _, path := range slices.Concat(r.Paths.every(), r.Present.every(), r.Used.every(), r.Behind.every(), r.TrustFile.every()) {
		if err := checkPattern(path); err != nil {
			f = append(f, err)
		}
		f.when(strings.HasPrefix(path, "./"), "path %q is a project's", path)
	}
	if len(r.Through) > 0 {
		f.when(len(r.Paths.every())+len(r.Events) > 0, "through cannot stand beside paths and events")
		return f
	}
	oneOf(&f, "format", r.Format, JSON, JSONC, TOML, Script)
	f.when(len(r.Paths.every()) == 0, "paths is missing")
	f.when(len(r.ToolEvents()) == 0, "events names none that can stop a tool")
	f.when(r.After == "", "after is missing: say what a person does for an edit to take effect")
	f.when(r.Blocks != "" && r.Blocks != "always" && len(r.Probe) == 0, "blocks names a version, and probe nothing that prints it")
	f.when(r.perEvent() && r.Format != Script, "a file for each event is of the format \"script\"")
	f.when(r.Format == Script && !r.perEvent() && len(r.Events) > 1, "a script in one file is about one event")
	for _, name := range r.EventNames() {
		f = append(f, r.checkElement(name)...)
	}
	return f
}

// checkElement renders an event's element and finds the handler in it again.
func (r HookRow) checkElement(event string) []error {
	text, err := r.element(event, HookStart{Path: "/opt/clawai-hook"})
	if err != nil || r.Format == Script || r.Format == TOML {
		return slices.DeleteFunc([]error{err}, func(e error) bool { return e == nil })
	}
	n, err := parseJSON([]byte(text), JSON, nil)
	if err != nil {
		return []error{fmt.Errorf("element of %s: %w", event, err)}
	}
	if leaves, _ := r.handlers(n); len(leaves) != 1 || !ours(leaves[0]) {
		return []error{errors.New("element of " + event + " does not start clawai-hook")}
	}
	return nil
}
