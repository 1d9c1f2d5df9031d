package textclass

import (
	"slices"
	"strings"
	"sync"
)

// choice tells which files of the denied places a wildcard can match.
type choice uint8

const (
	noPlace  choice = iota // it matches no denied file
	anyPlace               // it matches denied files and others
	onePlace               // it matches a denied file by the whole name of the file
)

// Maximum number of words from braces, and maximum length of a wildcard.
const (
	maxWords    = 64
	maxWildcard = 256
)

// ChoosesSecrets reports which denied files of SecretPlaces a search's file wildcard can match. The
// result names has the words of the wildcard, with braces expanded, that spell a denied name. The
// result reaches is true if the wildcard can match denied files as well as other files. Case does not
// matter. ChoosesSecrets ignores a wildcard for an ending of data files (*.json), because it matches no
// more than a search without a wildcard.
func ChoosesSecrets(wildcard string) (names []string, reaches bool) {
	if len(wildcard) > maxWildcard {
		return nil, true
	}
	words, all := expandBraces(strings.ToLower(wildcard))
	reaches = !all
	for _, word := range words {
		if strings.HasPrefix(word, "!") { // a word that excludes files
			continue
		}
		switch classifyWord(word) {
		case onePlace:
			names = append(names, word)
		case anyPlace:
			reaches = true
		case noPlace:
		}
	}
	return names, reaches
}

func classifyWord(word string) choice {
	parts := strings.FieldsFunc(word, func(r rune) bool { return r == '/' })
	if len(parts) == 0 {
		return noPlace
	}
	for i, part := range parts {
		parts[i] = bareName(part)
	}
	last := parts[len(parts)-1]
	most := noPlace
	if strings.Trim(last, "*") == "" {
		most = anyPlace // it matches every file, also files that a search usually skips
	}
	if slices.Contains(dataEndings, last) {
		parts = parts[:len(parts)-1]
	}
	for i := range SecretPlaces {
		if SecretPlaces[i].isSpared(parts, last) {
			continue
		}
		for _, shut := range shutNames()[i] {
			most = max(most, classifyParts(parts, shut))
		}
	}
	return most
}

// shutNames holds, for each place in SecretPlaces, the denied globs, split into parts, in lower
// case.
var shutNames = sync.OnceValue(func() (all [][][]string) {
	for i := range SecretPlaces {
		var names [][]string
		for _, shut := range SecretPlaces[i].Shut {
			for _, spelt := range spellings(strings.ToLower(shut)) {
				names = append(names, strings.Split(spelt, "/"))
			}
		}
		all = append(all, names)
	}
	return all
})

// spellings lists the names that a part of a denied glob stands for.
func spellings(shut string) []string {
	if whole := strings.Replace(shut, "y*ml", "yaml", 1); whole != shut { // the lists have no other pattern of this kind
		return []string{whole, strings.Replace(shut, "y*ml", "yml", 1)}
	}
	return []string{shut}
}

var dataEndings = is{"*.json", "*.yml", "*.yaml", "*.toml", "*.y*ml", "*.xml", "*.ini", "*.conf", "*.txt"}

// classifyParts compares the parts of a wildcard with the parts of one denied glob, at every
// position. In such a glob ** is always last.
func classifyParts(parts, shut []string) choice {
	folder := shut[len(shut)-1] == "**"
	if folder {
		shut = shut[:len(shut)-1]
	}
	for from := 0; from+len(shut) <= len(parts); from++ {
		if !folder && from+len(shut) < len(parts) {
			continue
		}
		most := onePlace
		for i, name := range shut {
			switch part := parts[from+i]; {
			case !meetsPlace(part, name) && !isShortName(part, name):
				most = noPlace
			case strings.ContainsAny(part, `*?[`):
				most = min(most, anyPlace)
			}
		}
		if most != noPlace {
			return most
		}
	}
	return noPlace
}

