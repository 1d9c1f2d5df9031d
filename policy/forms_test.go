package policy_test

import (
	"errors"
	"fmt"
	"slices"
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
		{"**/.env", "true false false [**/.env] | .env"},
		{"~/p/*", "true true false [~/p/* /home/u/p/*] | "},
		{"file:///p/**", "true true false [file:///p/**] | "},
	} {
		f, err := p.Forms(c.glob)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%v %v %v %v | %s", f.PathLike, f.Absolute, f.Homeless, f.Forms[0].Globs, f.Forms[0].Rest); got != c.want {
			t.Errorf("%s: %s, want %s", c.glob, got, c.want)
		}
	}
	f, _ := p.Forms("file:///p/%2a")
	if !slices.ContainsFunc(f.Forms[1:], func(f policy.Form) bool { return f.Odd && f.How != 0 }) {
		t.Errorf("file:///p/%%2a has no odd form: %+v", f)
	}
	if f, _ = new(policy.Policy).Forms("~/x"); !f.Homeless {
		t.Error("a policy that knows no home has one")
	}
	if _, err := p.Forms(""); !errors.Is(err, glob.ErrEmpty) {
		t.Errorf("empty glob: %v", err)
	}
}
