//go:build unix

package notify

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/clawai/clawai/internal/testing/exectest"
	"github.com/clawai/clawai/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func call(name string) []policy.Call {
	return []policy.Call{{Method: "tools/call", Subject: policy.ToolSubject, Names: []string{name}}}
}

// board is a system whose programs write down what they were given.
type board struct {
	t     testing.TB
	dir   string
	calls string
}

func newBoard(t testing.TB, programs ...string) *board {
	b := &board{t: t, dir: t.TempDir()}
	b.calls = filepath.Join(b.dir, "calls")
	for _, name := range programs {
		script := "#!/bin/sh\n{ printf '%s\\n' \"$0\" \"$@\" \"env:$CLAWAI_NOTICE\"; echo @@@; } >> " + b.calls + "\n"
		exectest.Write(t, filepath.Join(b.dir, name), []byte(script))
	}
	return b
}

func (b *board) options(system string) Options {
	return Options{
		Every: time.Nanosecond, System: system,
		Getenv: func(name string) string {
			if name == "DBUS_SESSION_BUS_ADDRESS" {
				return "unix:path=/nowhere"
			}
			return ""
		},
		Look: func(name string) (string, error) {
			path := filepath.Join(b.dir, name)
			_, err := os.Stat(path)
			return path, err
		},
	}
}

// posted is what the programs were given, one for each call.
func (b *board) posted() []string {
	text, err := os.ReadFile(b.calls)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n@@@\n"), "\n@@@\n")
}

func TestASentenceIsPostedOnEverySystem(t *testing.T) {
	tests := []struct {
		system, program string
		want            []string
	}{
		{"linux", "notify-send", []string{"--", "clawai", "Server files asks to run write_file. Run: clawai approve"}},
		{"linux", "busctl", []string{"org.freedesktop.Notifications", "Notify", "Server files asks to run write_file. Run: clawai approve", "0", "0"}},
		{"darwin", "osascript", []string{"on run argv", "Server files asks to run write_file. Run: clawai approve"}},
		{"windows", "powershell.exe", []string{"-Command", "env:Server files asks to run write_file. Run: clawai approve"}},
	}
	for _, tt := range tests {
		b := newBoard(t, tt.program)
		d := New(b.options(tt.system))
		if err := d.Available(); err != nil {
			t.Errorf("%s: %v", tt.system, err)
		}
		d.NotifyQuestion("files", call("write_file"))
		d.Close()
		d.NotifyQuestion("files", call("too_late"))
		got := b.posted()
		if len(got) != 1 {
			t.Fatalf("%s: %d posted", tt.system, len(got))
		}
		lines := "\n" + got[0] + "\n"
		for _, want := range tt.want {
			if !strings.Contains(lines, "\n"+want+"\n") {
				t.Errorf("%s: %q is no argument of\n%s", tt.system, want, got[0])
			}
		}
	}
}

// Whatever a server is called: one argument, no markup, no escape, no script,
// no link, no option.
func TestHostileNamesComeToLettersAndDots(t *testing.T) {
	hostile := []string{
		"<b>x</b>", "&lt;", `\074b\076`, `"; beep; "`, "$(reboot)", "`reboot`", "%s%n", "https://evil.example", "--help",
		"a\x1b]8;;x\a\nb", "\u202eabc", "\u0645\u0631\u062d\u0628\u0627", "x\u200by", "\xff\xfe", "'; Remove-Item *; '", `" with title "y`,
	}
	const allowed = " .:_-·…"
	for i, text := range hostile {
		for j, system := range []string{"linux", "darwin", "windows"} {
			if testing.Short() && i%3 != j { // each of them on one of the systems
				continue
			}
			b := newBoard(t, "notify-send", "osascript", "powershell.exe")
			d := New(b.options(system))
			d.NotifyQuestion(text, call(text))
			d.Close()
			for line := range strings.Lines(b.posted()[0]) {
				line = strings.TrimPrefix(strings.TrimSpace(line), "env:")
				if !strings.HasPrefix(line, "Server ") {
					continue
				}
				for _, r := range line {
					if r > 'z' && !strings.ContainsRune(allowed, r) || strings.ContainsRune(`<>&\"'$%()/;`+"`\x1b", r) {
						t.Errorf("%s, name %d: %q", system, i, line)
					}
				}
				if strings.Count(line, ":") != 1 {
					t.Errorf("%s, name %d: a colon is not ours: %q", system, i, line)
				}
			}
		}
	}
	if got := harmlessName(strings.Repeat("a", 1000)); len([]rune(got)) != maxName+1 {
		t.Errorf("a long name is %q", got)
	}
	if got := harmlessName("файл_文書"); got != "файл_文書" {
		t.Errorf("a name in another script is %q", got)
	}
}

