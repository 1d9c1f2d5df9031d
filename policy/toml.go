package policy

import (
	"fmt"
	"strings"
)

// toml writes a rule as a person would.
func (r *ruleSource) toml() string {
	var b strings.Builder
	b.WriteString("[[rule]]\n")
	for _, k := range written {
		keys[k].write(r, func(key, toml string) { fmt.Fprintf(&b, "%s = %s\n", key, toml) })
	}
	return b.String()
}

func (r *ruleSource) writeAction(line func(key, toml string)) {
	line("action", QuoteTOML(r.Action.String()))
}

func (r *ruleSource) writeArgs(line func(key, toml string)) {
	for _, a := range r.args {
		globs := make([]string, len(a.globs))
		for i, g := range a.globs {
			globs[i] = QuoteTOML(g)
		}
		text := globs[0]
		if len(globs) > 1 {
			text = "[" + strings.Join(globs, ", ") + "]"
		}
		line(argName(a.path), text)
	}
}

func (r *ruleSource) writeWhere(line func(key, toml string)) {
	for i := range r.where {
		w := &r.where[i]
		line(whereName(w.path)+"."+w.key.name, w.text)
	}
}

func (r *ruleSource) writeOnly(line func(key, toml string)) {
	if r.further.Only {
		line("args_only", r.further.only())
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
	if r.OutOfBand {
		line("ask", QuoteTOML(askWords[0]))
	}
}

func (r *ruleSource) writePinned(line func(key, toml string)) {
	if r.Pinned {
		line("pinned", "true")
	}
}

func (r *ruleSource) writeDescription(line func(key, toml string)) {
	if r.Description != "" {
		line("description", QuoteTOML(r.Description))
	}
}
