package pin

import (
	"encoding/json"
	"slices"
)

// compareSchemas compares two schemas. The schema true and a missing schema accept every value. The
// schema false accepts none.
func (d *differ) compareSchemas(at string, was, is any) {
	before, wasObject := schemaDemands(was)
	after, isObject := schemaDemands(is)
	switch {
	case was == false && is == false:
	case is == false:
		d.addChange(Narrowed, at, was, is)
	case was == false || !wasObject || !isObject:
		d.addChange(Widened, at, was, is)
	default:
		for _, name := range unionNames(before, after) {
			if !sameMember(before, after, name) {
				d.compareKeyword(name, at+"."+name, before, after)
			}
		}
	}
}

func schemaDemands(v any) (map[string]any, bool) {
	if v == true {
		v = nil
	}
	return asObject(v)
}

func (d *differ) compareKeyword(name, at string, before, after map[string]any) {
	was, is := before[name], after[name]
	k := keywords[name]
	inner := differ{contrary: d.contrary || k.contrary}
	switch {
	case k.holds == named:
		inner.namedSchemas(at, was, is, name == "properties")
	case k.holds == list, k.holds == one && (isArray(was) || isArray(is)):
		inner.schemaList(at, was, is)
	case k.holds == one:
		inner.compareSchemas(at, was, is)
	case k.rating == asRequired:
		inner.compareRequired(at, before, after)
	case k.rating == asText:
		inner.addChange(Text, at, was, is)
	default:
		inner.addChange(constraintClass(k.rating, was, is), at, was, is)
	}
	d.found = append(d.found, inner.found...)
}

func isArray(v any) bool {
	_, ok := v.([]any)
	return ok
}

// namedSchemas compares two objects of schemas. A new parameter counts as widening, and a removed
// one as narrowing. If the schemas are not parameters, a removed schema also counts as widening,
// because other schemas may refer to it.
func (d *differ) namedSchemas(at string, was, is any, parameters bool) {
	before, wasObject := asObject(was)
	after, isObject := asObject(is)
	if !wasObject || !isObject {
		d.addChange(Widened, at, was, is)
		return
	}
	for _, name := range unionNames(before, after) {
		old, had := before[name]
		now, has := after[name]
		switch at := at + "." + name; {
		case had && has:
			d.compareSchemas(at, old, now)
		case has:
			d.addChange(Widened, at, nil, now)
		case parameters:
			d.addChange(Narrowed, at, old, nil)
		default:
			d.addChange(Widened, at, old, nil)
		}
	}
}

// schemaList compares two arrays of schemas element by element.
func (d *differ) schemaList(at string, was, is any) {
	before, wasList := was.([]any)
	after, isList := is.([]any)
	if !wasList || !isList || len(before) != len(after) {
		d.addChange(Widened, at, was, is)
		return
	}
	for i := range before {
		d.compareSchemas(at, before[i], after[i])
	}
}

// compareRequired compares the required lists of two schemas. It ignores the name of a removed
// parameter, because the removal itself is reported.
func (d *differ) compareRequired(at string, before, after map[string]any) {
	was, wasWords := wordsOrNone(before["required"])
	is, isWords := wordsOrNone(after["required"])
	left, _ := asObject(after["properties"])
	had, _ := asObject(before["properties"])
	still := slices.DeleteFunc(slices.Clone(was), func(name string) bool {
		_, is := left[name]
		_, was := had[name]
		return was && !is
	})
	if !wasWords || !isWords || !slices.Equal(still, is) {
		d.addChange(Widened, at, before["required"], after["required"])
		return
	}
	d.addChange(Narrowed, at, before["required"], after["required"])
}

func wordsOrNone(v any) ([]string, bool) {
	if v == nil {
		return nil, true
	}
	return textArray(v)
}

// constraintClass returns the class for a change of a constraint.
func constraintClass(how rating, was, is any) Class {
	switch how {
	case asType:
		return narrowedClass(typeNames(was), typeNames(is), was == nil, is == nil)
	case asEnum:
		return enumClass(was, is)
	case asUpper, asLower:
		return boundClass(how, was, is)
	case asDemand:
		switch {
		case was != nil || is == nil:
		case hasTexts(is):
			return Text // a new condition with a text that a model reads
		default:
			return Narrowed
		}
	case asDialect:
		old, _ := was.(string)
		now, _ := is.(string)
		if dialects[old] && dialects[now] && (was == nil || old != "") && (is == nil || now != "") {
			return Shown
		}
	}
	return Widened
}

func hasTexts(v any) bool {
	found := false
	visitTexts("", v, func(string, string) { found = true })
	return found
}

// typeWords are the words for all types. An integer also counts as a number.
var typeWords = []string{"null", "boolean", "object", "array", "number", "integer", "string"}

// typeNames returns the words in a type keyword. It returns nil for any other value.
func typeNames(v any) []string {
	if word, ok := v.(string); ok {
		v = []any{word}
	}
	all, ok := textArray(v)
	if !ok || slices.ContainsFunc(all, func(w string) bool { return !slices.Contains(typeWords, w) }) {
		return nil
	}
	if slices.Contains(all, "number") {
		all = append(all, "integer")
	}
	return all
}

func narrowedClass(was, is []string, wasAny, isAny bool) Class {
	if isAny || len(is) == 0 || len(was) == 0 && !wasAny {
		return Widened
	}
	if wasAny || !slices.ContainsFunc(is, func(w string) bool { return !slices.Contains(was, w) }) {
		return Narrowed
	}
	return Widened
}

// enumClass returns the class for a change of an enum. Fewer values narrow the schema. A new enum
// is a text that a model reads.
func enumClass(was, is any) Class {
	before, wasList := was.([]any)
	after, isList := is.([]any)
	switch {
	case !isList || was != nil && !wasList:
		return Widened
	case was == nil && hasTexts(is):
		return Text
	case was == nil:
		return Narrowed
	}
	known := map[string]bool{}
	for _, v := range before {
		known[string(encodeTree(v))] = true
	}
	for _, v := range after {
		if !known[string(encodeTree(v))] {
			return Widened
		}
	}
	return Narrowed
}

func boundClass(how rating, was, is any) Class {
	if _, number := is.(json.Number); !number {
		return Widened
	}
	if was == nil {
		return Narrowed
	}
	if how == asUpper && isBelow(is, was) || how == asLower && isBelow(was, is) {
		return Narrowed
	}
	return Widened
}
