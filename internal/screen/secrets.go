package screen

// A SecretPlace is where keys, passwords and the like lie.
type SecretPlace struct {
	// Names are patterns (path.Match) of a file's or a folder's name, in lower case, with
	// blanks between them. No rule is learned for a path that has one.
	Names []string
	// Shut are globs below any folder, which learned policies deny. A word too many there
	// shuts what a person has to open again: names that sources have too, are none.
	Shut []string
	// Path are names in a row, * any run within one and a leading / the root. A person is
	// warned when a call touches it, and so not of what mostly holds no secret.
	Path     string
	Spare    []string // last names of a path that look like it, and hold none
	Personal bool     // it is what a browser keeps
	Hit      string   // an example, and one of what is close to it
	Miss     string
}

// SecretPlaces are all of them. What has no Path is mostly harmless, or warned of for
// more; what has no Names lies where no rule is learned for anything.
var SecretPlaces = [...]SecretPlace{
	{Names: is(".ssh"), Shut: is(".ssh", ".ssh/**"), Path: ".ssh", Hit: "~/.ssh/id_ed25519", Miss: "/p/openssh/readme"},
	{Names: is(".gnupg"), Shut: is(".gnupg/**"), Path: ".gnupg", Hit: "~/.gnupg/secring.gpg", Miss: "/p/gnupg.md"},
	{Names: is(".aws"), Shut: is(".aws/**"), Path: ".aws", Hit: "~/.aws/credentials", Miss: "/p/aws/main.tf"},
	{Names: is(".azure"), Shut: is(".azure/**"), Path: ".azure", Hit: "~/.azure/accessTokens.json", Miss: "/p/azure.go"},
	{Names: is(".config"), Path: ".config/gcloud", Hit: "~/.config/gcloud/credentials.db", Miss: "/p/gcloud/x"},
	{Path: ".config/gh", Hit: "~/.config/gh/hosts.yml", Miss: "/p/.github/labels.yml"},
	{Names: is(".kube"), Shut: is(".kube/**"), Path: ".kube", Hit: "~/.kube/config", Miss: "/p/kube/config.yaml"},
	{Names: is(".docker"), Shut: is(".docker/**"), Path: ".docker/config.json", Hit: "~/.docker/config.json", Miss: "/p/docker/config.json"},
	{Names: is(".git"), Shut: is(".git/**")}, // written, it runs later
	{Names: is(".password-store"), Shut: is(".password-store/**"), Path: ".password-store", Hit: "~/.password-store/bank.gpg", Miss: "/p/password-store.md"},
	{Names: is(".env"), Shut: is(".env"), Path: ".env", Hit: "/p/.env", Miss: "/p/env.go"},
	{Names: is(".env.*"), Shut: is(".env.*"), Path: ".env.*", Hit: "/p/.env.production", Miss: "/p/.env.example",
		Spare: is(".env.example", ".env.sample", ".env.template", ".env.dist", ".env.test")},
	{Names: is("*.pem", "*.key"), Shut: is("*.pem", "*.key")}, // certificates, too, and translations
	{Names: is("id_rsa*"), Shut: is("id_rsa*"), Path: "id_rsa", Hit: "/backup/id_rsa", Miss: "/p/id_rsa.pub"},
	{Names: is("id_ed25519*"), Shut: is("id_ed25519*"), Path: "id_ed25519", Hit: "/backup/id_ed25519", Miss: "/p/id_ed25519.pub"},
	{Names: is("id_ecdsa*"), Shut: is("id_ecdsa*"), Path: "id_ecdsa", Hit: "/backup/id_ecdsa", Miss: "/p/id_ecdsa.pub"},
	{Names: is("*.kdbx"), Shut: is("*.kdbx"), Path: "*.kdbx", Hit: "~/bank.kdbx", Miss: "/p/kdbx.go"},
	{Names: is("*.p12"), Shut: is("*.p12"), Path: "*.p12", Hit: "/backup/me.p12", Miss: "/p/p12.go"},
	{Names: is("*.pfx"), Shut: is("*.pfx"), Path: "*.pfx", Hit: "/backup/me.pfx", Miss: "/p/pfx.go"},
	{Names: is(".netrc"), Shut: is(".netrc"), Path: ".netrc", Hit: "~/.netrc", Miss: "/p/netrc.go"},
	{Names: is(".pgpass"), Shut: is(".pgpass"), Path: ".pgpass", Hit: "~/.pgpass", Miss: "/p/pgpass_test.go"},
	{Names: is(".npmrc"), Shut: is(".npmrc"), Path: ".npmrc", Hit: "~/.npmrc", Miss: "/p/npm.rc"},
	{Names: is(".pypirc"), Shut: is(".pypirc"), Path: ".pypirc", Hit: "~/.pypirc", Miss: "/p/pypi.toml"},
	{Names: is(".git-credentials"), Shut: is(".git-credentials"), Path: ".git-credentials", Hit: "~/.git-credentials", Miss: "/p/git-credentials.md"},
	{Names: is(".vault-token"), Shut: is(".vault-token"), Path: ".vault-token", Hit: "~/.vault-token", Miss: "/p/vault-token.go"},
	{Names: is("credentials", "credentials.*"), Shut: is("credentials", "credentials.*")}, // sources, too
	{Names: is("secrets", "secret", "secrets.*")},                                         // no less
	{Names: is(".*_history"), Path: ".*_history", Hit: "~/.bash_history", Miss: "/p/history.go"},
	{Names: is("keychains"), Path: "Library/Keychains", Hit: "~/Library/Keychains/login.keychain-db", Miss: "/p/Library/x"},
	{Names: is("keyrings"), Path: "share/keyrings", Hit: "~/.local/share/keyrings/login.keyring", Miss: "/p/keyrings/x"},
	{Names: is("shadow"), Path: "/etc/shadow", Hit: "/etc/shadow", Miss: "/p/etc/shadow"},
	{Names: is("passwd")}, // holds none any more
	{Path: "/proc/*/environ", Hit: "/proc/self/environ", Miss: "/proc/cpuinfo"},
	{Path: "/proc/*/mem", Hit: "/proc/1/mem", Miss: "/proc/meminfo"},
	{Names: is("login data"), Path: "Login Data", Personal: true, Hit: "~/.config/chromium/Default/Login Data", Miss: "/p/login data.md"},
	{Names: is("cookies.sqlite"), Path: "cookies.sqlite", Personal: true, Hit: "~/.mozilla/firefox/x/cookies.sqlite", Miss: "/p/cookies.go"},
	{Names: is("key4.db"), Path: "key4.db", Personal: true, Hit: "~/.mozilla/firefox/x/key4.db", Miss: "/p/key.db"},
}

func is(list ...string) []string { return list }

// Words of the names of arguments, headers, options and variables: what is recorded
// under them is a secret (internal/redact). A word too many costs a value in the record.
// Where it would let something through, there is no such list to share: the texts of
// policy/suspect.go, and the headers of proxy/remote/reverse.
const (
	SecretWords = "apikey apikeys authorization bearer cookie cookies credential credentials cvc cvv jwt mfa otp pass passcode passphrase " +
		"passwd password passwords pin pwd secret secrets token totp"
	// SecretEndings end such words that are written in one.
	SecretEndings = "password passwd passphrase secret token apikey accesskey privatekey secretkey"
	// KeyWords stand before "key" where it is no key of a map.
	KeyWords = "api access private secret signing encryption ssh master auth service account client deploy license storage shared"
)

// SecretPhrases are what a form must not ask for (MCP, client/elicitation), as people
// are asked: they are sought within words of prose, so that no short word is among them.
var SecretPhrases = []string{"password", "passwort", "passwd", "passphrase", "passcode", "api key", "api-key", "apikey", "api_key", "secret", "token",
	"credential", "private key", "seed phrase", "recovery phrase", "card number", "cvv", "one-time code"}
