package policy

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/internal/toml"
)

// parseSource reads the rules of a policy. It reports every error in the text. After an error it
// returns no rules, because a policy is loaded completely or not at all.
func parseSource(file string, src []byte) ([]ruleSource, Errors) {
	f, errs := parseFile(file, src, nil)
	return f.rules, errs
}

// fileSource is the parsed content of a policy's file.
type fileSource struct {
	rules   []ruleSource
	limits  []LimitTable
	extends []Extension
	trusts  []TrustTable
	cages   []CageTable
	level   Level
	folders []FolderList

	environment environment // the zero value if the file has no key env

	packFiles []PackFile
	anchored  bool // at least one rule has the key "above"
}

// parseFile reads the whole file of a policy: rules, limits, extends and the other tables. A list
// in owners replaces the file's own list of [folders] with the same name.
func parseFile(file string, src []byte, owners []FolderList) (fileSource, Errors) {
	p := parser{ownersFolders: owners, file: file, doc: toml.New(src), stated: map[string]Stated{}, given: make([]int, len(keys)), whole: make([]bool, len(keys))}
	defer p.doc.Close()
	switch {
	case bytes.HasPrefix(src, []byte("\xef\xbb\xbf")):
		p.fail(0, 3, "the file begins with a byte order mark", "save it as UTF-8 without one")
		p.doc.RestartAt(3)
	case bytes.HasPrefix(src, []byte("\xff\xfe")), bytes.HasPrefix(src, []byte("\xfe\xff")):
		p.fail(0, 2, "the file is UTF-16", "save it as UTF-8")
		return fileSource{}, p.errs
	}
	// One allocation, because a rule is large and growing the slice would copy the rules.
	p.rules = make([]ruleSource, 0, bytes.Count(src, []byte("[[rule]]")))
	p.readExpressions()
	if len(p.errs) > 0 {
		p.errs.sortByPosition()
		return fileSource{}, p.errs
	}
	return p.fileSource, nil
}

// parser holds the state of reading a policy.
type parser struct {
	file string // the policy's file name in positions
	doc  *toml.Document
	errs Errors
	fileSource
	scope scope

	extended  bool     // the file has the key extends, as a list
	extending bool     // the parser is reading the last [[extends]] in extends
	packed    bool     // the file has the key packs
	prefix    []string // in an argsScope, whereScope or notScope: the path in the header after "args", "where" or "not"
	table     ruleKey  // the key whose table is read, in a partsScope
	tables    bool     // a rule has a table in it, so FirstConflict must be asked

	// The state of the current rule, the last in rules:
	open      bool
	acts      bool   // the rule's action is valid
	broken    bool   // part of the rule is invalid TOML, so missing keys are not reported
	given     []int  // by ruleKey: offset of the key, plus 1; 0 if the rule does not have the key
	arguments int    // number of conditions on arguments, including invalid ones
	typed     int    // number of conditions below "where", including invalid ones
	whole     []bool // by ruleKey, for "when" and "limit": the rule has the whole key as one pair, not as dotted keys such as when.days
	when      whenParts
	limit     limitParts // the parts of the rule's limit, or of a [[limit]]

	globs []string // the globs of the current list; a reused buffer

	stated map[string]Stated // cache of conditions by source text, because rules often have equal conditions

	limiting bool // the parser is reading the last [[limit]] in limits

	named       []string          // the keys that the current table has so far; it is the last table in trusts or cages
	cageHeaders []toml.Expression // the header of each table in cages, in the same order
	flowing     int               // offset of the header [flow], plus 1; 0 if there is none
	levelled    bool              // [flow] has a level

	foldered      bool         // the file has a table [folders]
	ownersFolders []FolderList // lists of [folders] that replace the lists of the file
	known         []FolderList // ownersFolders and the file's lists; set by knownLists
}

// scope tells to which table the pairs after a header belong.
type scope uint8

const (
	fileScope    scope = iota
	ruleScope          // the pairs after [[rule]]
	argsScope          // the pairs after [rule.args], or after a header below it
	whereScope         // the pairs after [rule.where], or after a header below it
	partsScope         // the pairs after [rule.when] or [rule.limit]
	notScope           // the pairs after [rule.not], or after a header below it
	limitScope         // [[limit]]
	trustScope         // the pairs after [server.NAME], or after a header below it
	flowScope          // [flow]
	foldersScope       // [folders]
	cageScope          // [server.NAME.sandbox]
	extendsScope       // [[extends]]
	refusedScope       // the pairs after an invalid header: they are not reported, because the header is reported
)

