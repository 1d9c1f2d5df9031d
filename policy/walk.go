package policy

import (
	"math/bits"
	"slices"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/reading"
	"github.com/clawai/clawai/policy/where"
)

// view holds the parts of one call, and the buffers for them.
type view struct {
	policy *Policy
	call   *Call
	scanner
	units    []unit
	readings []reading.Reading
	picks    picks
	spans    []span
	buckets  []*bucket
	lists    [][]int32
	fold     reading.CaseFolder
	base     *reading.Base // the Base of cwd; nil if it is not known
	started  bool          // base.Doubtful has been set for this call
	cwd      string        // Cwd of the last call that had a path
	home     string        // the home in the policy of the last call that had a path
	os       string        // OS of the server of the last call that had a path
	room     []byte        // buffer for the texts that had escapes
	left     effort.Left
	answers  map[asked]where.Match // cached answers of constraints
	spelled  map[textAsked]bool    // cached answers of conditions about texts that hold JSON
	noted    []int32               // the rules that matched and have a limit, or alter content
	// everySlot is the slot of the conditions on "*"; 0 if no rule that may match the call has such
	// a condition.
	everySlot int32
	trace     *tracer // nil if there is no trace
}

// unit is a range of view.readings: the readings of one string. The rules judge them together.
type unit struct{ lo, hi int }

// span holds the units of all values of one slot, as ranges. The readings of these units are
// adjacent.
type span struct {
	slot   int32
	units  [2]int // range of view.units
	lo, hi int    // range of view.readings
	at     int    // index of the reading that the current walk judges; -1 if the walk judges all readings at once
}

func (s *span) size() int { return s.hi - s.lo }

// outcome is the result for one reading or name, before it becomes a Decision.
type outcome struct {
	rank    rank
	rule    int // -1 if no rule decided
	reading *reading.Reading
	reason  string
}

// Limits on the work that one call can cause. If there are more than maxExact combinations of
// readings, the arguments are judged as wholes. If there are more than maxAll readings, the call is
// denied.
const (
	maxExact = 1 << 16
	maxAll   = 1 << 18
)

// usualRoom is the number of bytes that a view keeps for the texts of the next call.
const usualRoom = 64 << 10

// releaseCall removes the references to the call and the policy, because the view will be used for
// another call, and perhaps for another policy.
func (v *view) releaseCall() {
	clear(v.buckets[:cap(v.buckets)]) // both are short
	clear(v.lists[:cap(v.lists)])
	clear(v.values)
	clear(v.readings)
	v.picks.sieve, v.picks.of = nil, nil
	if len(v.answers) > 0 {
		clear(v.answers)
	}
	if len(v.spelled) > 0 {
		clear(v.spelled)
	}
	if len(v.found) > 0 {
		v.resetFound()
	}
	v.noted = v.noted[:0]
	if v.room = v.room[:0]; cap(v.room) > usualRoom {
		v.room = nil
	}
	v.policy, v.call, v.started, v.Cursor, v.within, v.tool = nil, nil, false, jsonscan.Cursor{}, "", builtin.Tool{}
}

// judgeName decides the call under one of its names.
func (v *view) judgeName(name string) outcome {
	p, subject := v.policy, v.call.Subject
	v.tool, v.windows = builtinOf(v.call, name), p.options.windows
	v.values, v.units, v.readings, v.spans = v.values[:0], v.units[:0], v.readings[:0], v.spans[:0]
	v.everySlot = 0
	v.buckets = v.buckets[:0]
	v.fold.Reset()
	p.subjects[subject].lookupName(name, v)
	if v.tool.Class != "" {
		p.subjects[subject].lookupName(v.tool.Class, v)
	}
	if subject == ResourceSubject {
		v.values = append(v.values, value{slot: resourceSlot, kind: where.String, whole: where.String, s: name})
	} else if names := p.args[subject]; names != nil {
		v.weighed = 0
		v.resetFound()
		if v.all = names.slot != 0 && v.hasSlotCondition(names.slot); v.all {
			v.everySlot = names.slot
		}
		if v.folder = nil; v.watchesFurther() && !v.call.Elsewhere {
			v.folder = v.baseFolder(false)
		}
		if (v.watch || v.all || len(names.groups) > 0) && !v.scanArguments(v.call.Args, names) {
			return outcome{rule: -1, reason: v.failureReason()}
		}
		v.left.Spend(v.weighed)
	}
	v.makeReadings()
	return v.walkAll(name)
}

