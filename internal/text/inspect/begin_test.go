package inspect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/cputime"
)

// signs may precede a place of secrets: what tools, markup and languages write there.
var signs = func() []string {
	all := []string{
		"", "<code>", "<pre><code class=\"sh\">", "<td>", "[x](", "&&", "||", "$(", "{{", "**", "__", "1:", "deploy.sh:12:", "- ", "+ ", "++", "> ", "// ", "# ", "\t@", "cd x;", "a|", "| x | ", "db: ",
		"&gt;", "&quot;", "%20", `\n`, `\t`, `\"`, `\u0022`, "\x1b[32m", "\ufeff", "\u00a0", "\u3000", "\u2192", "\u2026", "\u201e", "\u00bb", "\u3002", "\u5bc6\u94a5", "Connect with ", "2026-11-22 10:11:12 INFO opening ",
	}
	for _, sign := range "+-*/:;,!?@#%^&=~|<>()[]{}'\"`_\\" {
		all = append(all, string(sign))
	}
	return all
}()

// TestPlacesBeginBehindAnySign: no sign before a place hides the password in it.
func TestPlacesBeginBehindAnySign(t *testing.T) {
	for _, place := range []string{
		"curl -u ana:%s https://h", "/usr/bin/curl -u ana:%s h", "sshpass -p %s ssh h", "mysql -u root -p%s app", "docker login -u ana -p %s r", "redis-cli -a %s",
		"host=db user=ana password=%s dbname=a", "Server=db;User Id=sa;Password=%s;", "jdbc:mysql://db/a?user=sa&password=%s", "machine h login ana password %s", "postgres://ana:%s@db/x",
	} {
		for _, end := range []string{"", "</code>", "</pre></td>", "`", "**", "\"", ")", " |", "&quot;", "\x1b[0m", ", "} {
			if text := "<pre>" + fmt.Sprintf(place, loginPW) + end; !covers(text, loginPW) {
				t.Errorf("%q: found %v", text, SearchText(text, kindsOf([]Kind{Secret})))
			}
		}
		for _, sign := range signs {
			text := sign + fmt.Sprintf(place, loginPW) + " and so on"
			if found := SearchText(text, kindsOf([]Kind{Secret})); !covers(text, loginPW) {
				t.Errorf("%q: found %v", text, found)
			}
		}
	}
	for _, sign := range append(signs, "*_", "x_", "the key is _", "__") {
		for _, k := range []string{key, "sk-" + "ant-api03-" + strings.Repeat("Ab3xQ9", 15) + "AA", "xox" + "b-123456789013-" + "AbCdEfGhIjKlMnOpQrStUvWx"} {
			if text := sign + k + "_ now"; !covers(text, k[4:]) {
				t.Errorf("%q: found %v", text, SearchText(text, kindsOf([]Kind{Secret})))
			}
		}
	}
}

// A connection may have its settings in quotes, name no server, and have other settings.
func TestConnectionsInOtherForms(t *testing.T) {
	for _, text := range []string{
		"host='db' user='ana' password='%s'", "dbname=app user=ana password=%s", "host=db foo=1 password=%s", "user=ana password='%s' port=5432", "password=%s host=db", "(password=%s host=db)",
		`Server="db";Password="%s";`, "Password='%s';Server='db'", "connect with Data Source=db;Initial Catalog=a;User ID=sa;Password=%s;Encrypt=True",
		strings.Repeat("word ", 1000) + "Server=db;User Id=sa;Password=%s;", "mysql://ana:R7x/%s@db.corp/x", "mysql://ana:R7x#%s@db.corp/x", "postgresql+psycopg2://ana:R7?%s@db/x", "Authorization: Basic <YW5hOlI3eFFtMnZUazlMcFpz>%.0s",
		"Authorization: Basic\tYW5hOlI3eFFtMnZUazlMcFpz%.0s", "Authorization: Basic\r\n  YW5hOlI3eFFtMnZUazlMcFpz%.0s", "Authorization: Basic" + strings.Repeat(" ", 700) + "YW5hOlI3eFFtMnZUazlMcFpz%.0s", "auth=Basic%%20YW5hOlI3eFFtMnZUazlMcFpz%.0s",
	} {
		text = fmt.Sprintf(text, loginPW)
		want := loginPW
		if !strings.Contains(text, want) {
			want = "YW5hOlI3eFFtMnZUazlMcFpz"
		}
		if !covers(text, want) {
			t.Errorf("%.80q: found %v", text, SearchText(text, kindsOf([]Kind{Secret})))
		}
	}
	for _, text := range []string{
		"var host=e.host;var password=e.password;f()", "e.host=t.host;e.password=t.password;", "this.server = s; this.password = newOne;", "http://localhost:3000/@vite/client", "http://localhost:PORT/users/@me", "ssh://h:org/repo@v2",
		"mongodb://h:27017,g:27017/db?mail=a@b", "redis://h:6379/0#a@b", "docker://registry:tag/x@sha256", "tool --mysql -pab3456789", "Basic<br>training", "basic\n\nknowledge",
		"curl/7.88.1 (x86_64) -u ana:tr0ub4dor", "https://h/x -a one:tr0ub4dor", "see curls -u ana:tr0ub4dor", "libcurl3 -u ana:tr0ub4dor",
	} {
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			t.Errorf("%q: found %v", text, f)
		}
	}
}

// Words count before an option, neither blanks nor letters; where so many are read that a text of
// options would take long, that is said.
func TestWordsBeforeAnOptionCount(t *testing.T) {
	header := "%s-H \"A: b\" \\\n"
	for _, text := range []string{
		"curl https://h/api \\\n" + strings.Repeat(fmt.Sprintf(header, "    "), 6) + "    -u ana:" + loginPW,
		"curl https://h/api \\\n" + strings.Repeat(fmt.Sprintf(header, strings.Repeat(" ", 200)), 12) + "    -u ana:" + loginPW,
		"curl 'https://h/?q=" + strings.Repeat("x", 2100) + "' -u ana:" + loginPW, `curl -d '"` + strings.Repeat("x", 40_000) + `"' -u ana:` + loginPW + " h", "curl " + strings.Repeat("x", 9000) + " -u ana:" + loginPW,
	} {
		if !covers(text, loginPW) {
			t.Errorf("%.80q: found %v", text, SearchText(text, kindsOf([]Kind{Secret})))
		}
	}
	long := "curl " + strings.Repeat("x", 9000) + strings.Repeat(" -p 1", 40) + " -u ana:" + loginPW
	found := SearchText(long, kindsOf([]Kind{Secret}))
	if !covers(long, loginPW) && !slices.ContainsFunc(found, func(f Found) bool { return f.Kind == Unscreened && f.Of == Secret }) {
		t.Errorf("found %v", found)
	}
	for _, unit := range []string{" -u  ", "-u a:b \"", "x\" -u a:b", "' -u a:b", "'\" -u a:b \" -p x ", strings.Repeat("x", 900) + " -u a:b", " -p x\t\t\t", "curl -u a:$\t"} {
		cputime.CheckLinear(t, unit, func(size int) string {
			return `"x 'y ` + strings.Repeat(unit, size/len(unit))
		}, func(text string) { SearchText(text, kindsOf([]Kind{Secret})) })
	}
}
