//go:build attack

package options

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clawai/clawai/test/attack"
)

// others are programs of other vendors that go by a name of the table.
var others = map[string][]string{
	"tar": {"bsdtar"}, "make": {"bmake"}, "find": {"bfs"}, "docker": {"podman"}, "python": {"python3"}, "nm": {"llvm-nm"},
	"objdump": {"llvm-objdump"}, "readelf": {"llvm-readelf"}, "strings": {"llvm-strings"}, "size": {"llvm-size"},
}

// vendors are the ways to start a program under a name that can be had here.
func (n *nest) vendors(program string) [][]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	list, known := n.known[program]
	if !known {
		list = n.look(program)
		n.known[program] = list
	}
	return list
}

func (n *nest) look(program string) (list [][]string) {
	if n.has(program) {
		list = append(list, []string{program})
	}
	for _, other := range others[program] {
		if n.has(other) {
			list = append(list, []string{other})
		}
	}
	for _, box := range []string{"busybox", "toybox"} {
		if n.has(box) && slices.Contains(boxed(box), program) {
			list = append(list, []string{box, program})
		}
	}
	if rust := "/usr/lib/cargo/bin/coreutils/" + program; exists(rust) {
		list = append(list, []string{rust})
	}
	return list
}

func exists(file string) bool { _, err := os.Stat(file); return err == nil }

// probes are words that no program knows.
var probes = []string{"--clawai-probe", "-clawai-probe", "clawai-probe"}

var (
	unknown = regexp.MustCompile(`(?i)unrecogni[sz]ed|unknown|invalid option|illegal option|bad option|no such option|not supported|unsupported|` +
		`provided but not defined|unexpected argument|not a valid|isn't a|not found|invalid flag|not understood|incorrect option|wasn't expected`)
	lacking = regexp.MustCompile(`(?i)requires|missing|expects|expected (one|at least|an|[0-9])|needs an|must be|should be|takes|no argument|without`)
)

// kinds of what a vendor does with the word behind an option.
const (
	leaves = "leaves" // it reads the word as the next option
	takes  = "takes"  // it takes the word for the value
	lacks  = "lacks"  // it has no such option
	open   = "open"   // what it prints does not tell
)

// trial is one option of one name of a row, with what each vendor does.
type trial struct {
	name, option string
	does         map[string]string
}

// rowTime bounds the trial of one row: one with many names of a slow program would hold up
// all others.
const rowTime = 15 * time.Minute

// try tries the options of a row, under every name with every vendor. It also gives
// the versions, and whether there was time for all.
func (n *nest) try(t *testing.T, r *row) (trials []trial, versions []string, whole bool) {
	options, begun := r.options(), time.Now()
	for _, name := range r.names {
		program, subs, _ := strings.Cut(name, " ")
		at := len(trials)
		for _, o := range options {
			trials = append(trials, trial{name, o, map[string]string{}})
		}
		for _, vendor := range n.vendors(program) {
			if time.Since(begun) > rowTime {
				return trials, versions, false
			}
			command := append(slices.Clone(vendor), strings.Fields(subs)...)
			if words := strings.Fields(r.get("trial")); len(words) > 0 && words[0] == program {
				command = append(slices.Clone(vendor), words[1:]...)
				if strings.Contains(name, " ") && strings.HasPrefix(r.get("trial"), r.names[0]) {
					command = append(append(slices.Clone(vendor), strings.Fields(subs)...), words[len(strings.Fields(r.names[0])):]...)
				}
			}
			label := strings.Join(vendor, " ")
			if testing.Verbose() {
				t.Logf("%s by %s, %v into its row", name, strings.Join(vendor, " "), time.Since(begun).Round(time.Second))
			}
			for i, seen := range n.seen(t, command, options) {
				trials[at+i].does[label] = seen
			}
			if v := n.version(t, r, vendor); !slices.Contains(versions, v) {
				versions = append(versions, v)
			}
		}
	}
	return trials, versions, true
}

// unknownProbe is a complaint that reads the probe as an option, beside others: it was no value.
var unknownProbe = regexp.MustCompile(`(?i)unknown options:.*clawai-probe`)