func TestOtherSentences(t *testing.T) {
	tests := []struct {
		calls []policy.Call
		want  string
	}{
		{nil, "Server files asks. Run: clawai approve"},
		{make([]policy.Call, 2), "Server files asks for several things. Run: clawai approve"},
		{[]policy.Call{{Subject: policy.ResourceSubject, Names: []string{"notes"}}}, "Server files asks to read notes. Run: clawai approve"},
		{[]policy.Call{{Subject: policy.PromptSubject, Names: []string{"sum"}}}, "Server files asks for the prompt sum. Run: clawai approve"},
		{[]policy.Call{{Subject: policy.ElicitationSubject, Names: []string{"Name"}}}, "Server files asks about Name. Run: clawai approve"},
	}
	for _, tt := range tests {
		if got := questionText("files", tt.calls); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	if got := questionText("", nil); got != "Server asks. Run: clawai approve" {
		t.Errorf("without a name: %q", got)
	}
	b := newBoard(t, "notify-send")
	d := New(b.options("linux"))
	d.NotifyMuted("files")
	d.Close()
	if got := b.posted()[0]; !strings.Contains(got, "Server files asked too often and is denied for a while. See: clawai log") {
		t.Errorf("muted: %q", got)
	}
}

// A flood is one notification.
func TestNotificationsAreRare(t *testing.T) {
	b := newBoard(t, "notify-send")
	o := b.options("linux")
	o.Every = time.Hour
	d := New(o)
	for i := range 100 {
		d.NotifyQuestion("files", call(fmt.Sprint(i)))
	}
	d.Close()
	if got := b.posted(); len(got) != 1 {
		t.Errorf("%d notifications", len(got))
	}
}

// A program that hangs or fails holds nobody up; Close ends with it.
func TestAProgramThatHangsHoldsNobodyUp(t *testing.T) {
	b := newBoard(t)
	path := filepath.Join(b.dir, "notify-send")
	release := filepath.Join(b.dir, "release")
	script := fmt.Sprintf("#!/bin/sh\nwhile ! test -e '%s'; do sleep 0.01; done\n", release)
	exectest.Write(t, path, []byte(script))
	d := New(b.options("linux"))
	began := time.Now()
	d.NotifyQuestion("files", call("x"))
	if took := time.Since(began); took >= limit { // it hangs until it is killed, or released
		t.Errorf("posting took %s", took)
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.Close()
}

func TestUnavailableSaysWhy(t *testing.T) {
	b := newBoard(t)
	for system, want := range map[string]string{
		"linux": "busctl is missing", "darwin": "osascript is missing", "windows": "powershell.exe is missing", "plan9": "not known on plan9",
	} {
		if err := New(b.options(system)).Available(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", system, err)
		}
	}
	o := newBoard(t, "notify-send").options("linux")
	run := t.TempDir()
	o.Getenv = func(name string) string { return map[string]string{"XDG_RUNTIME_DIR": run}[name] }
	if err := New(o).Available(); err == nil || !strings.Contains(err.Error(), "no session bus") {
		t.Errorf("without a bus: %v", err)
	}
	if err := os.WriteFile(filepath.Join(run, "bus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := New(o).Available(); err != nil {
		t.Errorf("with the bus in its usual place: %v", err)
	}
}
