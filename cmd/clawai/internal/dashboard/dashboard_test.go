package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/cmd/clawai/internal/overview"
	"github.com/clawai/clawai/internal/ask/queue"
	"github.com/clawai/clawai/internal/ask/web"
	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/internal/state/flow"
	"github.com/clawai/clawai/internal/testing/cputime"
	"github.com/clawai/clawai/internal/testing/viewtest"
	"github.com/clawai/clawai/policy"
)

// desk is a home with a record, and the views of it.
type desk struct {
	t     testing.TB
	dirs  config.Folders
	queue *queue.Queue
	log   *audit.Log
	views *Views
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CLAWAI_CONFIG_DIR", filepath.Join(home, "config"))
	t.Setenv("CLAWAI_STATE_DIR", filepath.Join(home, "state"))
	dirs, err := config.ReadFolders()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dirs.Config, dirs.State} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	q, err := queue.Open(filepath.Join(dirs.State, "queue"), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	return &desk{t: t, dirs: dirs, queue: q}
}

func (d *desk) writePolicy(text string) {
	d.t.Helper()
	if err := os.WriteFile(d.dirs.PolicyFile(), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// open starts the views, and waits until they have counted the record.
func (d *desk) open() {
	d.t.Helper()
	d.views = New(d.t.Context(), d.queue, overview.New(d.dirs, Period()))
	d.await("the record is counted", func() bool { return d.views.model.Sum(overview.Wanted{}).Caught })
}

func (d *desk) await(what string, ok func() bool) { d.t.Helper(); d.awaitLong(time.Minute, what, ok) }

func (d *desk) awaitLong(most time.Duration, what string, ok func() bool) {
	d.t.Helper()
	for end := time.Now().Add(most); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatalf("never: %s", what)
		}
	}
}

func (d *desk) record(e event.Event) string {
	d.t.Helper()
	if d.log == nil {
		l, err := audit.Open(filepath.Join(d.dirs.State, "audit"), audit.Options{})
		if err != nil {
			d.t.Fatal(err)
		}
		d.t.Cleanup(func() { _ = l.Close() })
		d.log = l
	}
	if err := d.log.Record(&e); err != nil {
		d.t.Fatal(err)
	}
	return e.Record
}

func decided(decision string) event.Event {
	return event.Event{
		Kind: event.Decision, Server: "files", Direction: "client", Method: "tools/call", Subject: "tool", ID: []byte("1"), Names: []string{"read_file"},
		Args: []byte(`{"path":"/srv/a"}`), Policy: decision, Decision: decision, Stage: "policy",
	}
}

// text returns what a view says, and its links.
func (d *desk) text(address string) (text string, links []string) {
	d.t.Helper()
	v, err := d.render(address)
	if err != nil {
		d.t.Fatalf("%s: %v", address, err)
	}
	var all []string
	v.Body.Walk(func(_, text string, attributes map[string]string) {
		if text != "" {
			all = append(all, text)
		}
		if to := attributes["href"]; to != "" {
			links = append(links, to)
		}
	})
	return strings.Join(all, "\n"), links
}

func (d *desk) render(address string) (web.View, error) {
	u, err := url.Parse(address)
	if err != nil {
		d.t.Fatal(err)
	}
	return d.views.Render(d.t.Context(), strings.TrimPrefix(u.Path, "/"), u.Query())
}

// Before anything is recorded, each view says what to do.
func TestEmptyViews(t *testing.T) {
	d := newDesk(t)
	d.open()
	for address, want := range map[string]string{
		"/overview": "Nothing is recorded yet", "/calls": "None of the latest calls is one of these", "/sessions": "No session of an agent is known yet",
		"/timeline?session=x": "No such session is known any more", "/rules": "No rule of the policy decided a call", "/servers": "clawai status", "/answers": "No question has been asked yet",
	} {
		if text, _ := d.text(address); !strings.Contains(text, want) {
			t.Errorf("%s: %s", address, text)
		}
	}
	if _, err := os.Stat(filepath.Join(d.dirs.State, "audit")); !os.IsNotExist(err) {
		t.Errorf("the folder of the record was made: %v", err)
	}
}