// seen tries options behind a command.
func (n *nest) seen(t *testing.T, command, options []string) []string {
	with := func(words ...string) []string { return append(slices.Clone(command), words...) }
	all := make([]string, len(options))
	var first [][]string
	for _, p := range probes {
		first = append(first, with(p))
	}
	first = append(first, command)
	said := n.must(t, first)
	probe, mark := "", ""
	for i, p := range probes {
		if m := complaint(said[i]); m != "" && !strings.Contains(said[len(probes)], m) {
			probe, mark = p, m
			break
		}
	}
	alone := make([]string, len(options))
	behind := make([]string, len(options)) // what it says of the option with the probe
	joined := make([]string, len(options)) // of the option with a value joined to it, and the probe
	if probe != "" {
		var each [][]string
		for _, o := range options {
			each = append(each, with(tried(o)))
		}
		alone = n.must(t, each)
		n.fill(t, behind, func(i int) []string {
			if complains(alone[i], bare(options[i])) {
				return nil
			}
			return with(tried(options[i]), probe)
		})
		n.fill(t, joined, func(i int) []string {
			if !complains(alone[i], bare(options[i])) || !strings.HasPrefix(options[i], "--") {
				return nil
			}
			return with(bare(options[i])+"=1", probe)
		})
	}
	for i := range options {
		why := ""
		switch {
		case probe == "":
			why = "the program complains of no word"
		case bare(options[i]) == "--help", bare(options[i]) == "--version":
			why = "what stands behind it is not read"
		case strings.Contains(alone[i], mark):
			why = "the option alone says the same as the probe"
		case strings.Contains(alone[i]+behind[i], "\x1e"):
			why = "the program was not done in time"
		case complains(alone[i], bare(options[i])) && strings.Contains(joined[i], mark):
			all[i] = leaves // --min-parents=1 it has
		case complains(alone[i], bare(options[i])):
			all[i] = lacks
		case demands.MatchString(alone[i]):
			all[i] = takes // even if it would not take the probe, as what is made with clap
		case strings.Contains(behind[i], mark), unknownProbe.MatchString(behind[i]):
			all[i] = leaves
		case alone[i] == behind[i]:
			why = "the program says the same with the probe"
		default:
			all[i] = takes
		}
		if why != "" {
			all[i] = open
			n.mu.Lock()
			n.silent[why]++
			n.mu.Unlock()
		}
	}
	return all
}

// tried is an option as it is tried.
func tried(option string) string { return strings.Replace(bare(option), "-#", "-5", 1) }

// fill runs the commands that are made for some of a list, and puts what they say at
// their places.
func (n *nest) fill(t *testing.T, said []string, command func(i int) []string) {
	var at []int
	var commands [][]string
	for i := range said {
		if words := command(i); words != nil {
			at, commands = append(at, i), append(commands, words)
		}
	}
	if len(at) == 0 {
		return
	}
	for i, s := range n.must(t, commands) {
		said[at[i]] = s
	}
}

func (n *nest) must(t *testing.T, commands [][]string) []string {
	t.Helper()
	said, err := n.run(t.Context(), commands)
	if err != nil {
		t.Fatalf("%v: %v", commands[0], err)
	}
	return said
}

// complaint is the line by which a program refuses the probe; "" without one. One that
// names the probe tells most.
func complaint(said string) (found string) {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		switch {
		case !unknown.MatchString(line):
		case strings.Contains(line, "clawai-probe"):
			return line
		case found == "":
			found = line
		}
	}
	return found
}

// complains reports whether a program says that it has no such option.
func complains(said, option string) bool {
	name := strings.TrimLeft(option, "-")
	if len(name) == 1 {
		name = `(^|[-'"` + "`" + ` ])` + regexp.QuoteMeta(name) + `($|['":.,;\s])`
	} else {
		name = regexp.QuoteMeta(name)
	}
	named := regexp.MustCompile(name)
	for line := range strings.Lines(said) {
		if unknown.MatchString(line) && !lacking.MatchString(line) && !strings.Contains(line, "not found") && named.MatchString(line) {
			return true
		}
	}
	return false
}

