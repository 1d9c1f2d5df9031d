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

// Limits of the stored tool schemas. A tool beyond the limits is treated like a tool that was never
// listed.
const (
	maxPromises     = 1 << 12 // number of tools
	maxPromiseBytes = 4 << 20 // total size of the tools' names and schemas
)

// promises holds the schemas that the servers of a session have listed, after clawai's changes for
// the client. The caller holds the inspector's lock.
type promises struct {
	tools map[toolKey]*promise
	bytes int // sum of the sizes of all tools
}

// toolKey identifies one tool of one server.
type toolKey struct{ server, name string }

// promise holds the schemas of one tool; a missing schema is nil.
type promise struct {
	size          int // bytes of the tool's name and schemas
	input, output *schema.Schema
}

// putPromise stores the schemas of a tool, and replaces earlier ones.
func (ps *promises) putPromise(server string, p reply.Promise) {
	key, size := toolKey{server, strings.Clone(p.Tool)}, len(p.Tool)+len(p.Input)+len(p.Output)
	ps.forgetPromise(key)
	if len(ps.tools) == maxPromises || ps.bytes+size > maxPromiseBytes {
		return
	}
	if ps.tools == nil {
		ps.tools = map[toolKey]*promise{}
	}
	ps.tools[key] = readPromise(&p, size)
	ps.bytes += size
}

func (ps *promises) forgetPromise(key toolKey) {
	if before := ps.tools[key]; before != nil {
		ps.bytes -= before.size
		delete(ps.tools, key)
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

// learnPromises stores the schemas of a list of tools if rules may need them. It takes the list
// that the client gets.
func (in *inspector) learnPromises(f *frame.Frame, x *gate.Exchange, p gate.Policy, i *gate.Inspection) {
	if x.Event.Method != "tools/list" || i.Decision.Action == policy.Deny || !needsPromises(p) {
		return
	}
	result := f.Result
	if i.Sent != nil {
		var sent frame.Frame
		if sent.Parse(i.Sent, frameLimits()) != nil { // cannot fail, because the message was parsed before
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
	for name, differ := range torn {
		if differ { // there are two schemas under one name, and it is not known which of them the client uses
			in.promises.forgetPromise(toolKey{x.Event.Server, name})
		}
	}
}

// needsPromises reports whether rules may need the schemas of tools.
func needsPromises(p gate.Policy) bool {
	if _, replies := p.Screens(policy.OnReply); replies {
		return true
	}
	kinds, _ := p.Screens(policy.OnCall)
	return slices.Contains(kinds, reply.Schema)
}

// findPromise returns the schemas of the tool that these calls name; nil if the schemas are not
// known, or if the calls name several tools. tool reports whether there is a tool call at all.
func (in *inspector) findPromise(cs []policy.Call, p gate.Policy) (one *promise, tool bool) {
	var key toolKey
	for i := range cs {
		c := &cs[i]
		if c.Subject != policy.ToolSubject || len(c.Names) != 1 {
			continue
		}
		next := toolKey{c.Server, c.Names[0]}
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
	if one = in.promises.tools[key]; one == nil && in.pins != nil && p.Pin(key.server) > policy.PinOff {
		if entry, known := in.pins.ShownEntry(key.server, p.Pin(key.server), pin.Tool, key.name); known {
			was := reply.ReadPromise(entry)
			in.promises.putPromise(key.server, was)
			one = in.promises.tools[key]
		}
	}
	return one, true
}

// holdToPromise checks an answer against the output schema of its tool and adds the findings to m.
// It returns the schema. The schema is nil if the tool has none, or if the tool was not listed.
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

// argumentFindings checks the arguments of a call against the input schema of its tool and returns
// the findings.
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
