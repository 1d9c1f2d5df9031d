package view

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/screen"
)

// place is one row of the table of places that hold secrets, which are those of
// internal/screen, or that make something run later.
type place struct {
	pattern string // parts of a path; * is any run within a part; a leading / is the root
	why     string
	write   bool     // only a write is dangerous
	spare   []string // last parts that look like it and are none
	hit     string
	miss    string
}

const (
	whySecrets  = "touches a place where secrets are kept"
	whyLater    = "changes what runs by itself later"
	whySystem   = "changes the system's own settings"
	whyClient   = "changes what an editor or MCP client runs"
	whyOwn      = "touches clawai's own rules or record"
	whyPersonal = "reads what a browser keeps"
)

var places = append(secretPlaces(), []place{
	{".config/clawai", whyOwn, false, nil, "~/.config/clawai/policy.toml", "/p/clawai/policy.toml"},
	{".local/state/clawai", whyOwn, false, nil, "~/.local/state/clawai/audit/x", "/p/state/clawai.go"},
	{"AppData/*/clawai", whyOwn, false, nil, `C:\Users\a\AppData\Roaming\clawai\policy.toml`, "/p/AppData/x"},

	{".bashrc", whyLater, true, nil, "~/.bashrc", "/p/bashrc.md"},
	{".bash_profile", whyLater, true, nil, "~/.bash_profile", "/p/bash_profile"},
	{".bash_login", whyLater, true, nil, "~/.bash_login", "/p/bash_login"},
	{".bash_logout", whyLater, true, nil, "~/.bash_logout", "/p/bash_logout"},
	{".profile", whyLater, true, nil, "~/.profile", "/p/profile.go"},
	{".zshrc", whyLater, true, nil, "~/.zshrc", "/p/zshrc.txt"},
	{".zshenv", whyLater, true, nil, "~/.zshenv", "/p/zshenv.txt"},
	{".zprofile", whyLater, true, nil, "~/.zprofile", "/p/zprofile"},
	{"config.fish", whyLater, true, nil, "~/.config/fish/config.fish", "/p/fish.go"},
	{"*profile.ps1", whyLater, true, nil, `C:\Users\a\Documents\PowerShell\Microsoft.PowerShell_profile.ps1`, "/p/profile.ps1.md"},
	{".envrc", whyLater, true, nil, "/p/.envrc", "/p/envrc.md"},
	{".vimrc", whyLater, true, nil, "~/.vimrc", "/p/vimrc.md"},
	{".gitconfig", whyLater, true, nil, "~/.gitconfig", "/p/.gitignore"},
	{".git/config", whyLater, true, nil, "/p/.git/config", "/p/git/config.go"},
	{".git/hooks", whyLater, true, nil, "/p/.git/hooks/pre-commit", "/p/hooks/use.ts"},
	{".husky", whyLater, true, nil, "/p/.husky/pre-commit", "/p/husky.md"},
	{".config/autostart", whyLater, true, nil, "~/.config/autostart/x.desktop", "/p/autostart.go"},
	{".config/systemd", whyLater, true, nil, "~/.config/systemd/user/x.service", "/p/systemd/x.service"},
	{"Library/LaunchAgents", whyLater, true, nil, "~/Library/LaunchAgents/x.plist", "/p/LaunchAgents.md"},
	{"Library/LaunchDaemons", whyLater, true, nil, "/Library/LaunchDaemons/x.plist", "/p/Library/daemons.md"},
	{"Programs/Startup", whyLater, true, nil, `C:\Users\a\AppData\Roaming\Microsoft\Windows\Start Menu\Programs\Startup\x.bat`, "/p/startup/x.bat"},
	{"/etc/cron*", whyLater, true, nil, "/etc/cron.d/x", "/p/etc/cron.d/x"},
	{"/var/spool/cron", whyLater, true, nil, "/var/spool/cron/root", "/p/cron.go"},
	{"/etc/systemd", whyLater, true, nil, "/etc/systemd/system/x.service", "/p/etc/systemd/x"},
	{"/etc/profile*", whyLater, true, nil, "/etc/profile.d/x.sh", "/p/etc/profile"},
	{"/etc/ld.so.preload", whyLater, true, nil, "/etc/ld.so.preload", "/p/ld.so.preload"},
	{"/etc", whySystem, true, nil, "/etc/hosts", "/p/etc/hosts"},
	{"/boot", whySystem, true, nil, "/boot/grub/grub.cfg", "/p/boot/x"},
	{"/usr", whySystem, true, nil, "/usr/local/bin/ls", "/p/usr/x"},
	{"/System", whySystem, true, nil, "/System/Library/x", "/p/System/x"},
	{"/Windows", whySystem, true, nil, `C:\Windows\System32\drivers\etc\hosts`, "/p/Windows/x"},

	{".vscode/settings.json", whyClient, true, nil, "/p/.vscode/settings.json", "/p/.vscode/extensions.md"},
	{".vscode/tasks.json", whyClient, true, nil, "/p/.vscode/tasks.json", "/p/tasks.json"},
	{".vscode/mcp.json", whyClient, true, nil, "/p/.vscode/mcp.json", "/p/mcp.json.md"},
	{".cursor/mcp.json", whyClient, true, nil, "/p/.cursor/mcp.json", "/p/.cursor/rules/x.md"},
	{".mcp.json", whyClient, true, nil, "/p/.mcp.json", "/p/mcp.jsonc"},
	{"claude_desktop_config.json", whyClient, true, nil, "~/Library/Application Support/Claude/claude_desktop_config.json", "/p/claude.json"},
	{".claude/settings*", whyClient, true, nil, "/p/.claude/settings.local.json", "/p/.claude/notes.md"},
	{".claude.json", whyClient, true, nil, "~/.claude.json", "/p/claude.json"},
	{".codex/config.toml", whyClient, true, nil, "~/.codex/config.toml", "/p/codex/config.toml"},
	{".gemini/settings.json", whyClient, true, nil, "~/.gemini/settings.json", "/p/gemini/settings.json"},
}...)

