package mcp

import (
	"slices"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// checkAmbiguous says why two servers could read a judged call's params differently,
// nil when they cannot: members that fold together, numbers that parsers round.
// internal/wire/frame has looked at the members of params themselves; this looks where a
// reader binds by name further inside: the arguments of a tool or prompt to any
// depth, the messages of a sampling request and their blocks. In schemas, tool
// inputs and structured results case variants are data.
func checkAmbiguous(fs *fields, row *Method, unambiguous bool) *frame.Refusal {
	switch row.Subject {
	case policy.ToolSubject, policy.PromptSubject:
		if args := fs.at[fArguments]; args != "" && !unambiguous {
			return frame.CheckFolded(args.Bytes())
		}
	case policy.ResourceSubject:
		if asked := fs.at[fNotifications]; asked != "" {
			return frame.CheckFolded(asked.Bytes(), "resourceSubscriptions")
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
func foldingMessages(v jsonscan.Value, depth int) bool {
	if v.Kind() < jsonscan.Array {
		return false
	}
	if depth > deepestMessage || hasFoldedMembers(v) {
		return true
	}
	for inner := range v.Elements() {
		if foldingMessages(inner, depth+1) {
			return true
		}
	}
	for key, inner := range v.Members() {
		if name := key.Text(); (name == "content" || name == "resource") && foldingMessages(inner, depth+1) {
			return true
		}
	}
	return false
}

// hasFoldedMembers reports an object with two members whose names fold together, or
// with more members than any object it is asked about may have.
func hasFoldedMembers(o jsonscan.Value) bool {
	var members [32]string
	seen := members[:0]
	for key := range o.Members() {
		name := string(frame.FoldName(nil, []byte(key.Text())))
		if len(seen) == len(members) || slices.Contains(seen, name) {
			return true
		}
		seen = append(seen, name)
	}
	return false
}

// foldsTo reports a name that a generous reader takes for one of the protocol's.
func foldsTo(name string, protocol ...string) bool {
	return slices.ContainsFunc(protocol, func(p string) bool { return frame.FoldsTo(name, p) })
}
