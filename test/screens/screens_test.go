package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/wordings"
)

const otherRules = `
[[rules]]
regex = 'ghp_[0-9a-zA-Z]{36}'
keywords = ["ghp_"]
[[rules]]
regex = '(?=a)'
`

// The scorecard of texts that are generated here: other ones than the table was learned
// from, of the same lists. It finds most attacks, few ordinary texts and no plain goal.
func TestScorecard(t *testing.T) {
	dir := t.TempDir()
	s := wordings.New(99)
	put := func(file, text string) {
		t.Helper()
		file = filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	corpus := func(name string, n int, text func(i int) string) {
		var b strings.Builder
		for i := range n {
			line, _ := json.Marshal(map[string]string{"text": text(i)})
			b.Write(append(line, '\n'))
		}
		put(name+"/texts.jsonl", b.String())
	}
	families := wordings.Families()
	corpus("attack/own", 140, func(i int) string { return s.Attack(&families[i%len(families)]) })
	corpus("attack/plain", 100, func(int) string { return s.Plain() })
	corpus("benign/own", 300, func(int) string { return s.Ordinary(20) })
	put("secret/own/a.txt", "ghp_"+"16C7e42F292c6912E7710c838347Ae178B4a")
	put("rules.toml", otherRules)
	put("rules.yaml", "response_scanning:\n  patterns:\n    - {name: a key, regex: 'ghp_[0-9a-zA-Z]{36}'}\n")
	var out strings.Builder
	if err := run([]string{"--corpus", dir, "--rules", "other=" + filepath.Join(dir, "rules.toml"), "--rules", "third=" + filepath.Join(dir, "rules.yaml")}, &out); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for line := range strings.Lines(out.String()) {
		if f := strings.Fields(line); len(f) == 8 {
			got[f[0]] = f[2:]
		}
	}
	// what each column may begin with: at 1 %, injection, injection:strict, secret, other, third
	for name, want := range map[string][6]string{
		"attack/own":   {"9|100", "9|100", "", "0.0", "0.0", "0.0"},
		"attack/plain": {"", "", "0.0", "0.0", "0.0", "0.0"},
		"benign/own":   {"0.|1.0", "0.", "0.0", "0.0", "0.0", "0.0"},
		"secret/own":   {"0.0", "0.0", "0.0", "100.0", "100.0", "100.0"},
	} {
		for i, may := range want {
			ok := false
			for _, begins := range strings.Split(may, "|") {
				ok = ok || len(got[name]) == 6 && strings.HasPrefix(got[name][i], begins)
			}
			if !ok {
				t.Errorf("%s, column %d: %v, want %s", name, i+1, got[name], may)
			}
		}
	}
	if !strings.Contains(out.String(), "other: 1 rules, 1 left out (no RE2)") {
		t.Errorf("%s", out.String())
	}
}

func TestNothingToMeasure(t *testing.T) {
	for want, args := range map[string][]string{
		"usage": nil, "nothing can be said of false alarms": {"--corpus", t.TempDir()}, "is not NAME=FILE": {"--rules", "x"},
	} {
		if err := run(args, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
}