// makeReadings makes the readings of the values that have a condition in v.buckets.
func (v *view) makeReadings() {
	v.picks.of = nil // the readings change now, so the picks of the last reading are invalid
	if len(v.values) > 1 && !slices.IsSortedFunc(v.values, bySlot) {
		slices.SortStableFunc(v.values, bySlot)
	}
	for i := range v.values {
		val := &v.values[i]
		if !v.hasSlotCondition(val.slot) {
			continue
		}
		lo := len(v.readings)
		v.readValue(val)
		n := len(v.spans)
		if n == 0 || v.spans[n-1].slot != val.slot {
			s := span{slot: val.slot, lo: lo}
			s.units[0] = len(v.units)
			v.spans, n = append(v.spans, s), n+1
		}
		v.units = append(v.units, unit{lo, len(v.readings)})
		v.spans[n-1].units[1], v.spans[n-1].hi = len(v.units), len(v.readings)
		if len(v.readings) > maxAll {
			return
		}
	}
}

func (v *view) readValue(val *value) {
	first := len(v.readings)
	switch {
	case val.isAbsent():
		v.readings = append(v.readings, reading.Reading{Kind: reading.Absent})
	case val.kind == where.Number:
		v.readings = append(v.readings, reading.Reading{Text: val.s, Raw: val.s})
		if plain := reading.PlainNumber(val.s); plain != val.s {
			v.readings = append(v.readings, reading.Reading{Text: plain, Raw: val.s})
		}
	default:
		rd := &v.policy.readers[val.slot]
		v.readings = rd.Read(v.readings, val.s, &v.fold, &v.left)
		if rd.Paths && val.slot != resourceSlot {
			rd.AddPlaces(v.readings[first:], v.baseFolder(rd.typed || !allRooted(v.readings[first:])), rd.local, &v.left)
		} else if rd.based {
			for i := range v.readings[first:] {
				v.readings[first+i].SetBase(v.baseFolder(true))
			}
		}
	}
	if !v.policy.readers[val.slot].typed && val.within == "" {
		return
	}
	for i := range v.readings[first:] {
		r := &v.readings[first+i]
		r.Type, r.Whole, r.Within = val.kind, val.whole, val.within
	}
}

// allRooted reports whether all readings are paths from the root. For such readings it does not
// matter where relative paths start.
func allRooted(rs []reading.Reading) bool {
	return !slices.ContainsFunc(rs, func(r reading.Reading) bool { return r.Text == "" || r.Text[0] != '/' })
}

// baseFolder returns the folder at which the call's relative paths start; nil if it is not known.
// doubt means that the caller needs to know whether the folder is in doubt. To find this out,
// baseFolder looks at all arguments.
func (v *view) baseFolder(doubt bool) *reading.Base {
	if home := v.policy.homeFolder(); v.cwd != v.call.Cwd || v.home != home || v.os != v.call.OS {
		v.base, v.cwd, v.home, v.os = nil, v.call.Cwd, home, v.call.OS
		if v.cwd != "" {
			v.base = reading.NewBase(v.cwd, home, v.os == Windows)
		}
	}
	if v.base != nil && doubt && !v.started {
		v.started = true
		v.base.Doubtful = v.call.Elsewhere || changesFolder(v.call.Args, v.base)
	}
	return v.base
}

// changesFolder reports whether an argument may select a folder other than the base. Relative paths
// may then start at the other folder.
func changesFolder(args []byte, base *reading.Base) bool {
	for name, value := range jsonscan.ValueOf(args).Members() {
		if !reading.IsWorkFolder(name.Text()) || value.Kind() == jsonscan.Null {
			continue
		}
		if dir := value.Text(); value.Kind() != jsonscan.String || dir != "" && !base.IsNamedBy(dir) {
			return true
		}
	}
	return false
}

