package policy

import (
	"slices"

	"github.com/clawai/clawai/policy/internal/toml"
)

// key describes one key of a rule for all code that reads, judges, compares and writes rules.
// Such code ranges over the table keys, so that it handles every key or fails, and never
// ignores a new key.
type key struct {
	name string
	// In the order of a written rule: the key after which this key comes; "" for the key of the
	// previous row.
	behind string
	early  bool // in a written rule the key comes directly after the subject

	// The scope of the pairs, for a key whose value is a table; fileScope for any other key.
	table scope
	// Reads one pair of the table; only for a key whose value is a table.
	pair  func(p *parser, e toml.Expression)
	field func(p *parser, k ruleKey, e toml.Expression) // reads the value of any other key
	// Reports errors that show only when the rule is complete; may be nil.
	check func(p *parser, r *ruleSource)
	// Writes the key if the rule has it; nil if the function write of "action" also writes this
	// key.
	write func(r *ruleSource, line func(key, toml string))

	// narrow changes the key in the new rule that keeps a person's answer. If narrow is nil, the
	// new rule gets the key as in the rule that asked. A key can be dropped only by narrow.
	narrow func(n *narrower) error

	call *CallKey // only for a condition on the call as a whole
}

// ruleKey is the index of a key in the table. The key of a subject has the same number as the
// subject. A key needs a constant only if code names it.
type ruleKey uint8

const (
	actionKey ruleKey = iota
	toolKey
	resourceKey
	promptKey
	samplingKey
	elicitationKey
	methodKey
	argsKey
	whereKey
	argsOnlyKey
	argsOpenKey
	notKey
	serverKey
	whenKey
	annotationsKey
	foundKey
	limitKey
	askKey
	pinnedKey
	descriptionKey
	onKey
	afterKey
	cwdKey
	aboveKey
	previewKey
	approversKey
	approvalsKey
	notSelfKey

	noKey ruleKey = 1<<8 - 1
)

var (
	keys        []key
	ruleKeys    []string  // the names of the keys, by ruleKey
	written     []ruleKey // the order of keys in a written rule
	subjectKeys []string
)