func secretPlaces() (all []place) {
	for _, p := range screen.SecretPlaces {
		why := whySecrets
		if p.Personal {
			why = whyPersonal
		}
		if p.Path != "" {
			all = append(all, place{p.Path, why, false, p.Spare, p.Hit, p.Miss})
		}
	}
	return all
}

// holds says whether the row is about a path that located has made plain.
func (p *place) holds(plain string) bool {
	parts := strings.Split(strings.Trim(strings.ToLower(plain), "/"), "/")
	want := strings.Split(strings.TrimPrefix(strings.ToLower(p.pattern), "/"), "/")
	for _, s := range p.spare {
		if parts[len(parts)-1] == s {
			return false
		}
	}
	for i := 0; i+len(want) <= len(parts); i++ {
		if strings.HasPrefix(p.pattern, "/") && (i > 0 || !rooted(plain)) {
			break
		}
		same := true
		for j, w := range want {
			ok, err := path.Match(w, parts[i+j])
			same = same && ok && err == nil
		}
		if same {
			return true
		}
	}
	return false
}

func rooted(plain string) bool { return strings.HasPrefix(plain, "/") }

// located are the readings of a path: each with / between its parts, no . and
// no .. but at the start, home in the place of ~, no drive and no scheme. A path
// that is rooted begins with /; one from an unknown base with a variable or ~.
func located(s, home string) []string {
	s = strings.TrimSpace(s)
	if len(s) > 5 && strings.EqualFold(s[:5], "file:") {
		s = strings.TrimPrefix(s[5:], "//")
		if s != "" && s[0] != '/' && s[0] != '\\' { // a host
			_, s, _ = strings.Cut(s, "/")
			s = "/" + s
		}
	}
	readings := []string{s}
	for range 2 { // %252e is decoded twice by some
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
			if !rooted(r) {
				r = "$drive/" + r
			}
		}
		readings[i] = path.Clean(strings.ReplaceAll(r, "//", "/"))
	}
	return readings
}

// workFolder is the folder the work is in; "" when that is not known. Desktop
// applications start servers in / or in the home folder, which nobody means as a
// whole; neither is anything between them.
func workFolder(project, home string) string {
	if project == "" {
		return ""
	}
	if at := located(project, "")[0]; at == "/" || home != "" && !outside(located(home, "")[0], at) {
		return ""
	}
	return project
}

// ownFolder is the home folder as the place that a person's files are in: if every
// write of a desktop application needed care, nobody would take any.
func ownFolder(home string) string {
	if home == "" || located(home, "")[0] == "/" {
		return ""
	}
	return home
}

// outside says whether a reading of a path lies outside the folder.
func outside(plain, folder string) bool {
	switch {
	case rooted(plain):
		folder = located(folder, "")[0]
		return folder == "." || folder != "/" && plain != folder && !strings.HasPrefix(plain, folder+"/")
	case plain == ".." || strings.HasPrefix(plain, "../"):
		return true
	}
	return unknownBase().MatchString(plain)
}

// unknownBase begins a path from a place only the server knows: a variable, a
// drive's own folder, another's home.
var unknownBase = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\$[A-Za-z_{]|%[A-Za-z_]+%|~[\w.+-]*(?:/|$))`)
})
