package web_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/web"
)

func text(s string) where.Value { return where.Value{Kind: where.String, Text: s} }

// notPublic are texts that a program could connect to a private place for. The
// sources: [T] Orange Tsai, "A New Era of SSRF" (Black Hat USA 2017); [P]
// PayloadsAllTheThings, Server Side Request Forgery; [O] OWASP SSRF prevention
// cheat sheet; [W] WHATWG URL standard and its test data; [I] IANA
// special-purpose registries; else the CVE.
var notPublic = []struct{ url, source string }{
	// Plain addresses.
	{"http://127.0.0.1/", "[I]"},
	{"http://127.8.8.8:8080/", "[I]"},
	{"http://0.0.0.0/", "[P]"},
	{"http://0.1.2.3/", "[I]"},
	{"http://10.0.0.1/", "[I]"},
	{"http://172.16.0.1/", "[I]"},
	{"http://172.31.255.255/", "[I]"},
	{"http://192.168.1.1/", "[I]"},
	{"http://100.64.0.1/", "[I] RFC 6598"},
	{"http://192.0.0.8/", "[I]"},
	{"http://192.0.2.1/", "[I] documentation"},
	{"http://198.18.0.1/", "[I] benchmarks"},
	{"http://198.51.100.7/", "[I] documentation"},
	{"http://203.0.113.7/", "[I] documentation"},
	{"http://192.88.99.1/", "[I] 6to4 relays"},
	{"http://224.0.0.1/", "[I] multicast"},
	{"http://240.0.0.1/", "[I] reserved"},
	{"http://255.255.255.255/", "[I] broadcast"},
	// Metadata of clouds.
	{"http://169.254.169.254/latest/meta-data/", "[P] AWS, GCP, Azure"},
	{"http://169.254.170.2/v2/credentials/", "[P] ECS"},
	{"http://100.100.100.200/latest/meta-data/", "[P] Alibaba"},
	{"http://192.0.0.192/latest/", "[P] Oracle"},
	{"http://168.63.129.16/", "Azure wire server"},
	{"http://[fd00:ec2::254]/latest/meta-data/", "[P] AWS"},
	{"http://metadata.google.internal/computeMetadata/v1/", "[P] GCP"},
	{"http://METADATA.google.INTERNAL./", "[P] GCP"},
	{"http://metadata/computeMetadata/v1/", "[P] GCP"},
	{"http://instance-data/latest/meta-data", "[P] AWS"},
	{"http://metadata.tencentyun.com/", "[P] Tencent"},
	{"http://rancher-metadata/", "[P] Rancher"},
	// IPv6.
	{"http://[::1]/", "[P]"},
	{"http://[::]:80/", "[P]"},
	{"http://[0000::1]:25/", "[P]"},
	{"http://[0:0:0:0:0:0:0:1]/", "[P]"},
	{"http://[::ffff:127.0.0.1]/", "[P]"},
	{"http://[::ffff:7f00:1]/", "[P]"},
	{"http://[0:0:0:0:0:ffff:127.0.0.1]/", "[P]"},
	{"http://[::ffff:169.254.169.254]/", "[P]"},
	{"http://[::127.0.0.1]/", "[I] IPv4-compatible"},
	{"http://[64:ff9b::7f00:1]/", "[I] NAT64"},
	{"http://[64:ff9b:1::a00:1]/", "[I] RFC 8215"},
	{"http://[2002:7f00:1::]/", "[I] 6to4"},
	{"http://[2002:c0a8:101::1]/", "[I] 6to4"},
	{"http://[2001:0:4136:e378:8000:63bf:f5ff:fffe]/", "[I] Teredo to 10.0.0.1"},
	{"http://[2001:4860::5efe:10.0.0.1]/", "ISATAP (RFC 5214)"},
	{"http://[2001:4860::200:5efe:10.0.0.1]/", "ISATAP"},
	{"http://[fe80::1]/", "[I] link-local"},
	{"http://[fe80::1%25eth0]/", "RFC 6874 zone"},
	{"http://[::1%25]/", "zone, empty"},
	{"http://[::1]%25/", "zone after the bracket"},
	{"http://[fc00::1]/", "[I] unique-local"},
	{"http://[fec0::1]/", "RFC 3879 site-local"},
	{"http://[ff02::1]/", "[I] multicast"},
	{"http://[100::1]/", "[I] discard"},
	{"http://[2001:db8::1]/", "[I] documentation"},
	{"http://[3fff::1]/", "[I] documentation"},
	{"http://[5f00::1]/", "[I] segment routing"},
	// Numbers in disguise.
	{"http://2130706433/", "[P] decimal"},
	{"http://3232235521/", "[P] decimal"},
	{"http://017700000001/", "[P] octal"},
	{"http://0177.0.0.1/", "[P] octal; CVE-2021-28918 (netmask)"},
	{"http://010.8.8.8/", "octal; CVE-2021-29923 (Go), CVE-2021-29921 (Python)"},
	{"http://o177.0.0.1/", "[P]"},
	{"http://0x7f000001/", "[P] hex"},
	{"http://0x7f.0x0.0x0.0x1/", "[P] hex"},
	{"http://0x7f.1/", "[W]"},
	{"http://0X7F.0.0.1/", "[W]"},
	{"http://0x.0x.0/", "[W] empty hex is zero"},
	{"http://127.1/", "[P] short"},
	{"http://127.0.1/", "[P] short"},
	{"http://0/", "[P]"},
	{"http://127.0.0.01/", "leading zero"},
	{"http://127.0.0.1./", "[W] dot at the end"},
	{"http://127.0.0.256/", "[W] overflow"},
	{"http://425.510.425.510/", "[P] overflow"},
	{"http://169.254.43518/", "[P] two bytes in the last part"},
	{"http://0xA9.254.0251.0376/", "[P] mixed"},
	{"http://%31%32%37.0.0.1/", "[P] percent"},
	{"http://127%2e0%2e0%2e1/", "[P] percent"},
	{"http://%6c%6f%63%61%6c%68%6f%73%74/", "[P] percent"},
	{"http://①②⑦.⓪.⓪.①/", "[P] enclosed"},
	{"http://１２７.０.０.１/", "[W] full-width"},
	{"http://127。0。0。1/", "[W] ideographic stops"},
	{"http://127．0．0．1/", "[W] full-width stops"},
	{"http://ⓛocalhost/", "[P] enclosed"},
	{"http://loc\u00adalhost/", "[W] soft hyphen is dropped"},
	{"http://loc\u200dalhost/", "[W] joiner is dropped"},
	{"http://locaſhost.localhoſt/", "long s"},
	{"http://١٢٧.٠.٠.١/", "Arabic digits"},
	// Names.
	{"http://localhost/", "RFC 6761"},
	{"http://LOCALHOST:3000/", "RFC 6761"},
	{"http://localhost./", "RFC 6761"},
	{"http://app.localhost/", "RFC 6761"},
	{"http://printer.local/", "RFC 6762"},
	{"http://nas.home.arpa/", "RFC 8375"},
	{"http://ipv4only.arpa/", "RFC 7050"},
	{"http://nas.lan/", "RFC 6762, appendix G"},
	{"http://wiki.corp/", "ICANN"},
	{"http://host.docker.internal/", "Docker"},
	{"http://kubernetes.default.svc/", "Kubernetes"},
	{"http://api.default.svc.cluster.local/", "Kubernetes"},
	{"http://intranet/", "single label"},
	{"http://xn--localhost-/", "Punycode of ASCII"},
	{"http://127.0.0.1.nip.io/", "[P]"},
	{"http://app-10-0-0-1.nip.io/", "[P]"},
	{"http://7f000001.nip.io/", "nip.io, hex"},
	{"http://www.10.0.0.1.sslip.io/", "[P]"},
	{"http://127.0.0.1.xip.io/", "[P]"},
	{"http://localtest.me/", "[P]"},
	{"http://customer1.app.localtest.me/", "[P]"},
	{"http://lvh.me/", "[P]"},
	{"http://vcap.me/", "[P]"},
	{"http://spoofed.burpcollaborator.net/", "[P]"},
	{"http://7f000001.c0a80001.rbndr.us/", "rebinding"},
	{"http://make-1.2.3.4-rebind-169.254-169.254-rr.1u.ms/", "[P] rebinding"},
	{"http://127.0.0.1.wildcard.example.com/", "an address spelt out"},
	{"http://ip-10-0-0-1.example.com/", "an address spelt out"},
	{"http://fritz.box/", "a router"},
	// Top-level domains that the internet does not have.
	{"http://vault.acme/", "of a company's own"},
	{"http://VAULT.ACME.:8200/v1", "of a company's own"},
	{"http://a.b.c.acme/", "of a company's own"},
	{"http://com.acme/", "of a company's own"},
	{"http://node.service.consul/", "HashiCorp"},
	{"http://stats.i2p/", "I2P"},
	{"http://name.eth/", "Ethereum"},
	{"http://name.bit/", "Namecoin"},
	{"http://gnunet.gnu/", "GNUnet"},
	{"http://facebookcorewwwi.onion/", "RFC 7686"},
	{"http://a.alt/", "RFC 9476"},
	{"http://nas.home/", "ICANN"},
	{"http://nas.workgroup/", "Windows"},
	{"http://a.co_m/", "no top-level domain"},
	{"http://a.-/", "no top-level domain"},
	{"http://пример.кот/", "no top-level domain, in another script"},
	{"http://a.рф1/", "no top-level domain, in another script"},
	{"http://a.xn--80ak6aa92e/", "no top-level domain, in Punycode"},
	// Texts that parsers take apart differently.
	{"http://1.1.1.1 &@2.2.2.2# @3.3.3.3/", "[T]"},
	{"http://8.8.8.8\t@127.0.0.1/", "[T]"},
	{"http://example.com@127.0.0.1/", "[O]"},
	{"http://foo@127.0.0.1:80@example.com/", "[T] curl"},
	{"http://foo@127.0.0.1 @example.com/", "[T] curl"},
	{"http://127.0.0.1:11211:80/", "[T]"},
	{"http://example.com:80:127.0.0.1/", "[T]"},
	{"http://example.com#@127.0.0.1/", "[T]"},
	{"http://example.com?@127.0.0.1/", "[T]"},
	{"http://127.0.0.1#@example.com/", "[T]"},
	{`http://example.com\@127.0.0.1/`, "[W]"},
	{`http://127.0.0.1\@example.com/`, "[W]; CVE-2018-3774"},
	{`http:\\127.0.0.1\`, "[W]"},
	{`http:/\127.0.0.1/`, "[W]"},
	{"http:127.0.0.1/", "[W]"},
	{"http:/127.0.0.1/", "[W]"},
	{"http:///127.0.0.1/", "[W]"},
	{"http:////127.0.0.1/", "[W]"},
	{"https:example.com", "[W]"},
	{"//127.0.0.1/", "[P] scheme-relative"},
	{`\\127.0.0.1\share`, "UNC"},
	{"/\\127.0.0.1/", "[W]"},
	{" http://127.0.0.1/", "CVE-2023-24329 (Python)"},
	{"\x01http://example.com/", "[W]"},
	{"ht\ttp://127.0.0.1/", "[W] tabs are dropped"},
	{"http://127.0.\n0.1/", "[W] line ends are dropped"},
	{"http://example.com\r\n@127.0.0.1/", "[T]"},
	{"http://example.com%00@127.0.0.1/", "NUL"},
	{"http://example.com\x00.127.0.0.1/", "NUL"},
	{"http://example.com%2f@127.0.0.1/", "percent slash"},
	{"http://example.com%23@127.0.0.1/", "percent hash"},
	{"http://example.com／@127.0.0.1/", "CVE-2019-9636 (Python, NFKC)"},
	{"http://evil.com＃@example.com/", "CVE-2019-9636"},
	{"http://example.com℀.127.0.0.1/", "CVE-2019-10160 (Python, NFKC)"},
	{"http://example.com:99999/", "port out of range"},
	{"http://example.com:0/", "port zero"},
	{"http://example.com:+80/", "port with a sign"},
	{"http://example.com:80x/", "port with letters"},
	{"http://[::1/", "open bracket"},
	{"http://[127.0.0.1]/", "IPv4 in brackets; CVE-2024-11168 (Python)"},
	{"http://[::1].example.com/", "text after the bracket"},
	{"http://example..com/", "empty label"},
	{"http://.example.com/", "empty label"},
	{"http://127.0.0.1;example.com/", "semicolon"},
	{"http://127.0.0.1,example.com/", "comma"},
	{"http://{127.0.0.1,example.com}/", "curl's globs"},
	{"http://$HOST/", "variable"},
	{"<http://127.0.0.1/>", "Python urllib unwraps"},
	{"URL:http://127.0.0.1/", "Python urllib, Java"},
	{"jar:http://127.0.0.1!/", "[T] Java"},
	{"view-source:http://127.0.0.1/", "browsers"},
	{"blob:http://127.0.0.1/x", "browsers"},
	{"feed:http://127.0.0.1/", "readers"},
	{"gopher://127.0.0.1:6379/_INFO", "[T]"},
	{"dict://localhost:11211/stat", "[P]"},
	{"file:///etc/passwd", "[O] no host"},
	{"file://localhost/etc/passwd", "[P] no host"},
	{"file://127.0.0.1/c$/x", "UNC on Windows"},
	{"file:////127.0.0.1/share", "UNC on Windows"},
	{"data:text/plain,hello", "not a host"},
	{"javascript://example.com/%0afetch('//127.0.0.1')", "a program"},
	{"php://filter.example.com/resource=http://127.0.0.1", "[P] PHP"},
	{"local_file://example.com/etc/passwd", "CVE-2019-9948 (Python)"},
	{"javascript:fetch('http://127.0.0.1/')", "no host, but one inside"},
	{"127.0.0.1", "no scheme"},
	{"localhost:8080/x", "no scheme"},
	{"example.com", "no scheme"},
	{"user@127.0.0.1", "no scheme"},
	{"http://exa\u034fmple.com/", "a mark that is dropped"},
	{"http://i\u2764\ufe0f.ws/", "a selector that is dropped"},
	{"http://\u2764.ws/", "no letter (IDNA 2008)"},
	{"http://fa\u00df.de/", "IDNA 2003 and 2008 differ"},
	{"http://" + strings.Repeat("a.", 130) + "com/", "longer than a name"},
	{"http://" + strings.Repeat("a", 64) + ".com/", "longer than a label"},
	{"http://example.com/" + strings.Repeat("a", 1<<16), "longer than a URL"},
	{"?http://127.0.0.1/", "a URL further on"},
	{"http://", "not a host"},
	{"", "nothing"},
}

func TestNotPublic(t *testing.T) {
	for _, c := range notPublic {
		t.Run(c.url, func(t *testing.T) {
			for _, opens := range []bool{false, true} {
				if got := web.NewPublic(true).JudgeValue(text(c.url), opens); got == where.Yes {
					t.Errorf("%q is public (%s)", c.url, c.source)
				}
			}
		})
	}
}

var addressable = []string{
	"https://example.com", "https://example.com/", "https://example.com/a/b?c=d#e", "http://example.com:8080/",
	"HTTPS://EXAMPLE.COM/Path", "Http://Example.Com/", "https://example.com./", "https://example.com:443/",
	"https://www.example.co.uk/x", "https://a.b.c.d.e.example.org/", "https://xn--bcher-kva.example.com/",
	"https://bücher.de/", "https://BÜCHER.de/", "https://пример.рф/путь", "https://例え.jp/", "https://пример.xn--p1ai/", "https://例え.テスト.みんな/", "https://ПРИМЕР.РФ./", "https://example.xn--q9jyb4c/",
	"https://www.gov.bd/", "https://www.ck/x", "https://example.ck/", "https://nic.zw/", "https://example.aaa/", "https://nic.zuerich/", "https://münchen.example.net/ä?ö=ü",
	"http://8.8.8.8/", "http://1.1.1.1/dns-query", "https://9.9.9.9:853/", "http://172.15.0.1/", "http://172.32.0.1/",
	"http://100.63.0.1/", "http://100.128.0.1/", "http://192.167.1.1/", "http://11.0.0.1/", "http://223.255.255.254/",
	"http://[2606:4700:4700::1111]/", "https://[2001:4860:4860::8888]:443/x", "http://[2a00:1450:4001:81b::200e]/",
	"http://[::ffff:8.8.8.8]/", "https://api.github.com/repos/a/b/issues?per_page=100&page=2",
	"https://github.com/owner/repo/blob/main/a.go#L10-L20", "https://medium.com/@user/post", "https://example.com/a@b",
	"https://example.com/?q=a@b.example", "https://example.com/?next=http://other.example.com/", "https://example.com/x?u=http%3A%2F%2Flocalhost",
	"https://example.com/#/route/127.0.0.1", "https://example.com/127.0.0.1", "https://example.com/localhost", "https://example.com/a//b",
	"https://example.com/%20/%2F", "https://example.com/a;b=c,d", "https://example.com/~user/", "https://example.com/a:b",
	"https://example.com/(x)[y]{z}", "https://example.com/a|b", "https://example.com/*", "https://example.com/$x",
	"https://localhost.example.com/", "https://internal.example.com/", "https://local.example.com/", "https://notlocalhost.com/",
	"https://mylocal.io/", "https://nip.io.example.com/", "https://lan.example.com/", "https://corporate.com/",
	"https://sub_domain.example.com/", "https://r3---sn-4g5e6nz7.example.com/", "https://1password.com/", "https://3m.com/",
	"https://0x.org/", "https://7-zip.org/", "https://a.1e100.net/", "https://123.example.com/", "https://1-2-3.example.com/",
	"https://ec2-54-1-2-3.compute-1.amazonaws.com/", "https://1.2.3.4.dsl.example.net/",
	"https://bucket.s3.eu-west-1.amazonaws.com/key", "https://storage.googleapis.com/b/o", "https://example.com:65535/",
	"https://example.com:1/", "https://example.com?x=1", "https://example.com#top", "ws://example.com/socket", "wss://example.com/socket",
	"ftp://ftp.example.com/pub/", "git+ssh://github.com/owner/repo", "postgres://db.example.com:5432/app", "redis://cache.example.com:6379/0",
	"https://en.wikipedia.org/wiki/URL_(disambiguation)", "https://de.wikipedia.org/wiki/Straße", "https://example.com/日本語?検索=語",
	"https://user.github.io/", "https://pypi.org/project/requests/", "https://proxy.golang.org/golang.org/x/net/@v/list",
	"https://registry.npmjs.org/@scope%2fname", "https://www.google.com/search?q=site:example.com+%22x%22",
	"https://example.com/a?b[]=1&b[]=2", "https://example.com/a?x=<y>", "https://example.com/'quoted'", `https://example.com/a?path=C:\x`,
	"https://example.com/?a=1?b=2", "https://example.com/%", "https://example.com/%00", "https://t.co/AbC", "https://bit.ly/AbC", "https://goo.gl/AbC", "https://is.gd/AbC", "https://g.co/x",
	"https://hooks.slack.com/services/T0/B0/X", "https://maps.googleapis.com/maps/api/geocode/json?latlng=1.0,2.0",
	"https://raw.githubusercontent.com/a/b/main/c.md", "https://cdn.jsdelivr.net/npm/x@1.2.3/dist/x.js",
	"https://doi.org/10.1000/182", "https://arxiv.org/abs/1706.03762v5", "https://web.archive.org/web/2020/http://example.com/",
	"https://example.museum/", "https://xn--p1ai.example.com/", "https://xn--e1afmkfd.xn--p1ai/", "https://a-.example.com/",
	"https://-a.example.com/", "https://__x.example.com/", "https://example.com/..%2f..", "https://example.com/../x", "https://example.com/.",
	"https://news.ycombinator.com/item?id=1", "https://stackoverflow.com/q/1#2", "https://crates.io/crates/url/2.5.0",
	"https://docs.python.org/3/library/urllib.parse.html#urllib.parse.urlsplit", "https://developer.mozilla.org/en-US/docs/Web/API/URL",
	"https://url.spec.whatwg.org/#host-parsing", "https://www.rfc-editor.org/rfc/rfc3986.html#section-3.2.2",
	"https://learn.microsoft.com/en-us/windows/win32/fileio/naming-a-file", "https://kubernetes.io/docs/", "https://hub.docker.com/_/golang",
	"https://gitlab.com/a/b/-/merge_requests/1", "https://bitbucket.org/a/b/src/main/", "https://sourceforge.net/projects/x/",
	"https://mirrors.kernel.org/", "https://deb.debian.org/debian/", "https://ppa.launchpadcontent.net/x/ubuntu/",
	"https://fonts.gstatic.com/s/a.woff2", "https://i.imgur.com/a.png", "https://youtu.be/abc?t=10", "https://www.youtube.com/watch?v=abc",
	"https://open.spotify.com/track/1", "https://mail.google.com/mail/u/0/#inbox", "https://calendar.google.com/calendar/r",
	"https://app.slack.com/client/T/C", "https://discord.com/channels/1/2", "https://t.me/channel", "https://x.com/user/status/1",
	"https://www.linkedin.com/in/user/", "https://www.reddit.com/r/golang/", "https://old.reddit.com/r/golang/.json",
	"https://api.openai.com/v1/models", "https://api.anthropic.com/v1/messages", "https://huggingface.co/a/b/resolve/main/config.json",
	"https://login.microsoftonline.com/common/oauth2/v2.0/authorize?redirect_uri=http://localhost:8080", "https://accounts.google.com/o/oauth2/v2/auth",
	"https://www.gov.uk/", "https://www.usa.gov/", "https://www.who.int/", "https://www.un.org/en/", "https://www.nasa.gov/x?y", "https://www.cern.ch/", "https://a.b.co/", "https://example.info/a.b.c", "https://example.xyz:8443/", "https://europa.eu/", "https://www.bund.de/", "https://www.zoll.example.com/", "https://weather.example.com/api/v1?lat=1&lon=2",
	"https://time.is/", "https://ip.example.com/8.8.8.8", "https://jobs.example.com/?utm_source=a&utm_medium=b", "https://shop.example.com/p/1?variant=2#reviews",
	"https://status.example.com/history.rss", "https://example.com/feed.xml", "https://example.com/robots.txt", "https://example.com/.well-known/security.txt",
	"https://static.example.com/img/a@2x.png", "https://a.example.com:8443/path;jsessionid=1?x=y#z", "https://example.com/search?q=%E2%9C%93",
	"https://go.dev/doc/", "https://pkg.go.dev/net/url#URL", "https://doc.rust-lang.org/std/", "https://nodejs.org/api/url.html", "https://www.w3.org/TR/", "https://datatracker.ietf.org/doc/html/rfc6761", "https://www.iana.org/assignments/iana-ipv4-special-registry/", "https://example.edu/~prof/a.pdf", "https://example.org:444/?a&b&c", "https://a.example.com/..", "https://example.net/a%2Fb%2Fc", "https://api.example.com/v1/users/42/repos?sort=-created", "https://grafana.example.com/d/abc/x?from=now-6h&to=now",
	"https://example.io/", "https://example.dev/", "https://example.app/", "https://example.ai/", "https://école.example.fr/", "https://ñandú.example.cl/", "https://ελλάδα.example.com/", "sftp://files.example.com/a", "ldap://ldap.example.com/dc=example,dc=com", "mongodb://db.example.com:27017/app", "amqp://mq.example.com/vhost", "ssh://git.example.com:22/repo.git",
	"https://k8s.gcr.io/v2/", "https://ghcr.io/v2/", "https://quay.io/repository/a/b", "https://registry-1.docker.io/v2/",
}

func TestPublic(t *testing.T) {
	for _, url := range addressable {
		if got := web.NewPublic(true).JudgeValue(text(url), true); got != where.Yes {
			t.Errorf("public = true of %q: %d", url, got)
		}
		if got := web.NewPublic(false).JudgeValue(text(url), false); got != where.No {
			t.Errorf("public = false of %q: %d", url, got)
		}
	}
	if len(addressable) < len(notPublic) {
		t.Errorf("%d ordinary URLs beside %d attacks", len(addressable), len(notPublic))
	}
}

// TestPublicFalse holds that only what is certainly private is called so.
func TestPublicFalse(t *testing.T) {
	for url, want := range map[string]where.Match{
		"http://127.0.0.1/":                where.Yes,
		"http://[::1]/":                    where.Yes,
		"http://169.254.169.254/":          where.Yes,
		"http://localhost:3000/":           where.Yes,
		"http://metadata.google.internal/": where.Yes,
		"http://wiki/":                     where.Maybe,
		"http://vault.acme/":               where.Maybe, // perhaps one that was delegated since
		"http://intranet/":                 where.Yes,
		"http://1.1.1.1.nip.io/":           where.Maybe,
		"http://0x7f.1/":                   where.Maybe,
		"http://a@b/":                      where.Maybe,
		"http://[64:ff9b::808:808]/":       where.Maybe,
		"localhost:8080":                   where.Maybe,
		"127.0.0.1":                        where.Maybe,
		"8.8.8.8":                          where.No,
		"file:///etc/passwd":               where.No,
		"data:,x":                          where.No,
		"mailto:a@example.com":             where.No,
		`C:\x`:                             where.No,
		"/etc/passwd":                      where.No,
		"../x":                             where.No,
		"some prose: nothing to fetch":     where.No,
		"ssh: connection refused":          where.No,
		" ssh:":                            where.Maybe,
		`ssh:\\localhost: 443/a`:           where.Maybe, // of Node's url.parse
		"http://":                          where.No,
		"":                                 where.No,
	} {
		if got := web.NewPublic(false).JudgeValue(text(url), false); got != want {
			t.Errorf("public = false of %q: %d, want %d", url, got, want)
		}
	}
}

func TestOtherKinds(t *testing.T) {
	host, _ := web.NewHosts([]string{"**"})
	scheme, _ := web.NewScheme([]string{"http"})
	for _, c := range []where.Constraint{host, scheme, web.NewPublic(true), web.NewPublic(false)} {
		if c.JudgeCost(100) <= 0 || c.JudgeCost(1<<20) < c.JudgeCost(1<<16) {
			t.Errorf("%T costs nothing", c)
		}
		for kind := where.Absent; kind <= where.List; kind++ {
			if kind == where.String {
				continue
			}
			if got := c.JudgeValue(where.Value{Kind: kind, Text: "2130706433"}, false); got != where.No {
				t.Errorf("%T of kind %d: %d", c, kind, got)
			}
		}
	}
}