// Every filter is in the address, and an address with another one is refused with what it can be.
func TestFilters(t *testing.T) {
	d := newDesk(t)
	refused := decided("deny")
	refused.Names, refused.Server, refused.RuleFile, refused.RuleLine, refused.RuleText = []string{"drop_table"}, "db", "/p.toml", 7, "No table"
	asked := decided("allow")
	asked.Policy = "prompt"
	d.record(decided("allow"))
	d.record(refused)
	d.record(asked)
	d.open()
	d.await("all are shown", func() bool {
		list, _ := d.views.latest.List(9, func(*overview.Call) bool { return true })
		return len(list) == 3
	})
	hour := url.QueryEscape(overview.HourOf(time.Now()).Format(hourLayout))
	for address, want := range map[string]int{
		"/calls": 3, "/calls?decision=refused": 1, "/calls?decision=asked": 1, "/calls?decision=allowed": 1, "/calls?server=db": 1, "/calls?server=d": 0, "/calls?tool=read_file": 2,
		"/calls?text=DROP": 1, "/calls?text=/srv/a&decision=allowed": 1, "/calls?rule=%2Fp.toml%3A7": 1, "/calls?rule=none": 2, "/calls?session=x": 0, "/calls?hour=" + hour: 3, "/calls?hour=2020-01-01T10Z": 0,
	} {
		text, _ := d.text(address)
		if n := strings.Count(text, "clawai log explain "); n != want {
			t.Errorf("%s: %d calls, want %d", address, n, want)
		}
	}
	for address, want := range map[string]string{"/overview?server=db": "1 call\n", "/overview?tool=read_file": "2 calls\n", "/overview?rule=%2Fp.toml%3A7&since=7d": "1 call\n", "/overview": "3 calls\n"} {
		if text, _ := d.text(address); !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", address, want, text)
		}
	}
	for _, address := range []string{"/calls?x=1", "/calls?decision=deny", "/calls?hour=10", "/overview?since=2h", "/sessions?label=public", "/answers?answer=maybe", "/servers?server=a", "/rules?rule=a"} {
		if _, err := d.render(address); err == nil || !strings.HasPrefix(err.Error(), web.ErrFilter.Error()+": ") {
			t.Errorf("%s: %v", address, err)
		}
	}
	// No link of a view leads to an address that is refused.
	seen := map[string]bool{"/overview": true}
	for todo := []string{"/overview"}; len(todo) > 0; todo = todo[1:] {
		_, links := d.text(todo[0])
		for _, to := range links {
			if to != "/" && !seen[to] && len(seen) < 500 {
				seen[to] = true
				todo = append(todo, to)
			}
		}
	}
	if len(seen) < 12 {
		t.Errorf("only %d addresses are linked", len(seen))
	}
}

// Rules are used or not; what decided and is not of the policy is told apart.
// A policy that breaks while the page is open is said on each view that depends on it, and no rule
// counts as removed.
func TestBrokenPolicy(t *testing.T) {
	d := newDesk(t)
	d.writePolicy("[[rule]]\naction = \"allow\"\ntool = \"read_file\"\n")
	e := decided("allow")
	e.RuleFile, e.RuleLine = d.dirs.PolicyFile(), 1
	d.record(e)
	d.open()
	const fault, gone = "The policy does not load: ", "rules that were changed or removed"
	for address, says := range map[string]string{"/overview": "No session has seen what would close anything", "/sessions": "Sessions", "/rules": "Used"} {
		if text, _ := d.text(address); strings.Contains(text, fault) || !strings.Contains(text, says) || strings.Contains(text, gone) {
			t.Errorf("%s says\n%s", address, text)
		}
	}
	d.writePolicy("[[rule]]\naction = \"allow\"\ntool = \"read_file\"\nactoin = 1\n")
	for address, says := range map[string]string{"/overview": "Not known", "/sessions": "Sessions", "/rules": "Which of these the policy still has is not known"} {
		if text, _ := d.text(address); !strings.Contains(text, fault) || !strings.Contains(text, `unknown key "actoin"`) || !strings.Contains(text, says) || strings.Contains(text, gone) {
			t.Errorf("%s says\n%s", address, text)
		}
	}
}