// The table is filled in init: its functions use the table, and Go forbids such a cycle in a
// variable's initial value.
func init() {
	// A row whose key has a constant uses this constant as its index. If the row stands in the
	// wrong place, the code does not compile.
	addKeys([]key{
		actionKey:      {name: "action", field: (*parser).readAction, write: (*ruleSource).writeAction},
		toolKey:        subjectRow("tool", toolKey),
		resourceKey:    subjectRow("resource", resourceKey),
		promptKey:      subjectRow("prompt", promptKey),
		samplingKey:    subjectRow("sampling", samplingKey),
		elicitationKey: subjectRow("elicitation", elicitationKey),
		methodKey:      subjectRow("method", methodKey),
		argsKey: {name: "args", table: argsScope, pair: (*parser).readArgs, check: (*parser).checkArgs, write: (*ruleSource).writeArgs,
			narrow: (*narrower).narrowArguments},
		whereKey:    {name: "where", table: whereScope, pair: (*parser).readWhere, check: (*parser).checkWhere, write: (*ruleSource).writeWhere},
		argsOnlyKey: {name: "args_only", field: (*parser).argsOnly, check: checkFurther(argsOnlyKey), write: (*ruleSource).writeOnly},
		argsOpenKey: {name: "args_open", field: (*parser).argsOpen, check: checkFurther(argsOpenKey), write: (*ruleSource).writeOpen},
		notKey:      {name: "not", table: notScope, pair: (*parser).readNot, check: (*parser).checkNot, write: (*ruleSource).writeNot},
		serverKey: callRow(key{name: "server", early: true, field: readGlobKey, narrow: (*narrower).bindServer,
			call: &CallKey{Glob: true, Is: "the server is", Unknown: "the server's name is not known", Proof: ServerNames, Recorded: true,
				got: func(c *Call) string { return c.Server }}}),
		whenKey: callRow(key{name: "when", table: partsScope, pair: (*parser).whenPair, check: (*parser).closeWhen,
			call: &CallKey{Is: "it is", Unknown: "the time is not known", Hint: "--at TIME says what time it is", Recorded: true,
				got: gotTime}}),
		annotationsKey: callRow(key{name: "annotations", field: (*parser).readAnnotations, check: (*parser).checkAnnotations, narrow: (*narrower).dropAnnotations,
			call: &CallKey{Is: "the server annotates the tool as", Unknown: "what a server says of its tools tightens what the rules below say, and opens nothing",
				Proof: Tightening, Recorded: true, got: gotAnnotations}}),
		foundKey: callRow(key{name: "find", field: (*parser).readFind, check: (*parser).checkFind, narrow: (*narrower).refuseFind,
			call: &CallKey{Is: "what was found is", Unknown: "nothing has looked for what it carries", Proof: FoundKinds, got: gotFinds}}),
		limitKey: {name: "limit", table: partsScope, pair: (*parser).limitPair, check: (*parser).closeLimit, write: (*ruleSource).writeLimit,
			narrow: (*narrower).dropLimit},
		askKey: {name: "ask", behind: "server", field: (*parser).readAsk, check: (*parser).checkAsk, write: (*ruleSource).writeAsk,
			narrow: (*narrower).dropAsk},
		pinnedKey:      {name: "pinned", field: (*parser).readPinned, write: (*ruleSource).writePinned},
		descriptionKey: {name: "description", field: (*parser).readDescription, write: (*ruleSource).writeDescription, narrow: (*narrower).dropDescription},
		onKey:          {name: "on", behind: "action", field: (*parser).readOn, check: (*parser).checkOn},
		afterKey: callRow(key{name: "after", behind: "annotations", field: (*parser).readAfter, check: (*parser).checkAfter, narrow: (*narrower).dropAfter,
			call: &CallKey{Is: "the session has seen", Unknown: "what the session has seen before is not known", Hint: "\"session\" in the fixture says what it has seen",
				Proof: Tightening, Fill: func(c, like *Call) { c.Seen = like.Seen }, got: gotSeen}}),
		cwdKey: callRow(key{name: "cwd", behind: "server", early: true, field: readGlobKey, narrow: (*narrower).bindFolder,
			call: &CallKey{Glob: true, Is: "its relative paths start in", Unknown: "the folder in which its relative paths start is not known",
				Hint: "\"cwd\" in the fixture says it", Recorded: true, got: startOf}}),
		aboveKey: {name: "above", behind: "description", field: (*parser).readAbove, write: (*ruleSource).writeAbove, narrow: (*narrower).keepPlace},
		previewKey: {name: "preview", behind: "ask", field: (*parser).readPreview, check: (*parser).checkPreview, write: (*ruleSource).writePreview,
			narrow: (*narrower).dropPreview},
		approversKey: {name: "approvers", behind: "ask", field: (*parser).readApprovers, check: (*parser).checkApprovers, write: (*ruleSource).writeApproval,
			narrow: (*narrower).dropApproval},
		approvalsKey: {name: "approvals", behind: "approvers", field: (*parser).readApprovals, check: checkWithApprovers(approvalsKey)},
		notSelfKey:   {name: "not_self", behind: "approvals", field: (*parser).readNotSelf, check: checkWithApprovers(notSelfKey)},
		// A caller can have several names, roles and groups. One of them must match.
		callRow(key{name: "who", behind: "server", early: true, field: readGlobKey, call: &CallKey{Glob: true, Is: "the caller is", Unknown: "who calls is not known",
			Hint: "\"who\" in the fixture says it", Recorded: true, set: func(f *Facts) *NameSet { return &f.Who }}}),
		callRow(key{name: "role", behind: "who", early: true, field: readGlobKey, call: &CallKey{Glob: true, Is: "the caller's roles are", Unknown: "the caller's roles are not known",
			Hint: "\"role\" in the fixture says it", Recorded: true, set: func(f *Facts) *NameSet { return &f.Roles }}}),
		callRow(key{name: "group", behind: "role", early: true, field: readGlobKey, call: &CallKey{Glob: true, Is: "the caller's groups are", Unknown: "the caller's groups are not known",
			Hint: "\"group\" in the fixture says it", Recorded: true, set: func(f *Facts) *NameSet { return &f.Groups }}}),
		callRow(key{name: "env", behind: "group", early: true, field: readGlobKey, call: &CallKey{Glob: true, Is: "the environment is", Unknown: "the environment is not known",
			Hint: "\"env\" in the fixture says it", Recorded: true, name: func(f *Facts) *string { return &f.Env }}}),
		callRow(key{name: "agent", behind: "env", early: true, field: readGlobKey, call: &CallKey{Glob: true, Is: "the agent is", Unknown: "the agent is not known for sure",
			Hint: "\"agent\" in the fixture says it", Recorded: true, name: func(f *Facts) *string { return &f.Agent }}}),
	}...)
}

// addKeys appends rows to the table.
func addKeys(rows ...key) {
	keys = append(keys, rows...)
	ruleKeys, written = make([]string, 0, len(keys)), make([]ruleKey, 0, len(keys))
	for i := range keys {
		ruleKeys = append(ruleKeys, keys[i].name)
		if !keys[i].early {
			written = append(written, ruleKey(i))
		}
	}
	at := slices.Index(written, methodKey) + 1
	for i := range keys {
		if keys[i].early {
			written = slices.Insert(written, at, ruleKey(i))
			at++
		}
	}
	subjectKeys = ruleKeys[toolKey:argsKey]
}

// KeyOrder returns the names of the keys in the order of a written rule: the order of the table,
// changed by the fields behind and early.
func KeyOrder() []string {
	var order []string
	for i := range keys {
		at := len(order)
		if keys[i].behind != "" {
			at = slices.Index(order, keys[i].behind) + 1
		}
		order = slices.Insert(order, at, keys[i].name)
	}
	return order
}

// findKey returns the key with the given name, or noKey.
func findKey(name string) ruleKey {
	for i := range keys {
		if name == keys[i].name {
			return ruleKey(i)
		}
	}
	return noKey
}

func subjectRow(name string, k ruleKey) key {
	mine := func(r *ruleSource) bool { return ruleKey(r.subject) == k }
	return key{
		name: name, field: (*parser).readSubject,
		write: func(r *ruleSource, line func(key, toml string)) {
			if mine(r) {
				line(name, globsTOML(r.patterns, r.written))
			}
		},
		narrow: func(n *narrower) error {
			if !mine(&n.rule) {
				return nil
			}
			return n.narrowName()
		},
	}
}

func subjectKey(s Subject) string { return ruleKeys[s] }

func (k ruleKey) isSubject() bool { return k >= toolKey && k <= methodKey }