func (n *nest) version(t *testing.T, r *row, vendor []string) string {
	words := append(slices.Clone(vendor), "--version")
	if named := strings.Fields(r.get("version")); len(named) > 0 && named[0] == vendor[0] {
		words = named
	}
	if vendor[0] == "busybox" || vendor[0] == "toybox" {
		words = []string{vendor[0], "--help"}
	}
	said := n.must(t, [][]string{words})[0]
	for line := range strings.Lines(said) {
		if version := regexp.MustCompile(`[0-9]+(\.[0-9]+)+[0-9a-z.+~-]*`).FindString(line); version != "" {
			name := vendor[0]
			if strings.HasPrefix(name, "/") {
				name = "uutils"
			}
			return name + " " + version
		}
	}
	return strings.Join(vendor, " ")
}

// digest names what of a row a trial depends on.
func (r *row) digest() string {
	h := fnv.New32a()
	fmt.Fprint(h, r.names, r.options(), r.get("trial"))
	return fmt.Sprintf("%08x", h.Sum32())
}

// current reports whether a row was tried as it stands.
func (r *row) current() bool {
	digest, _, _ := strings.Cut(r.get("tried")+r.get("published"), " ")
	return digest == r.digest()
}

// settle gives the kind that an option has when every vendor has been tried, and
// whether any has it.
func settle(option string, does []string) (string, bool) {
	took, left := slices.Contains(does, takes), slices.Contains(does, leaves)
	switch {
	case !took && !left:
		return option, slices.Contains(does, open) || len(does) == 0
	case strings.HasSuffix(option, "="), option == "-#":
		if left && option != "-#" {
			return bare(option) + "?", true
		}
	case !strings.HasSuffix(option, "?") && took:
		return option + "?", true
	}
	return option, true
}

// TestTrial: no vendor's program takes a word for a value where the table says that it
// has none, or leaves one that the table says is taken. With ATTACK_TRIAL=all every row
// is tried, with a name that row, else the rows that have changed since and a sample. With -update the rows
// are written as they were seen. As many rows as there are processors are tried at a time.
func TestTrial(t *testing.T) {
	rows, after, err := readTable()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := attack.Seed()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ATTACK_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	n := newNest(t)
	table := func() error { return writeTable(rows, after) }
	var c count
	only := os.Getenv("ATTACK_TRIAL")
	t.Run("row", func(t *testing.T) {
		for _, r := range rows {
			if len(r.options()) == 0 || r.marked("any") {
				continue
			}
			sampled := random.IntN(20) == 0 && !*update && r.has("tried")
			if named := only != "" && only != "all"; named && only != r.names[0] || !named && only == "" && r.current() && !sampled {
				c.untried++
				continue
			}
			t.Run(r.names[0], func(t *testing.T) {
				t.Parallel()
				trials, versions, whole := n.try(t, r)
				c.mu.Lock()
				defer c.mu.Unlock()
				c.settleRow(t, r, trials, versions, whole, table)
			})
		}
	})
	t.Logf("%d rows tried, %d stand as they are; %d runs of an option by a vendor, %d of them tell nothing: %v; %d options changed, %d removed",
		c.tried, c.untried, c.pairs, c.untriable, n.silent, c.changed, c.removed)
	t.Logf("not tried: %d rows without a program here %q, %d not in time %q, %d of which no run tells anything %q",
		len(c.absent), c.absent, len(c.tardy), c.tardy, len(c.mute), c.mute)
	if *update {
		if err := table(); err != nil {
			t.Fatal(err)
		}
	}
}

// count counts what TestTrial has tried.
type count struct {
	mu                                                 sync.Mutex // held while a row is settled
	tried, untried, untriable, removed, changed, pairs int
	absent, tardy, mute                                []string // rows that were not tried
}

