package policy

import (
	"slices"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
)

// key is one key of a rule, with all that the rooms which read, judge, compare and
// write rules have to know of it. Who handles rules ranges over this table, so that
// a key that is added to it is known everywhere, or is nowhere taken for nothing.
type key struct {
	name   string
	behind string // the key behind which it is set in a rule; "" for the one before it here
	early  bool   // a written rule has it behind the subject

	table scope                                            // of a key that takes a table, and which
	pair  func(p *parser, e toml.Expression)               // reads a pair of such a key
	field func(p *parser, k ruleKey, e toml.Expression)    // reads the value of another
	check func(p *parser, r *ruleSource)                   // reports what only a whole rule tells; may be nil
	write func(r *ruleSource, line func(key, toml string)) // writes it, where the rule says it; nil of one that its action writes

	// narrow changes it for the rule that a person's answer writes; nil keeps it as
	// the rule has it that asked. Nothing is left out unless it says so here.
	narrow func(n *narrower) error

	call *CallKey // of a condition on the call as a whole
}

// ruleKey is the place of a key in the table. Those of subjects have the numbers of
// subjects; a key that no code names needs no constant.
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

	noKey ruleKey = 1<<8 - 1
)

var (
	keys        []key
	ruleKeys    []string  // their names
	written     []ruleKey // the order of a rule that is written
	subjectKeys []string
)

// The functions of the table look into the table, which Go forbids a variable's
// initial value.
func init() {
	addKeys(
		key{name: "action", field: (*parser).readAction, write: (*ruleSource).writeAction},
		subjectRow("tool", toolKey),
		subjectRow("resource", resourceKey),
		subjectRow("prompt", promptKey),
		subjectRow("sampling", samplingKey),
		subjectRow("elicitation", elicitationKey),
		subjectRow("method", methodKey),
		key{name: "args", table: argsScope, pair: (*parser).readArgs, check: (*parser).checkArgs, write: (*ruleSource).writeArgs,
			narrow: (*narrower).narrowArguments},
		key{name: "where", table: whereScope, pair: (*parser).readWhere, check: (*parser).checkWhere, write: (*ruleSource).writeWhere},
		key{name: "args_only", field: (*parser).argsOnly, check: checkFurther(argsOnlyKey), write: (*ruleSource).writeOnly},
		key{name: "args_open", field: (*parser).argsOpen, check: checkFurther(argsOpenKey), write: (*ruleSource).writeOpen},
		key{name: "not", table: notScope, pair: (*parser).readNot, check: (*parser).checkNot, write: (*ruleSource).writeNot},
		callRow(key{name: "server", early: true, field: globOf(func(c *Call) string { return c.Server }), narrow: (*narrower).bindServer,
			call: &CallKey{Glob: true, Is: "the server is", Unknown: "the server's name is not known", Proof: ServerNames, Recorded: true,
				got: func(c *Call) string { return c.Server }}}),
		callRow(key{name: "when", table: partsScope, pair: (*parser).whenPair, check: (*parser).closeWhen,
			call: &CallKey{Is: "it is", Unknown: "the time is not known", Hint: "--at TIME says what time it is", Recorded: true,
				got: gotTime}}),
		callRow(key{name: "annotations", field: (*parser).readAnnotations, check: (*parser).checkAnnotations, narrow: (*narrower).dropAnnotations,
			call: &CallKey{Is: "the server annotates the tool as", Unknown: "what a server says of its tools tightens what the rules below say, and opens nothing",
				Proof: Tightening, Recorded: true, got: gotAnnotations}}),
		callRow(key{name: "find", field: (*parser).readFind, check: (*parser).checkFind, narrow: (*narrower).refuseFind,
			call: &CallKey{Is: "what was found is", Unknown: "nothing has looked for what it carries", Proof: FoundKinds, got: gotFinds}}),
		key{name: "limit", table: partsScope, pair: (*parser).limitPair, check: (*parser).closeLimit, write: (*ruleSource).writeLimit,
			narrow: (*narrower).dropLimit},
		key{name: "ask", behind: "server", field: (*parser).readAsk, check: (*parser).checkAsk, write: (*ruleSource).writeAsk,
			narrow: (*narrower).dropAsk},
		key{name: "pinned", field: (*parser).readPinned, write: (*ruleSource).writePinned},
		key{name: "description", field: (*parser).readDescription, write: (*ruleSource).writeDescription, narrow: (*narrower).dropDescription},
		key{name: "on", behind: "action", field: (*parser).readOn, check: (*parser).checkOn},
		callRow(key{name: "after", behind: "annotations", field: (*parser).readAfter, check: (*parser).checkAfter, narrow: (*narrower).dropAfter,
			call: &CallKey{Is: "the session has seen", Unknown: "what the session has seen before is not known", Hint: "\"session\" in the fixture says what it has seen",
				Proof: Tightening, Fill: func(c, like *Call) { c.Seen = like.Seen }, got: gotSeen}}),
		callRow(key{name: "cwd", behind: "server", early: true, field: globOf(startOf), narrow: (*narrower).bindFolder,
			call: &CallKey{Glob: true, Is: "its relative paths start in", Unknown: "the folder in which its relative paths start is not known",
				Hint: "\"cwd\" in the fixture says it", Recorded: true, got: startOf}}),
	)
}

// addKeys puts rows at the end of the table.
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

// KeyOrder lists the keys of a rule in the order in which the language has them.
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

// findKey gives the key of a name; noKey when there is none.
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
				line(name, policytext.OneOrList(policytext.QuoteAll(r.patterns)))
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
