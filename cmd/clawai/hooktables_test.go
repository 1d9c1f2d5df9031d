package main

import (
	"slices"
	"testing"

	"github.com/clawai/clawai/internal/text/builtin"
	hooks "github.com/clawai/clawai/proxy/hook/client"
	"github.com/clawai/clawai/wrap/client"
)

// TestWhatIsInstalledIsUnderstood: what wrap --hooks writes into a client's file starts
// clawai-hook with a word and at events that it knows, and whose tools have classes.
func TestWhatIsInstalledIsUnderstood(t *testing.T) {
	rows, err := client.HookRows()
	if err != nil || len(rows) < 13 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	var words []string
	for _, row := range rows {
		word := row.HookWord()
		words = append(words, word)
		known := hooks.FindRow(word)
		if known == nil || !slices.Contains(builtin.ListClients(), word) {
			t.Errorf("clawai-hook does not know %q, or its tools", word)
			continue
		}
		for _, ev := range row.Events {
			i := slices.IndexFunc(known.Events, func(k hooks.Event) bool { return k.Name == ev.Name || k.Name == client.SnakeCase(ev.Name) })
			if i < 0 || ev.Tools != (known.Events[i].Kind == hooks.Before) {
				t.Errorf("%s: the event %q is not known, or is not what it is installed for", word, ev.Name)
			}
		}
	}
	for _, id := range hooks.IDs() {
		if !slices.Contains(words, id) {
			t.Errorf("nothing installs the hooks of %q", id)
		}
	}
}
