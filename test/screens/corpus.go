package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"
)

type corpus struct {
	name  string
	texts []string
}

type corpora struct{ attack, secret, benign []corpus }

// read reads the texts in a folder. There must be ordinary texts, because they show how often an
// alarm is false.
func read(dir string) (*corpora, error) {
	c := &corpora{}
	for _, group := range []struct {
		word string
		to   *[]corpus
	}{{"attack", &c.attack}, {"secret", &c.secret}, {"benign", &c.benign}} {
		folders, err := os.ReadDir(filepath.Join(dir, group.word))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for _, f := range folders {
			texts, err := texts(filepath.Join(dir, group.word, f.Name()))
			if err != nil {
				return nil, err
			}
			if len(texts) > 0 {
				*group.to = append(*group.to, corpus{f.Name(), texts})
			}
		}
	}
	if len(c.benign) == 0 {
		return nil, fmt.Errorf("%s: no texts in benign/NAME: nothing can be said of false alarms", dir)
	}
	return c, nil
}

// texts returns the texts of all files in a folder.
func texts(dir string) (all []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		src, err := os.ReadFile(path) //nolint:gosec // the user of the command has chosen this folder
		if err != nil {
			return err
		}
		if filepath.Ext(path) != ".jsonl" {
			all = append(all, string(src))
			return nil
		}
		for n, line := range strings.Split(string(src), "\n") {
			if strings.TrimSpace(line) == "" {
				continue
			}
			var one struct{ Text string }
			if json.Unmarshal([]byte(line), &one.Text) != nil {
				if err := json.Unmarshal([]byte(line), &one); err != nil || one.Text == "" {
					return fmt.Errorf("%s:%d: neither a JSON string nor an object with a text", path, n+1)
				}
			}
			all = append(all, one.Text)
		}
		return nil
	})
	return all, err
}

// among inserts each attack into an ordinary text of at most 4 KiB, at the end of a line.
func (c *corpora) among(r *rand.Rand, attacks []string) (all []string) {
	for _, a := range attacks {
		of := c.benign[r.IntN(len(c.benign))].texts
		carrier := of[r.IntN(len(of))]
		carrier = strings.ToValidUTF8(carrier[:min(len(carrier), 4<<10)], "")
		at := len(carrier)
		if n := strings.IndexByte(carrier[len(carrier)/2:], '\n'); n >= 0 {
			at = len(carrier)/2 + n + 1
		}
		all = append(all, carrier[:at]+"\n"+a+"\n"+carrier[at:])
	}
	return all
}

// rules reads a set of rules from a file. The parameter named has the form NAME=FILE. rules skips
// expressions that RE2 does not support, and prints how many it has skipped.
func rules(named string, out io.Writer) (detector, error) {
	name, file, _ := strings.Cut(named, "=")
	src, err := os.ReadFile(file)
	if err != nil {
		return detector{}, err
	}
	var patterns []string
	var words [][]string // for each pattern, words of which a text must contain one; nil if it needs none
	switch filepath.Ext(file) {
	case ".yaml":
		var t struct {
			Responses struct{ Patterns []struct{ Regex string } } `yaml:"response_scanning"`
		}
		if err := yaml.Unmarshal(src, &t); err != nil {
			return detector{}, fmt.Errorf("%s: %w", file, err)
		}
		for _, r := range t.Responses.Patterns {
			patterns, words = append(patterns, r.Regex), append(words, nil)
		}
	case ".toml":
		var t struct {
			Rules []struct {
				Regex    string
				Keywords []string
			}
		}
		if err := toml.Unmarshal(src, &t); err != nil {
			return detector{}, fmt.Errorf("%s: %w", file, err)
		}
		for _, r := range t.Rules {
			patterns, words = append(patterns, r.Regex), append(words, r.Keywords)
		}
	default:
		for s := bufio.NewScanner(strings.NewReader(string(src))); s.Scan(); {
			patterns, words = append(patterns, s.Text()), append(words, nil)
		}
	}
	var all []rule
	left := 0
	for i, p := range patterns {
		re, err := regexp.Compile(p)
		switch {
		case p == "":
		case err != nil:
			left++
		default:
			all = append(all, rule{re, words[i]})
		}
	}
	if len(all) == 0 {
		return detector{}, fmt.Errorf("%s: no rule with a regular expression", file)
	}
	fmt.Fprintf(out, "%s: %d rules, %d left out (no RE2)\n", name, len(all), left)
	return detector{name: name, flags: func(text string) bool {
		lower := strings.ToLower(text)
		return slices.ContainsFunc(all, func(r rule) bool {
			return (len(r.words) == 0 || slices.ContainsFunc(r.words, func(w string) bool { return strings.Contains(lower, strings.ToLower(w)) })) && r.form.MatchString(text)
		})
	}}, nil
}

// rule is one rule of another program. If the rule has words, it matches only texts that contain
// one of these words.
type rule struct {
	form  *regexp.Regexp
	words []string
}
