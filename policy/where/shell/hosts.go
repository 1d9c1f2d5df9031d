package shell

import (
	"strings"

	"github.com/clawai/clawai/policy/where"
	"github.com/clawai/clawai/policy/where/authority"
)

// contact describes which words of a program are hosts.
type contact struct {
	names string
	// first means that the first operand is always a host; other operands may be hosts too.
	// operands means that each operand is a URL, with or without a scheme. If neither is set, a
	// host is the text before a colon. remote means that the operands after the first are a command
	// that runs on this host.
	first, operands, remote bool
	// plain are options whose value is not a host. With the options in follows, the program also
	// contacts hosts from a response (a redirect, a link).
	plain, follows string
}

var contacts = []contact{
	{names: "curl", operands: true, plain: "-X --request -H --header -d --data --data-raw --data-binary --data-urlencode --json " +
		"-o --output -A --user-agent -u --user -F --form -b --cookie -c --cookie-jar -T --upload-file -w --write-out -m",
		follows: "-L --location --location-trusted"},
	{names: "wget wget2", operands: true, plain: "-O -o -P", follows: "-r --recursive -m --mirror"},
	{names: "http https xh xhs httpie aria2c axel lynx w3m links elinks", operands: true},
	{names: "scp sftp rsync git"},
	{names: "ssh mosh", first: true, remote: true},
	{names: "nc ncat netcat telnet ping ping6 dig nslookup host whois traceroute tracepath mtr ftp lftp tftp nmap", first: true},
}

// fetching are programs that read a name with a dot in it as a host.
const fetching = "docker podman nerdctl skopeo helm go pip pip3"

func contactOf(called word) *contact {
	name := canonicalName(called.text)
	for i := range contacts {
		if called.known && listedIn(contacts[i].names, name) {
			return &contacts[i]
		}
	}
	return nil
}

// judgeHosts reports whether the rule lists the hosts in a command. In an allow rule all possible
// hosts must be in the list; in another rule one host is enough.
func (j *judge) judgeHosts(words []word) where.Match {
	switch {
	case j.hosts == nil:
		return where.Yes
	case !j.opens:
		return j.judgeMentions(words)
	}
	c := contactOf(words[0])
	bare := commandEffects(words).strange || listedIn(fetching, canonicalName(words[0].text))
	v := where.Yes
	operands := 0
	for i := 1; i < len(words); i++ {
		w := &words[i]
		switch {
		case mayDial(words[0].text, w):
			v = where.Maybe
		case !w.known:
			if c != nil || bare || strings.Contains(w.text, "://") {
				v = where.Maybe
			}
		case c == nil:
			v = min(v, j.judgeRemoteWord(w.text, bare))
		case strings.HasPrefix(w.text, "-") && w.text != "-" && w.text != "--":
			one, next := j.judgeOption(c, words, i)
			if v = min(v, one); next {
				i++
			}
		default:
			operands++
			v = min(v, j.judgeOperand(c, w.text, operands == 1))
		}
		if v == where.No {
			break
		}
	}
	return v
}

// mayDial reports whether a word may make gawk open a connection. gawk opens a connection for the
// file /inet/tcp/0/host/80. The awk program can also put such a name into gawk's arguments (ARGV).
func mayDial(called string, w *word) bool {
	return listedIn("awk gawk mawk nawk", canonicalName(called)) &&
		(!w.known && !w.home || strings.Contains(w.text, "/inet") || strings.Contains(w.text, "ARG"))
}

// judgeOption judges an option of a program that contacts hosts. The result next is true if the
// next word is a value that is not a host.
func (j *judge) judgeOption(c *contact, words []word, i int) (v where.Match, next bool) {
	text := words[i].text
	name, value, attached := strings.Cut(text, "=")
	follows := listedIn(c.follows, name) || !strings.HasPrefix(text, "--") && strings.Contains(c.follows, "-L") && strings.Contains(text, "L")
	known, takes := false, false
	if r := rowOf(words); r != nil {
		ok, value := r.findOption(text)
		known, takes = ok, value == required
	}
	switch {
	case follows, c.first:
		return where.Maybe, false
	case listedIn(c.plain, text):
		return where.Yes, true
	case known, listedIn(c.plain, name):
		return where.Yes, takes
	case attached:
		return j.judgeURLHost(value), false
	case c.operands && (len(text) == 2 || strings.HasPrefix(text, "--")):
		return where.Yes, false // judgeHosts judges the next word as a host
	case c.operands:
		return where.Maybe, false
	}
	return j.judgeRemoteWord(text, false), false
}

