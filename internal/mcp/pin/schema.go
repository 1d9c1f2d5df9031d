package pin

import (
	"encoding/json"
	"slices"
)

// schema compares two schemas: true and absence demand nothing, false lets nothing pass.
func (d *differ) schema(at string, was, is any) {
	before, wasObject := demands(was)
	after, isObject := demands(is)
	switch {
	case was == false && is == false:
	case is == false:
		d.add(Narrowed, at, was, is)
	case was == false || !wasObject || !isObject:
		d.add(Widened, at, was, is)
	default:
		for _, name := range both(before, after) {
			if !same(before, after, name) {
				d.keyword(name, at+"."+name, before, after)
			}
		}
	}
}

func demands(v any) (map[string]any, bool) {
	if v == true {
		v = nil
	}
	return object(v)
}

func (d *differ) keyword(name, at string, before, after map[string]any) {
	was, is := before[name], after[name]
	k := keywords[name]
	inner := differ{contrary: d.contrary || k.contrary}
	switch {
	case k.holds == named:
		inner.namedSchemas(at, was, is, name == "properties")
	case k.holds == list, k.holds == one && (array(was) || array(is)):
		inner.schemaList(at, was, is)
	case k.holds == one:
		inner.schema(at, was, is)
	case k.rating == asRequired:
		inner.required(at, before, after)
	case k.rating == asText:
		inner.add(Text, at, was, is)
	default:
		inner.add(constrained(k.rating, was, is), at, was, is)
	}
	d.found = append(d.found, inner.found...)
}

func array(v any) bool {
	_, ok := v.([]any)
	return ok
}

// namedSchemas compares objects of schemas. A new parameter opens, one that is gone takes
// something away; of other names nobody knows who refers to them.
func (d *differ) namedSchemas(at string, was, is any, parameters bool) {
	before, wasObject := object(was)
	after, isObject := object(is)
	if !wasObject || !isObject {
		d.add(Widened, at, was, is)
		return
	}
	for _, name := range both(before, after) {
		old, had := before[name]
		now, has := after[name]
		switch at := at + "." + name; {
		case had && has:
			d.schema(at, old, now)
		case has:
			d.add(Widened, at, nil, now)
		case parameters:
			d.add(Narrowed, at, old, nil)
		default:
			d.add(Widened, at, old, nil)
		}
	}
}

// schemaList compares arrays of schemas, each with the one in its place.
func (d *differ) schemaList(at string, was, is any) {
	before, wasList := was.([]any)
	after, isList := is.([]any)
	if !wasList || !isList || len(before) != len(after) {
		d.add(Widened, at, was, is)
		return
	}
	for i := range before {
		d.schema(at, before[i], after[i])
	}
}

// required: what is no longer asked for because its parameter is gone is told there.
func (d *differ) required(at string, before, after map[string]any) {
	was, wasWords := wordsOrNone(before["required"])
	is, isWords := wordsOrNone(after["required"])
	left, _ := object(after["properties"])
	had, _ := object(before["properties"])
	still := slices.DeleteFunc(slices.Clone(was), func(name string) bool {
		_, is := left[name]
		_, was := had[name]
		return was && !is
	})
	if !wasWords || !isWords || !slices.Equal(still, is) {
		d.add(Widened, at, before["required"], after["required"])
		return
	}
	d.add(Narrowed, at, before["required"], after["required"])
}

func wordsOrNone(v any) ([]string, bool) {
	if v == nil {
		return nil, true
	}
	return words(v)
}

// constrained is the class of another value of a constraint.
func constrained(how rating, was, is any) Class {
	switch how {
	case asType:
		return narrower(types(was), types(is), was == nil, is == nil)
	case asEnum:
		return enum(was, is)
	case asUpper, asLower:
		return bound(how, was, is)
	case asDemand:
		switch {
		case was != nil || is == nil:
		case wordy(is):
			return Text // one condition more, in words that a model reads
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

func wordy(v any) bool {
	found := false
	leaves("", v, func(string, string) { found = true })
	return found
}

// typeWords are all types; an integer is a number.
var typeWords = []string{"null", "boolean", "object", "array", "number", "integer", "string"}

// types are the words of a type keyword, nil when it holds something else.
func types(v any) []string {
	if word, ok := v.(string); ok {
		v = []any{word}
	}
	all, ok := words(v)
	if !ok || slices.ContainsFunc(all, func(w string) bool { return !slices.Contains(typeWords, w) }) {
		return nil
	}
	if slices.Contains(all, "number") {
		all = append(all, "integer")
	}
	return all
}

func narrower(was, is []string, wasAny, isAny bool) Class {
	if isAny || len(is) == 0 || len(was) == 0 && !wasAny {
		return Widened
	}
	if wasAny || !slices.ContainsFunc(is, func(w string) bool { return !slices.Contains(was, w) }) {
		return Narrowed
	}
	return Widened
}

// enum: values less narrow; where any value went before, the new ones are words to read.
func enum(was, is any) Class {
	before, wasList := was.([]any)
	after, isList := is.([]any)
	switch {
	case !isList || was != nil && !wasList:
		return Widened
	case was == nil && wordy(is):
		return Text
	case was == nil:
		return Narrowed
	}
	known := map[string]bool{}
	for _, v := range before {
		known[string(written(v))] = true
	}
	for _, v := range after {
		if !known[string(written(v))] {
			return Widened
		}
	}
	return Narrowed
}

func bound(how rating, was, is any) Class {
	if _, number := is.(json.Number); !number {
		return Widened
	}
	if was == nil {
		return Narrowed
	}
	if how == asUpper && below(is, was) || how == asLower && below(was, is) {
		return Narrowed
	}
	return Widened
}
