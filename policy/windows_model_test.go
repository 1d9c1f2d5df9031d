package policy_test

import (
	"net/url"
	"slices"
	"strings"
)

// A literal model of how Windows finds what a path names, from its documentation alone
// ("File path formats on Windows systems", "Naming Files, Paths, and Namespaces", "File
// Streams"), and of what programs do to a text before they ask it. It shares nothing with
// the readings.

// disk is what the model's machine has: the folders of drives, its own names, its shares
// and the short names on it.
var (
	drivesFolders = map[byte]string{'C': `C:\USERS\ANA\PROJECTS\APP`, 'D': `D:\WORK`}
	ownNames      = []string{"LOCALHOST", "127.0.0.1", "ANA-PC", "::1"}
	ownShares     = map[string]string{"C$": `C:`, "D$": `D:`, "USERS": `C:\USERS`}
	shortNames    = map[string]string{"SSH~1": ".SSH", "ENV~1": ".ENV", "PROJEC~1": "PROJECTS EVIL", "PROJEC~2": "PROJECTS", "SECRET~1": "SECRETS"}
	variables     = map[string]string{"%USERPROFILE%": `C:\Users\Ana`, "%HOMEDRIVE%": "C:", "%TEMP%": `C:\Users\Ana\AppData\Local\Temp`}
)

// place is where a path leads: a drive or share and names, in capitals; nil for a device,
// and for what Windows refuses.
type place []string

// within says whether a place lies in the folder that some names lead to.
func (p place) within(folder ...string) bool {
	return len(p) >= len(folder) && slices.Equal(p[:len(folder)], folder)
}

