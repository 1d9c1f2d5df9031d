package screening

import (
	"bytes"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/mcp/reply"
	"github.com/clawai/clawai/internal/mcp/schema"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

// Bounds of what is kept of what tools promise: one that does not fit is as one that no
// list has named.
const (
	maxPromises     = 1 << 12
	maxPromiseBytes = 4 << 20 // of their names and schemas
)

// promises are the schemas that the servers of a session have listed, as the client was
// shown them. Who uses it holds the inspector's lock.
type promises struct {
	of    map[toolOf]*promise
	bytes int
}

// toolOf is one of one server.
type toolOf struct{ server, name string }

// promise is that of one tool; a schema that it does not have is nil.
type promise struct {
	size          int
	input, output *schema.Schema
}

// putPromise takes in what a tool promises, instead of what it did before.
func (ps *promises) putPromise(server string, p reply.Promise) {
	key, size := toolOf{server, strings.Clone(p.Tool)}, len(p.Tool)+len(p.Input)+len(p.Output)
	ps.forgetPromise(key)
	if len(ps.of) == maxPromises || ps.bytes+size > maxPromiseBytes {
		return
	}
	if ps.of == nil {
		ps.of = map[toolOf]*promise{}
	}
	ps.of[key] = readPromise(&p, size)
	ps.bytes += size
}

func (ps *promises) forgetPromise(key toolOf) {
	if before := ps.of[key]; before != nil {
		ps.bytes -= before.size
		delete(ps.of, key)
	}
}

func readPromise(p *reply.Promise, size int) *promise {
	one := &promise{size: size}
	for _, s := range []struct {
		text []byte
		to   **schema.Schema
	}{{p.Input, &one.input}, {p.Output, &one.output}} {
		if s.text != nil {
			*s.to = schema.ReadSchema(bytes.Clone(s.text))
		}
	}
	return one
}

// learnPromises takes in what a list of tools, as it goes on, says of them, where rules may ask.
func (in *inspector) learnPromises(f *frame.Frame, x *gate.Exchange, p gate.Policy, i *gate.Inspection) {
	if x.Event.Method != "tools/list" || i.Decision.Action == policy.Deny || !needsPromises(p) {
		return
	}
	result := f.Result
	if i.Sent != nil {
		var sent frame.Frame
		if sent.Parse(i.Sent, frameLimits()) != nil { // it was admitted before
			return
		}
		result = sent.Result
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	said, torn := map[string]string{}, map[string]bool{}
	for _, one := range reply.ListPromises(result) {
		text := string(one.Input) + "\x00" + string(one.Output)
		before, twice := said[one.Tool]
		torn[one.Tool] = torn[one.Tool] || twice && before != text
		said[one.Tool] = text
		in.promises.putPromise(x.Event.Server, one)
	}
	for name, is := range torn {
		if is { // nobody knows which of them the client goes by
			in.promises.forgetPromise(toolOf{x.Event.Server, name})
		}
	}
}

// needsPromises reports whether rules may ask what tools have promised.
func needsPromises(p gate.Policy) bool {
	if _, replies := p.Screens(policy.OnReply); replies {
		return true
	}
	kinds, _ := p.Screens(policy.OnCall)
	return slices.Contains(kinds, reply.Schema)
}

// findPromise gives what the tool of these calls has promised; tool says whether they are calls of
// one at all, and nil that nobody knows what of.
func (in *inspector) findPromise(cs []policy.Call, p gate.Policy) (one *promise, tool bool) {
	var key toolOf
	for i := range cs {
		c := &cs[i]
		if c.Subject != policy.ToolSubject || len(c.Names) != 1 {
			continue
		}
		next := toolOf{c.Server, c.Names[0]}
		if tool && next != key {
			return nil, true
		}
		key, tool = next, true
	}
	if !tool {
		return nil, false
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if one = in.promises.of[key]; one == nil && in.pins != nil && p.Pin(key.server) > policy.PinOff {
		if entry, known := in.pins.ShownEntry(key.server, p.Pin(key.server), pin.Tool, key.name); known {
			was := reply.ReadPromise(entry)
			in.promises.putPromise(key.server, was)
			one = in.promises.of[key]
		}
	}
	return one, true
}

// holdToPromise adds what is found in an answer by the schema that its tool has promised it by, and
// gives that schema.
func (in *inspector) holdToPromise(m *reply.Message, wanted reply.Wanted, x *gate.Exchange, p gate.Policy) *schema.Schema {
	one, tool := in.findPromise(x.Answered, p)
	switch {
	case !tool:
		return nil
	case one == nil:
		if wanted.Schema {
			m.HoldNothing()
		}
		return nil
	case one.output != nil && wanted.Schema:
		m.CheckSchema(one.output)
	}
	return one.output
}

// argumentFindings gives what is found in the arguments of a call by the schema of its tool.
func (in *inspector) argumentFindings(c *policy.Call, p gate.Policy) []reply.Finding {
	one, tool := in.findPromise([]policy.Call{*c}, p)
	switch {
	case !tool:
		return nil
	case one == nil:
		return []reply.Finding{reply.UnpromisedFinding("", "no list has said here what the tool takes")}
	case one.input == nil:
		return nil
	}
	arguments := c.Args
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	return reply.CheckFit(one.input, arguments, "")
}
