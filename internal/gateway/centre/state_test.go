package centre

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/gateway/store"
	"github.com/clawai/clawai/internal/state/enrolment"
)

func TestStateOfALaptop(t *testing.T) {
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	c := newCentre(nil, defaultSettings(), nil, func() time.Time { return now })
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	day, minute := 24*time.Hour, time.Minute
	for want, l := range map[string]store.Laptop{
		"allowed in order":                    {Enrolled: ago(day), Seen: ago(minute), Shipped: ago(minute), Report: enrolment.Report{Counter: 7, Sessions: 2, Backlog: 5}},
		"other revoked":                       {Enrolled: ago(day), Revoked: ago(minute), Findings: 1},
		"refused its record was changed":      {Enrolled: ago(day), Seen: ago(minute), Findings: 1, Report: enrolment.Report{Counter: 7}},
		"asked not heard yet":                 {Enrolled: ago(minute)},
		"refused never heard":                 {Enrolled: ago(day)},
		"refused stopped shipping 2 h ago":    {Enrolled: ago(day), Seen: ago(2 * time.Hour), Report: enrolment.Report{Counter: 7, Sessions: 1}},
		"refused stopped shipping 3 days ago": {Enrolled: ago(9 * day), Seen: ago(3 * day), Report: enrolment.Report{Counter: 7, Backlog: 1}},
		"refused stopped shipping 20 min ago": {Enrolled: ago(day), Seen: ago(minute), Shipped: ago(20 * minute), Report: enrolment.Report{Counter: 7, Backlog: 1}},
		"refused reports an error":            {Enrolled: ago(day), Seen: ago(minute), Report: enrolment.Report{Counter: 7, Error: "x"}},
		"asked has bundle 6, the newest is 7": {Enrolled: ago(day), Seen: ago(minute), Report: enrolment.Report{Counter: 6}},
		"other idle for 2 h":                  {Enrolled: ago(day), Seen: ago(2 * time.Hour), Report: enrolment.Report{Counter: 7}},
	} {
		if got := c.StateOf(&l, 7); got.Look.Word()+" "+got.Word != want || got.IsRed() != (want[0] == 'r') {
			t.Errorf("%+v: %s %s, want %s", l, got.Look.Word(), got.Word, want)
		}
	}
}

func TestLimitCountsInASpan(t *testing.T) {
	now := time.Now()
	l := limit{most: 2, each: time.Minute}
	for i, want := range []bool{true, true, false, false} {
		if l.take("ana", now) != want {
			t.Errorf("time %d", i)
		}
	}
	if !l.take("bob", now) || !l.take("ana", now.Add(time.Minute)) {
		t.Error("another person, or another minute, is held back")
	}
	for i := range maxKnown + 10 {
		l.take(string(rune(i+1000)), now)
	}
	if len(l.done) > maxKnown+1 {
		t.Errorf("%d are remembered", len(l.done))
	}
}

func TestCodesThatAPersonTypes(t *testing.T) {
	for typed, want := range map[string]string{
		"BCDF-GHJK": "BCDFGHJK", "bcdf ghjk": "BCDFGHJK", "bcdfghjk": "BCDFGHJK", "b-c-d-f-g-h-j-k": "BCDFGHJK",
		"BCDF-GHJA": "", "BCDF-GHJ": "", "BCDF-GHJKL": "", "": "", "BCDF\u00adGHJK": "", "ＢCDFGHJK": "",
	} {
		if got := plainCode(typed); got != want {
			t.Errorf("%q: %q", typed, got)
		}
	}
}

func TestSettings(t *testing.T) {
	for src, want := range map[string]bool{
		"":                                       true,
		"silent_minutes = 5\n":                   true,
		"[offline]\ndays = 1\nthen = \"deny\"\n": true,
		"[offline]\ndays = 0\n":                  false,
		"[offline]\nthen = \"allow\"\n":          false,
		"silent_minutes = 0\n":                   false,
		"laptop_bytes = 1\n":                     false,
		"bundle_keys = [\"x\"]\n":                false,
		"bundle_key = \"x\"\n":                   false, // a name that is not known
		"database = \"mysql://x\"\n":             false,
		"database = \"postgres://u@h/n\"\n":      true,
		"x":                                      false,
	} {
		dir := t.TempDir()
		writeFile(t, dir+"/"+SettingsFile, src)
		if _, err := ReadSettings(dir); (err == nil) != want {
			t.Errorf("%q: %v", src, err)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// An error that names an address of the settings shows no password in it, also if net/url cannot
// parse the address.
func TestSettingsErrorHidesPasswords(t *testing.T) {
	dir := t.TempDir()
	for _, key := range []string{
		"url = %q",
		"[oidc]\nissuer = %q",
		"[[workload]]\nname = \"ci\"\nissuer = %q",
		"[[webhook]]\nname = \"ops\"\nsecret_env = \"X\"\nurl = %q",
		"[slack]\nteam = \"T1\"\ntoken_env = \"X\"\nsigning_secret_env = \"X\"\nurl = %q\n[[slack.channel]]\nid = \"C1\"",
		"[mail]\nserver = %q",
		"[checkpoints]\nwitness = %q",
		"[checkpoints]\ngit = %q",
		"database = %q",
		"databse = %q",
		"database = %q\nunknown = 1",
		"[oidc]\nclient_secret = %q",
		"[listen]\naddress = %q",
		"[listen]\noperator = %q",
	} {
		for _, address := range []string{
			"https://ann:secret@host.example", "https://secret@host.example/%", "https://ann:se/secret#x@host.example", "https://ann:secret @host.example",
			"http://ann:secret@host.example", "ann:secret@host.example:x",
		} {
			writeFile(t, dir+"/"+SettingsFile, fmt.Sprintf(key, address))
			if _, err := ReadSettings(dir); err == nil || strings.Contains(err.Error(), "secret@") || strings.Contains(err.Error(), "/secret") || strings.Contains(err.Error(), ":secret") {
				t.Errorf("%s: %v", fmt.Sprintf(key, address), err)
			}
		}
	}
}

// An error of the settings says where, and shows no line, which may have a password.
func TestSettingsErrorSaysWhere(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"database = \"postgres://u:secret@h/n\"\nurl = \n":                         "line 2, sign ",
		"database = \"postgres://u:secret@h/n\"\n[[workload]]\nclaims = { a = 7 }": "line 3, sign ",
		"[[workload]]\nroles = \"secret\"":                                         "a text stands in quotes",
		"[slack]\ntoken = \"secret\"\nteam = \"T\"\n[x]\ny = 1":                    `unknown: "slack.token" in line 2, "x" in line 4`,
	} {
		writeFile(t, dir+"/"+SettingsFile, text)
		if _, err := ReadSettings(dir); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
