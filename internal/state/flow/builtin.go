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
	"github.com/clawai/clawai/policy/where/shell"
)

// none holds the traits of a tool that returns no sensitive data and sends nothing out.
var none = policy.Traits{PublicSource: policy.No, SecretData: policy.No, PublicSink: policy.No, DangerousWrites: policy.No}

// ownTool returns the traits of one of the agent's built-in tools. The traits follow from the class
// and the arguments of the tool. It also returns the names of the arguments that decide where the
// call goes. The last result is false for an unknown tool.
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

// sharedTexts returns the texts of one argument of a call, and the names that the call itself uses
// for this argument. The parameter name is the argument's name in the tool's class.
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

// placeTrust reports whether a place holds a secret, the user's own files, or files of the project.
// It judges the place by its name. If the path has links, it also judges their target.
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

// readsSecrets reports whether a shell text names a place of secrets, also by wildcards and braces.
// It also returns true if the text prints the shell's variables, because they may hold secrets.
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

// maxBraced is the largest number of words that expandBraces returns for one word.
const maxBraced = 64

// expandBraces returns the words that a shell makes from one word with braces.
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

// secretNames returns those names in the paths of textclass.SecretPlaces that stand for secrets in
// any folder.
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
// the name of such a place.
func namesSecrets(word string) bool {
	if textclass.HoldsSecrets(word) {
		return true
	}
	for part := range strings.SplitSeq(word, "/") {
		if !strings.ContainsAny(part, "*?[") || part[0] != '.' && len(wild().ReplaceAllString(part, "")) < 2 {
			continue // skip patterns such as * and [a-z]*, which are too common
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

// networked holds programs that exchange data with other machines. It also holds programs that run
// code in another language, because that code may do the same.
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
	chromium chrome chromium-browser google-chrome google-chrome-stable chrome-headless-shell headless_shell headless-shell librewolf firefox firefox-esr msedge microsoft-edge brave brave-browser opera vivaldi
	safari epiphany konqueror qutebrowser phantomjs electron playwright puppeteer wkhtmltopdf wkhtmltoimage weasyprint cutycapt browsh carbonyl sensible-browser x-www-browser
	wget2 axel curlie hurl lwp-request lwp-download ncftp ngrok cloudflared tailscale wormhole croc syncthing restic borg gsutil skopeo crane oras pulumi cdk
	kcat kafkacat mosquitto_pub nats clickhouse-client cqlsh sqlcmd sqlplus mongo etcdctl gnutls-cli stunnel iperf3 hping3 torsocks proxychains finger
	eval base64 xxd`)
})

// starters holds more programs that reach other machines, and programs that run a command later.
// The names are also usual words in texts, so they are looked for only as the program of a command.
var starters = sync.OnceValue(func() map[string]bool {
	return setOf(`sbt lein pipenv pdm hatch pixi mamba rustup cabal stack opam luarocks cpan cpanm mix rebar3 vcpkg conan nix nix-shell nix-env guix pod fastlane vagrant packer ansible-playbook ansible-galaxy salt puppet
	oc k9s vault consul nomad tea s-nail nail mount.nfs mount.cifs showmount rpcinfo snmpget snmpwalk ftpget ftpput tnftp kinit irssi weechat localtunnel lt bore frpc chisel chronyc dirmngr
	luajit swift kotlin scala clojure clj ghci runghc ocaml escript octave jupyter ipython xonsh elvish
	wscript cscript mshta regsvr32 rundll32 msiexec test-netconnection resolve-dnsname send-mailmessage at batch crontab`)
})

// reaches maps a program to first words or options with which the program reaches beyond this
// machine. The programs are not in networked or starters.
var reaches = map[string]string{
	"go": "get install mod", "gpg": "--recv-keys --send-keys --search-keys --refresh-keys --keyserver --locate-keys --auto-key-locate --receive-keys --fetch-keys",
	"mount": "nfs nfs4 cifs smb3 sshfs fuse.sshfs davfs 9p", "trap": "",
}

// reachesByWords reports whether a command may reach beyond this machine. This is so if its program
// is in starters, if its words show it, or if it runs something that its words do not name.
func reachesByWords(r shell.Run) bool {
	if starters()[strings.ToLower(strings.TrimSuffix(r.Program, ".exe"))] {
		return true
	}
	if words, is := reaches[r.Program]; is {
		return slices.ContainsFunc(r.Words, func(word string) bool {
			return word == "" || slices.Contains(strings.Fields(words), word)
		})
	}
	return strings.HasSuffix(r.Program, "awk") && slices.ContainsFunc(r.Words, pipes().MatchString)
}

// pipes matches a pipe of awk to or from a program.
var pipes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\|&?\s*(?:"|getline|[a-z]\w*\s*[;}])`) })

func setOf(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// reachesNetwork reports whether a shell text names a program or an address that may reach beyond
// this machine, or hides a command. It cannot see the commands inside a script file.
func reachesNetwork(command string) bool {
	if hides().MatchString(command) || strings.Contains(command, "system(") || strings.Contains(command, "--headless") { // awk runs a program with system(, and a browser opens a page with --headless
		return true
	}
	bare := bareOf(command)
	if contacts().MatchString(bare) || strings.Contains(bare, "://") || strings.Contains(bare, "/inet/") || devices().MatchString(bare) {
		return true
	}
	for _, word := range shellWords(command) {
		word = strings.ToLower(path.Base(word))
		if networked()[strings.TrimSuffix(word, ".exe")] || networked()[strings.TrimRight(word, "0123456789.")] {
			return true
		}
	}
	runs, hidden := shell.RunsOf(command)
	return hidden || slices.ContainsFunc(runs, func(r shell.Run) bool {
		return reachesByWords(r) || !staysLocal(r) && slices.ContainsFunc(r.Words, namesHost)
	})
}

// devices matches the files that a shell opens as connections. It also matches if a variable holds
// a part of the name.
var devices = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/dev/(?:tcp|udp)(?:[/;&|\s]|$)|/dev/\$\S*/\d|\$\S*/(?:tcp|udp)/`)
})

// contacts matches addresses with a scheme but without slashes, such as mailto:. A program can
// write to people with the help of such an address.
var contacts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:mailto|tel|sms|callto|sips?|xmpp|skype|facetime|whatsapp|magnet):[^\s:]`)
})