func bySlot(a, b value) int { return int(a.slot) - int(b.slot) }

// hasSlotCondition reports whether a rule in v.buckets has a condition on the slot.
func (v *view) hasSlotCondition(slot int32) bool {
	for _, b := range v.buckets {
		if len(b.slots) == 0 {
			continue
		}
		if b.slots[0] == slot {
			return true
		}
		if _, found := slices.BinarySearch(b.slots, slot); found {
			return true
		}
	}
	return false
}

// walkAll walks the rules for every combination of readings. In each walk, the argument with the
// most readings has the readings of one string (a unit), and every other argument has one reading.
// If there are too many combinations, one walk judges all readings of each argument together. A
// condition may then match only with Maybe, so the answer can only be stricter. Conditions on "*"
// always judge all values together.
func (v *view) walkAll(name string) outcome {
	if len(v.readings) > maxAll {
		return outcome{rule: -1, reason: "arguments that can be read in too many ways"}
	}
	main, combinations, several := -1, 1, 0
	for i := range v.spans {
		s := &v.spans[i]
		if s.slot == v.everySlot {
			s.at = -1
			continue
		}
		s.at = s.lo
		if main < 0 || s.size() > v.spans[main].size() {
			main = i
		}
		if s.size() > 1 {
			several++
		}
		combinations = min(combinations*s.size(), maxExact+1)
	}
	if main < 0 {
		return v.walkRules(name, nil, nil)
	}
	if several > 1 && combinations > maxExact {
		for i := range v.spans {
			v.spans[i].at = -1
		}
		return v.walkRules(name, nil, nil)
	}
	worst := outcome{rank: none}
	for more := true; more && !v.isSettled(worst); more = several > 1 && v.nextCombination(main) {
		s := &v.spans[main]
		for i := s.units[0]; i < s.units[1] && !v.isSettled(worst); i++ {
			v.policy.mergeOutcome(&worst, v.walkRules(name, s, &v.units[i]))
		}
	}
	return worst
}

// isSettled reports whether nothing can change the answer any more and no tracer needs the
// other rules.
func (v *view) isSettled(o outcome) bool { return o.rank == denies && v.trace == nil }

// nextCombination moves to the next combination of readings of the arguments other than main. It
// returns false after the last combination.
func (v *view) nextCombination(main int) bool {
	for i := range v.spans {
		s := &v.spans[i]
		if i == main || s.at < 0 {
			continue
		}
		if s.at++; s.at < s.hi {
			return true
		}
		s.at = s.lo
	}
	return false
}

// ruleEffort is the effort of judging a rule, apart from its conditions.
const ruleEffort = 32

// walkRules judges the readings of one unit, from the first rule to the last. At first all readings
// are undecided. A rule decides the readings that it matches with Yes, and they are no longer
// undecided. If a rule matches a reading with Maybe, the rule's action can make the result
// stricter, and the reading stays undecided. The readings that are undecided at the end matched no
// rule with Yes.
func (v *view) walkRules(name string, main *span, u *unit) outcome {
	pending, readings := uint64(1), []reading.Reading(nil)
	if u != nil {
		readings = v.readings[u.lo:u.hi]
		pending = 1<<len(readings) - 1
	}
	worst := outcome{rank: none}
	v.listCandidates(main, u)
	for id := v.nextCandidate(); id >= 0; id = v.nextCandidate() {
		r := &v.policy.rules[id]
		if v.left.Spend(ruleEffort + len(v.lists)); v.left <= 0 {
			return outcome{rule: -1, reason: effort.TooMuch}
		}
		if !v.matchesName(r, name) {
			continue
		}
		sure, perhaps := v.matchRule(r, main, readings, pending)
		if v.trace != nil {
			v.trace.traceRule(v, id, main, readings, pending, sure, perhaps)
		}
		if v.left <= 0 {
			return outcome{rule: -1, reason: effort.TooMuch}
		}
		hit := sure | perhaps
		if hit != 0 && r.noted && !slices.Contains(v.noted, id) {
			v.noted = append(v.noted, id)
		}
		switch {
		case hit == 0:
		case r.rank < worst.rank:
			worst = outcome{rank: r.rank, rule: int(id)}
			if u != nil {
				worst.reading = &readings[bits.TrailingZeros64(hit)]
			}
		case r.rank == asksApprovers:
			v.policy.mergeOutcome(&worst, outcome{rank: r.rank, rule: int(id)})
		}
		if pending &^= sure; (pending == 0 || worst.rank == denies) && v.trace == nil {
			return worst
		}
	}
	if pending == 0 || worst.rank == denies {
		return worst
	}
	if v.call.Subject == MethodSubject || v.policy.passesUnmatched() {
		if worst.rank == none {
			return outcome{rank: allows, rule: -1}
		}
		return worst
	}
	worst = outcome{rule: -1}
	if u != nil {
		worst.reading = &readings[bits.TrailingZeros64(pending)]
	}
	return worst
}

