package workload

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gateway/principal"
)

func TestSettings(t *testing.T) {
	const github, gitlab = "https://token.actions.githubusercontent.com", "https://gitlab.com"
	number := func(n int) *int { return &n }
	of := func(pairs ...string) func(s *Settings) {
		return func(s *Settings) {
			s.Claims = map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				s.Claims[pairs[i]] = pairs[i+1]
			}
		}
	}
	at := func(issuer string, pairs ...string) func(s *Settings) {
		return func(s *Settings) {
			of(pairs...)(s)
			s.Issuer = issuer
		}
	}
	for name, c := range map[string]struct {
		change func(s *Settings)
		want   string // in the error; "": none
	}{
		"as it should be":             {func(*Settings) {}, ""},
		"no name":                     {func(s *Settings) { s.Name = "" }, "number 1 has the name"},
		"a name with a space":         {func(s *Settings) { s.Name = "a b" }, "number 1 has the name"},
		"a long name":                 {func(s *Settings) { s.Name = strings.Repeat("x", 65) }, "number 1 has the name"},
		"no issuer":                   {func(s *Settings) { s.Issuer = "" }, `"ci": issuer is missing`},
		"an issuer in clear":          {func(s *Settings) { s.Issuer = "http://issuer.example" }, "begins with https://"},
		"an issuer with a query":      {func(s *Settings) { s.Issuer = "https://issuer.example?x" }, "not an address"},
		"no audience":                 {func(s *Settings) { s.Audience = "" }, "audience is missing"},
		"an audience with a line":     {func(s *Settings) { s.Audience = "a\nb" }, "audience is missing"},
		"the audience of the issuer":  {func(s *Settings) { s.Audience = s.Issuer }, "audience is the issuer itself"},
		"the audience of people":      {func(s *Settings) { s.Audience = "people" }, "client_id of [oidc]"},
		"no roles":                    {func(s *Settings) { s.Roles = nil }, "roles is missing"},
		"a role of people":            {func(s *Settings) { s.Roles = []string{principal.Admin} }, `"admin" is no role of machines`},
		"no minutes":                  {func(s *Settings) { s.Minutes = number(0) }, "minutes: 0; it is 1 to 1440"},
		"many minutes":                {func(s *Settings) { s.Minutes = number(MaxMinutes + 1) }, "minutes: 1441"},
		"most minutes":                {func(s *Settings) { s.Minutes = number(MaxMinutes) }, ""},
		"no claims":                   {of(), "claims is missing"},
		"whatever subject":            {of("sub", "*"), "whomever the issuer knows"},
		"whatever repository":         {of("repository", "*/*", "sub", "**:?"), "whomever the issuer knows"},
		"a claim of every token":      {of("iss", "https://issuer.example"), "iss is checked of every token"},
		"the audience as a claim":     {of("aud", "a", "sub", "b"), "aud is checked of every token"},
		"an empty claim":              {of("sub", ""), "no name with a text"},
		"a claim with a line's end":   {of("sub", "a\nb"), "no name with a text"},
		"a repository of GitHub":      {at(github, "repository", "team/policy", "ref", "refs/heads/main"), ""},
		"all repositories of a team":  {at(github, "repository", "team/*"), ""},
		"an owner of GitHub":          {at(github, "repository_owner_id", "123"), ""},
		"any owner of GitHub":         {at(github, "repository_owner", "te*"), "says not whose a token is"},
		"any repository of GitHub":    {at(github, "ref", "refs/heads/main"), "says not whose a token is"},
		"a wildcard for the owner":    {at(github, "repository", "te*/policy"), "no wildcard before its first"},
		"any subject of GitHub":       {at(github, "sub", "repo:*:ref:refs/heads/main"), "says not whose"},
		"a subject of GitHub":         {at(github, "sub", "repo:team/*:ref:refs/heads/main"), ""},
		"a public workflow of GitHub": {at(github, "job_workflow_ref", "team/ci/.github/workflows/a.yml@refs/heads/main"), "says not whose"},
		"a company of GitHub":         {at(github+"/company", "ref", "refs/heads/main"), "says not whose"},
		"GitHub in other letters":     {at("https://Token.Actions.GithubUserContent.com", "ref", "refs/heads/main"), "says not whose"},
		"a subject of a workflow":     {at(github, "sub", "job_workflow_ref:team/ci/.github/workflows/a.yml@refs/heads/main"), "says not whose"},
		"a subject of a branch":       {at(github, "sub", "ref:refs/heads/main"), "says not whose"},
		"a subject of an environment": {at(github, "sub", "environment:production"), "says not whose"},
		"a subject of an owner":       {at(github, "sub", "repository_owner:team:workflow:*"), ""},
		"a subject of any owner":      {at(github, "sub", "repository_owner:te*:job_workflow_ref:team/a"), "says not whose"},
		"a subject of no repository":  {at(github, "sub", "repo::team/policy"), "says not whose"},
		"a subject of a person":       {at(gitlab, "sub", "user_login:ana"), "says not whose"},
		"a subject of a project":      {at(gitlab, "sub", "project_path:team/*:ref_type:branch:ref:main"), ""},
		"a project of GitLab":         {at(gitlab, "project_path", "team/policy", "ref_protected", "true"), ""},
		"any project of GitLab":       {at(gitlab, "ref_protected", "true"), "says not whose"},
		"a GitLab of our own":         {at("https://gitlab.example", "ref_protected", "true"), ""},
		"an account of Kubernetes":    {at("https://kubernetes.default.svc.cluster.local", "sub", "system:serviceaccount:ci:publisher"), ""},
	} {
		s := Settings{Name: "ci", Issuer: "https://issuer.example", Audience: audience, Roles: []string{principal.Publish}, Claims: map[string]string{"sub": "7"}}
		c.change(&s)
		err := CheckSettings([]Settings{s}, "people")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	one := Settings{Name: "ci", Issuer: "https://issuer.example", Audience: audience, Roles: []string{principal.Publish}, Claims: map[string]string{"sub": "7"}}
	if err := CheckSettings([]Settings{one, one}, ""); err == nil || !strings.Contains(err.Error(), "there twice") {
		t.Errorf("%v", err)
	}
	if err := CheckSettings(make([]Settings, maxRules+1), ""); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("%v", err)
	}
}
