package flow

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/policy"
)

var update = flag.Bool("update", false, "write what the catalogue makes of calls anew")

// bench is a session that has read what a stranger wrote.
type bench struct {
	session *Session
	policy  *policy.Policy
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{begin(t, t.TempDir(), "session:1"), parsed(t, "[flow]\nlevel = \"ask\"\n")}
	if err := b.session.Add([]Seen{{untrusted, "web", time.Now()}}); err != nil {
		t.Fatal(err)
	}
	return b
}

// verdicts is what becomes of a call of the first tool of each list, and of those of which the
// row says something, a line each.
func (b *bench) verdicts(r row, of *servers.KnownServer) string {
	known := r.joinTools(of)
	s := b.session.NewServer("", of.ID, func() *Known { return known }, b.policy)
	shown := slices.Concat(r.Sinks, r.Own)
	for _, list := range of.Tools.ListEffects() {
		if len(list.Tools) > 0 {
			shown = append(shown, list.Tools[0])
		}
	}
	var text strings.Builder
	for _, one := range known.ListTools() {
		if !slices.Contains(shown, one.Name) && one.Decides == nil {
			continue
		}
		c := tool(one.Name, `{}`)
		var brings []string
		for _, l := range s.callLabels(b.policy, &c) {
			brings = append(brings, l.Kind)
		}
		action, _, why := s.Judge([]policy.Call{c})
		does, _, _ := strings.Cut(why, " after ")
		fmt.Fprintf(&text, "%s %s: %s; brings [%s]; decided by %v\n", of.ID, one.Name, strings.TrimSpace(action.String()+" "+does), strings.Join(brings, " "), one.Decides)
	}
	return text.String()
}

// rowsOf are the rows with their servers.
func rowsOf(t *testing.T) (rows []row, of []*servers.KnownServer) {
	t.Helper()
	rows, err := catalogue()
	if err != nil {
		t.Fatal(err)
	}
	all, err := servers.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		i := slices.IndexFunc(all, func(s servers.KnownServer) bool { return s.ID == r.ID })
		if i < 0 {
			t.Fatalf("%s is not known", r.ID)
		}
		of = append(of, &all[i])
	}
	return rows, of
}

// What becomes of calls of each server stands in a file, which was read; and there is
// nothing in a row that could be otherwise without a verdict that differs.
func TestVerdictsOfTheCatalogue(t *testing.T) {
	const name = "testdata/catalogue.txt"
	b, blocks := newBench(t), []string(nil)
	rows, of := rowsOf(t)
	for i, r := range rows {
		blocks = append(blocks, b.verdicts(r, of[i]))
	}
	text := strings.Join(blocks, "")
	if *update {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("the verdicts are not those of %s; look at what -update makes of it", name)
	}
	mutants, killed := 0, 0
	for i, r := range rows {
		for what, mutant := range mutantsOf(r, of[i]) {
			mutants++
			if got := b.verdicts(mutant, of[i]); got != blocks[i] {
				killed++
			} else {
				t.Logf("%s: nobody sees that %s", r.ID, what)
			}
		}
	}
	t.Logf("%d of %d mutants are killed", killed, mutants)
	if mutants < 3*len(rows) || killed*100 < mutants*95 {
		t.Errorf("%d of %d mutants are killed", killed, mutants)
	}
}

// mutantsOf are rows that say something else, by what it is.
func mutantsOf(r row, of *servers.KnownServer) map[string]row {
	all := map[string]row{}
	add := func(what string, change func(*row)) {
		m := r
		change(&m)
		all[what] = m
	}
	add("source is otherwise", func(m *row) { m.Source = !r.Source })
	for _, data := range []string{"", private, secret} {
		if data != r.Data {
			add(fmt.Sprintf("data is %q", data), func(m *row) { m.Data = data })
		}
	}
	if len(of.Tools.Write)+len(of.Tools.Destructive) > 0 {
		add("public is otherwise", func(m *row) { m.Public = !r.Public })
	}
	if len(r.Sinks) > 0 {
		add("it has no sinks of its own", func(m *row) { m.Sinks = nil })
	}
	if len(r.Own) > 0 {
		add("it has no tools that return its own", func(m *row) { m.Own = nil })
	}
	for tool := range r.Decides {
		add("nothing decides "+tool, func(m *row) {
			m.Decides = map[string][]string{}
			for other, args := range r.Decides {
				if other != tool {
					m.Decides[other] = args
				}
			}
		})
	}
	return all
}

// Each row is found by each way in which its server is started, is in order, and says nothing
// of a tool that is in no list.
func TestRowsAreFound(t *testing.T) {
	rows, of := rowsOf(t)
	if !slices.IsSortedFunc(rows, func(a, b row) int { return strings.Compare(a.ID, b.ID) }) {
		t.Error("the rows are not in the order of the alphabet")
	}
	for i, r := range rows {
		ways := 0
		found := func(command []string, url string) {
			ways++
			if k := RecogniseServer(command, url); k == nil || k.row.ID != r.ID {
				t.Errorf("%s is not found as %v %s", r.ID, command, url)
			}
		}
		for _, name := range of[i].NPM {
			found([]string{"npx", "-y", name}, "")
		}
		for _, name := range of[i].PyPI {
			found([]string{"uvx", name}, "")
		}
		for _, url := range of[i].URL {
			found(nil, "https://"+url)
		}
		known := r.joinTools(of[i])
		for _, tool := range slices.Concat(r.Sinks, r.Own) {
			if known.effects[tool] == "" {
				t.Errorf("%s: %s is in no list", r.ID, tool)
			}
		}
		for tool, args := range r.Decides {
			if traits := known.toolTraits(tool); traits.PublicSink != policy.Yes && traits.DangerousWrites != policy.Yes || len(args) == 0 {
				t.Errorf("%s: %s does nothing that arguments could decide", r.ID, tool)
			}
		}
		if ways == 0 {
			t.Errorf("%s is started in no way that is tried here", r.ID)
		}
	}
}
