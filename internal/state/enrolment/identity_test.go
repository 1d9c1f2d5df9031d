package enrolment

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/policy"
)

var ana = Identity{Who: "ana@team.example", Key: "https://id.example#00u1", Groups: []string{"/dev"}, GroupsKnown: true, Roles: []string{"dev", "oncall"}, Env: "prod"}

func (c Caller) isUnknown() bool { return c == Caller{} }

// What the centre says counts for a day, by this machine's clock, and a centre that says nothing takes
// it back at once.
func TestIdentityOfTheCentre(t *testing.T) {
	t.Parallel()
	state, now := t.TempDir(), time.Now()
	if c, enrolled := FindCaller(state, now); enrolled || !c.isUnknown() {
		t.Errorf("not enrolled: %+v", c)
	}
	if err := KeepIdentity(state, &ana, now); !errors.Is(err, ErrNone) {
		t.Errorf("not enrolled: %v", err)
	}
	if err := WriteEnrolment(state, newEnrolment(t)); err != nil {
		t.Fatal(err)
	}
	if c, enrolled := FindCaller(state, now); !enrolled || !c.isUnknown() {
		t.Errorf("before the first poll: %+v", c)
	}
	if err := KeepIdentity(state, &ana, now); err != nil {
		t.Fatal(err)
	}
	for age, known := range map[time.Duration]bool{0: true, IdentityLife - time.Second: true, IdentityLife: false, 30 * 24 * time.Hour: false, -time.Minute: true, -time.Hour: false} {
		c, _ := FindCaller(state, now.Add(age))
		if c.isUnknown() == known {
			t.Errorf("after %v: %+v", age, c)
		}
		if known && (!slices.Equal(c.Who.List(), []string{ana.Who, ana.Key}) || !slices.Equal(c.Roles.List(), ana.Roles) || !slices.Equal(c.Groups.List(), ana.Groups) || c.Env != "prod") {
			t.Errorf("after %v: %+v", age, c)
		}
	}
	if err := KeepIdentity(state, nil, now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if c, enrolled := FindCaller(state, now.Add(time.Second)); !enrolled || !c.isUnknown() {
		t.Errorf("taken back: %+v", c)
	}
}

// The file is not written at each poll: sessions watch its folder.
func TestSameIdentityIsWrittenSeldom(t *testing.T) {
	t.Parallel()
	state, now := t.TempDir(), time.Now()
	if err := WriteEnrolment(state, newEnrolment(t)); err != nil {
		t.Fatal(err)
	}
	keep := func(after time.Duration) time.Time {
		t.Helper()
		if err := KeepIdentity(state, &ana, now.Add(after)); err != nil {
			t.Fatal(err)
		}
		kept, err := readIdentity(state)
		if err != nil {
			t.Fatal(err)
		}
		return kept.At
	}
	first := keep(0)
	if at := keep(identityRefresh - time.Second); !at.Equal(first) {
		t.Errorf("written again at %v", at)
	}
	if at := keep(identityRefresh); !at.After(first) {
		t.Error("never written again")
	}
}

// Groups that are not all known give no roles, known or unknown.
func TestGroupsThatAreNotAllKnown(t *testing.T) {
	t.Parallel()
	some := ana
	some.GroupsKnown = false
	c, err := some.caller()
	if err != nil || c.Groups.IsKnown() || c.Roles.IsKnown() || !c.Who.IsKnown() {
		t.Errorf("%+v, %v", c, err)
	}
	none := Identity{Who: "bot", Key: "bot", GroupsKnown: true}
	if c, err = none.caller(); err != nil || !c.Groups.IsKnown() || !c.Roles.IsKnown() || len(c.Roles.List()) > 0 || len(c.Who.List()) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

// What cannot be used is nobody, at once, and not what was said before.
func TestUnusableIdentity(t *testing.T) {
	t.Parallel()
	state, now := t.TempDir(), time.Now()
	if err := WriteEnrolment(state, newEnrolment(t)); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*Identity){
		func(i *Identity) { i.Who = "" },
		func(i *Identity) { i.Key = "a\nb" },
		func(i *Identity) { i.Roles = []string{"dev", "\u202e"} },
		func(i *Identity) { i.Groups = []string{strings.Repeat("g", 201)} },
		func(i *Identity) { i.Groups = slices.Repeat([]string{strings.Repeat("g", 200)}, 100) },
		func(i *Identity) { i.Env = "\x00" },
	} {
		if err := KeepIdentity(state, &ana, now); err != nil {
			t.Fatal(err)
		}
		bad := ana
		change(&bad)
		if err := KeepIdentity(state, &bad, now); err == nil || !strings.Contains(err.Error(), "cannot be used") {
			t.Errorf("%+v: %v", bad, err)
		}
		if c, _ := FindCaller(state, now); !c.isUnknown() {
			t.Errorf("%+v is %+v", bad, c)
		}
	}
	for _, text := range []string{"", "{", "[]", `{"at":"yesterday"}`, strings.Repeat(" ", maxIdentity+1)} {
		if err := os.WriteFile(identityFile(state), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, enrolled := FindCaller(state, now); !enrolled || !c.isUnknown() {
			t.Errorf("%.20q is %+v", text, c)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := KeepIdentity(state, &ana, now); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(identityFile(state), 0o666); err != nil {
		t.Fatal(err)
	}
	if c, _ := FindCaller(state, now); !c.isUnknown() {
		t.Errorf("a file that everybody can write is %+v", c)
	}
}

func TestNameAccount(t *testing.T) {
	t.Parallel()
	if list := NameAccount().List(); len(list) != 1 || !strings.HasPrefix(list[0], "local:") || len(list[0]) == len("local:") {
		t.Errorf("%q", list)
	}
}

// FuzzParseIdentity: whatever the file holds, the caller has only names that rules may have, no roles
// without known groups, and a name where it has anything.
func FuzzParseIdentity(f *testing.F) {
	for _, text := range []string{`{"at":"2026-12-01T00:00:00Z","who":{"who":"ana","key":"i#s","groups":["g"],"groups_known":true,"roles":["r"],"env":"prod"}}`, `{"who":{"who":"a","groups_known":false,"roles":["r"]}}`, `{"who":null}`, "{}", "", "[", `{"who":{"who":"\n"}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		kept, err := parseIdentity(src)
		if err != nil {
			return
		}
		c, err := kept.Who.caller()
		if err != nil || kept.Who == nil {
			if !c.isUnknown() {
				t.Fatalf("%q is %+v, %v", src, c, err)
			}
			return
		}
		for _, set := range []policy.NameSet{c.Who, c.Roles, c.Groups} {
			for name := range set.All() {
				if !policy.IsIdentityName(name) {
					t.Fatalf("%q names %q", src, name)
				}
			}
		}
		if !c.Who.IsKnown() || c.Roles.IsKnown() != kept.Who.GroupsKnown || c.Groups.IsKnown() != c.Roles.IsKnown() || c.Env != kept.Who.Env {
			t.Fatalf("%q is %+v", src, c)
		}
	})
}
