package mcp

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/tidwall/gjson"
)

// ambiguous says why two servers could read a judged call's params differently,
// nil when they cannot: members that fold together, numbers that parsers round.
// proxy/frame has looked at the members of params themselves; this looks where a
// reader binds by name further inside: the arguments of a tool or prompt to any
// depth, the messages of a sampling request and their blocks. In schemas, tool
// inputs and structured results case variants are data.
func ambiguous(fs *fields, row *Method) *frame.Refusal {
	switch row.Subject {
	case policy.ToolSubject, policy.PromptSubject:
		if args := fs.at[fArguments]; args.Exists() {
			return frame.CheckFolded(fs.span(args))
		}
	case policy.ResourceSubject:
		if asked := fs.at[fNotifications]; asked.Exists() {
			return frame.CheckFolded(fs.span(asked), "resourceSubscriptions")
		}
	case policy.SamplingSubject:
		if foldingMessages(fs.at[fMessages], 0) {
			return &frame.Refusal{Code: frame.CodeFolded, Reason: "members of a message differ in case only, or lie too deep"}
		}
	default: // nothing further inside is read by name
	}
	return nil
}

// deepestMessage is the depth below params.messages of a resource in a tool
// result, with one level of tool results more than any version has.
const deepestMessage = 2 + 2*maxResults + 2

// foldingMessages looks at sampling messages, their blocks, and the blocks of
// tool results. It gives up, as on a doubt, below where a member may stand: each
// level is walked again.
func foldingMessages(v gjson.Result, depth int) bool {
	if v.Type != gjson.JSON {
		return false
	}
	if depth > deepestMessage {
		return true
	}
	found := folding(v)
	v.ForEach(func(key, inner gjson.Result) bool {
		if !found && (v.IsArray() || key.Str == "content" || key.Str == "resource") {
			found = foldingMessages(inner, depth+1)
		}
		return !found
	})
	return found
}

// folding reports an object with two members whose names fold together, or
// with more members than any object it is asked about may have.
func folding(o gjson.Result) bool {
	if !o.IsObject() {
		return false
	}
	var members [32]string
	seen := members[:0]
	found := false
	o.ForEach(func(key, _ gjson.Result) bool {
		name := string(frame.Fold(nil, []byte(key.Str)))
		found = len(seen) == len(members) || slices.Contains(seen, name)
		seen = append(seen, name)
		return !found
	})
	return found
}

// foldsTo reports a name that a generous reader takes for one of the protocol's.
func foldsTo(name string, protocol ...string) bool {
	var buf [32]byte // longer than any name of the protocol's
	folded := frame.Fold(buf[:0], []byte(name))
	for _, p := range protocol {
		if len(folded) == len(p) && strings.EqualFold(string(folded), p) {
			return true
		}
	}
	return false
}
