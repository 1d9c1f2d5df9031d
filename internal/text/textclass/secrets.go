package textclass

import (
	"path"
	"slices"
	"strings"
)

// A Place is a set of files. Reading or changing them needs more care than for other files.
type Place struct {
	// Names are patterns (path.Match, lower case) for the name of a file or folder. No rule is
	// learned for a path that contains such a name.
	Names []string
	// Shut are globs, valid below any folder. Learned policies and starter policies deny the files
	// that match. A person must allow a wrongly denied file by hand, so names that source files
	// also have are not listed.
	Shut []string
	// Path is a sequence of names separated by slashes. * matches any characters in a name; a
	// leading / is the root. A person is warned if a call touches such a path, so files that mostly
	// hold no secret are not listed.
	Path    string
	Spare   []string // patterns like Names, for the last name of paths that only look like this place
	SpareIn []string // folders with files that only look like this place
	Of      Keeper
	Hit     string // Hit is an example inside the place, Miss a similar path outside of it
	Miss    string
}

// A Keeper tells who uses the files of a place.
type Keeper uint8

// Values of Keeper.
const (
	Owner   Keeper = iota // the person, or a program of the person
	Browser               // data of a browser
	Client                // programs that an editor or an MCP client starts
	Agent                 // text that an agent gets in every session
)

// ContainsPath reports whether a path is in the place. The path must be clean: / between its parts,
// no . and .. inside, and a / at the start if it is absolute.
func (p *Place) ContainsPath(plain string) bool {
	if p.Path == "" {
		return false
	}
	rooted := strings.HasPrefix(plain, "/")
	plain, inside := strings.ToLower(plain), strings.TrimPrefix(strings.ToLower(p.Path), "/")
	if first, _, _ := strings.Cut(inside, "/"); !strings.ContainsAny(first, wildcards) && !strings.Contains(plain, first) {
		return false // most paths have no part of most places
	}
	parts := strings.Split(strings.Trim(plain, "/"), "/")
	for i, part := range parts {
		parts[i] = bareName(part)
	}
	want := strings.Split(inside, "/")
	for i := 0; i+len(want) <= len(parts); i++ {
		if strings.HasPrefix(p.Path, "/") && (i > 0 || !rooted) {
			break
		}
		if slices.EqualFunc(want, parts[i:i+len(want)], matchesName) {
			return !slices.ContainsFunc(p.Spare, func(spare string) bool { return matchesName(spare, parts[len(parts)-1]) })
		}
	}
	return false
}

// bareName returns the name that Windows uses for a file. It removes dots and blanks at the end and
// the name of a stream (NAME:STREAM), because Windows opens the same file without them.
func bareName(name string) string {
	if stream := strings.IndexByte(name, ':'); stream > 0 {
		name = name[:stream]
	}
	if short := strings.TrimRight(name, ". "); short != "" {
		return short
	}
	return name
}

// LiesBelow reports whether the place is below a path. A call that writes a whole folder can write
// to the places below it.
func (p *Place) LiesBelow(plain string) bool {
	for at, c := range p.Path {
		if c == '/' && at > 0 && p.Path[:at] != ".*" && p.ContainsPath(strings.TrimSuffix(plain, "/")+p.Path[at:]) {
			return true
		}
	}
	return false
}

