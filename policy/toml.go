package policy

import "github.com/clawai/clawai/policy/policytext"

// formatTOML returns a rule as TOML, in the form in which people write rules.
func (r *ruleSource) formatTOML() string {
	var pairs []policytext.Pair
	for _, k := range written {
		if write := keys[k].write; write != nil {
			write(r, func(key, toml string) { pairs = append(pairs, policytext.Pair{Key: key, Value: toml}) })
		}
	}
	return policytext.WriteRule(pairs...)
}

func (r *ruleSource) writeAction(line func(key, toml string)) {
	line("action", policytext.Quote(r.Action.String()))
	if r.On != OnCall {
		line("on", policytext.Quote(r.On.String()))
	}
}

func (r *ruleSource) writeArgs(line func(key, toml string)) {
	for _, a := range r.args {
		line(argName(a.path), globsTOML(a.globs, a.written))
	}
}

func (r *ruleSource) writeWhere(line func(key, toml string)) {
	for i := range r.where {
		w := &r.where[i]
		line(whereName(w.path)+"."+w.key.name, w.text())
	}
}

func (r *ruleSource) writeOnly(line func(key, toml string)) {
	if r.further.Only {
		line("args_only", r.further.formatArgsOnly())
	}
}

func (r *ruleSource) writeOpen(line func(key, toml string)) {
	if r.further.Open {
		line("args_open", "true")
	}
}

func (r *ruleSource) writeLimit(line func(key, toml string)) {
	if r.limit != "" {
		line("limit", r.limit)
	}
}

func (r *ruleSource) writeAsk(line func(key, toml string)) {
	if r.OutOfBand && r.Approval == nil {
		line("ask", policytext.Quote(askWords[0]))
	}
}

func (r *ruleSource) writePinned(line func(key, toml string)) {
	if r.Pinned {
		line("pinned", "true")
	}
}

func (r *ruleSource) writePreview(line func(key, toml string)) {
	if r.Preview {
		line("preview", "true")
	}
}

func (r *ruleSource) writeDescription(line func(key, toml string)) {
	if r.Description != "" {
		line("description", policytext.Quote(r.Description))
	}
}

func (r *ruleSource) writeAbove(line func(key, toml string)) {
	if r.above != "" {
		line("above", policytext.Quote(r.above))
	}
}