// readExpressions reads the text expression by expression. After invalid TOML it continues at the
// next rule.
func (p *parser) readExpressions() {
	for {
		if e, ok := p.doc.NextExpression(); ok {
			p.readExpression(e)
			continue
		}
		offset, msg, found := p.doc.SyntaxError()
		if !found {
			break
		}
		p.reportSyntax(offset, msg)
		next := nextRule(p.doc.Src, offset)
		if next < 0 {
			break
		}
		p.doc.RestartAt(next)
	}
	p.endTable()
	p.closeFlow()
	p.closeCages()
	if !p.tables || len(p.errs) > 0 {
		return
	}
	if offset, msg, found := p.doc.FirstConflict(); found {
		p.errs = append(p.errs, &Error{Pos: p.positionOf(offset), Msg: "invalid TOML: " + msg})
	}
}

// nextRule returns the offset of the next line that begins with [[; -1 if no line does.
func nextRule(src []byte, offset int) int {
	for {
		n := bytes.IndexByte(src[offset:], '\n')
		if n < 0 {
			return -1
		}
		offset += n + 1
		if bytes.HasPrefix(bytes.TrimLeft(src[offset:], " \t"), []byte("[[")) {
			return offset
		}
	}
}

func (p *parser) readExpression(e toml.Expression) {
	switch {
	case e.Form != toml.Pair:
		p.readHeader(e)
	case p.scope == fileScope:
		p.filePair(e)
	case p.scope == limitScope:
		p.limitField(e)
	case p.scope == trustScope:
		p.trustField(e)
	case p.scope == flowScope:
		p.flowField(e)
	case p.scope == foldersScope:
		p.foldersField(e)
	case p.scope == cageScope:
		p.cageField(e)
	case p.scope == extendsScope:
		p.extensionField(e)
	case p.scope == ruleScope:
		p.rulePair(e)
		p.currentRule().end = e.End
	case p.scope == argsScope:
		p.readArgument(argPath(p.prefix, e.Key), e.Key, e.Value)
		p.currentRule().end = e.End
	case p.scope == whereScope:
		p.readConstraint(argPath(p.prefix, e.Key), e.Key, e.Value)
		p.currentRule().end = e.End
	case p.scope == notScope:
		p.readException(argPath(p.prefix, e.Key), e.Key, e.Value)
		p.currentRule().end = e.End
	case p.scope == partsScope:
		p.readPart(p.table, e.Key, e.Value)
		p.currentRule().end = e.End
	}
}

// currentRule returns the rule that is being read.
func (p *parser) currentRule() *ruleSource { return &p.rules[len(p.rules)-1] }

// readGlob reads a glob, or reports why it is invalid.
func (p *parser) readGlob(name label, at []toml.KeyPart, v toml.Value) (string, bool) {
	if !v.IsString() {
		p.wrongType(name, "a string", at, v, "")
		return "", false
	}
	s := v.Text()
	if err := glob.Check(s); err != nil {
		start, end, _ := v.Span()
		p.fail(start, end, fmt.Sprintf("%s: %v", name, err), `"*" is any text without a "/", "**" any text`)
		return "", false
	}
	return s, true
}

// wrongType reports a value of a type that its key does not accept.
func (p *parser) wrongType(name label, want string, at []toml.KeyPart, v toml.Value, hint string) {
	start, end, known := v.Span()
	if !known {
		start, end = at[0].Start, at[len(at)-1].End
	}
	p.fail(start, end, fmt.Sprintf("%s must be %s, not %s", name, want, v.DescribeKind()), hint)
}

// fail reports an error about the bytes from start to end.
func (p *parser) fail(start, end int, msg, hint string) {
	text := p.doc.Src[start:end]
	if i := bytes.IndexAny(text, "\r\n"); i >= 0 {
		text = text[:i]
	}
	p.errs = append(p.errs, &Error{Pos: p.positionOf(start), Text: string(text), Msg: msg, Hint: hint})
}

// positionOf returns the position of an offset in the text.
func (p *parser) positionOf(offset int) Position {
	line, column := p.doc.PositionAt(offset)
	return Position{File: p.file, Line: line, Column: column}
}

// reportSyntax reports invalid TOML. Then the checks of the whole rule are skipped.
func (p *parser) reportSyntax(offset int, msg string) {
	p.broken = true
	r, size := utf8.DecodeRune(p.doc.Src[offset:])
	hint := ""
	switch {
	case strings.Contains(msg, "escape"):
		hint = `write \\ for a backslash, or put the text in single quotes`
	case strings.Contains(msg, "at start of value") && unicode.IsLetter(r):
		hint = "text needs quotes"
	}
	p.fail(offset, offset+size, "invalid TOML: "+msg, hint)
}
