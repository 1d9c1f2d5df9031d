package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/ask/elicit"
	"github.com/clawai/clawai/internal/session"
	"github.com/clawai/clawai/internal/state/config"
)

// The settings that docs/approvals.md shows as the defaults are the defaults.
func TestTheDocumentedSettings(t *testing.T) {
	block := regexp.MustCompile("(?s)```toml settings\n(.*?)```").FindStringSubmatch(read(t, "docs/approvals.md"))
	if block == nil {
		t.Fatal("no settings are shown")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	none := func(string) string { return "" }
	file := filepath.Join(dir, "config.toml")
	want, err := config.LoadAsk(file, none, session.ChannelNames())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(block[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := config.LoadAsk(file, none, session.ChannelNames())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Order.Is, want.Order.Is) || got.Timeout.Is != want.Timeout.Is || got.Nobody.Is != want.Nobody.Is ||
		got.PerMinute.Is != want.PerMinute.Is || got.Notify.Is != want.Notify.Is {
		t.Errorf("shown are %+v, the defaults are %+v", got, want)
	}
	for _, from := range []string{got.Order.From, got.Timeout.From, got.Nobody.From, got.PerMinute.From, got.Notify.From} {
		if from == "default" {
			t.Errorf("not every setting is shown: %+v", got)
		}
	}
}

// What docs/approvals.md says of the forms of clients is what the data says.
func TestTheDocumentedFormsOfClients(t *testing.T) {
	rows := map[string]string{}
	for line := range strings.Lines(read(t, "docs/approvals.md")) {
		if cells := strings.Split(strings.TrimSpace(line), "|"); len(cells) == 5 {
			rows[strings.TrimSpace(cells[1])] = strings.TrimSpace(cells[3])
		}
	}
	clients, err := elicit.ListClients()
	if err != nil || len(clients) == 0 {
		t.Fatal(len(clients), err)
	}
	for _, c := range clients {
		want := string(c.Use)
		if c.Below != "" {
			want += " below " + c.Below
		}
		if !strings.Contains(rows[c.Title], want) {
			t.Errorf("of the forms of %s it says %q, want %q", c.Title, rows[c.Title], want)
		}
	}
}
