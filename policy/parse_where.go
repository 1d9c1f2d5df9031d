package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/internal/toml"
	"github.com/clawai/clawai/policy/policytext"
	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/disk"
	"github.com/clawai/clawai/policy/where/scalar"
	"github.com/clawai/clawai/policy/where/shell"
	"github.com/clawai/clawai/policy/where/sql"
	"github.com/clawai/clawai/policy/where/web"
)

// whereSource is one where.<name>.<key> as written.
type whereSource struct {
	path  []string // the path of the argument: the names between "where" and the last key; never empty
	key   *constraintKey
	value any // in the Go type of key.form
	text  inTOML
	pos   Position
	made  where.Constraint
}

// constraintKey describes one kind of constraint: the last name of where.<name>.<key>.
type constraintKey struct {
	name string
	form valueForm
	// If the value may be a table: the keys of the table; a value that is not a table belongs to
	// the first key.
	settings []string
	make     func(value any, o *Options) (where.Constraint, error)
	// local reports whether a constraint depends on Options (the home, the disk). If so,
	// compileConstraint must build the constraint again. If local is nil, no constraint with this
	// key depends on Options. For servers on Windows, compileConstraint builds a constraint again
	// whenever local is not nil.
	local       func(where.Constraint) bool
	path, whole bool // see the fields of the same name in constraint
}

// constraintKeys holds one row for each kind of constraint.
var constraintKeys = []constraintKey{
	{name: "under", form: textsForm, local: alwaysTrue, path: true, make: func(v any, o *Options) (where.Constraint, error) { return disk.NewUnder(v.([]string), o.Home, o.Disk) }},
	{name: "host", form: textsForm, make: textsMaker(web.NewHosts)},
	{name: "scheme", form: textsForm, make: textsMaker(web.NewScheme)},
	{name: "public", form: booleanForm, make: booleanMaker(web.NewPublic)},
	{name: "sql", form: settingsForm, settings: []string{"mode", "dialect"}, make: readOnly},
	{name: "command", form: listsForm, settings: shell.Settings, local: shell.AsksPlaces, make: makeCommand},
	{name: "regex", form: textForm, local: scalar.NamesBase, make: func(v any, o *Options) (where.Constraint, error) { return scalar.NewRegex(v.(string), o.Home) }},
	{name: "one_of", form: scalarsForm, make: func(v any, _ *Options) (where.Constraint, error) { return scalar.OneOf(v.([]any)) }},
	{name: "min", form: numberForm, make: func(v any, _ *Options) (where.Constraint, error) { return scalar.NewMin(v) }},
	{name: "max", form: numberForm, make: func(v any, _ *Options) (where.Constraint, error) { return scalar.NewMax(v) }},
	{name: "max_length", form: countForm, make: func(v any, _ *Options) (where.Constraint, error) { return scalar.MaxLength(v.(int)) }},
	{name: "type", form: textForm, whole: true, make: textMaker(scalar.NewType)},
	{name: "present", form: booleanForm, whole: true, make: booleanMaker(scalar.NewPresent)},
}

// emptyOptions is used to build a constraint for a check, before the options are known.
var emptyOptions Options

func alwaysTrue(where.Constraint) bool { return true }

func textsMaker(f func([]string) (where.Constraint, error)) func(any, *Options) (where.Constraint, error) {
	return func(v any, _ *Options) (where.Constraint, error) { return f(v.([]string)) }
}

func textMaker(f func(string) (where.Constraint, error)) func(any, *Options) (where.Constraint, error) {
	return func(v any, _ *Options) (where.Constraint, error) { return f(v.(string)) }
}

func booleanMaker(f func(bool) where.Constraint) func(any, *Options) (where.Constraint, error) {
	return func(v any, _ *Options) (where.Constraint, error) { return f(v.(bool)), nil }
}

func readOnly(v any, _ *Options) (where.Constraint, error) {
	settings := v.(map[string]string)
	return sql.New(settings["mode"], settings["dialect"])
}

func makeCommand(v any, o *Options) (where.Constraint, error) {
	return shell.New(v.([]shell.Setting), shell.Ports{
		Place: func(path, base string) (stands, leads string, known bool) {
			return disk.LocatePath(path, o.Home, base, o.Disk)
		},
		Home:    o.Home,
		Hosts:   web.NewHosts,
		Windows: o.windows,
	})
}

var constraintNames = func() (names []string) {
	for _, k := range constraintKeys {
		names = append(names, k.name)
	}
	return names
}()

func findConstraint(name string) *constraintKey {
	if i := slices.Index(constraintNames, name); i >= 0 {
		return &constraintKeys[i]
	}
	return nil
}

// isTableValue reports whether the table is the value of the constraint. If it is not, the keys of
// the table belong to the path to an argument.
func (k *constraintKey) isTableValue(v toml.Value) bool {
	if k == nil || k.form != listsForm {
		return k != nil && k.form == settingsForm && !v.HasTable()
	}
	ours := false
	v.EachPair(func(key []toml.KeyPart, _ toml.Value) {
		ours = ours || len(key) == 1 && slices.Contains(k.settings, key[0].Name)
	})
	return ours
}

func whereName(path []string) string { return policytext.DottedKey("where", path...) }

// readWhere reads a pair whose key begins with "where".
func (p *parser) readWhere(e toml.Expression) {
	p.markGiven(whereKey, e.Key[0])
	switch {
	case len(e.Key) > 1:
		p.readConstraint(argPath(nil, e.Key[1:]), e.Key, e.Value)
	case !e.Value.IsTable():
		p.typed++
		p.wrongType(label{key: whereKey}, "a table", e.Key, e.Value, `write where.path = { under = ["~/some"] }`)
	default:
		p.eachPair(nil, e.Value, p.readConstraint)
	}
}