// judgeOperand judges an operand of a program that contacts hosts.
func (j *judge) judgeOperand(c *contact, text string, first bool) where.Match {
	switch {
	case text == "--", c.remote && !first, c.first && !first && strings.Trim(text, "0123456789") == "":
		return where.Yes
	case strings.Contains(text, "://"), c.operands:
		return j.judgeURLHost(text)
	case c.first:
		return j.judgeURLHost(strings.TrimSuffix(text, ":"))
	}
	return j.judgeRemoteWord(text, false)
}

// judgeRemoteWord judges a word of a program whose operands may or may not be hosts. The word is a
// host if it is a URL, user@host or host:path. If the parameter bare is true, a name with a dot is
// a host too.
func (j *judge) judgeRemoteWord(text string, bare bool) where.Match {
	if at := strings.Index(text, "://"); at >= 0 {
		if strings.Contains(text[at+3:], "://") {
			return where.Maybe
		}
		return j.judgeURLHost(text[strings.LastIndexFunc(text[:at], isSeparator)+1:])
	}
	head, _, _ := strings.Cut(text, "/")
	host, _, path := strings.Cut(head, ":")
	switch {
	case strings.HasPrefix(text, "//"), strings.HasPrefix(text, `\\`): // a network share on Windows
		return j.judgeURLHost(strings.TrimLeft(text, `/\`))
	case strings.Contains(head, "@"), path && host != "":
		return j.judgeURLHost(host)
	case bare && strings.Contains(head, "."):
		if _, doubt := authority.Parse(head); doubt == authority.Sure || doubt == authority.Number {
			return j.judgeURLHost(head)
		}
	}
	return where.Yes
}

// judgeURLHost judges the host of a URL with or without a scheme. It returns Yes only if all
// programs find the same host in the URL and this host is in the list.
func (j *judge) judgeURLHost(text string) where.Match {
	if _, after, found := strings.Cut(text, "://"); found {
		text = after
	}
	host, _ := authority.CutAuthority(text)
	if user, after, found := strings.Cut(host, "@"); found {
		if strings.ContainsFunc(user, isSeparator) {
			return where.Maybe
		}
		host = after
	}
	if _, doubt := authority.Parse(host); doubt != authority.Sure {
		return where.Maybe
	}
	return j.judgeListedHost(host)
}

// listedBehind reports whether a part of a word is a listed host. Letters of options may stand
// before the host: -xproxy.example.
func (j *judge) listedBehind(part string) where.Match {
	v, option := where.No, strings.HasPrefix(part, "-")
	for n := 0; n <= maxBundle && part != ""; n++ {
		if _, doubt := authority.Parse(part); doubt == authority.Sure {
			v = max(v, j.judgeListedHost(part))
		}
		if !option || strings.IndexByte(optionNames, part[0]) < 0 {
			break
		}
		part = part[1:]
	}
	return v
}

// maxBundle is the largest number of option letters before the value of an option.
const maxBundle = 32

func (j *judge) judgeListedHost(host string) where.Match {
	url := "https://" + host + "/"
	return j.hosts.JudgeValue(where.Value{Kind: where.String, Text: url, Raw: url}, j.opens)
}

// judgeMentions reports whether any part of a command's words could be one of the hosts.
func (j *judge) judgeMentions(words []word) where.Match {
	v := where.No
	for i := 1; i < len(words); i++ {
		w := &words[i]
		if mayDial(words[0].text, w) || !w.known && !w.home && (contactOf(words[0]) != nil || strings.Contains(w.text, "://")) {
			v = max(v, where.Maybe)
		}
		for part := range strings.FieldsFuncSeq(w.text, func(r rune) bool { return isSeparator(r) && r != ':' || r == '/' }) {
			for host := range strings.SplitSeq(part, ":") {
				v = max(v, j.listedBehind(host))
			}
			if _, doubt := authority.Parse(part); doubt == authority.Number && contactOf(words[0]) != nil {
				v = max(v, where.Maybe)
			}
		}
		if _, after, found := strings.Cut(w.text, "://"); found {
			host, _ := authority.CutAuthority(after)
			if _, doubt := authority.Parse(host); doubt != authority.Sure && doubt != authority.Port {
				v = max(v, where.Maybe)
			}
		}
	}
	return v
}
