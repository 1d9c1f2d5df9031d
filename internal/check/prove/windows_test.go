package prove_test

import (
	"slices"
	"testing"

	"github.com/clawai/clawai/internal/check/prove"
	"github.com/clawai/clawai/policy"
)

// On Windows globs on arguments are compared in another form, of which nothing is proved;
// what hangs on names alone is proved as elsewhere.
func TestWindows(t *testing.T) {
	const above = "[[rule]]\naction = \"allow\"\ntool = \"*\"\nargs.p = \"x*\"\n"
	const below = "[[rule]]\naction = \"deny\"\ntool = \"x\"\nargs.p = \"xy*\"\n"
	const names = "[[rule]]\naction = \"deny\"\ntool = \"x\"\n[[rule]]\naction = \"deny\"\ntool = \"x\"\n"
	read := func(text, os string) *policy.Policy {
		p, err := policy.Parse("x.toml", []byte(text), policy.Options{Home: "/home/u", OS: os})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for os, want := range map[string]prove.Status{"": prove.Covered, "linux": prove.Covered, policy.Windows: prove.Undecided} {
		f := prove.Reach(read(above+below, os), prove.Options{})[1]
		if f.Status != want || (f.Reason == prove.ReasonWindows) != (want == prove.Undecided) {
			t.Errorf("on %q: %+v", os, f)
		}
		a := prove.New(read(above+below, os), prove.Options{})
		if a.IsCovered(1, 0) != (want == prove.Covered) {
			t.Errorf("on %q: within", os)
		}
		if f := prove.Reach(read(names, os), prove.Options{})[1]; f.Status != prove.Covered {
			t.Errorf("of names on %q: %+v", os, f)
		}
		told := slices.ContainsFunc(prove.Difference(read(above, os), read(below+above, os), prove.Options{}), func(c prove.CallClass) bool { return c.Reason == prove.ReasonWindows })
		if told != (os == policy.Windows) {
			t.Errorf("on %q: what is not compared is told: %v", os, told)
		}
	}
}
