package check

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/tidwall/gjson"

	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/policy"
)

// factMember is the member of a fixture for one fact.
type factMember struct {
	name  string
	read  func(*policy.Facts, gjson.Result) error
	write func(*policy.Facts) any // returns the value of the member; nil if the fixture does not have it
}

// factMembers has one entry for each field of policy.Facts.
var factMembers = append(textMembers(), []factMember{
	{"elsewhere", readElsewhere, writeElsewhere},
	{"annotations", readAnnotations, writeAnnotations},
	{"session", readSeen, writeSeen},
	{"at", readAt, writeAt},
	setMember("who", func(f *policy.Facts) *policy.NameSet { return &f.Who }),
	setMember("role", func(f *policy.Facts) *policy.NameSet { return &f.Roles }),
	setMember("group", func(f *policy.Facts) *policy.NameSet { return &f.Groups }),
}...)

// textMembers returns the entries of the facts that are plain texts.
func textMembers() (all []factMember) {
	for _, t := range policy.TextFacts() {
		read := func(f *policy.Facts, value gjson.Result) error {
			text := value.Str
			if *t.Field(f) = text; value.Type != gjson.String || t.Valid != nil && !t.Valid(text) {
				return fmt.Errorf("%q %s", t.Name, cmp.Or(t.Form, "is not text"))
			}
			return nil
		}
		all = append(all, factMember{t.Name, read, func(f *policy.Facts) any { return textOrNil(*t.Field(f)) }})
	}
	return all
}

// setMember returns the entry for a fact that is a set of names. The member is one name or a list
// of names. An empty list means that the set is known and empty.
func setMember(name string, field func(*policy.Facts) *policy.NameSet) factMember {
	return factMember{
		name,
		func(f *policy.Facts, value gjson.Result) (err error) {
			var names []string
			known := value.Type == gjson.String || value.IsArray()
			for _, v := range value.Array() {
				known = known && v.Type == gjson.String
				names = append(names, v.Str)
			}
			if !known {
				return fmt.Errorf("%q is a name or a list of names; [] is a caller without any", name)
			}
			if *field(f), err = policy.NewNameSet(names); err != nil {
				return fmt.Errorf("%q: %w", name, err)
			}
			return nil
		},
		func(f *policy.Facts) any {
			switch list := field(f).List(); len(list) {
			case 0:
				if list == nil {
					return nil
				}
				return list
			case 1:
				return list[0]
			default:
				return list
			}
		},
	}
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func readElsewhere(f *policy.Facts, value gjson.Result) error {
	if f.Elsewhere = value.Type == gjson.True; !f.Elsewhere {
		return errors.New(`"elsewhere" can be true, or left out`)
	}
	return nil
}

func writeElsewhere(f *policy.Facts) any {
	if !f.Elsewhere {
		return nil
	}
	return true
}

// readAnnotations reads the annotations of a tool, in the form of tools/list.
func readAnnotations(f *policy.Facts, value gjson.Result) (err error) {
	if !value.IsObject() {
		return errors.New(`"annotations" is not an object`)
	}
	var unread string
	if f.Assurances, unread = mcp.ReadAssurances([]byte(value.Raw)); unread != "" {
		return fmt.Errorf(`"annotations": %q is not a hint that is true or false (readOnlyHint, destructiveHint, idempotentHint, openWorldHint)`, unread)
	}
	return nil
}

func writeAnnotations(f *policy.Facts) any {
	if f.Assurances == 0 {
		return nil
	}
	return f.Assurances.AnnotationHints()
}

// readSeen reads the labels of the session before the call.
func readSeen(f *policy.Facts, value gjson.Result) error {
	var words []string
	known := value.IsArray()
	for _, v := range value.Array() {
		known = known && v.Type == gjson.String
		words = append(words, v.String())
	}
	if known {
		f.Seen, known = policy.SeenOf(words)
	}
	if !known {
		return fmt.Errorf(`"session" is not a list of labels; write some of %q, or [] for a session that has seen none`, policy.SeenWords())
	}
	return nil
}

func writeSeen(f *policy.Facts) any {
	if f.Seen&policy.Known == 0 {
		return nil
	}
	return append([]string{}, f.Seen.LabelWords()...)
}

func readAt(f *policy.Facts, value gjson.Result) (err error) {
	if f.At, err = time.Parse(time.RFC3339, value.Str); err != nil {
		return errors.New(`"at" is not a date and time with its offset, such as 2026-01-31T09:00:00+01:00`)
	}
	return nil
}

func writeAt(f *policy.Facts) any {
	if f.At.IsZero() {
		return nil
	}
	return f.At.Format(time.RFC3339)
}
