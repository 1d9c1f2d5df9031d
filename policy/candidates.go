package policy

import "github.com/clawai/clawai/policy/reading"

// listCandidates sets v.lists to the numbers of the rules that may match. It leaves out the rules
// that the readings of u and of the other arguments exclude. With a trace it lists all rules about
// the subject.
func (v *view) listCandidates(main *span, u *unit) {
	v.lists = v.lists[:0]
	if v.trace != nil {
		if len(v.trace.all) > 0 {
			v.lists = append(v.lists, v.trace.all)
		}
		return
	}
	for _, b := range v.buckets {
		if len(b.rules) > 0 {
			v.lists = append(v.lists, b.rules)
		}
		for i := range b.args {
			x := &b.args[i]
			s := v.findSpan(x.slot)
			switch {
			case s == nil:
			case main != nil && s.slot == main.slot:
				v.lists = x.collectRules(v.readings[u.lo:u.hi], v.lists)
			case s.at >= 0:
				v.lists = x.collectRules(v.readings[s.at:s.at+1], v.lists)
			case s.slot == v.everySlot && s.size() <= fewReadings:
				v.lists = x.collectRules(v.readings[s.lo:s.hi], v.lists)
			default:
				v.lists = append(v.lists, x.all)
			}
		}
	}
}

// fewReadings is the largest number of readings that the policy looks up in the index. If a value
// has more readings, the policy judges all rules.
const fewReadings = 64

// collectRules appends lists of the rules that could match one of the readings. If the text of a
// reading alone does not decide whether a rule matches, it appends the list of all rules.
func (x *argIndex) collectRules(readings []reading.Reading, lists [][]int32) [][]int32 {
	for i := range readings {
		if r := &readings[i]; r.Kind == reading.Refused || r.UnknownBase {
			return append(lists, x.all)
		}
	}
	for i := range readings {
		r := &readings[i]
		if r.Kind == reading.Absent || i > 0 && len(r.Places) == 0 && sameText(r, &readings[i-1]) {
			continue
		}
		lists = x.ends.collectLists(r.Text, x.starts.collectLists(r.Text, lists))
		if r.Unslashed != "" {
			lists = x.ends.collectLists(r.Unslashed, lists)
		}
		if word := reading.ParseBoolean(r.Text); word != "" && word != r.Text {
			lists = x.ends.collectLists(word, x.starts.collectLists(word, lists))
		}
		if (r.PathOnly || r.Climbs) && r.Transforms != 0 {
			lists = x.ends.collectLists(r.Raw, x.starts.collectLists(r.Raw, lists))
		}
		if r.Normal != "" {
			lists = x.ends.collectLists(r.Normal, x.starts.collectLists(r.Normal, lists))
		}
		for i := range r.Places {
			text := r.Places[i].Text
			lists = x.ends.collectLists(text, x.starts.collectLists(text, lists))
		}
		if r.Within != "" {
			lists = x.ends.collectLists(r.Within, x.starts.collectLists(r.Within, lists))
		}
	}
	return lists
}

// sameText reports whether a and b are equal for the index, which ignores the case of ASCII
// letters.
func sameText(a, b *reading.Reading) bool {
	if len(a.Text) != len(b.Text) || a.Unslashed != b.Unslashed || a.Normal != b.Normal || a.Within != b.Within {
		return false
	}
	if a.Text == b.Text {
		return true
	}
	for i := range len(a.Text) {
		if reading.LowerByte(a.Text[i]) != reading.LowerByte(b.Text[i]) {
			return false
		}
	}
	return true
}

// nextCandidate removes the smallest rule number from the lists and returns it; -1 if the lists
// are empty.
func (v *view) nextCandidate() int32 {
	least := int32(-1)
	for _, list := range v.lists {
		if len(list) > 0 && (least < 0 || list[0] < least) {
			least = list[0]
		}
	}
	for i, list := range v.lists {
		if len(list) > 0 && list[0] == least {
			v.lists[i] = list[1:]
		}
	}
	return least
}
