package client

import (
	"bytes"
	"errors"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const nextYAML = "write it out plainly, or edit the entry by hand"

// yamlReader finds the byte offsets of the parser's nodes, because the offsets of the parser are
// wrong. It compares the texts of the lexer's tokens with the file: without blanks, all tokens
// together are the file.
type yamlReader struct {
	src    []byte
	spans  map[*token.Token]span
	broken *token.Token // a token whose text differs from the text in the file; nil if there is none
}

type span struct{ start, end int }

// maxYAML is the maximum size of a YAML file in bytes. For some files the parser's time grows with
// the square of the size, and a project's file may come from a stranger.
const maxYAML = 1 << 20

// parseYAML reads a file with one document. It returns nil if the file is empty.
func parseYAML(src []byte) (*node, error) {
	if len(src) > maxYAML {
		return nil, newEditError(src, 0, "edit the file by hand", "the file is larger than 1 MiB")
	}
	y := &yamlReader{src: src, spans: map[*token.Token]span{}}
	parsed, err := y.parseTokens()
	if err != nil {
		return nil, err
	}
	var root *node
	for _, doc := range parsed.Docs {
		if doc.Body == nil {
			continue
		}
		body := y.convertNode(doc.Body, bomLength(src))
		if _, directive := doc.Body.(*ast.DirectiveNode); directive || root != nil {
			return nil, newEditError(src, body.start, nextYAML, "the file holds a directive or more than one document")
		}
		root = body
	}
	if y.broken != nil {
		return nil, newEditError(src, y.spans[y.broken].start, nextRepair, "the text here cannot be read exactly")
	}
	return root, nil
}

const yamlBlanks = " \t\r\n"

// parseTokens runs the library. It turns a panic of the library into an error.
func (y *yamlReader) parseTokens() (parsed *ast.File, err error) {
	defer func() {
		if recover() != nil {
			parsed, err = nil, newEditError(y.src, bomLength(y.src), nextRepair, "the file cannot be read exactly")
		}
	}()
	tokens := lexer.Tokenize(string(y.src[bomLength(y.src):]))
	if !y.placeTokens(tokens) {
		return nil, newEditError(y.src, bomLength(y.src), nextRepair, "the file cannot be read exactly")
	}
	if at := y.findTooDeep(tokens); at >= 0 {
		return nil, newEditError(y.src, at, nextRepair, "values are nested deeper than %d", maxDepth)
	}
	if parsed, err = parser.Parse(tokens, 0); err != nil {
		return nil, y.syntaxError(err)
	}
	return parsed, nil
}

// findTooDeep returns the offset where brackets, or dashes on one line, are nested too deep; -1 if
// there is none. Indentation cannot be too deep, because the file would be too large.
func (y *yamlReader) findTooDeep(tokens token.Tokens) int {
	brackets, dashes, line := 0, 0, 0
	for _, tk := range tokens {
		switch tk.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.SequenceEntryType, token.MappingKeyType:
			if start := lineStart(y.src, y.spans[tk].start); start != line {
				line, dashes = start, 0
			}
			dashes++
		}
		if max(brackets, dashes) > maxDepth {
			return y.spans[tk].start
		}
	}
	return -1
}

// placeTokens finds the bytes of each token. It returns false if the tokens together are not the
// file. It ignores blanks, because the lexer drops blanks at the end of a line.
func (y *yamlReader) placeTokens(tokens token.Tokens) bool {
	at := bomLength(y.src)
	for _, tk := range tokens {
		at = y.skipBlanks(at)
		start := at
		if tk.Type == token.DoubleQuoteType && at < len(y.src) && y.src[at] == '"' {
			at = y.skipQuotes(at)
		} else if at = y.skipText(at, strings.Trim(tk.Origin, yamlBlanks)); at < 0 {
			return false
		}
		y.spans[tk] = span{start, at}
	}
	return y.skipBlanks(at) == len(y.src)
}

func (y *yamlReader) skipBlanks(at int) int {
	return len(y.src) - len(bytes.TrimLeft(y.src[at:], yamlBlanks))
}

// skipText returns the offset after a text that must begin at the offset in the parameter at. If
// the file has another text there, it returns -1. It ignores differences in blanks.
func (y *yamlReader) skipText(at int, text string) int {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(yamlBlanks, r) }) {
		at = y.skipBlanks(at)
		if !bytes.HasPrefix(y.src[at:], []byte(part)) {
			return -1
		}
		at += len(part)
	}
	return at
}

