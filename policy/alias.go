package policy

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/reading"
)

// sameDirectories holds pairs of paths that name the same directory on some systems: on macOS
// because of a link, on Linux since the /usr merge and since /run exists, on Windows since Vista.
// The policy does not know the server's system, so a match through such a pair is only Maybe.
var sameDirectories = [][2]string{
	{"/private/etc", "/etc"}, {"/private/var", "/var"}, {"/private/tmp", "/tmp"},
	{"/usr/bin", "/bin"}, {"/usr/sbin", "/sbin"}, {"/usr/lib", "/lib"}, {"/usr/lib64", "/lib64"},
	{"/var/run", "/run"}, {"/private/var/run", "/run"}, {"/var/lock", "/run/lock"},
	{"C:/Documents and Settings", "C:/Users"},
}

// aliasGlobs returns additional globs for a glob of a deny or a prompt rule. Such a glob matches
// the same path under another name of its directory, or the same host at any port. A match of an
// additional glob is only Maybe.
func aliasGlobs(original *glob.Pattern) (all []*glob.Pattern) {
	text := original.String()
	add := func(s string) {
		if g, err := glob.Compile(s); err == nil && !coversGlob(original, g) {
			all = append(all, g)
		}
	}
	for _, s := range otherURLs(text) {
		add(s)
	}
	if text[0] != '/' && !reading.HasDrive(text) {
		return all
	}
	for _, pair := range sameDirectories {
		for i, dir := range pair {
			other := pair[1-i]
			for _, rest := range globsAfterPrefix(text, dir) {
				if strings.Trim(rest, "*") == "" {
					add(other)
				}
			}
			for _, rest := range globsAfterPrefix(text, dir+"/") {
				add(other + "/" + rest)
			}
		}
	}
	return all
}

// globsAfterPrefix takes a glob and a prefix of ASCII characters. It looks at the texts that match
// the glob and begin with the prefix, and returns globs for the rest of these texts. It ignores
// letter case.
func globsAfterPrefix(text, begin string) (rests []string) {
	at := []int{0} // offsets into text
	for i := range len(begin) {
		var next []int
		for j := 0; j < len(at); j++ { // the loop appends further offsets to the slice: a run of stars may match nothing, so the glob also goes on behind it
			k := at[j]
			if k == len(text) {
				continue
			}
			switch stars := len(text[k:]) - len(strings.TrimLeft(text[k:], "*")); {
			case stars > 0:
				if at = addUnique(at, k+stars); stars > 1 || begin[i] != '/' {
					next = addUnique(next, k)
				}
			case text[k] == '?', reading.LowerByte(text[k]) == reading.LowerByte(begin[i]):
				next = addUnique(next, k+1)
			}
		}
		if at = next; at == nil {
			return nil
		}
	}
	for _, k := range at {
		rests = append(rests, text[k:])
	}
	return rests
}

func addUnique(set []int, k int) []int {
	if slices.Contains(set, k) {
		return set
	}
	return append(set, k)
}

// otherURLs returns additional globs for a glob about URLs. If the glob names a host without a
// port, there are additional globs for any port. There are also additional globs without a scheme,
// because programs add a scheme themselves.
func otherURLs(text string) []string {
	scheme, rest, found := strings.Cut(text, "://")
	if !found || strings.IndexByte(scheme, '/') >= 0 {
		return nil
	}
	host, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	if host == "" {
		return nil
	}
	ported := host
	if !strings.Contains(host[strings.IndexByte(host, ']')+1:], ":") && !strings.HasSuffix(host, "*") {
		ported += ":*"
	}
	all := []string{scheme + "://" + ported + path}
	if strings.Trim(host, "*?.") != "" {
		all = append(all, host+path, ported+path)
	}
	return slices.Compact(all)
}
