package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/cmd/clawai/internal/record"
	"github.com/clawai/clawai/cmd/clawai/internal/wrapcmd"
	"github.com/clawai/clawai/fixtures"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/export"
)

// valuesOf maps an option to a function that returns the option's values. If an option has
// different values in one command, the map has a second key for them: the words of that command and
// then the option. An option without an entry takes a file or any value.
var valuesOf = map[string]func() []string{
	"server":             serverNames,
	"client":             clientNames,
	"profile":            profileNames,
	"color":              fixedWords(cmdline.Colors...),
	"decision":           fixedWords("allow", "deny", "prompt"),
	"kind":               event.KindWords,
	"rule":               rulePlaces,
	"record":             recentDecisions,
	"for":                fixedWords("once", "session", "always"),
	"decide scope":       fixedWords("exact", "folder", "tool"),
	"policy allow scope": fixedWords("exact", "file", "folder", "tool"),
	"policy deny scope":  fixedWords("exact", "file", "folder", "tool"),
	"from":               recentDecisions,
	"scope":              fixedWords("user", "local", "project", "workspace", "profile"),
	"init mode":          fixedWords("ask", "strict", "observe"),
	"protect mode":       fixedWords("ask", "strict", "observe"),
	"log export format":  export.FormNames,
	"redact":             fixedWords("redacted", "hash", "full"),
}

// argumentsOf maps the words of a command to one function for each of its arguments. The function
// returns the possible values.
var argumentsOf = map[string][]func() []string{
	"wrap":        {serverNames},
	"unwrap":      {serverNames},
	"protect":     {clientNames},
	"approve":     {waitingIDs},
	"decide":      {waitingIDs, fixedWords("allow", "deny")},
	"log explain": {recentDecisions},
	"completion":  {fixedWords(completionShells...)},
}

func fixedWords(all ...string) func() []string { return func() []string { return all } }

func optionValues(command, option string) []string {
	values, ok := valuesOf[command+" "+option]
	if !ok {
		values = valuesOf[option]
	}
	return harmlessWords(values)
}

func argumentValues(command string, n int) []string {
	places := argumentsOf[command]
	if len(places) == 0 {
		return nil
	}
	if n >= len(places) {
		if command != "wrap" && command != "unwrap" { // wrap and unwrap take any number of servers
			return nil
		}
		n = 0
	}
	return harmlessWords(places[n])
}

// harmlessWords returns only the values that every shell reads as one plain word. A name can come
// from a client's file or a server, and a shell could split or run such a name. The person must
// type all other names.
func harmlessWords(values func() []string) []string {
	if values == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(values()), func(s string) bool {
		return s == "" || strings.HasPrefix(s, "-") || strings.ContainsFunc(s, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@+", r))
		})
	})
}

// The functions below return no names after an error, because a shell shows no errors after Tab.

func serverNames() []string {
	f, err := wrapcmd.FindServers()
	if err != nil {
		return nil
	}
	return f.ServerNames()
}

func clientNames() []string {
	f, err := wrapcmd.FindServers()
	if err != nil {
		return nil
	}
	return append(f.ClientNames(), "all")
}

func profileNames() (names []string) {
	for _, p := range slices.Concat(fixtures.ListProfiles(), fixtures.ListTiers()) {
		names = append(names, p.Name)
	}
	return names
}

// rulePlaces returns FILE:LINE for each rule of the person's policy.
func rulePlaces() (places []string) {
	dirs, err := config.ReadFolders()
	if err != nil {
		return nil
	}
	loaded, err := config.LoadPolicyFor(dirs.PolicyFile(), policyfile.PolicyOptions(dirs.Home))
	if err != nil {
		return nil
	}
	for _, r := range loaded.Policy.Rules() {
		places = append(places, fmt.Sprintf("%s:%d", filepath.Base(r.Pos.File), r.Pos.Line))
	}
	return places
}

// waitingIDs returns the ids of the waiting questions, as lists show them.
func waitingIDs() (ids []string) {
	dirs, err := config.ReadFolders()
	if err != nil {
		return nil
	}
	dir := filepath.Join(dirs.State, "queue")
	if _, err := os.Stat(dir); err != nil {
		return nil // a press of Tab must not create the folder
	}
	q, err := queue.Open(dir, queue.Options{})
	if err != nil {
		return nil
	}
	defer func() { _ = q.Close() }()
	all, err := q.Pending(context.Background())
	if err != nil {
		return nil
	}
	for i := range all {
		ids = append(ids, all[i].ID)
	}
	return ids
}

// recentDecisions returns the record ids of the last 20 decisions, the newest first.
func recentDecisions() (ids []string) {
	dir, err := record.FindLogDir()
	if err != nil {
		return nil
	}
	for e, err := range audit.Read(dir, audit.Filter{Kinds: []event.Kind{event.Decision}, Last: 20}) {
		if err == nil {
			ids = append(ids, e.Record)
		}
	}
	slices.Reverse(ids)
	return ids
}
