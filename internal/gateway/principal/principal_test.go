package principal

import (
	"slices"
	"strings"
	"testing"
)

const issuer = "https://idp.example"

func TestRoles(t *testing.T) {
	t.Parallel()
	rules := []Role{
		{Name: Admin, Groups: []string{"sec-eng"}, People: []string{issuer + "#7", "Ana@Corp.Example", "ana@corp.examplk", "boss@corp.example"}},
		{Name: "oncall", Groups: []string{"ops", "sec-eng"}},
	}
	for name, c := range map[string]struct {
		is   Principal
		want []string
	}{
		"nobody":                          {Principal{Issuer: issuer, Subject: "1", GroupsKnown: true}, nil},
		"a group of two roles":            {Principal{Issuer: issuer, Subject: "1", Groups: []string{"sec-eng"}, GroupsKnown: true}, []string{Admin, "oncall"}},
		"a group in other letters":        {Principal{Issuer: issuer, Subject: "1", Groups: []string{"OPS"}, GroupsKnown: true}, nil},
		"groups that are not known":       {Principal{Issuer: issuer, Subject: "1", Groups: []string{"ops"}}, nil},
		"a key":                           {Principal{Issuer: issuer, Subject: "7"}, []string{Admin}},
		"the subject of another issuer":   {Principal{Issuer: "https://other.example", Subject: "7"}, nil},
		"a verified address":              {Principal{Issuer: issuer, Subject: "1", Email: "ana@corp.example"}, []string{Admin}},
		"an address of look-alikes":       {Principal{Issuer: issuer, Subject: "1", Email: "ana@corp.exampl\u212a"}, nil},
		"a long s":                        {Principal{Issuer: issuer, Subject: "1", Email: "bo\u017f\u017f@corp.example"}, nil},
		"an address only in the name":     {Principal{Issuer: issuer, Subject: "1", Name: "ana@corp.example"}, nil},
		"an address as the subject":       {Principal{Issuer: issuer, Subject: "ana@corp.example"}, nil},
		"an issuer that swallows the key": {Principal{Issuer: "", Subject: issuer + "#7"}, nil},
	} {
		if got := FindRoles(rules, c.is); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if err := CheckRoles(rules); err != nil {
		t.Error(err)
	}
}

func TestOnePersonByTwoAccounts(t *testing.T) {
	t.Parallel()
	is := Principal{Issuer: issuer, Subject: "1", Email: "ana@corp.example"}
	for name, c := range map[string]struct {
		other Principal
		same  bool
	}{
		"the same account":           {Principal{Issuer: issuer, Subject: "1"}, true},
		"another, the same address":  {Principal{Issuer: issuer, Subject: "2", Email: "Ana@Corp.example"}, true},
		"another address":            {Principal{Issuer: issuer, Subject: "2", Email: "ben@corp.example"}, false},
		"no verified address":        {Principal{Issuer: issuer, Subject: "2", Name: "ana@corp.example"}, false},
		"an address of other issuer": {Principal{Issuer: "https://other.example", Subject: "1", Email: "ana@corp.example"}, false},
	} {
		if got := is.IsSame(c.other); got != c.same || c.other.IsSame(is) != got {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (Principal{Issuer: issuer, Subject: "1"}).IsSame(Principal{Issuer: issuer, Subject: "2"}) {
		t.Error("two without an address are one")
	}
}

func TestRolesThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	for want, rules := range map[string][]Role{
		"has the name": {{Name: "Admin", Groups: []string{"x"}}},
		"role 2":       {{Name: "a", Groups: []string{"x"}}, {Groups: []string{"x"}}},
		"twice":        {{Name: "a", Groups: []string{"x"}}, {Name: "a", Groups: []string{"y"}}},
		"is nobody's":  {{Name: "a"}},
		"empty group":  {{Name: "a", Groups: []string{""}}},
		`names "ana"`:  {{Name: "a", People: []string{"ana"}}},
		`"#7"`:         {{Name: "a", People: []string{"#7"}}},
		"local#":       {{Name: "a", People: []string{"local#administrator"}}},
		`"@"`:          {{Name: "a", People: []string{"@"}}},
		issuer + `#"`:  {{Name: "a", People: []string{issuer + "#"}}},
	} {
		if err := CheckRoles(rules); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", rules, err, want)
		}
	}
}
