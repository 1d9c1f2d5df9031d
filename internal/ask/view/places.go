package view

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/text/textclass"
)

// place is a place on disk for which a call needs care. Most places come from
// internal/text/textclass; the others matter only when a person is asked.
type place struct {
	textclass.Place
	why   string
	write bool // only a call that writes needs care
}

const (
	whySecrets  = "touches a place where secrets are kept"
	whyLater    = "changes what runs by itself later"
	whySystem   = "changes the system's own settings"
	whyClient   = "changes what an editor or MCP client runs"
	whyAgent    = "changes what agents are told in each session"
	whyOwn      = "touches clawai's own rules or record"
	whyPersonal = "reads what a browser keeps"
)

// places is the table of all places. It is built at the first question.
var places = sync.OnceValue(func() []place {
	return append(screenedPlaces(), []place{
		{textclass.Place{Path: ".config/clawai", Hit: "~/.config/clawai/policy.toml", Miss: "/p/clawai/policy.toml"}, whyOwn, false},
		{textclass.Place{Path: ".local/state/clawai", Hit: "~/.local/state/clawai/audit/x", Miss: "/p/state/clawai.go"}, whyOwn, false},
		{textclass.Place{Path: "AppData/*/clawai", Hit: `C:\Users\a\AppData\Roaming\clawai\policy.toml`, Miss: "/p/AppData/x"}, whyOwn, false},

		{textclass.Place{Path: "/etc", Hit: "/etc/hosts", Miss: "/p/etc/hosts"}, whySystem, true},
		{textclass.Place{Path: "/boot", Hit: "/boot/grub/grub.cfg", Miss: "/p/boot/x"}, whySystem, true},
		{textclass.Place{Path: "/usr", Hit: "/usr/local/bin/ls", Miss: "/p/usr/x"}, whySystem, true},
		{textclass.Place{Path: "/System", Hit: "/System/Library/x", Miss: "/p/System/x"}, whySystem, true},
		{textclass.Place{Path: "/Windows", Hit: `C:\Windows\System32\drivers\etc\hosts`, Miss: "/p/Windows/x"}, whySystem, true},
	}...)
})

func screenedPlaces() (all []place) {
	add := func(rows []textclass.Place, write bool, why map[textclass.Keeper]string) {
		for _, p := range rows {
			if p.Path != "" {
				all = append(all, place{p, why[p.Of], write})
			}
		}
	}
	add(textclass.SecretPlaces[:], false, map[textclass.Keeper]string{textclass.Owner: whySecrets, textclass.Browser: whyPersonal})
	add(textclass.LaterPlaces[:], true, map[textclass.Keeper]string{textclass.Owner: whyLater, textclass.Client: whyClient, textclass.Agent: whyAgent})
	return all
}

func isRooted(plain string) bool { return strings.HasPrefix(plain, "/") }

// pathReadings returns the readings of a path, in one form: / between the parts, . and .. only at
// the start, the home folder in place of ~, and no drive and scheme. An absolute path begins with
// /. A path whose base is unknown begins with a variable or ~.
func pathReadings(s, home string) []string {
	s = strings.TrimSpace(s)
	if len(s) > 5 && strings.EqualFold(s[:5], "file:") {
		s = strings.TrimPrefix(s[5:], "//")
		if s != "" && s[0] != '/' && s[0] != '\\' { // file://HOST/PATH: leave the host out
			_, s, _ = strings.Cut(s, "/")
			s = "/" + s
		}
	}
	readings := []string{s}
	for range 2 { // twice, because some programs also decode %252e
		decoded, err := url.PathUnescape(s)
		if err != nil || decoded == s {
			break
		}
		s = decoded
		readings = append(readings, s)
	}
	for i, r := range readings {
		r = strings.ReplaceAll(r, `\`, "/")
		for _, v := range []string{"~", "$HOME", "${HOME}", "%USERPROFILE%", "$env:USERPROFILE"} {
			if rest, ok := strings.CutPrefix(r, v); ok && home != "" && (rest == "" || rest[0] == '/') {
				r = strings.ReplaceAll(home, `\`, "/") + rest
			}
		}
		if len(r) > 1 && r[1] == ':' && ('a' <= r[0]|0x20 && r[0]|0x20 <= 'z') {
			r = r[2:]
			if !isRooted(r) {
				r = "$drive/" + r
			}
		}
		readings[i] = path.Clean(strings.ReplaceAll(r, "//", "/"))
	}
	return readings
}

// workFolder returns the working folder of the project; "" if it is unknown. It also returns "" for
// /, for the home folder and for a parent of the home folder: desktop applications start servers
// there, and a person does not mean such a folder as a project.
func workFolder(project, home string) string {
	if project == "" {
		return ""
	}
	if at := pathReadings(project, "")[0]; at == "/" || home != "" && !isOutside(pathReadings(home, "")[0], at) {
		return ""
	}
	return project
}

// ownFolder returns the home folder; "" if it is unknown or /. If no project is known, a write
// inside this folder causes no warning, because desktop applications often write there and people
// would ignore the warning.
func ownFolder(home string) string {
	if home == "" || pathReadings(home, "")[0] == "/" {
		return ""
	}
	return home
}

// isOutside reports whether a reading of a path is outside the folder.
func isOutside(plain, folder string) bool {
	switch {
	case isRooted(plain):
		folder = pathReadings(folder, "")[0]
		return folder == "." || folder != "/" && plain != folder && !strings.HasPrefix(plain, folder+"/")
	case plain == ".." || strings.HasPrefix(plain, "../"):
		return true
	}
	return unknownBase().MatchString(plain)
}

// unknownBase matches a path whose start only the server knows: a variable, or the home folder of
// another user.
var unknownBase = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\$[A-Za-z_{]|%[A-Za-z_]+%|~[\w.+-]*(?:/|$))`)
})