// settleRow compares a row with what its trials showed, and writes it with -update.
func (c *count) settleRow(t *testing.T, r *row, trials []trial, versions []string, whole bool, table func() error) {
	does := map[string][]string{}
	told := false
	for _, one := range trials {
		for vendor, d := range one.does {
			c.pairs++
			if does[one.option] = append(does[one.option], d); d == open {
				c.untriable++
			}
			told = told || d != open
			if testing.Verbose() && os.Getenv("ATTACK_TRIAL") == r.names[0] {
				t.Logf("%s (%s) %s: %s", one.name, vendor, one.option, d)
			}
		}
	}
	switch {
	case len(versions) == 0:
		c.absent = append(c.absent, r.names[0])
	case !whole:
		t.Logf("%s: not tried whole in %v", r.names[0], rowTime)
		c.tardy = append(c.tardy, r.names[0])
	case !told:
		c.mute = append(c.mute, r.names[0])
	default:
		c.tried++
	}
	settled := map[string]string{}
	for _, o := range r.options() {
		kind, had := settle(o, does[o])
		switch {
		case !whole:
		case !had && len(versions) > 0 && (*update || !r.current()) && slices.Contains(strings.Fields(r.get("manual")), o):
			c.removed++
			settled[o] = ""
			if !*update {
				t.Errorf("%s: no vendor here has %s", r.names[0], o)
			}
		case kind != o:
			c.changed++
			settled[o] = kind
			if !*update {
				t.Errorf("%s: %s is %s: %v", r.names[0], o, kind, does[o])
			}
		}
	}
	if !told || !whole {
		versions = nil // such a row stands by its manual
	}
	if *update && (len(does) > 0 || !r.current()) { // one whose program is not here stands as it is
		r.write(settled, versions)
		if err := table(); err != nil {
			t.Fatal(err)
		}
	} else if !r.current() {
		t.Errorf("%s has changed and was not tried: go test -tags attack ./test/attack/options -run TestTrial -update", r.names[0])
	}
}

// globals are the options before a subcommand that a rule skips with the word behind
// them (policy/where/shell, globals.go), and so believes.
var globals = map[string][]string{
	"git": {"-C"}, "go": {"-C"}, "npm": {"--prefix", "-C"}, "pnpm": {"-C", "--dir"}, "yarn": {"--cwd"}, "make": {"-C"},
	"docker": {"-l", "--log-level"}, "kubectl": {"-n", "--namespace", "--request-timeout"}, "cargo": {"--color"},
}

// TestGlobals: they take the next word.
func TestGlobals(t *testing.T) {
	n := newNest(t)
	for program, options := range globals {
		if !n.has(program) {
			continue
		}
		commands := [][]string{{program, "clawai-probe"}}
		for _, o := range options {
			commands = append(commands, []string{program, o, "clawai-probe"})
		}
		said := n.must(t, commands)
		mark, _, _ := strings.Cut(strings.TrimSpace(said[0]), "\n")
		for i, o := range options {
			if mark == "" || strings.Contains(said[i+1], mark) {
				t.Errorf("%s %s leaves the word behind it: %.200q", program, o, said[i+1])
			}
		}
	}
}

// write puts what was seen into a row.
func (r *row) write(settled map[string]string, versions []string) {
	for i, l := range r.lines {
		if !slices.Contains([]string{"options", "also", "manual"}, l[0]) {
			continue
		}
		var words []string
		for o := range strings.FieldsSeq(l[1]) {
			if now, ok := settled[o]; ok {
				o = now
			}
			if o != "" {
				words = append(words, o)
			}
		}
		r.lines[i][1] = strings.Join(words, " ")
	}
	r.lines = slices.DeleteFunc(r.lines, func(l [2]string) bool {
		return l[0] == "tried" || l[0] == "published" || l[1] == "" && slices.Contains([]string{"options", "also", "manual"}, l[0])
	})
	slices.Sort(versions)
	line := [2]string{"tried", r.digest() + " " + strings.Join(versions, ", ")}
	if len(versions) == 0 {
		line = [2]string{"published", r.digest()}
	}
	r.lines = append(r.lines, line)
}

// boxed are the programs that a box of many has.
func boxed(box string) []string {
	words := []string{box, "--list"}
	if box == "toybox" {
		words = words[:1]
	}
	out, _ := exec.Command(words[0], words[1:]...).Output()
	return strings.Fields(string(out))
}
