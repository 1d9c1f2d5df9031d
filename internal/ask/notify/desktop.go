package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/policy"
)

const (
	defaultEvery = 10 * time.Second
	limit        = 5 * time.Second // maximum running time of the program that posts a notification
)

// Options configure New. The zero value uses the system on which clawai runs.
type Options struct {
	Every time.Duration // minimum time between two notifications (default 10 s); a notification that comes earlier is dropped

	System string // the operating system, in the words of runtime.GOOS
	Getenv func(string) string
	Look   func(name string) (string, error) // finds a program, like exec.LookPath
}

// Desktop posts notifications. Close waits until the last one is posted.
type Desktop struct {
	o       Options
	posting sync.WaitGroup

	mu   sync.Mutex // guards the fields below
	last time.Time
	over bool
}

// New returns a Desktop. It looks for the system's program only at the first notification.
func New(o Options) *Desktop {
	if o.Every <= 0 {
		o.Every = defaultEvery
	}
	if o.System == "" {
		o.System = runtime.GOOS
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Look == nil {
		o.Look = exec.LookPath
	}
	return &Desktop{o: o}
}

// Available returns nil if a notification can be posted, otherwise the reason. The desktop may
// still not show the notification.
func (d *Desktop) Available() error {
	_, err := d.findProgram("")
	return err
}

// NotifyQuestion posts a notification about a question of server and returns at once.
func (d *Desktop) NotifyQuestion(server string, calls []policy.Call) {
	d.postNotice(questionText(server, calls))
}

// NotifyMuted posts a notification that server has asked too many questions. It returns at once.
func (d *Desktop) NotifyMuted(server string) {
	d.postNotice("Server " + harmlessName(server) + " asked too often and is denied for a while. See: clawai log")
}

// Close waits until no program posts a notification any more.
func (d *Desktop) Close() {
	d.mu.Lock()
	d.over = true
	d.mu.Unlock()
	d.posting.Wait()
}

func (d *Desktop) postNotice(text string) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over || !d.last.IsZero() && now.Sub(d.last) < d.o.Every {
		return
	}
	d.last = now
	d.posting.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		p, err := d.findProgram(text)
		if err != nil {
			return
		}
		cmd := exec.CommandContext(ctx, p.path, p.args...)
		cmd.Env, cmd.WaitDelay = append(os.Environ(), p.env...), time.Second
		_ = cmd.Run() // the error is ignored, because the person can answer without the notification
	})
}

// program is the command that posts one notification.
type program struct {
	path      string
	args, env []string
}

var errNoProgram = errors.New("no program that posts a notification was found")

func (d *Desktop) findProgram(text string) (program, error) {
	switch d.o.System {
	case "linux", "freebsd", "openbsd", "netbsd":
		return d.freedesktopProgram(text)
	case "darwin":
		return d.lookUpProgram("osascript", nil,
			"-e", "on run argv", "-e", `display notification (item 1 of argv) with title "clawai"`, "-e", "end run", text)
	case "windows":
		return d.lookUpProgram("powershell.exe", []string{"CLAWAI_NOTICE=" + text},
			"-NoProfile", "-NonInteractive", "-Command", toast)
	}
	return program{}, fmt.Errorf("notifications are not known on %s", d.o.System)
}

// freedesktopProgram returns the program that posts through the D-Bus service
// org.freedesktop.Notifications. It needs a session bus.
func (d *Desktop) freedesktopProgram(text string) (program, error) {
	var env []string
	if d.o.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
		// A client may start us without the variable of the bus. The bus then has its usual path.
		dir := d.o.Getenv("XDG_RUNTIME_DIR")
		if dir == "" {
			dir = fmt.Sprintf("/run/user/%d", os.Getuid())
		}
		bus := filepath.Join(dir, "bus")
		if _, err := os.Stat(bus); err != nil {
			return program{}, errors.New("there is no desktop session: no session bus")
		}
		env = []string{"DBUS_SESSION_BUS_ADDRESS=unix:path=" + bus}
	}
	p, err := d.lookUpProgram("notify-send", env, "--app-name=clawai", "--expire-time=10000", "--", "clawai", text)
	if err == nil {
		return p, nil
	}
	return d.lookUpProgram("busctl", env, "--user", "--timeout=2", "call", "org.freedesktop.Notifications",
		"/org/freedesktop/Notifications", "org.freedesktop.Notifications", "Notify",
		"susssasa{sv}i", "clawai", "0", "", "clawai", text, "0", "0", "10000")
}

func (d *Desktop) lookUpProgram(name string, env []string, args ...string) (program, error) {
	path, err := d.o.Look(name)
	if err != nil {
		return program{}, fmt.Errorf("%w: %s is missing", errNoProgram, name)
	}
	return program{path: path, args: args, env: env}, nil
}

// toast is the PowerShell script that shows a notification. The text is in a variable: it becomes a
// text node, so it is never parsed as markup, and it is never run as a script.
var toast = strings.Join([]string{
	`$m = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]`,
	`$x = $m::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)`,
	`$t = $x.GetElementsByTagName('text')`,
	`$null = $t.Item(0).AppendChild($x.CreateTextNode('clawai'))`,
	`$null = $t.Item(1).AppendChild($x.CreateTextNode($env:CLAWAI_NOTICE))`,
	`$m::CreateToastNotifier('{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe').Show([Windows.UI.Notifications.ToastNotification]::new($x))`,
}, "; ")
