package reading

import (
	"path"
	"strings"
	"unicode/utf8"
)

// StartsLikePath reports whether a value or a pattern begins like a path or a URI and like nothing
// else.
func StartsLikePath(s string) bool {
	if s == "" {
		return false
	}
	switch s[0] {
	case '/', '\\', '~':
		return true
	case '.':
		return s == ".." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") ||
			strings.HasPrefix(s, `.\`) || strings.HasPrefix(s, `..\`)
	}
	return HasDrive(s) || SchemeLen(s) > 0
}

// HasDrive reports whether a value begins with a Windows drive.
func HasDrive(s string) bool {
	return len(s) >= 2 && s[1] == ':' && isLetter(s[0]) && (len(s) == 2 || s[2] != ' ')
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// IsAbsolute reports whether a pattern begins at the root. A path whose base is not known could
// match such a pattern.
func IsAbsolute(p string) bool {
	return p[0] == '/' || p[0] == '~' || p[0] == '\\' || HasDrive(p) || IsFile(p)
}

// unknownBase reports whether a path starts at a place that a policy cannot know: above the working
// directory, in the current directory of a drive, at a variable, or at an unknown home.
func unknownBase(s, home string) bool {
	switch {
	case s == "" || s[0] == '/':
		return false
	case s == ".." || strings.HasPrefix(s, "../"):
		return true
	case s[0] == '~':
		return isHome(s) && expandHome(s, home) == s
	case s[0] == '$':
		return len(s) > 1 && (isLetter(s[1]) || s[1] == '_' || s[1] == '{')
	case s[0] == '%':
		end := strings.IndexByte(s[1:], '%')
		return end > 0 && isLetter(s[1]) && strings.IndexByte(s[1:end+1], ' ') < 0
	}
	return HasDrive(s) && len(s) > 2 && s[2] != '/' && s[2] != '\\'
}

// isRelative reports whether a path has no root. Such a path starts at the server's working
// directory, unless its base is unknown.
func isRelative(s string) bool {
	return s != "" && s[0] != '/' && s[0] != '~' && !HasDrive(s) && SchemeLen(s) == 0
}

// cleanPath resolves dot segments and double slashes without the disk. It keeps a slash at the end.
func cleanPath(p string) string {
	if p == "" {
		return p
	}
	c := path.Clean(p)
	if strings.HasSuffix(p, "/") && c != "/" && c != "." {
		return c + "/"
	}
	return c
}

// isHome reports whether ~ at the start stands for a home: ~, ~/x, ~name/x, and the shells' ~+ and
// ~-. Prose such as "~5 minutes" does not start with a home.
func isHome(s string) bool {
	name, _, _ := strings.Cut(s[1:], "/")
	return strings.IndexFunc(name, func(r rune) bool {
		return !(r == '_' || r == '-' || r == '.' || r == '+' || '0' <= r && r <= '9' || r < utf8.RuneSelf && isLetter(byte(r)))
	}) < 0
}

// expandHome replaces ~ by the owner's home, ~name by the folder with this name next to the owner's
// home, and ~root by /root. It reads no account database. It does not change the path of a home
// that it cannot know.
func expandHome(s, home string) string {
	if s == "" || s[0] != '~' || !isHome(s) {
		return s
	}
	name, rest := s[1:], ""
	if i := strings.IndexByte(name, '/'); i >= 0 {
		name, rest = name[:i], name[i:]
	}
	switch {
	case name == "root":
		return "/root" + rest
	case home == "" || strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-"):
		return s
	case name == "":
		return home + rest
	}
	return path.Join(path.Dir(home), name) + rest
}

// dropNames removes what Windows ignores: the \\?\ and \??\ prefixes, the host in a path to a whole
// drive that Windows shares with administrators (\\host\C$), dots and blanks at the end of a name,
// and the name of the default data stream. It also removes blanks and quotes around a value,
// because tools trim them.
func dropNames(s string) string {
	if SchemeLen(s) > 0 {
		return s
	}
	t := trimQuotes(s)
	if strings.HasPrefix(t, "//?/") || strings.HasPrefix(t, "//./") || strings.HasPrefix(t, "/??/") {
		t = sharedDrive(t[4:])
	}
	t = sharedDrive(t)
	drive := ""
	if HasDrive(t) {
		drive, t = t[:2], t[2:]
	}
	if !strings.ContainsAny(t, ". :") {
		return drive + t
	}
	names := strings.Split(t, "/")
	for i, name := range names {
		if j := strings.IndexByte(name, ':'); j > 0 && (drive != "" || strings.Contains(name[j:], ":$")) {
			name = name[:j]
		}
		if short := strings.TrimRight(name, ". "); short != "" {
			name = short
		}
		names[i] = name
	}
	return drive + strings.Join(names, "/")
}

// sharedDrive replaces the share of a whole drive by the drive. //host/C$/x becomes C:/x, and so
// does UNC/host/C$/x in a device path. It does not change other paths.
func sharedDrive(s string) string {
	rest, found := strings.CutPrefix(s, "//")
	if !found && len(s) > 4 && strings.EqualFold(s[:4], "UNC/") {
		rest, found = s[4:], true
	}
	_, share, slash := strings.Cut(rest, "/")
	if found && slash && len(share) > 1 && isLetter(share[0]) && share[1] == '$' && (len(share) == 2 || share[2] == '/') {
		return share[:1] + ":" + share[2:]
	}
	return s
}

// shortName reports whether a name has the shape of a generated 8.3 name. Only the server's
// disk knows which long name it stands for.
func shortName(name string) bool {
	base, ext, _ := strings.Cut(name, ".")
	stem, number, found := strings.Cut(base, "~")
	return found && len(base) <= 8 && stem != "" && len(ext) <= 3 && number != "" && strings.Trim(number, "0123456789") == ""
}

// windowsShaped reports whether a value has the form of a Windows path and of no other path.
func windowsShaped(s string) bool { return HasDrive(s) || strings.IndexByte(s, '\\') >= 0 }
