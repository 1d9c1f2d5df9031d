package reading

import (
	"strings"
	"unicode/utf8"

	"github.com/clawai/clawai/internal/text/textclass"
)

const refusedLink = "path through a link of the system's, which may lead anywhere"

// systemLinks lists places through which a path can reach the whole disk, or files that only the
// system knows. Each place is a list of names below the root. On Linux the places are the links for
// each process (proc(5)) and for open files. On macOS they are the places of volumes: firmlinks,
// the disk by its name and by file numbers, and prefixes that tell how to resolve the rest of the
// path.
var systemLinks = [][]string{
	{"proc", "*", "root"}, {"proc", "*", "cwd"}, {"proc", "*", "exe"}, {"proc", "*", "fd", "*"}, {"proc", "*", "map_files", "*"},
	{"proc", "*", "task", "*", "root"}, {"proc", "*", "task", "*", "cwd"}, {"proc", "*", "task", "*", "exe"}, {"proc", "*", "task", "*", "fd", "*"},
	{"dev", "fd", "*"},
	{"system", "volumes", "data"}, {"volumes", "macintosh hd"}, {".vol", "*"}, {".nofollow"}, {".resolve", "*"},
}

// mayLeadAnywhere looks at the first two bytes of a path without dot-dot. It reports whether
// leadsAnywhere must examine the path.
func mayLeadAnywhere(s string) bool {
	return len(s) > 1 && s[0] == '/' && (strings.IndexByte("pdsv./", s[1]|0x20) >= 0 || s[1] >= utf8.RuneSelf)
}

// leadsAnywhere reports whether a path goes through one of systemLinks. This includes a path that
// leaves the link again by dot-dot.
func leadsAnywhere(s string) bool {
	if s == "" || s[0] != '/' {
		return false
	}
	climbing := strings.Contains(s, "..")
	if !climbing && !mayLeadAnywhere(s) {
		return false
	}
	var names [8]string
	depth, leading := 0, false
	for name := range strings.SplitSeq(s, "/") {
		switch name {
		case "", ".":
		case "..":
			depth = max(0, depth-1)
		default:
			if depth == 0 {
				if leading = startsSystemLink(name); !leading && !climbing {
					return false
				}
			}
			if depth < len(names) {
				names[depth] = name
			}
			if depth++; leading && depth <= len(names) && isSystemLink(names[:depth]) {
				return true
			}
		}
	}
	return false
}

// startsSystemLink reports whether one of systemLinks begins with this name.
func startsSystemLink(name string) bool {
	for _, place := range systemLinks {
		if (len(place[0]) == len(name) || !textclass.IsASCII(name)) && strings.EqualFold(place[0], name) {
			return true
		}
	}
	return false
}

func isSystemLink(names []string) bool {
	for _, place := range systemLinks {
		if len(place) != len(names) {
			continue
		}
		same := true
		for i, name := range place {
			same = same && (name == "*" || strings.EqualFold(name, names[i]))
		}
		if same {
			return true
		}
	}
	return false
}
