package simulation

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/check/diff"
	"github.com/clawai/clawai/internal/check/replay"
	"github.com/clawai/clawai/policy"
)

// Released is the class of a call that the present bundle denied or asked about, and the candidate less
// strictly or not at all. What the laptop's own rules say of it is not known here.
const Released replay.Class = "released"

// The reasons that only a centre has.
const (
	Folder replay.Why = "folder"    // a rule looks at a folder which is known to the laptop alone
	Own    replay.Why = "own_rules" // of a reply: the candidate lets it through, and what altered it then may be the laptop's own rule
)

// whyText returns a reason in words for people.
func whyText(w replay.Why) string {
	switch w {
	case Folder:
		return "a rule looks at a home or a disk that only the laptop knows"
	case Own:
		return "the candidate would not have altered it, and the laptop's own rules may"
	}
	return w.String()
}

// listWhys returns the reasons in the order of a report.
func listWhys() []replay.Why { return append(replay.Whys(), Folder, Own) }

// Counts are how many calls of a class there are.
type Counts struct {
	Denied    int `json:"newly_denied"`
	Asked     int `json:"newly_asked"`
	Released  int `json:"released"`
	Unchanged int `json:"unchanged"`
	NotKnown  int `json:"not_known"`
}

func (n *Counts) add(class replay.Class) {
	switch class {
	case replay.NewlyDenied:
		n.Denied++
	case replay.NewlyAsked:
		n.Asked++
	case Released:
		n.Released++
	case replay.Unchanged:
		n.Unchanged++
	default:
		n.NotKnown++
	}
}

// Changed returns how many calls would have had another answer, or could have had one.
func (n *Counts) Changed() int { return n.Denied + n.Asked + n.Released }

// Row is the counts of one person, server or tool. Its name comes from laptops and may be any text.
type Row struct {
	Name string `json:"name"`
	Counts
}

// Group is the calls of one person to one tool whose answer changes in the same way, or is not known for
// the same reason.
type Group struct {
	Class   replay.Class `json:"class"`
	Why     replay.Why   `json:"why,omitempty"`
	From    string       `json:"from"`         // as recorded
	To      string       `json:"to,omitempty"` // for Released, the candidate's answer: the laptop's own rules may be stricter
	Person  string       `json:"person"`
	Server  string       `json:"server"`
	Tool    string       `json:"tool"`
	Method  string       `json:"method"`
	Address bool         `json:"-"` // Tool is the address of a resource, which may hold arguments
	N       int          `json:"calls"`
	Example Example      `json:"example"`
}

// Answer returns what becomes of the calls of the group, or why that is not known.
func (g *Group) Answer() string {
	switch {
	case g.Class == Released:
		return g.To + " at most"
	case g.Why == "":
		return g.To
	}
	return whyText(g.Why)
}

// Example is one call of a group. Its texts come from laptops and may be any text.
type Example struct {
	ID         int64          `json:"-"`
	Page       string         `json:"page,omitempty"` // address of the record at the centre
	Record     string         `json:"record"`
	Laptop     string         `json:"laptop"`
	LaptopName string         `json:"laptop_name"`
	Time       time.Time      `json:"time"`
	Args       string         `json:"args,omitempty"` // JSON, cut
	Rule       *check.RuleRef `json:"rule,omitempty"` // of the candidate, which decides now

	session string
	seq     uint64
}