// local holds programs that read, write or compare texts and files on this machine. A host among
// the words of such a program is data.
var local = sync.OnceValue(func() map[string]bool {
	return setOf(`grep egrep fgrep rg ag ack sed echo printf cat head tail less more wc sort uniq cut tr tee ls find fd tree stat file du df cd pushd pwd mkdir rmdir rm cp mv ln
	touch chmod chown test [ true false : diff cmp comm jq yq column basename dirname realpath readlink date sleep which type seq nl tac rev fold fmt md5sum sha256sum`)
})

// staysLocal reports whether the hosts in a command's words are only data or local names, so that
// the command contacts none of them.
func staysLocal(r shell.Run) bool {
	if r.Program == "go" && len(r.Words) > 0 { // names of Go packages look like hosts
		return slices.Contains([]string{"test", "build", "vet", "doc", "fmt", "env", "version", "list", "tool"}, r.Words[0])
	}
	return local()[r.Program]
}

// namesHost reports whether a word of a command has the form of a host or a mail address. The host
// may also follow an option. A word that could be the name of a file does not count as a host.
func namesHost(word string) bool {
	if rest, is := strings.CutPrefix(word, "["); is { // for example [::1]:80
		inside, _, closed := strings.Cut(rest, "]")
		return closed && isIPv6(inside) && !strings.HasSuffix(inside, "::1")
	}
	if plain := strings.ReplaceAll(word, `\`, "/"); strings.HasPrefix(plain, "//") && len(plain) > 2 && isAlphanumeric(plain[2]) { // a network share
		return true
	}
	if len(word) > 3 && word[0] == '-' && word[1] != '-' && isHostName(word[2:]) { // for example -hHOST
		return true
	}
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == '=' }) {
		all := splitWords(part)
		for one := all.nextWord(); one != ""; one = all.nextWord() {
			if isHostName(one) {
				return true
			}
		}
	}
	return isIPv6(strings.Trim(word, "[]")) && !strings.HasSuffix(strings.Trim(word, "[]"), "::1")
}

func isHostName(word string) bool {
	if end := strings.IndexAny(word, `/?#\`); end >= 0 {
		word = word[:end]
	}
	user, host, mail := strings.Cut(word, "@")
	if !mail {
		host = user
	}
	host, port, _ := strings.Cut(host, ":")
	host = strings.TrimRight(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch {
	case host == "" || host == "localhost" || !isAlphanumeric(host[0]):
		return false
	case mail && user != "":
		return isDotted(host)
	case isNumbered(host):
		return !strings.HasPrefix(host, "127.") && host != "0.0.0.0"
	case isDotted(host):
		return strings.HasPrefix(host, "www.") || bareHosts()[last] || slices.Contains(hostEndings[:], last)
	}
	return host[0] >= 'a' && !files()[last] && isPort(port) && isService(port)
}

// hostEndings are endings of hosts. Few files that a command names have such an ending.
var hostEndings = [...]string{"xyz", "info", "dev", "app", "ai", "top", "site", "live", "club", "icu"}

// The expression hides matches three ways to hide a command: a pipe, a here-string or a
// substitution that passes a text to a shell; $'…', which writes letters as numbers; and a
// program's name that contains wildcards or braces.
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

// empties matches expansions that can be empty in a shell. The word then continues after the
// expansion.
var empties = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{[^}]*\}|\$[@*0-9]|\$[A-Za-z_][A-Za-z_0-9]*|\$\([^)]*\)|` + "`[^`]*`")
})

// defaults matches expansions with a text. A shell uses the text if the variable has no value (-
// and =), or if it has one (+).
var defaults = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{\w+:?[-=+]([^}]*)\}`) })

var bared = strings.NewReplacer("\\\r\n", "", "\\\n", "", `"`, "", "'", "", `\`, "")

// bareOf returns a shell text without its quotes. If the text has expansions, bareOf appends two
// copies: one without the expansions, and one with the default texts of the expansions.
func bareOf(command string) string {
	bare := bared.Replace(command)
	if !strings.ContainsAny(bare, "$`") {
		return bare
	}
	return bare + " " + empties().ReplaceAllString(bare, "") + " " + empties().ReplaceAllString(defaults().ReplaceAllString(bare, "$1"), "")
}

// shellWords returns the words of a shell text without their quotes.
func shellWords(command string) []string {
	bare := bareOf(command)
	cut := func(r rune) bool { return r <= ' ' || strings.ContainsRune("|&;<>(){}`$=,", r) }
	// In the second list, words also end at quotes, because a word may begin at a quote. In the
	// first list, words continue over quotes, because quotes may split a word.
	return append(strings.FieldsFunc(bare, cut), strings.FieldsFunc(command, func(r rune) bool { return cut(r) || r == '"' || r == '\'' })...)
}
