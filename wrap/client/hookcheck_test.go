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
	f.addIfBad(!word().MatchString(r.Client) || !word().MatchString(r.HookWord()), "client and word must be lower-case words joined by -")
	f.addIfBad(r.Name == "", "name is missing")
	f.addIfBad(r.Source == "", "source is missing: say where these facts come from")
	f.addIfBad(r.Broken == "", "broken is missing: say what happens when the hook breaks")
	f.addIfBad(len(r.Present.allPaths()) == 0, "present is missing")
	oneOf(&f, "confidence", r.Confidence, First, Experimental)
	for _, path := range slices.Concat(r.Paths.allPaths(), r.Present.allPaths(), r.Used.allPaths(), r.Behind.allPaths(), r.TrustFile.allPaths()) {
		if err := checkPattern(path); err != nil {
			f = append(f, err)
		}
		f.addIfBad(strings.HasPrefix(path, "./"), "path %q is a project's", path)
	}
	if len(r.Through) > 0 {
		f.addIfBad(len(r.Paths.allPaths())+len(r.Events) > 0, "through cannot stand beside paths and events")
		return f
	}
	oneOf(&f, "format", r.Format, JSON, JSONC, TOML, Script)
	f.addIfBad(len(r.Paths.allPaths()) == 0, "paths is missing")
	f.addIfBad(len(r.ToolEvents()) == 0, "events names none that can stop a tool")
	f.addIfBad(r.After == "", "after is missing: say what a person does for an edit to take effect")
	f.addIfBad(r.Blocks != "" && r.Blocks != "always" && len(r.Probe) == 0, "blocks names a version, and probe nothing that prints it")
	f.addIfBad(r.hasEventFiles() && r.Format != Script, "a file for each event is of the format \"script\"")
	f.addIfBad(r.Format == Script && !r.hasEventFiles() && len(r.Events) > 1, "a script in one file is about one event")
	for _, name := range r.EventNames() {
		f = append(f, r.checkElement(name)...)
	}
	return f
}

// checkElement renders an event's element and finds the handler in it again.
func (r HookRow) checkElement(event string) []error {
	text, err := r.renderElement(event, HookStart{Path: "/opt/clawai-hook"})
	if err != nil || r.Format == Script || r.Format == TOML {
		return slices.DeleteFunc([]error{err}, func(e error) bool { return e == nil })
	}
	n, err := parseJSON([]byte(text), JSON, nil)
	if err != nil {
		return []error{fmt.Errorf("element of %s: %w", event, err)}
	}
	if leaves, _ := r.findHandlers(n); len(leaves) != 1 || !startsClawai(leaves[0]) {
		return []error{errors.New("element of " + event + " does not start clawai-hook")}
	}
	return nil
}