// Report is the result of a simulation.
type Report struct {
	Candidate string    `json:"candidate"`
	Counter   uint64    `json:"counter,omitempty"`         // of the candidate, if it is a bundle
	Present   uint64    `json:"present_counter,omitempty"` // of the newest bundle; 0: there is none
	Since     time.Time `json:"since"`
	Laptops   int       `json:"laptops"` // that have records of the time
	Decisions int       `json:"decisions"`
	Observed  int       `json:"observed"` // of them, those of sessions that enforce nothing
	First     time.Time `json:"first"`
	Last      time.Time `json:"last"`
	Damaged   int       `json:"damaged"` // places of the records that cannot be read
	Counts
	NotKnownFor map[replay.Why]int `json:"not_known_for"`
	People      []Row              `json:"people"`
	Servers     []Row              `json:"servers"`
	Tools       []Row              `json:"tools"`
	Groups      []Group            `json:"groups"`  // of calls that change or are not known, the most calls first
	Beyond      int                `json:"beyond"`  // such calls for which no group was made
	Answers     *replay.Answers    `json:"answers"` // null if the candidate has no rules about replies
	Proof       diff.Document      `json:"proof"`   // the present bundle beside the candidate
	Occurred    []int              `json:"occurred"`

	proved  *diff.Report
	unseen  diff.Report // of proved, the changes that no recorded call shows
	people  rows
	servers rows
	tools   rows
	groups  map[groupKey]*Group
	seen    map[changeKey]int
}

// HasChanges reports whether some call would have had another answer, or whether that is not ruled out.
func (r *Report) HasChanges() bool {
	return r.Changed() > 0 || r.NotKnown > 0 || r.Answers.HasChanges() || r.proved.HasChanges()
}

// groupKey is what the calls of a Group share.
type groupKey struct {
	class                    replay.Class
	why                      replay.Why
	from, to                 string
	person, server, toolName string
}

// The bounds of what a report keeps.
const (
	maxHomes  = 8 // with rules of each; laptops come one by one, so more are seldom used again
	maxRows   = 10_000
	maxGroups = 5_000
	maxText   = 200 // characters of a name
	maxArgs   = 300
)

// rows are counts by name. Names beyond maxRows count as one.
type rows map[string]*Counts

const others = "(others)"

func (all rows) add(name string, class replay.Class) {
	if all[name] == nil {
		if len(all) >= maxRows {
			name = others
		}
		if all[name] == nil {
			all[name] = &Counts{}
		}
	}
	all[name].add(class)
}

// list returns the rows, those with the most changes first.
func (all rows) list() []Row {
	list := make([]Row, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, Row{name, *all[name]})
	}
	slices.SortStableFunc(list, func(a, b Row) int {
		return cmp.Or(b.Changed()-a.Changed(), b.NotKnown-a.NotKnown, b.Unchanged-a.Unchanged)
	})
	return list
}

// changeKey is the two answers of a class of calls that the prover compares.
type changeKey struct {
	old, now       policy.Action
	oldRule, after int
}

func keyOf(old, now *diff.Answer) changeKey {
	return changeKey{old.Action, now.Action, indexOf(old.Rule), indexOf(now.Rule)}
}

func indexOf(r *policy.Rule) int {
	if r == nil {
		return -1
	}
	return r.Index
}

// classRank orders classes in a report.
var classRank = map[replay.Class]int{replay.NewlyDenied: 0, replay.NewlyAsked: 1, Released: 2, replay.NotJudged: 3}

// finish makes the lists of what was counted, and keeps of the proof what no record shows.
func (r *Report) finish() {
	r.People, r.Servers, r.Tools = r.people.list(), r.servers.list(), r.tools.list()
	r.Groups = make([]Group, 0, len(r.groups))
	for _, g := range r.groups {
		r.Groups = append(r.Groups, *g)
	}
	slices.SortFunc(r.Groups, func(a, b Group) int {
		return cmp.Or(classRank[a.Class]-classRank[b.Class], b.N-a.N, cmp.Compare(a.Person, b.Person), cmp.Compare(a.Server, b.Server),
			cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Why, b.Why))
	})
	r.Proof = r.proved.Document()
	r.unseen = *r.proved
	r.unseen.Changes, r.Occurred = nil, make([]int, 0, len(r.proved.Changes))
	for _, c := range r.proved.Changes {
		n := r.seen[keyOf(&c.Old, &c.New)]
		r.Occurred = append(r.Occurred, n)
		if n == 0 {
			r.unseen.Changes = append(r.unseen.Changes, c)
		}
	}
}
