package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"
)

// decode reads a file without any of the package's own code.
func decode(f Format, src string) (value any, err error) {
	src = strings.TrimPrefix(src, "\ufeff")
	switch f {
	case TOML:
		err = toml.Unmarshal([]byte(src), &value)
	case YAML:
		err = yaml.Unmarshal([]byte(src), &value)
	default:
		d := json.NewDecoder(strings.NewReader(standard(src)))
		d.UseNumber()
		err = d.Decode(&value)
	}
	return value, err
}

// tokens of JSON5, longest first: comments, strings, words and numbers, marks.
var jsonToken = regexp.MustCompile(`(?s)//[^\r\n\x{2028}\x{2029}]*|/\*.*?\*/|"(?:\\\r\n|\\.|[^"\\])*"|'(?:\\\r\n|\\.|[^'\\])*'|[-+.\w$]+|[{}\[\]:,]`)

// standard rewrites JSON5 as JSON: comments and trailing commas out, every
// string and key in double quotes, numbers JSON does not know as strings.
func standard(src string) string {
	var out []string
	for _, token := range jsonToken.FindAllString(src, -1) {
		switch c := token[0]; {
		case c == '/':
			continue
		case (c == ']' || c == '}') && len(out) > 0 && out[len(out)-1] == ",":
			out = out[:len(out)-1]
		case c == '"' || c == '\'':
			token = standardString(token[1 : len(token)-1])
		case c == ':' && out[len(out)-1][0] != '"': // a key without quotes
			out[len(out)-1] = strconv.Quote(out[len(out)-1])
		case strings.ContainsRune("{}[]:,", rune(c)) || json.Valid([]byte(token)):
		default:
			token = strconv.Quote(token)
		}
		out = append(out, token)
	}
	return strings.Join(out, "")
}

func standardString(inner string) string {
	inner = strings.NewReplacer(`\\`, `\\`, "\\\r\n", "", "\\\n", "", `\'`, `'`, `\"`, `\"`, `"`, `\"`, `\x`, `\u00`).Replace(inner)
	return `"` + inner + `"`
}

// at walks into a decoded file: keys of maps, names of list elements.
func at(value any, path []string) (map[string]any, error) {
	for _, key := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			value = nil
			for _, item := range v {
				if m, ok := item.(map[string]any); ok && m["name"] == key {
					value = m
				}
			}
		}
	}
	entry, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%q is %T", path, value)
	}
	return entry, nil
}

// setWords changes what a decoded entry starts, in whichever form it has.
func setWords(r Row, entry map[string]any, words []string) {
	list := make([]any, len(words))
	for i, word := range words {
		list[i] = word
	}
	command := cmp.Or(r.Command, "command")
	if r.CommandForm == ArrayCommand {
		entry[command] = list
		return
	}
	if nested, ok := entry[r.Nested].(map[string]any); ok {
		entry = nested
	}
	if object, ok := entry[command].(map[string]any); ok {
		object["path"], object["args"] = list[0], list[1:]
		return
	}
	entry[command], entry[cmp.Or(r.Args, "args")] = list[0], list[1:]
}

// same compares decoded values; NaN is itself.
func same(a, b any) bool {
	if x, ok := a.(float64); ok {
		y, ok := b.(float64)
		return ok && (x == y || math.IsNaN(x) && math.IsNaN(y))
	}
	return reflect.DeepEqual(a, b)
}
