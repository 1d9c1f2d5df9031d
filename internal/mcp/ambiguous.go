package mcp

import (
	"slices"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// checkAmbiguous returns the reason why two servers could read the params of a judged call
// differently, or nil. The reasons are two members whose names fold together, and numbers that
// parsers round. internal/wire/frame has checked the members of params themselves. checkAmbiguous
// checks the objects inside params that readers decode by name: the arguments of a tool or prompt
// at any depth, and the messages of a sampling request with their blocks. unambiguous is
// Frame.Unambiguous. In schemas, tool inputs and structured results, names that differ only in case
// are data.
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
	default: // other params have no inner members that readers decode by name
	}
	return nil
}

// deepestMessage is the maximum depth at which a resource may be inside a tool result of a sampling
// message. The depth is counted from params.messages. It allows one more level of nested tool
// results than any version of MCP.
const deepestMessage = 2 + 2*maxResults + 2

// foldingMessages reports whether two members of one object have names that fold together. It looks
// at a sampling message, its blocks, and the blocks of tool results in it. Below deepestMessage it
// returns true without a search, because each level costs another pass.
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

// hasFoldedMembers reports whether an object has two members whose names fold together. It also
// returns true for more than 32 members, which no valid object here has.
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

// foldsTo reports whether a reader that ignores case would read name as one of the names in
// protocol.
func foldsTo(name string, protocol ...string) bool {
	return slices.ContainsFunc(protocol, func(p string) bool { return frame.FoldsTo(name, p) })
}
