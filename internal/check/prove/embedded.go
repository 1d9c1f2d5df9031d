package prove

import "slices"

// reasonEmbedded is the reason when a rule is about texts that hold JSON: such
// a rule applies to each value in the text as well, and the model has only the
// values.
const reasonEmbedded = "values in a text that holds JSON, where a glob begins as JSON does"

// holdsJSONText reports whether a rule is about texts that hold JSON.
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

// noteUnmodelled records a change that may concern calls outside the model:
// texts that hold JSON, and relative paths.
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
	keys := bridgedKeys(all)
	for _, of := range []struct {
		rule   func(*rule) bool
		reason string
	}{{(*rule).holdsJSONText, reasonEmbedded}, {func(r *rule) bool { return r.speaksOf(keys) }, ReasonFolder}, {func(r *rule) bool { return d.beyondText(r) }, ReasonWindows}} {
		for _, r := range all {
			if of.rule(r) && (sharesName(r, old) || sharesName(r, new)) {
				d.classes = append(d.classes, CallClass{Undecided: true, Reason: of.reason})
				break
			}
		}
	}
}

// sharesName reports whether r and one of the other rules may match the same
// call by name.
func sharesName(r *rule, others []*rule) bool {
	for _, o := range others {
		if !areAsunder(r.name, o.name) {
			return true
		}
	}
	return false
}