// readConstraint reads a pair below "where". The last name of the path is the constraint, and the
// names before it lead to the argument. If the value is a table, its keys belong to the path too,
// unless the constraint accepts a table.
func (p *parser) readConstraint(path []string, at []toml.KeyPart, v toml.Value) {
	p.typed++
	start, end := at[0].Start, at[len(at)-1].End
	name := label{whereKey, path}
	last := len(path) - 1
	key := findConstraint(path[last])
	switch {
	case strayStar(path[:last]):
		p.fail(start, end, name.String()+` has a "*" beside other names`, strings.ReplaceAll(strayHint, "args", "where"))
	case key != nil && key.whole && EveryArgument(path[:last]):
		p.fail(start, end, fmt.Sprintf("%s is about one argument, and %q names any", key.name, everyName), "name the argument that it is about")
	case last > maxArgDepth:
		p.fail(start, end, fmt.Sprintf("where nests more than %d deep", maxArgDepth), "")
	case v.IsTable() && (last == 0 || !key.isTableValue(v)):
		before := p.typed
		p.eachPair(path, v, p.readConstraint)
		if p.typed == before {
			p.fail(start, end, name.String()+" is empty", "write "+whereName(path[:1])+` = { present = true }`)
		}
	case last == 0 && key != nil:
		p.fail(start, end, name.String()+" names no argument", fmt.Sprintf("write where.<argument>.%s = ...", key.name))
	case last == 0:
		p.wrongType(name, "a table of constraints", at, v, fmt.Sprintf("write %s = { regex = ... }; globs stand under args", name))
	case key == nil:
		p.unknownConstraint(path, at)
	default:
		p.addConstraint(whereSource{path: path[:last], key: key, pos: p.positionOf(start)}, name, at, v)
	}
}

func (p *parser) unknownConstraint(path []string, at []toml.KeyPart) {
	part := at[len(at)-1]
	last := path[len(path)-1]
	if command := findConstraint("command"); slices.Contains(command.settings, last) && last != "hosts" { // hosts is probably a misspelling of the constraint host
		argument := slices.Clone(path[:len(path)-1])
		name := argument
		if len(argument) == 1 || argument[len(argument)-1] != command.name {
			name = append(name, command.name)
		}
		p.fail(part.Start, part.End, fmt.Sprintf("%q on %s is of the table of command", last, argName(argument)),
			fmt.Sprintf("write %s = { run = [...], %s = [...] }", whereName(name), last))
		return
	}
	p.fail(part.Start, part.End, fmt.Sprintf("unknown constraint %q on %s", last, argName(path[:len(path)-1])),
		suggestWord(last, constraintNames, "there are "+listWords(constraintNames)))
}

// addConstraint reads the value of a constraint and builds it.
func (p *parser) addConstraint(w whereSource, name label, at []toml.KeyPart, v toml.Value) {
	before := len(p.errs)
	w.value, w.text = p.readValue(w.key, name, at, v)
	p.expandValue(&w, at, v)
	if len(p.errs) > before {
		return
	}
	var err error
	if w.made, err = w.key.make(w.value, &emptyOptions); err != nil {
		start, end, known := v.Span()
		if !known {
			start, end = at[0].Start, at[len(at)-1].End
		}
		p.fail(start, end, fmt.Sprintf("%s: %v", name, err), "")
		return
	}
	r := p.currentRule()
	r.where = append(r.where, w)
}

func (p *parser) checkWhere(r *ruleSource) {
	p.checkNamed(whereKey, p.typed, `write where.path = { under = ["~/some"] }`)
	p.checkConstraints(r.where)
}

// checkConstraints reports a constraint that is given twice.
func (p *parser) checkConstraints(all []whereSource) {
	for i := range all {
		b := &all[i]
		for j := range all[:i] {
			a := &all[j]
			if a.key != b.key || !slices.Equal(a.path, b.path) {
				continue
			}
			name := whereName(append(slices.Clone(b.path), b.key.name))
			p.errs = append(p.errs, &Error{Pos: b.pos, Text: name, Msg: name + " is given twice",
				Hint: fmt.Sprintf("the first is on line %d", a.pos.Line)})
			break
		}
	}
}

// spellsJSON reports whether the constraint judges the spelling of a text even if the text holds
// JSON. Such a constraint is about the type or the presence of the argument, lists texts, or has a
// regular expression that begins like JSON.
func (w *whereSource) spellsJSON() bool {
	switch w.key.name {
	case "type", "present", "one_of":
		return true
	case "regex":
		return beginsAsJSON(w.value.(string))
	}
	return false
}

// beginsAsJSON reports whether a regular expression begins with a bracket or a brace. Flags and an
// anchor may come before.
func beginsAsJSON(expr string) bool {
	if flags, rest, closed := strings.Cut(strings.TrimPrefix(expr, "(?"), ")"); closed && strings.HasPrefix(expr, "(?") && flags != "" && strings.Trim(flags, "imsU") == "" {
		expr = rest
	}
	for _, anchor := range []string{"^", `\A`} {
		if rest, anchored := strings.CutPrefix(expr, anchor); anchored {
			expr = rest
			break
		}
	}
	return strings.HasPrefix(expr, `\[`) || strings.HasPrefix(expr, `\{`) || strings.HasPrefix(expr, "{")
}

// compileConstraint builds a constraint with the options of the compiler.
func (c *compiler) compileConstraint(w *whereSource) *constraint {
	made := w.made
	if w.key.local != nil && (c.windows || w.key.local(made)) {
		made, _ = w.key.make(w.value, c.options) // no error: the parser has checked the value
	}
	return &constraint{Constraint: made, path: w.key.path, whole: w.key.whole, spells: w.spellsJSON()}
}