// wildcards are the characters by which a pattern of package path differs from a name.
const wildcards = `*?[\`

func matchesName(pattern, name string) bool {
	if name == "." || name == ".." || !strings.ContainsAny(pattern, wildcards) {
		return name == pattern
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// SecretPlaces are the places of keys, passwords and other secrets. A place without Path is mostly
// harmless, or another table has its warning. A place without Names is in a folder for which no
// rule is learned anyway.
var SecretPlaces = [...]Place{
	{Names: is{".ssh"}, Shut: is{".ssh", ".ssh/**"}, Path: ".ssh", Spare: is{"*.pub"}, Hit: "~/.ssh/id_ed25519", Miss: "~/.ssh/id_ed25519.pub"},
	{Names: is{".gnupg"}, Shut: is{".gnupg/**"}, Path: ".gnupg", Hit: "~/.gnupg/secring.gpg", Miss: "/p/gnupg.md"},
	{Names: is{".aws"}, Shut: is{".aws/**"}, Path: ".aws", Hit: "~/.aws/credentials", Miss: "/p/aws/main.tf"},
	{Names: is{".azure"}, Shut: is{".azure/**"}, Path: ".azure", Hit: "~/.azure/accessTokens.json", Miss: "/p/azure.go"},
	{Names: is{".config"}, Shut: is{".config/gcloud/**"}, Path: ".config/gcloud", Hit: "~/.config/gcloud/credentials.db", Miss: "/p/gcloud/x"},
	{Shut: is{".config/gh/**"}, Path: ".config/gh", Hit: "~/.config/gh/hosts.yml", Miss: "/p/.github/labels.yml"},
	{Names: is{".kube"}, Shut: is{".kube/**"}, Path: ".kube", Hit: "~/.kube/config", Miss: "/p/kube/config.yaml"},
	{Names: is{".docker"}, Shut: is{".docker/**"}, Path: ".docker/config.json", Hit: "~/.docker/config.json", Miss: "/p/docker/config.json"},
	{Names: is{".git"}, Shut: is{".git/**"}, Path: ".git/config", Hit: "/p/.git/config", Miss: "/p/git/config.go"}, // its config may hold addresses with tokens; LaterPlaces has the rest of .git
	{Names: is{".password-store"}, Shut: is{".password-store/**"}, Path: ".password-store", Hit: "~/.password-store/bank.gpg", Miss: "/p/password-store.md"},
	{Names: is{".env*"}, Shut: is{".env*"}, Path: ".env*", Hit: "/p/.env.production", Miss: "/p/.env.example",
		Spare: is{".env.example", ".env.sample", ".env.template", ".env.dist", ".env.test"}},
	{Names: is{"*.env"}, Shut: is{"*.env"}, Path: "*.env", Hit: "/p/prod.env", Miss: "/p/example.env", Spare: is{"*example.env", "*sample.env", "*template.env"}},
	{Names: is{"*.pem", "*.key"}, Shut: is{"*.pem", "*.key"}, Spare: is{"public.pem"}, SpareIn: is{"testdata", "fixtures"}}, // no Path, because certificates and translations also have such names
	{Names: is{"id_rsa*"}, Shut: is{"id_rsa*"}, Path: "id_rsa*", Spare: is{"*.pub"}, Hit: "/backup/id_rsa_deploy", Miss: "/p/id_rsa.pub"},
	{Names: is{"id_ed25519*"}, Shut: is{"id_ed25519*"}, Path: "id_ed25519*", Spare: is{"*.pub"}, Hit: "/backup/id_ed25519", Miss: "/p/id_ed25519.pub"},
	{Names: is{"id_ecdsa*"}, Shut: is{"id_ecdsa*"}, Path: "id_ecdsa*", Spare: is{"*.pub"}, Hit: "/backup/id_ecdsa_sk", Miss: "/p/id_ecdsa.pub"},
	{Names: is{"id_dsa*"}, Shut: is{"id_dsa*"}, Path: "id_dsa*", Spare: is{"*.pub"}, Hit: "/backup/id_dsa", Miss: "/p/id_dsa.pub"},
	{Names: is{"*.ppk"}, Shut: is{"*.ppk"}, Path: "*.ppk", Hit: "/backup/me.ppk", Miss: "/p/ppk.go"},
	{Names: is{"*.kdbx"}, Shut: is{"*.kdbx"}, Path: "*.kdbx", Hit: "~/bank.kdbx", Miss: "/p/kdbx.go"},
	{Names: is{"*.p12"}, Shut: is{"*.p12"}, Path: "*.p12", Hit: "/backup/me.p12", Miss: "/p/p12.go"},
	{Names: is{"*.pfx"}, Shut: is{"*.pfx"}, Path: "*.pfx", Hit: "/backup/me.pfx", Miss: "/p/pfx.go"},
	{Names: is{"*.jks", "*.keystore"}, Shut: is{"*.jks", "*.keystore"}, Path: "*.keystore", Hit: "/p/release.keystore", Miss: "/p/keystore.go"},
	{Names: is{".netrc", "_netrc", ".authinfo*"}, Shut: is{".netrc", "_netrc", ".authinfo*"}, Path: ".netrc", Hit: "~/.netrc", Miss: "/p/netrc.go"},
	{Names: is{".pgpass"}, Shut: is{".pgpass"}, Path: ".pgpass", Hit: "~/.pgpass", Miss: "/p/pgpass_test.go"},
	{Names: is{".my.cnf"}, Shut: is{".my.cnf"}, Path: ".my.cnf", Hit: "~/.my.cnf", Miss: "/p/my.cnf"},
	{Names: is{".npmrc"}, Shut: is{".npmrc"}, Path: ".npmrc", Hit: "~/.npmrc", Miss: "/p/npm.rc"},
	{Names: is{".yarnrc*"}, Shut: is{".yarnrc", ".yarnrc.yml"}, Path: ".yarnrc.yml", Hit: "~/.yarnrc.yml", Miss: "/p/yarn.lock"},
	{Names: is{".m2"}, Shut: is{".m2/settings*.xml"}, Path: ".m2/settings*.xml", Hit: "~/.m2/settings.xml", Miss: "/p/m2/settings.xml"},
	{Names: is{".gradle"}, Shut: is{".gradle/gradle.properties"}, Path: ".gradle/gradle.properties", Hit: "~/.gradle/gradle.properties", Miss: "/p/gradle.properties"},
	{Names: is{".bundle"}, Shut: is{".bundle/config"}, Path: ".bundle/config", Hit: "~/.bundle/config", Miss: "/p/bundle/config"},
	{Names: is{"auth.toml"}, Shut: is{"pypoetry/auth.toml"}, Path: "pypoetry/auth.toml", Hit: "~/.config/pypoetry/auth.toml", Miss: "/p/poetry.toml"},
	{Names: is{".subversion"}, Shut: is{".subversion/auth/**"}, Path: ".subversion/auth", Hit: "~/.subversion/auth/svn.simple/x", Miss: "/p/subversion.md"},
	{Names: is{".pypirc"}, Shut: is{".pypirc"}, Path: ".pypirc", Hit: "~/.pypirc", Miss: "/p/pypi.toml"},
	{Names: is{".git-credentials"}, Shut: is{".git-credentials"}, Path: ".git-credentials", Hit: "~/.git-credentials", Miss: "/p/git-credentials.md"},
	{Names: is{".vault-token"}, Shut: is{".vault-token"}, Path: ".vault-token", Hit: "~/.vault-token", Miss: "/p/vault-token.go"},
	{Names: is{"credentials", "credentials.*"}, Shut: is{"credentials", "credentials.json", "credentials.y*ml", "credentials.toml", "credentials.db"},
		Path: "credentials.json", Hit: "/p/credentials.json", Miss: "/p/credentials.go"},
	{Names: is{"service-account*.json", "service_account*.json", "client_secret*.json"}, Shut: is{"service-account*.json", "service_account*.json", "client_secret*.json"},
		Path: "service-account*.json", Hit: "/p/service-account.json", Miss: "/p/service-account.md"},
	{Names: is{"local.settings.json", ".htpasswd", "kaggle.json", "wallet.dat"}, Shut: is{"local.settings.json", ".htpasswd", "kaggle.json", "wallet.dat"},
		Path: "local.settings.json", Hit: "/p/local.settings.json", Miss: "/p/settings.json"},
	{Names: is{"huggingface"}, Shut: is{"huggingface/*token*"}, Path: "huggingface/*token*", Hit: "~/.cache/huggingface/token", Miss: "/p/huggingface/tokenizer.py",
		Spare: is{"tokeniz*"}},
	{Names: is{"keys.txt"}, Shut: is{"age/keys.txt"}, Path: "age/keys.txt", Hit: "~/.config/sops/age/keys.txt", Miss: "/p/keys.txt"},
	{Names: is{".s3cfg", ".boto", ".databrickscfg"}, Shut: is{".s3cfg", ".boto", ".databrickscfg"}, Path: ".s3cfg", Hit: "~/.s3cfg", Miss: "/p/s3.cfg"},
	{Names: is{".oci"}, Shut: is{".oci/**"}, Path: ".oci", Hit: "~/.oci/config", Miss: "/p/oci/config.json"},
	{Names: is{".cloudflared", ".fly"}, Shut: is{".cloudflared/**", ".fly/**"}, Path: ".cloudflared", Hit: "~/.cloudflared/cert.json", Miss: "/p/cloudflared.md"},
	{Names: is{"glab-cli"}, Shut: is{"glab-cli/**"}, Path: "glab-cli", Hit: "~/.config/glab-cli/config.yml", Miss: "/p/glab.md"},
	{Names: is{".config"}, Shut: is{".config/op/**", ".config/hub", ".config/doctl/**", ".config/hcloud/**", ".config/stripe/**", ".config/netlify/**", ".config/configstore/**"},
		Path: ".config/op", Hit: "~/.config/op/config", Miss: "/p/op/config"},
	{Names: is{"*.tfstate", "*.tfstate.backup"}, Shut: is{"*.tfstate", "*.tfstate.backup"}, Path: "*.tfstate", Hit: "/p/terraform.tfstate", Miss: "/p/main.tf"},
	{Names: is{"secrets", "secret", "secrets.*"}}, // no Path, because source files also have such names
	{Names: is{".*_history"}, Shut: is{".*_history"}, Path: ".*_history", Hit: "~/.bash_history", Miss: "/p/history.go"},
	{Names: is{"keychains"}, Shut: is{"Library/Keychains/**"}, Path: "Library/Keychains", Hit: "~/Library/Keychains/login.keychain-db", Miss: "/p/Library/x"},
	{Names: is{"keyrings"}, Shut: is{"share/keyrings/**"}, Path: "share/keyrings", Hit: "~/.local/share/keyrings/login.keyring", Miss: "/p/keyrings/x"},
	{Names: is{"fish_history", ".zhistory", ".histfile", "consolehost_history.txt"}, Shut: is{"fish_history", ".zhistory", ".histfile", "ConsoleHost_history.txt"},
		Path: "fish_history", Hit: "~/.local/share/fish/fish_history", Miss: "/p/fish_history.go"},
	{Names: is{"secrets.y*ml", "secrets.*.y*ml"}, Shut: is{"secrets.y*ml", "secrets.*.y*ml", "secrets.json", "secrets.toml"}, Path: "secrets.y*ml", Hit: "/p/config/secrets.yml", Miss: "/p/secrets.go"},
	{Names: is{"rclone.conf"}, Shut: is{"rclone.conf"}, Path: "rclone.conf", Hit: "~/.config/rclone/rclone.conf", Miss: "/p/rclone.md"},
	{Names: is{".terraform.d", ".terraformrc"}, Shut: is{".terraform.d/**", ".terraformrc"}, Path: ".terraform.d", Hit: "~/.terraform.d/credentials.tfrc.json", Miss: "/p/.terraform/x"},
	{Names: is{".thunderbird", "thunderbird"}, Shut: is{".thunderbird/**", "Library/Thunderbird/**"}, Path: ".thunderbird",
		Hit: "~/.thunderbird/x.default/logins.json", Miss: "/p/thunderbird.md"},
	{Names: is{"application support"}, Shut: is{".config/Signal/**", "Library/Application Support/Signal/**"}, Path: ".config/Signal",
		Hit: "~/.config/Signal/config.json", Miss: "/p/signal.go"},
	// Credentials of agents and of MCP clients, and credentials of their servers.
	{Names: is{".credentials.json"}, Shut: is{".credentials.json"}, Path: ".credentials.json", Hit: "~/.claude/.credentials.json", Miss: "/p/.claude/settings.json"},
	{Names: is{".claude.json"}, Shut: is{".claude.json"}, Path: ".claude.json", Hit: "~/.claude.json", Miss: "/p/claude.json"},
	{Names: is{"claude_desktop_config.json"}, Shut: is{"claude_desktop_config.json"}, Path: "claude_desktop_config.json",
		Hit: "~/Library/Application Support/Claude/claude_desktop_config.json", Miss: "/p/claude_desktop.md"},
	{Names: is{"auth.json"}, Shut: is{".*/auth.json", "opencode/auth.json", "containers/auth.json", "composer/auth.json"}, Path: ".*/auth.json",
		Hit: "~/.codex/auth.json", Miss: "/p/src/auth.json"},
	{Names: is{"credentials"}, Shut: is{".*/credentials/**"}, Path: ".*/credentials", Hit: "~/.kimi/credentials/kimi-code.json", Miss: "/p/credentials/x.go"},
	{Names: is{"user-settings.json"}, Shut: is{".*/user-settings.json"}, Path: ".*/user-settings.json", Hit: "~/.grok/user-settings.json", Miss: "/p/user-settings.json"},
	{Names: is{".aider.conf.yml"}, Shut: is{".aider.conf.yml"}, Path: ".aider.conf.yml", Hit: "~/.aider.conf.yml", Miss: "/p/aider.md"},
	{Names: is{"mcp-auth.json"}, Shut: is{"opencode/mcp-auth.json"}, Path: "opencode/*auth.json", Hit: "~/.local/share/opencode/auth.json", Miss: "/p/opencode/auth.go"},
	{Names: is{".codex"}, Shut: is{".codex/config.toml"}, Path: ".codex/config.toml", Hit: "~/.codex/config.toml", Miss: "/p/codex/config.toml"},
	{Names: is{"oauth_creds.json", "mcp-oauth-tokens*.json"}, Shut: is{"oauth_creds.json", "mcp-oauth-tokens.json", "mcp-oauth-tokens-v2.json"}, Path: "oauth_creds.json",
		Hit: "~/.gemini/oauth_creds.json", Miss: "/p/oauth.go"},
	{Names: is{".gemini"}, Shut: is{".gemini/settings.json"}, Path: ".gemini/settings.json", Hit: "~/.gemini/settings.json", Miss: "/p/gemini/settings.json"},
	{Names: is{"github-copilot"}, Shut: is{".config/github-copilot/**"}, Path: ".config/github-copilot", Hit: "~/.config/github-copilot/hosts.json", Miss: "/p/.github/copilot.md"},
	{Names: is{".copilot"}, Shut: is{".copilot/config.json"}, Path: ".copilot/config.json", Hit: "~/.copilot/config.json", Miss: "/p/copilot/config.json"},
	{Names: is{"mcp*.json"}, Shut: is{".*/mcp*.json"}, Path: ".*/mcp*.json", Hit: "~/.cursor/mcp.json", Miss: "/p/.cursor/rules/x.md"},
	{Names: is{"mcp_config.json", "cline_mcp_settings.json"}, Shut: is{"mcp_config.json", "cline_mcp_settings.json"}, Path: "mcp_config.json",
		Hit: "~/.codeium/windsurf/mcp_config.json", Miss: "/p/mcp_config.go"},
	// clawai's own secrets: tokens of remote servers, secrets for its own HTTP server, variables
	// for the servers of a hub. It has no Path, because another table has the warning.
	{Names: is{"clawai"}, Shut: is{".local/state/clawai/**", ".config/clawai/config.toml", "AppData/Local/clawai/**", "AppData/Roaming/clawai/config.toml"}},
	{Names: is{"shadow"}, Path: "/etc/shadow", Hit: "/etc/shadow", Miss: "/p/etc/shadow"},
	{Names: is{"passwd"}}, // no Path, because this file holds no passwords on today's systems
	{Path: "/proc/*/environ", Hit: "/proc/self/environ", Miss: "/proc/cpuinfo"},
	{Path: "/proc/*/mem", Hit: "/proc/1/mem", Miss: "/proc/meminfo"},
	{Names: is{"login data*"}, Shut: is{"Login Data*"}, Path: "Login Data", Of: Browser, Hit: "~/.config/chromium/Default/Login Data", Miss: "/p/login data.md"},
	{Names: is{"google-chrome", "chromium"}, Shut: is{".config/google-chrome/**", ".config/chromium/**"}, Path: ".config/google-chrome", Of: Browser,
		Hit: "~/.config/google-chrome/Default/Cookies", Miss: "/p/google-chrome/x"},
	{Names: is{"chrome"}, Shut: is{"Library/Application Support/Google/Chrome/**"}, Path: "Application Support/Google/Chrome", Of: Browser,
		Hit: "~/Library/Application Support/Google/Chrome/Default/Cookies", Miss: "/p/Google/Chrome/x"},
	{Names: is{"bravesoftware", "microsoft-edge", "slack"}, Shut: is{".config/BraveSoftware/**", ".config/microsoft-edge/**", ".config/Slack/**"}, Path: ".config/BraveSoftware",
		Of: Browser, Hit: "~/.config/BraveSoftware/Brave-Browser/Default/Cookies", Miss: "/p/BraveSoftware/x"},
	{Names: is{"cookies", "local storage"}, Shut: is{"Cookies", "Local Storage/**"}, Path: "Local Storage", Of: Browser,
		Hit: "~/Library/Application Support/Slack/Local Storage/leveldb/x", Miss: "/p/storage/x"},
	{Names: is{"logins.json"}, Shut: is{"logins.json"}, Path: "logins.json", Of: Browser, Hit: "/backup/firefox/x/logins.json", Miss: "/p/logins.go"},
	{Names: is{".mozilla"}, Shut: is{".mozilla/**"}, Path: ".mozilla", Of: Browser, Hit: "~/.mozilla/firefox/x/logins.json", Miss: "/p/mozilla/x"},
	{Names: is{"cookies.sqlite"}, Shut: is{"cookies.sqlite"}, Path: "cookies.sqlite", Of: Browser, Hit: "/backup/firefox/x/cookies.sqlite", Miss: "/p/cookies.go"},
	{Names: is{"key4.db"}, Shut: is{"key4.db"}, Path: "key4.db", Of: Browser, Hit: "/backup/firefox/x/key4.db", Miss: "/p/key.db"},
}

type is = []string // shortens the tables; a function for this purpose would run at each start of the program

// Words in names of arguments, headers, options and variables. The record treats values with such
// names as secrets (internal/text/redact). A word too many only removes a harmless value from the
// record. For this reason the lists are not shared with code where a word too many would allow
// something: policy/reading/suspect.go, and the headers in proxy/remote/reverse.
const (
	SecretWords = "apikey apikeys authorization bearer cookie cookies credential credentials cvc cvv jwt mfa otp pass passcode passphrase " +
		"passwd password passwords pat pin pwd secret secrets token totp"
	// SecretEndings are endings of names that are written as one word.
	SecretEndings = "password passwd passphrase secret token apikey accesskey privatekey secretkey"
	// KeyWords are words before "key" that show that the key is a secret, and not the key of a map.
	KeyWords = "api access private secret signing encryption ssh master auth service account client deploy license storage shared"
)

// ContentWords are the last words in the names of arguments that hold old or new content of a file,
// in tools of well-known servers: content, newText, old_str.
const ContentWords = "content contents text str string code search replace replacement insert append patch diff input body data value lines blob base64"

// SecretPhrases are words for secrets that a form must not ask for (MCP, client/elicitation). They
// are searched in prose, so short words that other words contain are not in the list.
var SecretPhrases = []string{"password", "passwort", "passwd", "passphrase", "passcode", "api key", "api-key", "apikey", "api_key", "secret", "token",
	"credential", "private key", "seed phrase", "recovery phrase", "card number", "cvv", "one-time code"}