// resolved is what the system makes of a path.
func resolved(path string) place {
	if rest, verbatim := strings.CutPrefix(path, `\\?\`); verbatim {
		return namespace(rest, false)
	}
	if rest, verbatim := strings.CutPrefix(path, `\??\`); verbatim {
		return namespace(rest, false)
	}
	p := strings.ReplaceAll(path, "/", `\`)
	switch {
	case strings.HasPrefix(p, `\\.\`), strings.HasPrefix(p, `\\?\`):
		return namespace(p[4:], true)
	case strings.HasPrefix(p, `\\`):
		return unc(p[2:], true)
	case len(p) > 2 && p[1] == ':' && p[2] == '\\':
		return walked(p[:2], p[3:], true)
	case len(p) > 1 && p[1] == ':':
		folder := drivesFolders[p[0]&^0x20]
		if folder == "" {
			folder = p[:2] + `\`
		}
		return resolved(folder + `\` + p[2:])
	case strings.HasPrefix(p, `\`):
		return walked("C:", p[1:], true)
	}
	return resolved(drivesFolders['C'] + `\` + p)
}

// namespace is a path below the root of devices.
func namespace(rest string, normal bool) place {
	upper := strings.ToUpper(rest)
	for _, volume := range []string{`GLOBALROOT\DEVICE\HARDDISKVOLUME1\`, `VOLUME{1}\`, `HARDDISKVOLUME1\`, `GLOBAL\C:\`} {
		if strings.HasPrefix(upper, volume) {
			return walked("C:", rest[len(volume):], normal)
		}
	}
	switch {
	case strings.HasPrefix(upper, `UNC\`):
		return unc(rest[4:], normal)
	case len(rest) > 2 && rest[1] == ':' && rest[2] == '\\':
		return walked(rest[:2], rest[3:], normal)
	}
	return nil
}

// unc is a path on a share, which may be a folder of this machine.
func unc(rest string, normal bool) place {
	parts := strings.SplitN(rest, `\`, 3)
	if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
		return nil
	}
	host, share, path := strings.ToUpper(parts[0]), strings.ToUpper(parts[1]), strings.Join(parts[2:], "")
	if folder, found := ownShares[share]; found && slices.Contains(ownNames, host) {
		inner := walked("X:", path, normal)
		if inner == nil {
			return nil
		}
		return append(strings.Split(folder, `\`), inner[1:]...)
	}
	return walked(`\\`+host+`\`+share, path, normal)
}

// walked follows the names of a path from its root.
func walked(root, path string, normal bool) place {
	at := place{strings.ToUpper(root)}
	names := strings.Split(path, `\`)
	if normal {
		names = normalised(names)
	}
	for i, name := range names {
		if name == "" {
			continue
		}
		file, stream, streamed := strings.Cut(name, ":")
		if streamed && i < len(names)-1 && !strings.EqualFold(stream, "$I30:$INDEX_ALLOCATION") && !strings.EqualFold(stream, ":$INDEX_ALLOCATION") {
			return nil // a stream of a file is no folder
		}
		if normal && device(file) || file == "" || strings.ContainsAny(file, "<>|\"*?/\t\r\n") {
			return nil
		}
		file = capitals(file)
		if long, found := shortNames[file]; found {
			file = long
		}
		at = append(at, file)
	}
	return at
}

// normalised resolves dots, and trims names: of each one dot at its end, of the last all
// dots and blanks.
func normalised(names []string) (kept []string) {
	last := len(names) - 1
	for i, name := range names {
		switch {
		case name == ".", name == "":
			continue
		case name == "..":
			kept = kept[:max(0, len(kept)-1)]
			continue
		case i == last:
			name = strings.TrimRight(name, ". ")
		case strings.HasSuffix(name, ".") && strings.Trim(name, ".") != "":
			name = name[:len(name)-1]
		}
		kept = append(kept, name)
	}
	return kept
}

// capitals is the table by which NTFS compares, as far as the generator has letters.
func capitals(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'à' <= r && r <= 'þ' && r != '÷':
			return r - 32
		}
		return r
	}, name)
}

func device(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	return slices.Contains([]string{"CON", "PRN", "AUX", "NUL", "COM1", "LPT1"}, base)
}

// meanings are the places that programs could come to for a text: which decode escapes,
// take blanks and quotes off, expand variables and ~, and understand URIs of files.
func meanings(text string) (all []place) {
	texts := []string{text}
	for range 3 {
		if next, err := url.PathUnescape(texts[len(texts)-1]); err == nil {
			texts = append(texts, next)
		}
	}
	for _, t := range texts {
		for _, t := range []string{t, strings.Trim(t, " \t\r\n\"'")} {
			if path, isURI := filePath(t); isURI {
				all = append(all, resolved(path))
				continue
			}
			for name, value := range variables {
				if rest, found := strings.CutPrefix(t, name); found {
					t = value + rest
				}
			}
			if t == "~" || strings.HasPrefix(t, "~/") || strings.HasPrefix(t, `~\`) {
				t = windowsHome + t[1:]
			}
			all = append(all, resolved(t))
		}
	}
	return slices.DeleteFunc(all, func(p place) bool { return p == nil })
}

// filePath is what Node's fileURLToPath makes of a URI: a host is that of a share.
func filePath(text string) (string, bool) {
	if len(text) < 5 || !strings.EqualFold(text[:5], "file:") {
		return "", false
	}
	rest := strings.ReplaceAll(text[5:], `\`, "/")
	host := ""
	if after, found := strings.CutPrefix(rest, "//"); found {
		at := strings.IndexByte(after+"/", '/')
		if host, rest = after[:at], after[at:]; len(host) == 2 && host[1] == ':' {
			host, rest = "", "/"+host+rest
		}
	}
	rest, _, _ = strings.Cut(rest, "?")
	rest, _, _ = strings.Cut(rest, "#")
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	if host != "" && !strings.EqualFold(host, "localhost") {
		return `\\` + host + strings.ReplaceAll(rest, "/", `\`), true
	}
	if len(rest) > 2 && rest[0] == '/' && rest[2] == ':' {
		rest = rest[1:]
	}
	return strings.ReplaceAll(rest, "/", `\`), true
}
