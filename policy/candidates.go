package policy

import "github.com/clawai/clawai/policy/reading"

// candidates lists the rules that the readings of u, and the other arguments,
// leave possible; all about the subject when somebody listens.
func (v *view) candidates(main *span, u *unit) {
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
			s := v.span(x.slot)
			switch {
			case s == nil:
			case main != nil && s.slot == main.slot:
				v.lists = x.collect(v.readings[u.lo:u.hi], v.lists)
			case s.at >= 0:
				v.lists = x.collect(v.readings[s.at:s.at+1], v.lists)
			case s.slot == v.everySlot && s.size() <= fewReadings:
				v.lists = x.collect(v.readings[s.lo:s.hi], v.lists)
			default:
				v.lists = append(v.lists, x.all)
			}
		}
	}
}

// fewReadings is how many are worth looking up; of more, all rules are asked.
const fewReadings = 64

// collect appends the rules that some reading could match. Readings that match
// by other means than their text get all rules.
func (x *argIndex) collect(readings []reading.Reading, lists [][]int32) [][]int32 {
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
		lists = x.ends.collect(r.Text, x.starts.collect(r.Text, lists))
		if r.Unslashed != "" {
			lists = x.ends.collect(r.Unslashed, lists)
		}
		if word := reading.Boolean(r.Text); word != "" && word != r.Text {
			lists = x.ends.collect(word, x.starts.collect(word, lists))
		}
		if (r.PathOnly || r.Climbs) && r.Transforms != 0 {
			lists = x.ends.collect(r.Raw, x.starts.collect(r.Raw, lists))
		}
		if r.Normal != "" {
			lists = x.ends.collect(r.Normal, x.starts.collect(r.Normal, lists))
		}
		for i := range r.Places {
			text := r.Places[i].Text
			lists = x.ends.collect(text, x.starts.collect(text, lists))
			if r.Places[i].Slashed {
				lists = x.ends.collect(text+"/", x.starts.collect(text+"/", lists))
			}
		}
		if r.Within != "" {
			lists = x.ends.collect(r.Within, x.starts.collect(r.Within, lists))
		}
	}
	return lists
}

// sameText says whether the index cannot tell two readings apart.
func sameText(a, b *reading.Reading) bool {
	if len(a.Text) != len(b.Text) || a.Unslashed != b.Unslashed || a.Normal != b.Normal || a.Within != b.Within {
		return false
	}
	if a.Text == b.Text {
		return true
	}
	for i := range len(a.Text) {
		if reading.Lower(a.Text[i]) != reading.Lower(b.Text[i]) {
			return false
		}
	}
	return true
}

// next takes the first rule off the lists; -1 when they are empty.
func (v *view) next() int32 {
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
