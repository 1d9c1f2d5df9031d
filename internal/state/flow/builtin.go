package flow

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/where/disk"
)

// none are the traits of a tool that returns no sensitive data and sends nothing out.
var none = policy.Traits{PublicSource: policy.No, SecretData: policy.No, PublicSink: policy.No, DangerousWrites: policy.No}

// ownTool returns the traits of one of the agent's built-in tools, by its class and its arguments,
// and the names of the arguments that decide where the call goes. It returns false when nothing is
// known about the tool.
func ownTool(c *policy.Call) (t policy.Traits, decides []string, known bool) {
	if c.Method != builtin.Method || len(c.Names) == 0 {
		return t, nil, false
	}
	tool := builtin.FindTool(c.Server, c.Names[0])
	t = none
	switch tool.Class {
	case "":
		return policy.Traits{}, nil, false
	case "fetch": // anybody may have written the page, and its address can carry data out
		t.PublicSource, t.PublicSink = policy.Yes, policy.Yes
		_, decides = sharedTexts(tool, c, "url")
	case "websearch":
		t.PublicSource = policy.Yes
	case "read", "search":
		if reach, _ := sharedTexts(tool, c, "reach"); len(reach) > 0 {
			t.SecretData = policy.Yes
		}
		places, _ := sharedTexts(tool, c, "path")
		for _, place := range places {
			t.SecretData = max(t.SecretData, placeTrust(c.Cwd, place))
		}
	case "write":
		var places []string
		places, decides = sharedTexts(tool, c, "path")
		for _, place := range places {
			if placeTrust(c.Cwd, place) != policy.No {
				t.DangerousWrites = policy.Yes
			}
		}
	case "shell":
		commands, names := sharedTexts(tool, c, "command")
		decides = names
		for _, command := range commands {
			if reachesNetwork(command) {
				t.PublicSource, t.PublicSink = policy.Yes, policy.Yes
			}
			if readsSecrets(command) {
				t.SecretData = policy.Yes
			}
		}
	}
	return t, decides, true
}

// sharedTexts returns the texts of an argument, given by the name that its class uses, and the
// tool's own names for that argument.
func sharedTexts(tool builtin.Tool, c *policy.Call, name string) (texts, names []string) {
	for key, value := range jsonscan.ValueOf(c.Args).Members() {
		own := key.Text()
		if !strings.EqualFold(own, name) && tool.SharedName(own) != name {
			continue
		}
		names = append(names, own)
		value.VisitLeaves(func(_ string, leaf jsonscan.Value) { texts = append(texts, textOf(leaf)) })
	}
	return texts, names
}

// placeTrust reports whether a place holds a secret, the user's own files, or files of the
// project. It judges by the place's name and, where the path has links, also by their target.
func placeTrust(project, place string) policy.Trust {
	v := nameTrust(project, place)
	if place = strings.TrimSpace(place); v == policy.Yes || !filepath.IsAbs(project) || strings.HasPrefix(place, "~") {
		return v
	}
	if !filepath.IsAbs(place) {
		place = project + "/" + place
	}
	_, leads, known := disk.LocatePath(place, "", project, disk.SystemDisk())
	_, root, there := disk.LocatePath(project, "", project, disk.SystemDisk())
	if root = strings.TrimSuffix(root, "/"); disk.OnWindows(disk.SystemDisk()) { // Windows ignores case in paths
		leads, root = strings.ToLower(leads), strings.ToLower(root)
	}
	below, inside := strings.CutPrefix(leads, root+"/")
	switch {
	case !known || !there:
		return max(v, policy.Private)
	case inside && !textclass.HoldsSecrets(below), leads == root:
		return v
	case textclass.HoldsSecrets(leads):
		return policy.Yes
	}
	return max(v, policy.Private)
}

