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

// Released is the class of a call that the present bundle denied or asked about, and that the candidate
// answers less strictly. The answer of the laptop's own rules to this call is not known here.
const Released replay.Class = "released"

// Reasons that occur only at a centre.
const (
	Folder replay.Why = "folder"    // a rule looks at a folder that only the laptop knows
	Own    replay.Why = "own_rules" // for a reply: the candidate would let it through, but perhaps the laptop's own rule has altered it
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

// Counts holds the number of calls of each class.
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

// Row holds the counts for one person, server or tool. Its name comes from laptops and may be any text.
type Row struct {
	Name string `json:"name"`
	Counts
}

// Group holds the calls of one person to one tool whose answers change in the same way, or are not known
// for the same reason.
type Group struct {
	Class   replay.Class `json:"class"`
	Why     replay.Why   `json:"why,omitempty"`
	From    string       `json:"from"`         // the recorded answer
	To      string       `json:"to,omitempty"` // for Released, the candidate's answer; the laptop's own rules may be stricter
	Person  string       `json:"person"`
	Server  string       `json:"server"`
	Tool    string       `json:"tool"`
	Method  string       `json:"method"`
	Address bool         `json:"-"` // Tool is the address of a resource, which may contain arguments
	N       int          `json:"calls"`
	Example Example      `json:"example"`
}

// Answer returns the new answer to the calls of the group, or the reason why it is not known.
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
	Args       string         `json:"args,omitempty"` // JSON; a long text is cut
	Rule       *check.RuleRef `json:"rule,omitempty"` // the candidate's rule that decides now

	session string
	seq     uint64
}

// Report is the result of a simulation.
type Report struct {
	Candidate string    `json:"candidate"`
	Counter   uint64    `json:"counter,omitempty"`         // counter of the candidate, if it is a bundle
	Present   uint64    `json:"present_counter,omitempty"` // counter of the newest bundle; 0 without a bundle
	Since     time.Time `json:"since"`
	Laptops   int       `json:"laptops"` // number of laptops with records since the time in Since
	Decisions int       `json:"decisions"`
	Observed  int       `json:"observed"` // number of those decisions that come from sessions which enforce nothing
	First     time.Time `json:"first"`
	Last      time.Time `json:"last"`
	Damaged   int       `json:"damaged"` // number of places in the records that cannot be read
	Counts
	NotKnownFor map[replay.Why]int `json:"not_known_for"`
	People      []Row              `json:"people"`
	Servers     []Row              `json:"servers"`
	Tools       []Row              `json:"tools"`
	Groups      []Group            `json:"groups"`  // calls whose answer changes or is not known, sorted by class; in each class the largest group comes first
	Beyond      int                `json:"beyond"`  // number of calls whose answer changes or is not known and that are in no group, because there are too many groups
	Answers     *replay.Answers    `json:"answers"` // null if the candidate has no rules about replies
	Proof       diff.Document      `json:"proof"`   // comparison of the candidate with the present bundle
	Occurred    []int              `json:"occurred"`

	proved  *diff.Report
	unseen  diff.Report // like proved, but only with the changes that no recorded call shows
	people  rows
	servers rows
	tools   rows
	groups  map[groupKey]*Group
	seen    map[changeKey]int
}

// HasChanges reports whether some call would have had another answer, or whether this could not be
// excluded.
func (r *Report) HasChanges() bool {
	return r.Changed() > 0 || r.NotKnown > 0 || r.Answers.HasChanges() || r.proved.HasChanges()
}

// groupKey holds what all calls of a Group have in common.
type groupKey struct {
	class                    replay.Class
	why                      replay.Why
	from, to                 string
	person, server, toolName string
}

// Limits of the data that a report keeps.
const (
	maxHomes  = 8 // home folders whose rules are kept; laptops come one after the other, so older rules are seldom needed again
	maxRows   = 10_000
	maxGroups = 5_000
	maxText   = 200 // characters of a name
	maxArgs   = 300
)

// rows holds counts by name. All names beyond maxRows share one count.
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

// changeKey identifies a class of calls of the prover by its two answers.
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

// finish makes the lists of the report from the counts. It sets unseen to the proved changes that no
// recorded call shows.
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