// matchesName reports whether a rule's names fit a name. The name of a resource is its URI, which
// conditions judge like an argument.
func (v *view) matchesName(r *rule, name string) bool {
	if n := len(r.names) + len(r.notNames); n > 1 {
		v.left.Spend(patternEffort * n)
	}
	return (r.names == nil || v.oneOf(r.names, name)) && !v.oneOf(r.notNames, name)
}

// oneOf reports whether one of the globs matches the name, or the class of the tool with this name.
func (v *view) oneOf(globs anyOf, name string) bool {
	for _, g := range globs {
		if v.left.MatchGlob(g, name) || v.tool.Class != "" && v.left.MatchGlob(g, v.tool.Class) {
			return true
		}
	}
	return false
}

// builtinOf returns the known facts about the tool that a call names. They are empty unless the
// tool is built into the client. A server's tool has no class, even if its name is that of a
// built-in tool.
func builtinOf(c *Call, name string) builtin.Tool {
	if c.Subject != ToolSubject || c.Method != builtin.Method {
		return builtin.Tool{}
	}
	return builtin.FindTool(c.Server, name)
}

// matchRule returns the pending readings that a rule matches with Yes, and those that it matches
// with Maybe.
func (v *view) matchRule(r *rule, main *span, readings []reading.Reading, pending uint64) (sure, perhaps uint64) {
	whole := where.Yes
	for _, t := range r.calls {
		if whole = min(whole, t.matchCall(v.call)); whole == where.No {
			return 0, 0
		}
	}
	sure, perhaps = pending, 0
	for i := range r.conditions {
		c := &r.conditions[i]
		if main != nil && c.slot == main.slot {
			sure, perhaps = v.narrowReadings(c, readings, sure, perhaps, r.action)
		} else if whole = min(whole, v.judgeWhole(c, r.action)); whole == where.No {
			return 0, 0
		}
		if sure|perhaps == 0 {
			return 0, 0
		}
	}
	if r.further.watches {
		m, _ := v.judgeFurther(r)
		if whole = min(whole, m); whole == where.No {
			return 0, 0
		}
	}
	if whole == where.Maybe {
		return 0, sure | perhaps
	}
	return sure, perhaps
}

// narrowReadings judges the readings by one condition. sure holds the readings that the rule
// matches so far, and perhaps holds those that it may match. A reading that does not meet the
// condition is removed from both. A reading that may meet the condition moves from sure to perhaps.
func (v *view) narrowReadings(c *condition, readings []reading.Reading, sure, perhaps uint64, a Action) (uint64, uint64) {
	for left := sure | perhaps; left != 0; left &= left - 1 {
		i := bits.TrailingZeros64(left)
		bit := uint64(1) << i
		switch v.judgeReading(c, &readings[i], a) {
		case where.No:
			sure, perhaps = sure&^bit, perhaps&^bit
		case where.Maybe:
			sure, perhaps = sure&^bit, perhaps|bit
		}
	}
	return sure, perhaps
}
