package policy_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/glob"
)

func TestForms(t *testing.T) {
	p, err := policy.Parse("p.toml", nil, policy.Options{Home: "/home/u"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ glob, want string }{
		{"a*", "false false false [a*] | "},
		{"${cwd}/a", "true true true [${cwd}/a **] | "},
		{"**/.env", "true false false [**/.env] | .env"},
		{"~/p/*", "true true false [~/p/* /home/u/p/*] | "},
		{"file:///p/**", "true true false [file:///p/**] | "},
	} {
		f, err := p.GlobForms(c.glob)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%v %v %v %v | %s", f.PathLike, f.Absolute, f.Homeless, f.Forms[0].Globs, f.Forms[0].Rest); got != c.want {
			t.Errorf("%s: %s, want %s", c.glob, got, c.want)
		}
	}
	f, _ := p.GlobForms("file:///p/%2a")
	if !slices.ContainsFunc(f.Forms[1:], func(f policy.Form) bool { return f.Odd && f.Transforms != 0 }) {
		t.Errorf("file:///p/%%2a has no odd form: %+v", f)
	}
	if f, _ = new(policy.Policy).GlobForms("~/x"); !f.Homeless {
		t.Error("a policy that knows no home has one")
	}
	if _, err := p.GlobForms(""); !errors.Is(err, glob.ErrEmpty) {
		t.Errorf("empty glob: %v", err)
	}
}

// What a deny or a prompt may mean beside its glob: the other names of directories
// and hosts, and nothing that it holds already.
func TestAliases(t *testing.T) {
	for _, c := range []struct {
		glob string
		want []string
	}{
		{"/etc/**", []string{"/private/etc/**"}},
		{"/etc/passwd", []string{"/private/etc/passwd"}},
		{"/etc", []string{"/private/etc"}},
		{"/private/**", []string{"/etc", "/etc/**", "/var", "/var/**", "/tmp", "/tmp/**", "/run", "/run/**"}},
		{"/*t*/x", []string{"/private/etc/x", "/private/tmp/x"}},
		{"/?mp/*", []string{"/private/tmp/*"}},
		{"/var/run/*", []string{"/private/var/run/*", "/run/*"}},
		{"/USR/bin/x", []string{"/bin/x"}},
		{"C:/Users/me/**", []string{"C:/Documents and Settings/me/**"}},
		{"/**", nil},
		{"/home/u/**", nil},
		{"/etcx/**", nil},
		{"**/etc/**", nil},
		{"etc/**", nil},
		{"https://a.example/x", []string{"https://a.example:*/x", "a.example/x", "a.example:*/x"}},
		{"https://a.example", []string{"https://a.example:*", "a.example", "a.example:*"}},
		{"https://*.a.example/**", []string{"https://*.a.example:*/**", "*.a.example/**", "*.a.example:*/**"}},
		{"https://a.example:8443/x", []string{"a.example:8443/x"}},
		{"http://[::1]/x", []string{"http://[::1]:*/x", "[::1]/x", "[::1]:*/x"}},
		{"https://*/x", nil},
		{"https://**", nil},
		{"file:///etc/x", nil}, // as a path it may
		{"a/b://c/x", nil},
	} {
		f, err := new(policy.Policy).GlobForms(c.glob)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Forms[0].Also; !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.glob, got, c.want)
		}
	}
	f, _ := new(policy.Policy).GlobForms("/" + strings.Repeat("**r", 50) + "**bin/x")
	if also := f.Forms[0].Also; len(also) == 0 || len(also) > 5000 {
		t.Errorf("%d other names of a glob of stars", len(also))
	}
	if f, _ := new(policy.Policy).GlobForms("/**r**bin/x"); !slices.Contains(f.Forms[0].Also, "/sbin/x") {
		t.Errorf("%q", f.Forms[0].Also)
	}
}