// nameTrust judges a place by its name alone.
func nameTrust(project, place string) policy.Trust {
	if textclass.HoldsSecrets(place) {
		return policy.Yes
	}
	plain := strings.ReplaceAll(place, `\`, "/")
	if hasDrive(plain) || len(plain) > 4 && strings.EqualFold(plain[:5], "file:") {
		project = strings.ToLower(strings.ReplaceAll(project, `\`, "/"))
		if plain = strings.ToLower(plain); hasDrive(project) && isInside(project, path.Clean(plain)) {
			return policy.No
		}
		return policy.Private
	}
	if !path.IsAbs(plain) {
		if plain = path.Join("/project", plain); isInside("/project", plain) && !strings.HasPrefix(place, "~") {
			return policy.No
		}
		return policy.Private
	}
	if project != "" && isInside(project, path.Clean(plain)) {
		return policy.No
	}
	return policy.Private
}

func hasDrive(plain string) bool { return len(plain) > 1 && plain[1] == ':' }

func isInside(folder, place string) bool {
	folder = strings.TrimSuffix(path.Clean(folder), "/")
	return place == folder || strings.HasPrefix(place, folder+"/")
}

// readsSecrets reports whether a shell text names a place of secrets, also by wildcards and
// braces, or prints the shell's variables, which may hold secrets too.
func readsSecrets(command string) bool {
	if slices.ContainsFunc(shellWords(command), textclass.HoldsSecrets) || variables().MatchString(command) {
		return true
	}
	bare := bareOf(command)
	if !strings.ContainsAny(bare, "*?[{") {
		return false
	}
	for word := range strings.FieldsFuncSeq(bare, func(r rune) bool { return r <= ' ' || strings.ContainsRune("|&;<>()`=", r) }) {
		if slices.ContainsFunc(expandBraces(word), namesSecrets) {
			return true
		}
	}
	return false
}

// variables matches commands that print the shell's variables.
var variables = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[|&;(\n])\s*(?:\S*/)?(?:printenv\b|(?:env|set|export|export\s+-p|declare\s+-\w*[px]\w*)\s*(?:[|&;>)\n]|$))`)
})

// maxBraced is how many of the words that braces produce are looked at.
const maxBraced = 64

// expandBraces returns the words that a shell makes of one word with braces.
func expandBraces(word string) (all []string) {
	all = []string{word}
	for at := 0; at < len(all) && len(all) < maxBraced; at++ {
		open := strings.LastIndexByte(all[at], '{')
		if open < 0 {
			continue
		}
		inside, rest, closed := strings.Cut(all[at][open+1:], "}")
		if !closed || !strings.Contains(inside, ",") {
			continue
		}
		for choice := range strings.SplitSeq(inside, ",") {
			all = append(all, all[at][:open]+choice+rest)
		}
	}
	return all
}

// secretNames returns the file names that by themselves mean a place of secrets.
var secretNames = sync.OnceValue(func() (names []string) {
	for i := range textclass.SecretPlaces {
		place := &textclass.SecretPlaces[i]
		for name := range strings.SplitSeq(strings.Trim(place.Path, "*")+"/"+place.Hit, "/") {
			if textclass.HoldsSecrets(name) {
				names = append(names, name)
			}
		}
	}
	return names
})

var wild = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[^]]*\]|[*?]`) })

// namesSecrets reports whether a path names a place of secrets, or has a wildcard that may match
// such a name.
func namesSecrets(word string) bool {
	if textclass.HoldsSecrets(word) {
		return true
	}
	for part := range strings.SplitSeq(word, "/") {
		if !strings.ContainsAny(part, "*?[") || part[0] != '.' && len(wild().ReplaceAllString(part, "")) < 2 {
			continue // ls *, [a-z]*: too common to count
		}
		part = strings.ReplaceAll(part, "[!", "[^")
		for _, name := range secretNames() {
			if ok, err := path.Match(part, name); (ok || err != nil) && (name[0] != '.' || part[0] == '.') {
				return true
			}
		}
	}
	return false
}

