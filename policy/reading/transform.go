package reading

import (
	"strings"

	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy/internal/effort"
)

// Transforms is a set of transformations that a server may apply to a value. Before a value and a
// pattern are compared, both get the same transformations. So they always match if they are written
// in the same way.
type Transforms uint8

// The transformations, in the order in which they are applied (stages).
const (
	decoded Transforms = 1 << iota // decodes percent escapes
	slashed                        // changes backslashes to slashes
	// Changes a file: URI to a path, ~ to the home, and the scheme and host of a URL to one form.
	Located
	named    // removes the parts of names that Windows ignores
	cleaned  // resolves dot segments and double slashes
	composed // normalises to NFC
	compat   // normalises to NFKC
	folded   // folds letter case
)

// stages lists the transformations in the order in which values and patterns get them. Each stage
// may be applied or left out.
var stages = [...]Transforms{decoded, slashed, Located, named, cleaned, composed, compat, folded}

// transformStage applies one stage to a value. It returns the value unchanged if the stage is not
// about such a value.
func transformStage(s string, stage Transforms, home string) string {
	switch stage {
	case decoded:
		head, path, tail := splitValue(s)
		return joinParts(head, unescapeOnce(path), tail)
	case slashed:
		return strings.ReplaceAll(s, `\`, "/")
	case Located:
		return locatePlace(s, home)
	case named:
		return dropNames(s)
	case cleaned:
		head, path, tail := splitValue(s)
		if path == "" && tail != "" && isWeb(s) {
			path = "/" // WHATWG URL, path start state: ? and # also end a host, whatever follows
		}
		return joinParts(head, cleanPath(path), tail)
	case composed, compat:
		return normaliseUnicode(s, stage)
	}
	return FoldCase(s)
}

// transformPattern applies one stage to a glob, as transformStage does to a value. It does not
// change wildcards. It marks a wildcard that comes out of decoding as literal.
func transformPattern(p string, stage Transforms, home string) string {
	switch stage {
	case decoded:
		return decodePattern(p)
	case Located:
		return locatePattern(p, home)
	case named:
		return p
	case cleaned:
		for strings.HasPrefix(p, "./") && len(p) > 2 {
			p = p[2:]
		}
		return p
	}
	return transformStage(p, stage, home)
}

// TransformGlob applies all stages of a set to a glob.
func TransformGlob(text string, h Transforms, home string) string {
	for _, stage := range stages {
		if h&stage != 0 {
			text = transformPattern(text, stage, home)
		}
	}
	return text
}

// GlobEffects returns the stages that change a glob, alone or after other stages.
func GlobEffects(text, home string) Transforms {
	var h Transforms
	if shapeOf(text)&(unplain|hasUpper) == 0 {
		return h
	}
	seen := []string{text}
	for _, stage := range stages {
		for _, t := range seen {
			if u := transformPattern(t, stage, home); u != t {
				h |= stage
				seen = append(seen, u)
			}
		}
	}
	return h
}

// joinParts returns head + path + tail, without a copy if there is only a path.
func joinParts(head, path, tail string) string {
	if head == "" && tail == "" {
		return path
	}
	return head + path + tail
}

// Effort for one byte of text in a stage.
const (
	namesEffort = 48 // for a stage that splits a path into its names
	wideEffort  = 80 // for a stage that normalises or folds text that is not ASCII
)

// payStage subtracts the effort of one stage on the text s from the remaining effort.
func payStage(left *effort.Left, s string, stage Transforms) {
	weight := 3
	switch {
	case stage == named && strings.ContainsAny(s, ". :"):
		weight = namesEffort
	case stage&(composed|compat|folded) != 0 && !textclass.IsASCII(s):
		weight = wideEffort
	}
	left.Spend(weight * len(s))
}
