package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clawai/clawai/policy/internal/effort"
	"github.com/clawai/clawai/policy/where"
)

// If a server is known to run on Windows, values and patterns first get one form for paths: slashes
// instead of backslashes, and small letters instead of capitals. The text without the parts that
// Windows may ignore (dots, blanks, streams) is an additional reading. A path that only the disk
// can resolve is refused. Sources: "File path formats on Windows systems", "Naming Files, Paths,
// and Namespaces".

// WindowsForm returns the Windows form of a path, or of a glob for paths: with slashes, with small
// letters, and without a device prefix if the path means the same without it. It does not change
// URLs other than file: URLs.
func WindowsForm(s string) string {
	if SchemeLen(s) > 0 && !IsFile(s) {
		return s
	}
	return strings.Map(smallLetter, slashForm(s))
}

// slashForm does what WindowsForm does, but keeps capitals.
func slashForm(s string) string {
	s = strings.ReplaceAll(s, `\`, "/")
	if IsFile(s) {
		return plainDrive(s)
	}
	if rest, found := deviceRest(s); found && plainRest(rest) {
		switch {
		case HasDrive(rest) && len(rest) > 2 && rest[2] == '/':
			return rest
		case len(rest) > 4 && strings.EqualFold(rest[:4], "UNC/"):
			return "//" + rest[4:]
		}
	}
	return s
}

// plainDrive returns a file: URI with the drive in the path and with a plain colon. Editors write
// such URIs as file:///c%3A/x, file://C:/x, file:C|/x.
func plainDrive(s string) string {
	rest := strings.TrimLeft(s[5:], "/")
	if rest == "" || !isLetter(rest[0]) {
		return s
	}
	for _, colon := range [...]string{":", "|", "%3A", "%3a", "%7C", "%7c"} {
		if path, found := strings.CutPrefix(rest[1:], colon); found && (path == "" || path[0] == '/' || path[0] == '%') {
			return "file:///" + rest[:1] + ":" + path
		}
	}
	return s
}

// deviceRest returns the text after the prefix of a device path. found is false if the path has no
// such prefix.
func deviceRest(s string) (rest string, found bool) {
	for _, prefix := range [...]string{"//?/", "//./", "/??/"} {
		if rest, found = strings.CutPrefix(s, prefix); found {
			return rest, true
		}
	}
	return s, false
}

// plainRest reports whether the rest of a device path means the same without the prefix. Without
// the prefix, Windows resolves or trims some names.
func plainRest(rest string) bool {
	for name := range strings.SplitSeq(strings.TrimSuffix(rest, "/"), "/") {
		if name == "" || strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
			return false
		}
	}
	return true
}

// smallLetter returns the small letter of a capital, if all versions of Windows know the pair.
// Systems disagree about other letters, so these letters have their own reading.
func smallLetter(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case 0xC0 <= r && r < 0x180, 0x386 <= r && r < 0x3AC, 0x400 <= r && r < 0x430, 0x1EA0 <= r && r < 0x1EFA:
		if small := unicode.ToLower(r); small >= utf8.RuneSelf && unicode.ToUpper(small) == r {
			return small
		}
	}
	return r
}

// readWindows does what readPath does, for a server on Windows. It also reads the value without the
// blanks and quotes around it, because tools remove them, and the rest may begin with a ~ or be a
// URI.
func (rd *Reader) readWindows(rs []Reading, v string, r Reading, left *effort.Left) []Reading {
	first := len(rs)
	rs = rd.readForm(rs, v, r, left)
	if bare := trimQuotes(v); bare != v && bare != "" {
		rs = rd.readForm(rs, bare, r, left)
	}
	if len(rs)-first >= maxReadings {
		r.Text = v
		return append(rs[:first], r, refusedFor(r, "value that can be read in too many ways"))
	}
	return rs
}

// trimQuotes returns a text without the blanks and quotes around it.
func trimQuotes(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '\'' })
}

// readForm reads a value with the blanks and quotes around it.
func (rd *Reader) readForm(rs []Reading, v string, r Reading, left *effort.Left) []Reading {
	if n := SchemeLen(v); n > 0 && !IsFile(v) {
		r.Text = v
		rs = rd.readPath(rs, r, left)
		if rd.URIs || isWeb(v) || strings.HasPrefix(v[n+1:], "//") {
			return rs
		}
		rest := "" // v is name:stream, which means a stream of a file or of a folder
		if i := strings.IndexAny(v, `/\`); i >= 0 {
			rest = v[i:]
		}
		v = v[:n] + rest
	}
	left.Spend(len(v) * namesEffort)
	cased := slashForm(v)
	form := strings.Map(smallLetter, cased)
	share, path := cutShare(form)
	first := len(rs)
	r.Text = path
	rs = rd.readPath(rs, r, left)
	if drive := strings.TrimSuffix(sharedDrive(share+"/"), "/"); drive != "" && !strings.HasPrefix(drive, "//") {
		r.Text = drive + path
		rs = rd.readPath(rs, r, left)
	}
	sure := share != "" || hasDriveRoot(form) || form[0] == '~' || IsFile(form)
	for i := range rs[first:] {
		at := &rs[first+i]
		if share != "" && !HasDrive(at.Text) {
			at.prependShare(share)
		}
		at.Recast = !sure
		if at.Text == form {
			at.unfolded, at.AsForm = cased, v == r.Raw
		}
	}
	return rs
}

// hasDriveRoot reports whether a path begins at the root of a drive.
func hasDriveRoot(s string) bool { return HasDrive(s) && len(s) > 2 && s[2] == '/' }

// cutShare splits a path on a share into //host/share and the rest. Dot-dot cannot leave
// //host/share. If the path has escapes, the end of the share is not known, and cutShare does not
// split the path.
func cutShare(s string) (share, path string) {
	rest, found := strings.CutPrefix(s, "//")
	host := strings.IndexByte(rest, '/')
	if _, device := deviceRest(s); !found || device || host < 1 || host+1 == len(rest) || rest[host+1] == '/' || strings.IndexByte(s, '%') >= 0 {
		return "", s
	}
	end := strings.IndexByte(rest[host+1:], '/')
	if end < 0 {
		return s, ""
	}
	end += 2 + host + 1
	return s[:end], s[end:]
}

// prependShare puts the share in front of a reading of the rest. It marks the base as unknown,
// because another share or another name of the host may lead to the same folder.
func (r *Reading) prependShare(share string) {
	r.Text = share + r.Text
	if r.Unslashed != "" {
		r.Unslashed = share + r.Unslashed
	}
	r.UnknownBase, r.Relative, r.Rooted = true, false, false
}

// windowsBase reports whether a path starts at a place that only the server knows: at the root of
// its current drive, in the current folder of a drive, or on a share.
func windowsBase(s string) bool {
	return s != "" && s[0] == '/' || HasDrive(s) && !hasDriveRoot(s)
}

// dropStreams removes the stream after a name on NTFS (file.txt:stream:$DATA), also in a relative
// path. If the last name has three or more dots and otherwise only blanks, dropStreams replaces the
// name by one dot (go test ./...). If the path starts in the current folder of a drive, dropStreams
// changes the start to the drive's root.
func dropStreams(s string) string {
	if SchemeLen(s) > 0 {
		return s
	}
	if at := strings.LastIndexByte(s, '/') + 1; strings.Trim(s[at:], ". ") == "" && strings.Count(s[at:], ".") > 2 {
		s = s[:at] + "." // Windows drops all dots at the end, so the path means the folder before them
	}
	if strings.IndexByte(s, ':') < 0 {
		return s
	}
	drive, rest := "", s
	if HasDrive(s) {
		drive, rest = s[:2], s[2:]
		if rest != "" && rest[0] != '/' && rest[0] != '\\' {
			drive += "/"
		}
	}
	names := strings.Split(rest, "/")
	for i, name := range names {
		if j := strings.IndexByte(name, ':'); j > 0 {
			names[i] = strings.TrimRight(name[:j], ". ")
		}
	}
	return drive + strings.Join(names, "/")
}

// hiddenPlaceReason returns the reason why the text of a Windows path does not show the path's
// place; "" if there is none.
func hiddenPlaceReason(s string) string {
	if SchemeLen(s) > 0 {
		return ""
	}
	s = strings.Trim(strings.ReplaceAll(s, `\`, "/"), `"' `)
	if at := strings.LastIndexByte(s, '/') + 1; strings.Trim(s[at:], ".") == "" {
		s = s[:at] // dropStreams has dropped these dots
	}
	if _, device := deviceRest(s); device {
		return "device path, which may lead anywhere"
	}
	if HasDrive(s) {
		s = s[2:]
	}
	for name := range strings.SplitSeq(s, "/") {
		switch {
		case name == "", name == ".", name == "..":
		case strings.Trim(name, ". ") == "":
			return "name of dots and blanks, which Windows drops"
		case where.DeviceName(name):
			return "name of a device"
		}
		if base, _, _ := strings.Cut(name, ":"); shortName(strings.TrimRight(base, ". ")) {
			return "generated short name, which stands for another"
		}
	}
	if choosesNames(s) {
		return "character that Windows takes for a wildcard"
	}
	return ""
}

// redirections holds words of commands with characters that are wildcards in a path. With blanks
// around them, such words could match only names with the same blanks.
const redirections = " > >> 1> 2> 1>> 2>> 2>&1 1>&2 >nul 2>nul >$null 2>$null *>$null >/dev/null 2>/dev/null "

// choosesNames reports whether Windows may take a text with <, > or a quote for a path with
// wildcards. A text with a bar is not a path. A quote in a path stands for a dot or for the end of
// a name. A quote next to a blank matches only names that have the same characters.
func choosesNames(s string) bool {
	if strings.IndexByte(s, '|') >= 0 {
		return false
	}
	for i := range len(s) {
		switch s[i] {
		case '"':
			before := i > 0 && strings.IndexByte(" =(:", s[i-1]) >= 0 || strings.Contains(s[strings.LastIndexByte(s[:i], '/')+1:i], ` "`)
			behind := strings.TrimLeft(s[i+1:], " .") // Windows removes these characters at the end of a name
			if !before && (behind == "" || behind[0] == '/' || strings.IndexByte(" ),;", s[i+1]) < 0) {
				return true
			}
		case '<', '>':
			if !strings.Contains(redirections, " "+wordAt(s, i)+" ") {
				return true
			}
		}
	}
	return false
}

// wordAt returns the word at an offset of a text.
func wordAt(s string, i int) string {
	word, _, _ := strings.Cut(s[strings.LastIndexByte(s[:i], ' ')+1:], " ")
	return word
}
