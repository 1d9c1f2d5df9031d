package prove

import "slices"

// reasonEmbedded is the reason of an undecided class about texts that hold JSON. A rule about such
// a text also applies to each value in the JSON, but the model cannot have the text and the value
// in one call.
const reasonEmbedded = "values in a text that holds JSON, where a glob begins as JSON does"

// holdsJSONText reports whether a rule has a condition on texts that hold JSON.
func (r *rule) holdsJSONText() bool {
	for i := range r.args {
		for _, g := range r.args[i].globs {
			if g.Spells && r.args[i].key != resourceKey {
				return true
			}
		}
	}
	return false
}

// noteUnmodelled adds undecided classes for calls that are not in the model, if changed rules may
// answer them differently: calls with JSON in a text, with relative paths, or of servers on
// Windows.
func (d *difference) noteUnmodelled() {
	old, new := d.old.rules, d.new.rules
	equal := func(a, b *rule) bool { return a.same == b.same && a.strict == b.strict }
	for len(old) > 0 && len(new) > 0 && equal(old[0], new[0]) {
		old, new = old[1:], new[1:]
	}
	for len(old) > 0 && len(new) > 0 && equal(old[len(old)-1], new[len(new)-1]) {
		old, new = old[:len(old)-1], new[:len(new)-1]
	}
	all := slices.Concat(d.old.rules, d.new.rules)
	keys := bridgedKeys(all, all)
	for _, cause := range []struct {
		rule   func(*rule) bool
		reason string
	}{{(*rule).holdsJSONText, reasonEmbedded}, {func(r *rule) bool { return r.hasConditionOn(keys) }, ReasonFolder}, {func(r *rule) bool { return d.beyondText(r) }, ReasonWindows}} {
		for _, r := range all {
			if cause.rule(r) && (sharesName(r, old) || sharesName(r, new)) {
				d.classes = append(d.classes, CallClass{Undecided: true, Reason: cause.reason})
				break
			}
		}
	}
}

// sharesName reports whether r and one of the other rules may match the same name.
func sharesName(r *rule, others []*rule) bool {
	for _, o := range others {
		if !areAsunder(r.name, o.name) {
			return true
		}
	}
	return false
}