// networked holds programs that send data to other machines or get data from them, and programs
// that run code in another language, which may do the same.
var networked = sync.OnceValue(func() map[string]bool {
	return setOf(`curl wget aria2c http https xh nc ncat netcat socat telnet ftp sftp tftp lftp ssh scp rsync rclone mosh
	git gh glab hub hg svn npm npx pnpm yarn bun bunx deno pip pip3 pipx uv uvx poetry conda cargo gem bundle composer mvn gradle
	docker podman kubectl helm aws gcloud gsutil az doctl heroku vercel netlify fly flyctl wrangler terraform ansible
	nc.openbsd nc.traditional websocat wscat grpcurl smbclient sshfs ssh-copy-id rsh rcp nmap s3cmd azcopy certutil bitsadmin start-bitstransfer
	mail mailx sendmail mutt msmtp swaks dig nslookup host drill ping traceroute whois openssl psql mysql mongosh redis-cli
	apt apt-get dnf yum apk pacman zypper dotnet nuget brew snap flatpak lynx w3m links elinks youtube-dl yt-dlp
	python python2 python3 node nodejs perl ruby php lua osascript powershell pwsh iex iwr irm invoke-webrequest invoke-restmethod
	tclsh expect rscript julia elixir erl groovy jshell guile racket sbcl tsx ts-node
	getent logger ssh-keyscan autossh dbclient rlogin mariadb ldapsearch resolvectl delv kdig tracepath mtr ntpdate
	claude codex gemini ollama
	eval base64 xxd`)
})

func setOf(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// reachesNetwork reports whether a shell text names a program or an address that may reach beyond
// this machine, or hides what it runs. It cannot see what a script does by itself.
func reachesNetwork(command string) bool {
	if hides().MatchString(command) {
		return true
	}
	bare := bareOf(command)
	if strings.Contains(bare, "://") || strings.Contains(bare, "/dev/tcp/") || strings.Contains(bare, "/dev/udp/") || strings.Contains(bare, "/inet/") {
		return true
	}
	for _, word := range shellWords(command) {
		word = strings.ToLower(path.Base(word))
		if networked()[strings.TrimSuffix(word, ".exe")] || networked()[strings.TrimRight(word, "0123456789.")] {
			return true
		}
	}
	return false
}

// hides matches a text that a pipe, a here-string or a substitution passes to a shell, quoted
// letters that are written as numbers, and a program name that wildcards or braces make.
var hides = sync.OnceValue(func() *regexp.Regexp {
	const (
		shells = `(?:\S*/)?(?:env\s+)?(?:sh|bash|dash|zsh|ksh|fish|ash)\b`
		begins = "(?:^|[|&;(`\n]|\\{\\s|\\b(?:do|then|else|if|while|until|exec|sudo|nohup|xargs|command|env|time)\\s)\\s*(?:[A-Za-z_]\\w*=\\S*\\s+)*"
		word   = "[^\\s|&;<>(){}$\"'`]*"
		made   = `(?:[*?]|\[[^\]\s]+\]|\{[^}\s]*,[^}\s]*\})`
	)
	return regexp.MustCompile(`\|&?\s*` + shells + `|\b` + shells + `[^|&;\n]*(?:<<<|<\(|\s-\w*c\s*["']?[$` + "`" + `])|(?:^|[\s;&|(])(?:\.|source)\s+<\(|\$'[^']*\\[xuU0-7]|` +
		begins + word + made + `[^\s|&;()]*(?:[\s|&;]|$)`)
})

// empties matches expansions that a shell may replace by nothing, so that the word continues after
// them.
var empties = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{[^}]*\}|\$[@*0-9]|\$[A-Za-z_][A-Za-z_0-9]*|\$\([^)]*\)|` + "`[^`]*`")
})

// defaults matches expansions with a text that a shell uses when the variable has no value, or has
// one.
var defaults = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{\w+:?[-=+]([^}]*)\}`) })

var bared = strings.NewReplacer("\\\r\n", "", "\\\n", "", `"`, "", "'", "", `\`, "")

// bareOf returns a shell text without its quotes, and then again with its expansions filled in.
func bareOf(command string) string {
	bare := bared.Replace(command)
	if !strings.ContainsAny(bare, "$`") {
		return bare
	}
	return bare + " " + empties().ReplaceAllString(bare, "") + " " + empties().ReplaceAllString(defaults().ReplaceAllString(bare, "$1"), "")
}

// shellWords returns the words of a shell text, without the quotes that may stand in them.
func shellWords(command string) []string {
	bare := bareOf(command)
	cut := func(r rune) bool { return r <= ' ' || strings.ContainsRune("|&;<>(){}`$=,", r) }
	// A word may begin at a quote: the second list splits there. Quotes may split a word: the
	// first list joins its pieces.
	return append(strings.FieldsFunc(bare, cut), strings.FieldsFunc(command, func(r rune) bool { return cut(r) || r == '"' || r == '\'' })...)
}