// skipQuotes returns the end of a string in double quotes. It reads the file itself, because the
// lexer's text of such a string lacks the digits of escapes.
func (y *yamlReader) skipQuotes(at int) int {
	for i := at + 1; i < len(y.src); i++ {
		switch y.src[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(y.src)
}

// tokenSpan returns the place of a token. If the parser made the token for a missing value, it
// returns fallback.
func (y *yamlReader) tokenSpan(tk *token.Token, fallback int) span {
	if s, known := y.spans[tk]; known {
		return s
	}
	return span{fallback, fallback}
}

func (y *yamlReader) syntaxError(err error) *EditError {
	var at interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &at) {
		return newEditError(y.src, bomLength(y.src), nextRepair, "the file is not YAML")
	}
	return newEditError(y.src, y.tokenSpan(at.GetToken(), bomLength(y.src)).start, nextRepair, "%s", at.GetMessage())
}

// convertNode converts a value. If the file has no value, the parameter at is the place where the
// value is missing.
func (y *yamlReader) convertNode(n ast.Node, at int) *node {
	if n == nil {
		return &node{kind: nullKind, start: at, end: at}
	}
	place := y.tokenSpan(n.GetToken(), at)
	plain := &node{start: place.start, end: place.end}
	switch v := n.(type) {
	case *ast.MappingNode:
		return y.convertMapping(v.Values, v.IsFlowStyle, place)
	case *ast.MappingValueNode:
		return y.convertMapping([]*ast.MappingValueNode{v}, v.IsFlowStyle, place)
	case *ast.SequenceNode:
		return y.convertSequence(v, place)
	case *ast.StringNode:
		return y.convertScalar(v, place)
	case *ast.LiteralNode:
		plain.kind, plain.refused = stringKind, "a string over several lines"
	case *ast.AnchorNode:
		return y.convertRefused(v.Value, place, "an anchor")
	case *ast.TagNode:
		return y.convertRefused(v.Value, place, "a tag")
	case *ast.AliasNode:
		plain.refused = "an alias"
	case *ast.NullNode:
		plain.kind = nullKind
	}
	return plain
}

// convertRefused converts a value that has a mark, such as an anchor. Such a value must not be
// edited.
func (y *yamlReader) convertRefused(value ast.Node, place span, mark string) *node {
	n := y.convertNode(value, place.end)
	n.start, n.refused = place.start, mark
	return n
}

func (y *yamlReader) convertMapping(values []*ast.MappingValueNode, flow bool, place span) *node {
	n := &node{kind: objectKind, start: place.start, end: place.end}
	for i, v := range values {
		tk := v.Key.GetToken()
		key := y.tokenSpan(tk, place.end)
		if i == 0 && !flow {
			n.start = key.start
		}
		switch v.Key.(type) {
		case *ast.MergeKeyNode:
			n.refused = "a merge key"
		case *ast.MappingKeyNode, *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
			n.refused = "a key that is not a plain name"
		}
		n.members = append(n.members, member{
			name: tk.Value, start: key.start, last: key.start, end: key.end,
			escaped: tk.Type == token.DoubleQuoteType && bytes.IndexByte(y.src[key.start:key.end], '\\') >= 0,
			block:   !flow, value: y.convertNode(v.Value, y.tokenSpan(v.Start, key.end).end),
		})
	}
	return n
}

func (y *yamlReader) convertSequence(v *ast.SequenceNode, place span) *node {
	n := &node{kind: listKind, start: place.start, block: !v.IsFlowStyle}
	if v.IsFlowStyle {
		n.end = y.tokenSpan(v.End, place.end).end
	}
	for i, value := range v.Values {
		lead := place
		if n.block && i < len(v.Entries) {
			lead = y.tokenSpan(v.Entries[i].Start, place.end)
		}
		item := y.convertNode(value, lead.end)
		item.lead = lead.start
		if n.block && strings.Trim(lineIndent(y.src, lead.start), " ") != "" {
			n.refused = "a list that begins inside a line"
		}
		n.items = append(n.items, item)
	}
	return n
}

// convertScalar converts a string. It sets y.broken if the bytes in the range place do not form
// this string.
func (y *yamlReader) convertScalar(v *ast.StringNode, place span) *node {
	n := &node{kind: stringKind, start: place.start, end: place.end, text: v.Value}
	raw := string(y.src[place.start:place.end])
	exact := false
	switch v.Token.Type {
	case token.SingleQuoteType:
		exact = len(raw) > 1 && raw[0] == '\'' && raw[len(raw)-1] == '\''
	case token.DoubleQuoteType:
		exact = len(raw) > 1 && raw[0] == '"' && raw[len(raw)-1] == '"'
	default:
		n.plain = true
		exact = raw == v.Value || strings.Contains(raw, "\n")
	}
	if strings.Contains(raw, "\n") {
		n.refused = "a string over several lines"
	}
	if !exact {
		y.broken = v.Token
	}
	return n
}
