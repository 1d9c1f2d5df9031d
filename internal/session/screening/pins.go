package screening

import (
	"errors"
	"fmt"

	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp/pin"
	"github.com/clawai/clawai/internal/mcp/reply"
	"github.com/clawai/clawai/internal/session/pinning"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/policy"
)

// pinned holds the methods whose lists are compared with the approved entries, each with the kind
// of its entries.
var pinned = map[string]pin.EntryKind{"tools/list": pin.Tool, "prompts/list": pin.Prompt, "resources/templates/list": pin.Template}

var errNoPins = errors.New("what was approved of servers is not kept here")

// applyPins compares a list, or a server's introduction, with the approved form. It returns the
// message with approved texts in place of changed ones. The rules must judge the returned message,
// because they may have to remove parts of an approved text.
func (in *inspector) applyPins(m *reply.Message, c *reply.Change, x *gate.Exchange, p gate.Policy, i *gate.Inspection, wanted reply.Wanted) (*reply.Message, error) {
	if err := m.CheckMembers(); err != nil {
		return nil, err
	}
	var instead map[int][]byte
	var instructions *string
	var err error
	foreign := false
	if kind, is := pinned[x.Event.Method]; is && p.Pin(x.Event.Server) > policy.PinOff {
		if foreign = p.Pin(x.Event.Server) > policy.PinRecord && m.HasForeign(); foreign {
			i.Altered = append(i.Altered, "leave out members beside the entries")
		}
		instead, err = in.holdList(m, kind, c, x, p, i)
	} else if !reply.IsList(x.Event.Method) {
		instructions, err = in.holdInstructions(m, x, p, i)
	}
	if err != nil || instead == nil && instructions == nil && !foreign {
		return m, err
	}
	c.Pinned = true
	var f frame.Frame
	if err := f.Parse(m.ReplaceEntries(instead, instructions), frameLimits()); err != nil {
		return nil, fmt.Errorf("with what was approved it is no longer a message: %w", err)
	}
	return reply.InspectMessage(&f, x.Event.Method, wanted)
}

// holdList adds to c.LeftOut the entries that must not pass. It returns the approved texts that
// replace changed entries, by the index of the entry.
func (in *inspector) holdList(m *reply.Message, kind pin.EntryKind, c *reply.Change, x *gate.Exchange, p gate.Policy, i *gate.Inspection) (instead map[int][]byte, err error) {
	if in.pins == nil {
		return nil, errNoPins
	}
	entries, last := m.EntryTexts()
	fates, err := in.pins.JudgeEntries(x.Event.Server, p.Pin(x.Event.Server), kind, entries, pinning.Page{Further: x.Further, Last: last})
	if err != nil {
		return nil, err
	}
	names, _ := m.EntryNames()
	for n, fate := range fates {
		if fate.Class != 0 {
			i.Found = append(i.Found, gate.Found{Kind: "changed:" + fate.Class.String(), At: m.EntryAt(n), N: 1})
		}
		switch {
		case fate.Out:
			c.LeftOut = append(c.LeftOut, n)
			i.Altered = append(i.Altered, fmt.Sprintf("leave out %s (%s)", names[n], fate.Class))
		case fate.With != nil:
			if instead == nil {
				instead = map[int][]byte{}
			}
			instead[n] = fate.With
			i.Altered = append(i.Altered, fmt.Sprintf("keep %s as approved", names[n]))
		}
	}
	return instead, nil
}

// holdInstructions returns the approved instructions if they must replace the server's
// instructions; otherwise it returns nil.
func (in *inspector) holdInstructions(m *reply.Message, x *gate.Exchange, p gate.Policy, i *gate.Inspection) (with *string, err error) {
	if in.pins == nil {
		return nil, errNoPins
	}
	instructions, version := m.ReadIntroduction()
	class, with, err := in.pins.JudgeInstructions(x.Event.Server, p.Pin(x.Event.Server), instructions, version)
	if err != nil {
		return nil, err
	}
	if class != 0 {
		i.Found = append(i.Found, gate.Found{Kind: "changed:" + class.String(), At: "/result/instructions", N: 1})
	}
	if with != nil {
		i.Altered = append(i.Altered, "keep the instructions as approved")
	}
	return with, nil
}

// Bars returns the reason why calls may not be made: a tool or prompt differs from the approved
// one. It returns "" if the calls may be made.
func (in *inspector) Bars(cs []policy.Call, p gate.Policy) string {
	for i := range cs {
		c := &cs[i]
		mode, kind := p.Pin(c.Server), pin.Tool
		switch {
		case mode <= policy.PinRecord || c.Subject != policy.ToolSubject && c.Subject != policy.PromptSubject:
			continue
		case in.pins == nil:
			return errNoPins.Error()
		case c.Subject == policy.PromptSubject:
			kind = pin.Prompt
		}
		for _, name := range c.Names {
			if why := in.pins.BlockReason(c.Server, mode, kind, name); why != "" {
				return why
			}
		}
	}
	return ""
}
