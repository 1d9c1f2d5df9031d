package policy

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
			default:
				v.lists = append(v.lists, x.all)
			}
		}
	}
}

// collect appends the rules that some reading could match. Readings that match
// by other means than their text get all rules.
func (x *argIndex) collect(readings []reading, lists [][]int32) [][]int32 {
	for i := range readings {
		if r := &readings[i]; r.kind == refused || r.unknownBase {
			return append(lists, x.all)
		}
	}
	for i := range readings {
		r := &readings[i]
		if r.kind == absent || i > 0 && sameText(r, &readings[i-1]) {
			continue
		}
		lists = x.ends.collect(r.s, x.starts.collect(r.s, lists))
		if r.unslashed != "" {
			lists = x.ends.collect(r.unslashed, lists)
		}
		if word := meant(r.s); word != "" && word != r.s {
			lists = x.ends.collect(word, x.starts.collect(word, lists))
		}
		if (r.pathOnly || r.climbs) && r.transforms != 0 {
			lists = x.ends.collect(r.raw, x.starts.collect(r.raw, lists))
		}
		if r.normal != "" {
			lists = x.ends.collect(r.normal, x.starts.collect(r.normal, lists))
		}
		if r.within != "" {
			lists = x.ends.collect(r.within, x.starts.collect(r.within, lists))
		}
	}
	return lists
}

// sameText says whether the index cannot tell two readings apart.
func sameText(a, b *reading) bool {
	if len(a.s) != len(b.s) || a.unslashed != b.unslashed || a.normal != b.normal || a.within != b.within {
		return false
	}
	if a.s == b.s {
		return true
	}
	for i := range len(a.s) {
		if lower(a.s[i]) != lower(b.s[i]) {
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
