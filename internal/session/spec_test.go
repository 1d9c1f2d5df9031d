package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/session/base"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/text/redact"
)

func noOption(string) (string, bool) { return "", false }

// Open reads the policy and the settings, keeps the record and shares the state, all in the
// folders; Close closes all of it.
func TestOpenFromFolders(t *testing.T) {
	f := house(t, allowRead+"limit = \"1/day\"\n")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	one, err := Open(ctx, Spec{
		Program: "clawai 1.2", Peer: Peer{Name: "files", Is: "command the-password"}, Folders: f, Files: base.Files{Project: f.Home}, Ask: noOption,
		Prepare: func() (*redact.Known, error) { return redact.NewKnown([][]byte{[]byte("the-password")}), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := one.All.settings.Order.Is; !slices.Contains(got, "console") {
		t.Errorf("asks by %q", got)
	}
	var ended context.Context
	one.All.Go(func(ctx context.Context) { <-ctx.Done(); ended = ctx })
	for _, want := range []string{"forward", "rate limit"} {
		if got := call(one, "read"); got != want {
			t.Errorf("the call became %q, want %q", got, want)
		}
	}
	if stop(); one.All.Context().Err() == nil {
		t.Error("messages would be carried on")
	}
	one.End("exit status 3", 3)
	if ended == nil {
		t.Error("what runs beside the session outlives its end")
	}
	closed(t, one)
	var kinds []string
	for e, err := range audit.Read(base.RecordDir(f.State), audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(e.Detail, "the-password") {
			t.Errorf("recorded: %s", e.Detail)
		}
		kinds = append(kinds, string(e.Kind))
	}
	if want := []string{"start", "decision", "decision", "end"}; !slices.Equal(kinds, want) {
		t.Errorf("the record has %q, want %q", kinds, want)
	}
	if all, err := os.ReadDir(filepath.Join(f.State, "flow")); err != nil || len(all) == 0 {
		t.Errorf("no other process counts the call: %v", err)
	}
}

// What is wrong ends Open before anything is on the disk, and the first that is wrong is told.
func TestOpenRefuses(t *testing.T) {
	lost := errors.New("no vault")
	wrong := func(file string) {
		if err := os.WriteFile(file, []byte("wrong"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unprepared := func(o *Spec) { o.Prepare = func() (*redact.Known, error) { return nil, lost } }
	badOption := func(o *Spec) { o.Ask = func(option string) (string, bool) { return "loudly", option == "ask" } }
	badPolicy := func(o *Spec) { wrong(o.Folders.PolicyFile()) }
	badSettings := func(o *Spec) { wrong(o.Folders.SettingsFile()) }
	for _, c := range []struct {
		name    string
		changes []func(*Spec)
		want    string
	}{
		{"the settings", []func(*Spec){badSettings, badOption, badPolicy, unprepared}, "config.toml"},
		{"an option", []func(*Spec){badOption, badPolicy, unprepared}, "--ask: "},
		{"the policy", []func(*Spec){badPolicy, unprepared}, "policy.toml"},
		{"the caller's part", []func(*Spec){unprepared}, "no vault"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Spec{Folders: house(t, allowRead), Ask: noOption}
			for _, change := range c.changes {
				change(&o)
			}
			one, err := Open(context.Background(), o)
			if one != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, %v; want %q", one, err, c.want)
			}
			if _, option := errors.AsType[*OptionError](err); option != (c.name == "an option") {
				t.Errorf("%v is a mistake of the command line: %v", err, option)
			}
			if _, err := os.Stat(o.Folders.State); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a state folder: %v", err)
			}
		})
	}
}

// An option comes before the file. The client's form can be left out.
func TestWaysToAsk(t *testing.T) {
	for _, c := range []struct {
		option string
		noForm bool
		want   []string
	}{
		{"", false, []string{"elicitation", "web"}},
		{"", true, []string{"web"}},
		{"terminal,elicitation", false, []string{"terminal", "elicitation"}},
		{"never", false, nil},
	} {
		s, _, _ := sessions(t, askRead, func(o *Spec) {
			asks(t, o, "elicitation", "web")
			o.NoForm = c.noForm
			o.Ask = func(option string) (string, bool) { return c.option, option == "ask" && c.option != "" }
		})
		if got := s.settings.Order.Is; !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// A session of one call records the call alone.
func TestSingleCall(t *testing.T) {
	f, r := house(t, allowRead), &record{}
	o := Spec{Peer: Peer{Name: "a-client"}, Call: &Call{Session: "s", Labels: true}, Folders: f, Policy: load(t, f), Recorder: r, Ask: noOption}
	o.Through = func(log gate.Recorder) gate.Recorder {
		if log != r {
			t.Error("another recorder")
		}
		return &invocationRecorder{log, "through"}
	}
	one, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := call(one, "read"); got != "forward" {
		t.Errorf("the call became %q", got)
	}
	closed(t, one)
	if len(r.events) != 1 || r.events[0].Kind != event.Decision || r.events[0].Invocation != "through" {
		t.Errorf("%+v", r.events)
	}
	flows := filepath.Join(f.State, "flow")
	if err := os.RemoveAll(flows); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(flows, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if one, err := Open(context.Background(), o); one != nil || err == nil || !strings.HasPrefix(err.Error(), "what the session has seen cannot be read: ") {
		t.Errorf("%v, %v", one, err)
	}
}
