package policy

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/reading"
)

// sameDirectories holds pairs of paths that name the same directory on some systems: by a link
// on macOS, on Linux since the /usr merge and since /run exists, on Windows since Vista. The
// server's system is not known, so a match by such a pair is only a maybe.
var sameDirectories = [][2]string{
	{"/private/etc", "/etc"}, {"/private/var", "/var"}, {"/private/tmp", "/tmp"},
	{"/usr/bin", "/bin"}, {"/usr/sbin", "/sbin"}, {"/usr/lib", "/lib"}, {"/usr/lib64", "/lib64"},
	{"/var/run", "/run"}, {"/private/var/run", "/run"}, {"/var/lock", "/run/lock"},
	{"C:/Documents and Settings", "C:/Users"},
}

// aliasGlobs returns further globs for the glob original of a deny or a prompt: the same path
// below a directory's other name, and the same host at any port. A match of such a glob is a
// maybe.
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

// globsAfterPrefix takes a glob and an ASCII prefix. It returns the globs for the rest of the
// texts that match the glob and begin with the prefix. Letter case is ignored.
func globsAfterPrefix(text, begin string) (rests []string) {
	at := []int{0} // offsets into text
	for i := range len(begin) {
		var next []int
		for j := 0; j < len(at); j++ { // at grows by the offsets after stars
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

// otherURLs returns further globs for a glob about URLs: with any port, if the glob names a
// host without a port, and without the scheme, because programs add a scheme themselves.
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
