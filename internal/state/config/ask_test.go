package config

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/testing/accesstest"
)

func none(string) string { return "" }

// words are ways to ask a person.
var words = []string{"terminal", "console", "elicitation", "web"}

func TestAskWithoutAFileIsTheDefault(t *testing.T) {
	a, err := LoadAsk(filepath.Join(folder(t), "config.toml"), none, words)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, defaultAsk(words)) {
		t.Errorf("%+v", a)
	}
	if a.Timeout.Is != 45*time.Second || a.Nobody.Is != "wait" || !a.Notify.Is || a.PerMinute.Is != 30 ||
		strings.Join(a.Order.Is, " ") != "terminal console elicitation web" {
		t.Errorf("the defaults are %+v", a)
	}
}

// The option beats the variable, the variable the file, the file the default,
// and each value says who gave it.
func TestAskPrecedence(t *testing.T) {
	path := filepath.Join(folder(t), "config.toml")
	write(t, path, "# mine\n[ask]\norder = [\"web\", \"terminal\"]\ntimeout = \"20s\"\nnobody = \"deny\"\nask = 1\n")
	if _, err := LoadAsk(path, none, words); err == nil {
		t.Fatal("an unknown key loads")
	}
	write(t, path, "# mine\n[ask]\norder = [\"web\", \"terminal\"]\ntimeout = \"20s\"\nnobody = \"deny\"\nper_minute = 5\nnotify = true\nat_once = 6\n")
	env := map[string]string{"CLAWAI_ASK_TIMEOUT": "30s", "CLAWAI_ASK_NOBODY": "wait", "CLAWAI_ASK_PER_MINUTE": ""}
	a, err := LoadAsk(path, func(name string) string { return env[name] }, words)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Set("timeout", "40s", "--ask-timeout"); err != nil {
		t.Fatal(err)
	}
	want := Ask{
		channels:  words,
		Order:     Value[[]string]{[]string{"web", "terminal"}, path + ":3"},
		Timeout:   Value[time.Duration]{40 * time.Second, "--ask-timeout"},
		Nobody:    Value[string]{"wait", "CLAWAI_ASK_NOBODY"},
		PerMinute: Value[int]{5, path + ":6"},
		AtOnce:    Value[int]{6, path + ":8"},
		Notify:    Value[bool]{true, path + ":7"},
	}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("got %+v\nwant %+v", a, want)
	}
	if a.Set("colour", "blue", "--colour") == nil {
		t.Error("an option sets what is not a setting")
	}
}

func TestAskDottedKeysAndNever(t *testing.T) {
	path := filepath.Join(folder(t), "config.toml")
	write(t, path, "\nask.order = [\"never\"]\n")
	a, err := LoadAsk(path, none, words)
	if err != nil || len(a.Order.Is) != 0 || a.Order.From != path+":2" {
		t.Errorf("%+v, %v", a.Order, err)
	}
	a, err = LoadAsk(path, func(name string) string { return map[string]string{"CLAWAI_ASK": "console, web"}[name] }, words)
	if err != nil || len(a.Order.Is) != 2 || a.Order.From != "CLAWAI_ASK" {
		t.Errorf("%+v, %v", a.Order, err)
	}
}

// An order from an earlier clawai may name "popup", which asked through the queue.
func TestFormerPopup(t *testing.T) {
	for text, want := range map[string]string{
		"popup": "console", "terminal,popup,web": "terminal console web", "popup,console": "console", "console,popup": "console",
	} {
		a := defaultAsk(words)
		if err := a.Set("order", text, "--ask"); err != nil || strings.Join(a.Order.Is, " ") != want {
			t.Errorf("%s: %v, %v", text, a.Order.Is, err)
		}
	}
}

// Every mistake is refused where it stands, with the word that was meant.
func TestAskRefusals(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "config.toml")
	tests := []struct{ text, want string }{
		{"[ask]\ntimout = \"3s\"", `config.toml:2:1: "ask.timout" is not a setting; did you mean "timeout"?`},
		{"[aks]\ntimeout = \"3s\"", `"aks`},
		{"[aks]\ntimeout = \"3s\"", `did you mean "ask"?`},
		{"[ask]\nwhatever = 3", "is not a setting; it is one of order, timeout, nobody, per_minute, at_once, notify"},
		{"[ask]\n\ntimeout = 45", "config.toml:3:"},
		{"[ask]\ntimeout = \"45\"", `config.toml:2: ask.timeout: "45" is not a time to wait`},
		{"[ask]\ntimeout = \"0s\"", "more than 0"},
		{"[ask]\ntimeout = \"-1s\"", "more than 0"},
		{"[ask]\norder = [\"terminal\",\n\"consol\"]", `config.toml:2: ask.order: "consol" is not a way of asking; did you mean "console"?`},
		{"[ask]\norder = []", "is not a way of asking; it is one of terminal, console, elicitation, web, never"},
		{"[ask]\norder = [\"terminal\", \"terminal\"]", "is there twice"},
		{"[ask]\norder = [\"terminal\", \"never\"]", `"never" stands alone`},
		{"[ask]\norder = \"terminal\"", "config.toml:2:"},
		{"[ask]\nnobody = \"allow\"", `"allow" is neither wait nor deny`},
		{"[ask]\nper_minute = 0", "write 1 or more"},
		{"[ask]\nat_once = 0", "write 1 or more"},
		{"[ask]\nnotify = \"yes\"", "config.toml:2:"},
		{"[ask]\nnotify = true\nnotify = false", "config.toml:3:"},
		{"[ask\n", "config.toml:1:"},
	}
	for _, tt := range tests {
		write(t, path, tt.text)
		_, err := LoadAsk(path, none, words)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v, want %q", tt.text, err, tt.want)
		}
	}
	write(t, path, "")
	for name, text := range map[string]string{
		"CLAWAI_ASK": "telepathy", "CLAWAI_ASK_TIMEOUT": "soon", "CLAWAI_ASK_NOBODY": "x", "CLAWAI_ASK_PER_MINUTE": "many", "CLAWAI_ASK_AT_ONCE": "-1", "CLAWAI_ASK_NOTIFY": "1",
	} {
		_, err := LoadAsk(path, func(n string) string {
			if n == name {
				return text
			}
			return ""
		}, words)
		if err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s=%s: %v", name, text, err)
		}
	}
}

func TestAskRefusesAFileOfOthers(t *testing.T) {
	path := filepath.Join(folder(t), "config.toml")
	write(t, path, "[ask]\nnobody = \"deny\"\n")
	if err := accesstest.Share(path); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadAsk(path, none, words); err == nil || !strings.Contains(err.Error(), "can write it") {
		t.Errorf("a file everybody can write: %v", err)
	}
}