// meetsPlace reports whether there is a name that matches both patterns. The parameter part comes
// from the wildcard of a search, and the parameter place from a denied glob. The first pattern must
// also have a letter of this name, or its leading dot. For example *.ts and .env.* both match
// .env.ts, but a person who searches *.ts does not mean that file.
func meetsPlace(part, place string) bool {
	switch {
	case !strings.ContainsAny(part, `*?[\`):
		return part == place || matchesName(place, part)
	case strings.Trim(part, "*") == "":
		return false
	}
	end := part[strings.LastIndexAny(part, `*?[]\`)+1:]
	if other := place[strings.LastIndexByte(place, '*')+1:]; !strings.HasSuffix(end, other) && !strings.HasSuffix(other, end) {
		return false // the two have different endings
	}
	for _, usual := range usualNames {
		if matchesName(place, usual) && wildcardsMeet(part, usual, 1) {
			return true
		}
	}
	return wildcardsMeet(part, place, 0)
}

// usualNames are names of denied files that a wildcard can match by their ending alone.
var usualNames = is{".env.local", ".env.production", ".env.prod", ".env.development", ".env.dev", ".env.staging", "server.key", "server.pem", "private.pem"}

// sign is one element of a wildcard: a star, or one character from a set.
type sign struct {
	star, not bool   // not: the character must not be in set
	set       string // the possible characters; "" for any character
}

func (s *sign) hasRune(c rune) bool { return s.set == "" || strings.ContainsRune(s.set, c) != s.not }

// parseSigns parses a wildcard. A range such as a-c becomes the set of its characters.
func parseSigns(text string) (all []sign) {
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; {
		case c == '*':
			all = append(all, sign{star: true})
		case c == '?':
			all = append(all, sign{})
		case c == '\\' && i+1 < len(runes):
			i++
			all = append(all, sign{set: string(runes[i])})
		case c == '[':
			s, end := parseClass(runes[i+1:])
			all = append(all, s)
			i += end
		default:
			all = append(all, sign{set: string(c)})
		}
	}
	return all
}

// parseClass parses the text after an opening bracket. size is the number of characters up to the
// closing bracket.
func parseClass(runes []rune) (s sign, size int) {
	if len(runes) > 0 && (runes[0] == '!' || runes[0] == '^') {
		s.not, runes, size = true, runes[1:], 1
	}
	for i := 0; i < len(runes); i++ {
		switch c := runes[i]; {
		case c == ']' && i > 0:
			return s, size + i + 1
		case i+2 < len(runes) && runes[i+1] == '-' && runes[i+2] != ']':
			for r := c; r <= min(runes[i+2], c+128); r++ {
				s.set += string(r)
			}
			i += 2
		default:
			s.set += string(c)
		}
	}
	return sign{}, size + len(runes) // the bracket does not close, so any character can match
}

// meeting is a search for a name that matches both wildcards, a and b.
type meeting struct {
	a, b []sign
	seen []bool
}

// wildcardsMeet reports whether some name matches both wildcards, a and b. The wildcard a must have a
// letter of this name (see meetsPlace), unless spelt is 1.
func wildcardsMeet(a, b string, spelt int) bool {
	m := meeting{a: parseSigns(a), b: parseSigns(b)}
	m.seen = make([]bool, 2*(len(m.a)+1)*(len(m.b)+1))
	return m.meetsFrom(0, 0, spelt)
}

func (m *meeting) meetsFrom(i, j, spelt int) bool {
	seen := &m.seen[2*(i*(len(m.b)+1)+j)+spelt]
	if *seen {
		return false
	}
	*seen = true
	switch {
	case i == len(m.a) && j == len(m.b):
		return spelt > 0
	case i < len(m.a) && m.a[i].star:
		return m.meetsFrom(i+1, j, spelt) || j < len(m.b) && m.meetsFrom(i, j+1, spelt)
	case j < len(m.b) && m.b[j].star:
		return m.meetsFrom(i, j+1, spelt) || i < len(m.a) && m.meetsFrom(i+1, j, spelt)
	case i == len(m.a) || j == len(m.b):
		return false
	}
	c := []rune(m.b[j].set)[0] // the denied globs have no sets of several characters
	if !m.a[i].hasRune(c) {
		return false
	}
	if m.a[i].set != "" && (c != '.' && c != '-' && c != '_' || i == 0 && j == 0) {
		spelt = 1
	}
	return m.meetsFrom(i+1, j+1, spelt)
}

// expandBraces returns the words that a text with braces stands for. The result all is false if
// there are too many.
func expandBraces(text string) (words []string, all bool) {
	words = []string{text}
	for i := 0; i < len(words); i++ {
		open := strings.LastIndexByte(words[i], '{')
		if open < 0 {
			continue
		}
		inside, rest, closed := strings.Cut(words[i][open+1:], "}")
		if !closed {
			continue
		}
		head := words[i][:open]
		choices := strings.Split(inside, ",")
		if len(words)+len(choices) > maxWords {
			return words, false
		}
		words[i] = head + choices[0] + rest
		for _, choice := range choices[1:] {
			words = append(words, head+choice+rest)
		}
		i--
	}
	return words, true
}

// homes are the ways to write a home folder.
var homes = is{"~", "$home", "${home}", "%userprofile%"}

// programFolders are folders below a home folder that hold data of programs, at any depth. A folder
// whose name begins with a dot is treated in the same way.
var programFolders = is{".var", "snap", "library", "appdata"}

// SurroundsSecrets reports whether a person's secret places are below a folder. This is so for a
// home folder, a parent of home folders, and folders of settings. The folder has / between its
// parts.
func SurroundsSecrets(folder string) bool {
	parts := strings.FieldsFunc(strings.ToLower(folder), func(r rune) bool { return r == '/' })
	if len(parts) > 0 && len(parts[0]) == 2 && parts[0][1] == ':' {
		parts = parts[1:]
	}
	rooted := folder != "" && (folder[0] == '/' || len(folder) > 1 && folder[1] == ':')
	home := 0 // number of parts of the path of a home folder
	switch {
	case len(parts) == 0:
		return rooted
	case slices.Contains(homes, parts[0]), rooted && parts[0] == "root":
		home = 1
	case rooted && slices.Contains(is{"home", "users"}, parts[0]):
		home = 2
	case rooted && len(parts) == 1 && slices.Contains(is{"etc", "proc"}, parts[0]):
		return true
	}
	if len(parts) <= home {
		return true
	}
	if home > 0 && (len(parts) == home+1 && parts[home][0] == '.' || slices.Contains(programFolders, parts[home])) {
		return true
	}
	for i := range SecretPlaces {
		hit, ours := strings.CutPrefix(strings.ToLower(SecretPlaces[i].Hit), "~/")
		names := strings.Split(hit, "/")
		for n := 1; ours && n < len(names) && n <= len(parts); n++ {
			// In a project, a .claude folder is usual. A .config folder with folders of programs is not
			// usual there.
			if slices.Equal(parts[len(parts)-n:], names[:n]) && (n+1 < len(names) || len(parts) == home+n) {
				return true
			}
		}
	}
	return false
}
