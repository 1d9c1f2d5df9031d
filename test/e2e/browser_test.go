//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// browser is a real Chromium behind browser.mjs.
type browser struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

func newBrowser(t *testing.T, width, height int, more ...string) *browser {
	t.Helper()
	cmd := exec.Command("node", append([]string{"browser.mjs", fmt.Sprint(width), fmt.Sprint(height)}, more...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the browser: %v", err)
		}
	})
	return &browser{t, in, bufio.NewReaderSize(out, 1<<20)}
}

// try gives one command, and its answer into v when that is not nil.
func (b *browser) try(v any, name string, args map[string]any) error {
	b.t.Helper()
	command := map[string]any{"do": name}
	for k, a := range args {
		command[k] = a
	}
	line, err := json.Marshal(command)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(line, '\n')); err != nil {
		b.t.Fatal(err)
	}
	reply, err := b.out.ReadBytes('\n')
	if err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
	var answer struct {
		Value json.RawMessage
		Error string
	}
	if err := json.Unmarshal(reply, &answer); err != nil {
		b.t.Fatal(err)
	}
	if answer.Error != "" {
		return fmt.Errorf("%s %v: %s", name, args, answer.Error)
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(answer.Value, v)
}

func (b *browser) do(v any, name string, args map[string]any) {
	b.t.Helper()
	if err := b.try(v, name, args); err != nil {
		b.t.Fatalf("%v\n%s", err, b.screen())
	}
}

// screen is what the page shows, for a failure.
func (b *browser) screen() (text string) {
	_ = b.try(&text, "text", map[string]any{"selector": "body"})
	return text
}

// focus is the element the keyboard is on.
type focus struct {
	Tag, ID, Name, Expanded string
	Outline, InView         bool
}

func (f focus) String() string { return strings.TrimSpace(f.Tag + " " + f.Name) }

func (b *browser) press(key string) (f focus) {
	b.t.Helper()
	b.do(&f, "press", map[string]any{"key": key})
	return f
}

// tabTo presses key until the element with that name has the focus, as somebody
// without a mouse does. Every stop on the way must be seen.
func (b *browser) tabTo(key, name string) focus {
	b.t.Helper()
	var stops []string
	for range 80 {
		f := b.press(key)
		stops = append(stops, f.String())
		if f.Tag != "body" && (!f.Outline || !f.InView) {
			b.t.Errorf("the focus on %q cannot be seen: outline %v, in view %v\n%s", f, f.Outline, f.InView, b.screen())
		}
		if strings.HasPrefix(f.Name, name) && f.Tag != "body" {
			return f
		}
	}
	b.t.Fatalf("%s never reaches %q: %q\n%s", key, name, stops, b.screen())
	return focus{}
}

func (b *browser) text(selector string) (s string) {
	b.t.Helper()
	b.do(&s, "text", map[string]any{"selector": selector})
	return s
}

// wait waits until an element with text is in sight, and gives all that it says then.
func (b *browser) wait(selector, text string) (all string) {
	b.t.Helper()
	b.do(&all, "wait", map[string]any{"selector": selector, "text": text})
	return all
}

// enter opens the link and waits until the page is in. A page that leaves earlier has used the link,
// which works once, and cannot come in any more.
func (b *browser) enter(link string) {
	b.t.Helper()
	b.do(nil, "open", map[string]any{"url": link})
	b.wait("#state", "Connected")
}

func (b *browser) waitGone(selector, text string) {
	b.t.Helper()
	b.do(nil, "wait", map[string]any{"selector": selector, "text": text, "gone": true})
}

// opens waits until the page has opened this very question and can be answered: no
// other, that has just been answered, and nothing moves any more.
func (b *browser) opens(w wants) { b.t.Helper(); b.wait("#answers-"+w.ID(), "Deny") }

// calm waits until a press is not too soon after something moved.
func (b *browser) calm() { b.t.Helper(); b.do(nil, "calm", nil) }

// fits fails when something stands beyond the sides of the screen, or has no name
// that a screen reader could say.
func (b *browser) fits(where string) {
	b.t.Helper()
	var v struct {
		Wide, Nameless []string
		Scrolls        bool
	}
	b.do(&v, "overflow", nil)
	if v.Scrolls || len(v.Wide) > 0 {
		b.t.Errorf("%s: beyond the sides of the screen: %q, scrolls: %v", where, v.Wide, v.Scrolls)
	}
	if len(v.Nameless) > 0 {
		b.t.Errorf("%s: without a name: %q", where, v.Nameless)
	}
}

// shot keeps a picture of the screen for the documents, in the folder that
// CLAWAI_SHOTS names, of the one kind of screen that they show:
//
//	CLAWAI_SHOTS=$PWD/docs/img go test -tags e2e -run TestPage ./test/e2e
func (b *browser) shot(screen, only, name string) {
	b.t.Helper()
	if dir := os.Getenv("CLAWAI_SHOTS"); dir != "" && screen == only {
		b.do(nil, "shot", map[string]any{"path": filepath.Join(dir, name+".png")})
	}
}

// quiet fails when the page said anything, or loaded or opened what is not ours.
func (b *browser) quiet(origin string) {
	b.t.Helper()
	var v struct {
		Console, Errors, URLs     []string
		Pages, Dialogs, Downloads int
		Open                      int
	}
	b.do(&v, "seen", nil)
	if len(v.Errors) > 0 || v.Dialogs+v.Downloads > 0 || v.Open != 1 {
		b.t.Errorf("the page did what no page of ours does: %+v", v)
	}
	for _, line := range v.Console {
		b.t.Errorf("the console: %s", line)
	}
	for _, url := range v.URLs {
		if _, u, _ := strings.Cut(url, " "); !strings.HasPrefix(u, origin+"/") {
			b.t.Errorf("loaded: %s", url)
		}
	}
}