// A record that cannot be read is said, and read as soon as it can be. No call is counted twice.
func TestRecordInTheWay(t *testing.T) {
	d := newDesk(t)
	dir := overview.New(d.dirs, Period()).Dir
	d.record(decided("allow"))
	aside := dir + ".aside"
	if err := errors.Join(os.Rename(dir, aside), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	d.views = New(d.t.Context(), d.queue, overview.New(d.dirs, Period()))
	says := func(want string) func() bool {
		return func() bool { text, _ := d.text("/calls"); return strings.Contains(text, want) }
	}
	d.await("the fault is said", says("The record cannot be read: "))
	if err := errors.Join(os.Remove(dir), os.Rename(aside, dir)); err != nil {
		t.Fatal(err)
	}
	d.await("the call is shown", says("/srv/a"))
	d.await("the call is counted", func() bool { return d.views.model.Sum(overview.Wanted{}).Total() == 1 })
	if says("cannot be read")() {
		t.Error("the fault stays")
	}
	if text, _ := d.text("/sessions"); !strings.Contains(text, "1 allowed") {
		t.Errorf("the sessions say\n%s", text)
	}
}

func TestSplitRules(t *testing.T) {
	p, err := policy.Parse("p.toml", []byte("[[rule]]\naction = \"allow\"\ntool = \"a\"\ndescription = \"A\"\n\n[[rule]]\naction = \"deny\"\ntool = \"b\"\n\n[[rule]]\naction = \"redact\"\non = \"reply\"\nfind = \"secret\"\ntool = \"*\"\n"), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := overview.Used{Counts: overview.Counts{Allowed: 2}}
	used, never, gone, replies := splitRules(p, map[overview.Rule]overview.Used{overview.NewRule("p.toml", 1, "A"): n, overview.NewRule("p.toml", 1, "another"): n, {}: n})
	if len(used) != 1 || used[0].Text != "A" || used[0].action != "allow" || len(never) != 1 || never[0].what != "tool b" || len(gone) != 2 || gone[0].Line+gone[1].Line != 1 || replies != 1 {
		t.Errorf("used %+v, never %+v, gone %+v, %d", used, never, gone, replies)
	}
}

// What a session has seen colours all that follows, and nothing before.
func TestTimeline(t *testing.T) {
	d := newDesk(t)
	d.writePolicy("[flow]\nlevel = \"ask\"\n")
	begin := time.Now().Add(-time.Hour)
	for i, tool := range []string{"list", "fetch", "write", "inbox", "send"} {
		e := decided("allow")
		e.Names, e.Time, e.Detail = []string{tool}, begin.Add(time.Duration(i)*time.Minute), "hook agent PreToolUse, session abc"
		d.record(e)
	}
	one := flow.New(d.dirs.State, []string{"session:abc"})
	if err := one.Add([]flow.Seen{{Kind: "untrusted", Source: "fetch fetch", At: begin.Add(90 * time.Second)}, {Kind: "private", Source: "mail inbox", At: begin.Add(210 * time.Second)}}); err != nil {
		t.Fatal(err)
	}
	one.Close()
	d.open()
	d.await("all are shown", func() bool {
		list, _ := d.views.latest.List(9, func(*overview.Call) bool { return true })
		return len(list) == 5
	})
	v, err := d.render("/timeline?session=session%3Aabc")
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	v.Body.Walk(func(tag, _ string, a map[string]string) {
		switch {
		case tag == "li" && strings.HasPrefix(a["class"], "step"):
			steps = append(steps, strings.TrimPrefix(a["class"], "step"))
		case tag == "rect" && len(steps) > 0:
			steps[len(steps)-1] += "+" + a["class"]
		}
	})
	if got := fmt.Sprintf("%q", steps); got != `["" "" "+untrusted" "+untrusted" "+untrusted" " trifecta+untrusted+private" "+untrusted+private"]` {
		t.Error(got)
	}
	text, _ := d.text("/timeline?session=session%3Aabc")
	if !strings.Contains(text, "lethal trifecta") || !strings.Contains(text, "needs your yes to write where others read") {
		t.Error(text)
	}
}

// Texts of strangers stay texts, on each view and however long they are.
func TestHostileRecord(t *testing.T) {
	d := newDesk(t)
	evil := "<img src=x onerror=alert(1)></script><script>alert(1)</script>\u202e\x1b[2J\u200b\r\n'\"&"
	long := evil + strings.Repeat("é", 1<<19) // 1 MiB
	for _, decision := range []string{"allow", "deny"} {
		e := decided(decision)
		e.Server, e.Names, e.Reason, e.RuleText, e.RuleFile, e.RuleLine, e.Cwd = evil, []string{long}, evil, evil, evil, 1, evil
		e.Args, _ = json.Marshal(map[string]string{"path": evil})
		e.Detail = "hook <b>agent</b> x, session " + evil
		d.record(e)
	}
	d.open()
	d.await("both are shown", func() bool {
		list, _ := d.views.latest.List(9, func(*overview.Call) bool { return true })
		return len(list) == 2
	})
	addresses := []string{"/overview", "/calls", "/sessions", "/rules", "/servers", "/answers"}
	for i := 0; i < len(addresses) && i < 100; i++ {
		v, err := d.render(addresses[i])
		if err != nil {
			t.Fatalf("%.200s: %v", addresses[i], err)
		}
		b, err := json.Marshal(v.Body)
		if err != nil || len(b) > 256<<10 {
			t.Errorf("%.200s: %d bytes, %v", addresses[i], len(b), err)
		}
		text, links := d.text(addresses[i])
		viewtest.CheckHarmless(t, viewtest.Case{Name: addresses[i][:min(len(addresses[i]), 100)]}, text)
		if i < 6 {
			addresses = append(addresses, links...)
			addresses = addresses[:min(len(addresses), 60)]
			for at := 6; at < len(addresses); at++ {
				if addresses[at] == "/" {
					addresses[at] = "/overview"
				}
			}
		}
	}
	if text, _ := d.text("/calls"); !strings.Contains(text, "<img src=x onerror=alert(1)>") {
		t.Error("the hostile call is not shown")
	}
}

// BenchmarkDashboard opens the dashboard on a long record, and shows each view. It reports what stays in
// memory, for one record and for one that is five times as long. CLAWAI_RECORDS sets the number of
// records, a million by default.
func BenchmarkDashboard(b *testing.B) {
	records := 1_000_000
	if testing.Short() {
		records = 10_000 // that it runs
	}
	if text := os.Getenv("CLAWAI_RECORDS"); text != "" {
		if _, err := fmt.Sscan(text, &records); err != nil {
			b.Fatal(err)
		}
	}
	d := newDesk(b)
	play := func(n int) {
		for i := range n {
			e := decided([]string{"allow", "allow", "allow", "deny"}[i%4])
			e.Names, e.Time = []string{fmt.Sprint("tool", i%40)}, time.Now().Add(-time.Duration(records-min(i, records))*100*time.Millisecond)
			e.Args = fmt.Appendf(nil, `{"path":"/home/user/projects/app/internal/file-%d.go"}`, i)
			e.RuleFile, e.RuleLine, e.RuleText = "/home/user/.config/clawai/policy.toml", i%30, "Read files in the projects folder"
			d.record(e)
		}
	}
	play(records)
	files, err := filepath.Glob(filepath.Join(overview.New(d.dirs, 0).Dir, "*Z-*.ndjson"))
	for i, file := range files[:max(0, len(files)-1)] { // an hour's work before the next, as Time says
		written := time.Now().Add(time.Duration(i-len(files)) * time.Hour)
		err = errors.Join(err, os.Chtimes(file, written, written))
	}
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	d.views = New(b.Context(), d.queue, overview.New(d.dirs, Period()))
	d.await("the latest calls", func() bool {
		list, _ := d.views.latest.List(1, func(*overview.Call) bool { return true })
		return len(list) == 1
	})
	d.text("/overview")
	opened := time.Since(begin)
	slowest := time.Duration(0)
	show := func() {
		for _, address := range []string{"/overview?since=7d", "/calls", "/calls?text=nothing", "/sessions", "/rules?since=7d", "/servers", "/answers"} {
			at, before := time.Now(), cputime.Used(b)
			v, err := d.render(address)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := json.Marshal(v.Body); err != nil {
				b.Fatal(err)
			}
			used := cputime.Used(b) - before
			if used > slowest {
				slowest = used
			}
			b.Logf("%s: %v, of which %v of the processor", address, time.Since(at).Round(time.Microsecond), used)
		}
	}
	show()
	d.awaitLong(30*time.Minute, "all is counted", func() bool { return d.views.model.Sum(overview.Wanted{}).Caught })
	counted, first := time.Since(begin), heapMiB()
	b.Logf("%d calls: open after %v, counted after %v, %.1f MiB", records, opened, counted, first)
	play(4 * records)
	end := decided("deny")
	end.Names = []string{"the_last"}
	d.record(end)
	// The record removes its oldest files meanwhile, so that not all of it may be read.
	d.awaitLong(30*time.Minute, "the rest is counted", func() bool { return d.views.model.Sum(overview.Wanted{Tool: "the_last"}).Total() == 1 })
	after := heapMiB()
	slowest = 0 // nothing is read beside it from here on
	for b.Loop() {
		show()
	}
	b.ReportMetric(float64(opened.Milliseconds()), "ms/open")
	b.ReportMetric(float64(slowest.Microseconds())/1000, "cpu-ms/slowest")
	b.ReportMetric(counted.Seconds(), "s/counted")
	b.ReportMetric(first, "MiB/first")
	b.ReportMetric(after, "MiB/after")
}

func heapMiB() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}
