package gate

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/clawai/clawai/policy"
)

// TestRoots: a root that is not the folder of the server leaves open where relative
// paths start, until the session ends.
func TestRoots(t *testing.T) {
	for name, c := range map[string]struct {
		given     bool // a folder among the server's arguments
		roots     [][]string
		elsewhere bool
	}{
		"none":           {roots: [][]string{nil, {}}},
		"the folder":     {roots: [][]string{{"/srv/app"}}},
		"another":        {roots: [][]string{{"/srv/app", "/srv"}}, elsewhere: true},
		"another before": {roots: [][]string{{"/srv"}, {"/srv/app"}}, elsewhere: true},
		"an argument":    {given: true, roots: [][]string{{"/srv/app"}}, elsewhere: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			j := newJournal()
			s := sessionOf(t, j, ruleText(t, "[[rule]]\naction = \"allow\"\ntool = \"*\"\nargs.path = \"/srv/**\"\n"), Options{Facts: policy.Facts{Cwd: "/srv/app", Elsewhere: c.given}})
			for _, roots := range c.roots {
				s.NoteRoots(roots)
			}
			x := j.call("read")
			x.Calls[0].Args = []byte(`{"path":"a/b"}`)
			s.Do(context.Background(), x)
			synctest.Wait()
			want := "forward"
			if c.elsewhere {
				want = CodeNoRule
			}
			if got := j.became(x); got != want || x.Event.Elsewhere != c.elsewhere || x.Calls[0].Elsewhere != c.elsewhere || x.Event.Cwd != "/srv/app" {
				t.Errorf("%s: %s, %+v", name, got, x.Event)
			}
			whole := j.call("read")
			whole.Calls[0].Args = []byte(`{"path":"/srv/x"}`)
			if s.Do(context.Background(), whole); j.became(whole) != "forward" {
				t.Errorf("%s: a whole path became %s", name, j.became(whole))
			}
		})
	}
}
