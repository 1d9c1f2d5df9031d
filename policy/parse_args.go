package policy

import (
	"fmt"
	"slices"
	"sort"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
)

// maxArgDepth is the largest depth of a condition below args. It equals the largest depth of a
// frame.
const maxArgDepth = 64

// readArgs reads a pair whose key begins with "args".
func (p *parser) readArgs(e toml.Expression) {
	p.markGiven(argsKey, e.Key[0])
	if len(e.Key) > 1 {
		p.readArgument(argPath(nil, e.Key[1:]), e.Key, e.Value)
		return
	}
	if !e.Value.IsTable() {
		p.arguments++
		p.wrongType(label{key: argsKey}, "a table", e.Key, e.Value, `write args.path = "/some/**"`)
		return
	}
	p.eachPair(nil, e.Value, p.readArgument)
}

// eachPair calls read with each pair of an inline table in a rule. The path of each pair begins
// with prefix.
func (p *parser) eachPair(prefix []string, v toml.Value, read func(path []string, at []toml.KeyPart, v toml.Value)) {
	p.tables = true
	v.EachPair(func(key []toml.KeyPart, inner toml.Value) { read(argPath(prefix, key), key, inner) })
}

// readArgument reads the condition on one argument, or a table of such conditions.
func (p *parser) readArgument(path []string, at []toml.KeyPart, v toml.Value) {
	p.arguments++
	if len(path) > maxArgDepth {
		p.fail(at[0].Start, at[len(at)-1].End, fmt.Sprintf("args nest more than %d deep", maxArgDepth), "")
		return
	}
	if strayStar(path) {
		p.fail(at[0].Start, at[len(at)-1].End, argName(path)+` has a "*" beside other names`, strayHint)
		return
	}
	if v.IsTable() {
		before := p.arguments
		p.eachPair(path, v, p.readArgument)
		if p.arguments == before {
			p.fail(at[0].Start, at[len(at)-1].End, argName(path)+" is empty", "")
		}
		return
	}
	globs, written := p.expandGlobs(p.readGlobs(label{argsKey, path}, at, v), at, v)
	if globs == nil {
		return
	}
	r := p.currentRule()
	r.args = append(r.args, argSource{path: path, globs: globs, written: written, pos: p.positionOf(at[0].Start)})
}

// readGlobs reads one glob or a list of globs. It returns nil after an error.
func (p *parser) readGlobs(name label, at []toml.KeyPart, v toml.Value) []string {
	if v.IsString() {
		if s, ok := p.readGlob(name, at, v); ok {
			return []string{s}
		}
		return nil
	}
	if !v.IsList() {
		hint := ""
		if !v.IsTable() {
			hint = fmt.Sprintf("a number or boolean is matched by its text: %s = %q", name, v.SourceText())
		}
		p.wrongType(name, "a glob or a list of globs", at, v, hint)
		return nil
	}
	globs := p.globs[:0]
	before, elements := len(p.errs), 0
	v.EachElement(func(element toml.Value) {
		elements++
		if s, ok := p.readGlob(name, at, element); ok {
			globs = append(globs, s)
		}
	})
	if elements == 0 {
		p.fail(at[0].Start, at[len(at)-1].End, name.String()+" is an empty list", "no value would match")
	}
	p.globs = globs
	if len(p.errs) > before {
		return nil
	}
	return slices.Clone(globs)
}

func (p *parser) checkArgs(r *ruleSource) {
	p.checkNamed(argsKey, p.arguments, `write args.path = "/some/**"`)
	p.checkArguments(r.args)
}

// checkArguments reports an argument that has two conditions, and an argument that has a condition
// while one of its members also has a condition.
func (p *parser) checkArguments(args []argSource) {
	if len(args) < 2 {
		return
	}
	sorted := slices.Clone(args)
	sort.SliceStable(sorted, func(i, j int) bool { return slices.Compare(sorted[i].path, sorted[j].path) < 0 })
	for i, b := range sorted[1:] {
		a := sorted[i]
		switch name := argName(b.path); {
		case len(a.path) > len(b.path) || !slices.Equal(a.path, b.path[:len(a.path)]):
		case len(a.path) == len(b.path):
			p.failArgument(b, name+" is given twice", a)
		default:
			p.failArgument(b, name+" beside "+argName(a.path), a)
		}
	}
}

func (p *parser) failArgument(b argSource, msg string, a argSource) {
	p.errs = append(p.errs, &Error{Pos: b.pos, Text: argName(b.path), Msg: msg,
		Hint: fmt.Sprintf("%s is on line %d; a list of globs says that one must match", argName(a.path), a.pos.Line)})
}

// argPath joins prefix, the path from the header, and the names of a key to a path below args.
func argPath(prefix []string, key []toml.KeyPart) []string {
	path := make([]string, 0, len(prefix)+len(key))
	path = append(path, prefix...)
	for _, part := range key {
		path = append(path, part.Name)
	}
	return path
}

// argName returns a path as TOML with "args" in front.
func argName(path []string) string { return policytext.DottedKey("args", path...) }
