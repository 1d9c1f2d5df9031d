package view

import (
	"path"
	"slices"
	"strings"
)

// maxBraces limits how many words one word with braces can become. maxLetters limits the number of
// option letters before a value.
const (
	maxBraces  = 64
	maxLetters = 32
)

// wordsOf splits a command into words. It removes quotes and expands braces.
func wordsOf(text string) (all []string) {
	for _, field := range strings.Fields(text) {
		for _, w := range expandBraces(field) {
			all = append(all, strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("\"'`;|&<>()=,", r) })...)
		}
		if len(all) > maxTokens {
			return all[:maxTokens]
		}
	}
	return all
}

// expandBraces returns the words that a shell makes of a word with braces: a{b,c} is ab and ac.
func expandBraces(word string) []string {
	list := []string{word}
	for i := 0; i < len(list) && len(list) < maxBraces; {
		w := list[i]
		end := strings.IndexByte(w, '}')
		open := -1
		if end >= 0 {
			open = strings.LastIndexByte(w[:end], '{')
		}
		if open < 0 || !strings.Contains(w[open:end], ",") {
			i++
			continue
		}
		var made []string
		for part := range strings.SplitSeq(w[open+1:end], ",") {
			made = append(made, w[:open]+part+w[end+1:])
		}
		list = slices.Concat(list[:i], made, list[i+1:])
	}
	return list
}

// pathsIn lists the possible paths in a word of a command: the whole word, the part after a sign
// (@x, host:x), and the part after option letters (-d@x, -rfx).
func pathsIn(word string) (all []string) {
	add := func(s string) {
		if strings.ContainsAny(s, `/\~.`) && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	add(word)
	for rest := word; ; {
		at := strings.IndexAny(rest, "@:+")
		if at < 0 || strings.HasPrefix(rest[at:], "://") {
			break
		}
		rest = rest[at+1:]
		add(rest)
	}
	if strings.HasPrefix(word, "-") {
		for i := 1; i < min(len(word), maxLetters); i++ {
			if strings.IndexByte("./~", word[i]) >= 0 {
				add(word[i:])
				break
			}
		}
	}
	return all
}

// mayName reports whether a path with wildcards can match a path inside the place.
func (p *place) mayName(glob string) bool {
	if !strings.ContainsAny(glob, "*?[") {
		return false
	}
	known := append(strings.Split(p.Path, "/"), strings.Split(p.Hit, "/")...)
	parts := strings.Split(glob, "/")
	for i, part := range parts {
		for _, name := range known {
			if choosesName(part, name) {
				parts[i] = name
				break
			}
		}
	}
	return p.ContainsPath(strings.Join(parts, "/"))
}

// choosesName reports whether a wildcard pattern is made for a name: it has more than one letter of
// the name, or a leading dot. A pattern such as * or *.go matches the names of many files, so it is
// not made for one of them.
func choosesName(glob, name string) bool {
	letters := strings.Trim(glob, "*?[]")
	if !strings.ContainsAny(glob, "*?[") || len(letters) < 2 && !strings.HasPrefix(glob, ".") || strings.HasPrefix(glob, "*.") ||
		strings.HasPrefix(name, ".") && strings.ContainsAny(glob[:1], "*?[") {
		return false
	}
	ok, err := path.Match(strings.ToLower(glob), strings.ToLower(name))
	return ok && err == nil
}
