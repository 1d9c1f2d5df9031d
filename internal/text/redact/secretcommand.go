package redact

import (
	"bytes"
	"strings"
)

// credential is an option of a program whose value is a secret, though its name is
// one letter.
type credential struct {
	programs []string
	option   string
	behind   byte   // the secret stands behind this in the value; 0: all of it
	attached bool   // the value stands in the same word
	only     string // this word stands before the option
	flags    string // options of one letter that may stand in the same word before it
}

// curlFlags are curl's options of one letter that take no value (curl(1)).
const curlFlags = "aBfGgiIjJklLMnNOpqRsSvVZ#012346"

var credentials = []credential{
	{programs: []string{"curl", "wget"}, option: "-u", behind: ':', flags: curlFlags},
	{programs: []string{"curl"}, option: "-u", behind: ':', attached: true, flags: curlFlags},
	{programs: []string{"curl", "wget"}, option: "-U", behind: ':', flags: curlFlags},
	{programs: []string{"curl", "wget"}, option: "--user", behind: ':'},
	{programs: []string{"curl", "wget"}, option: "--proxy-user", behind: ':'},
	{programs: []string{"wget"}, option: "--password"}, {programs: []string{"wget"}, option: "--http-password"},
	{programs: []string{"wget"}, option: "--ftp-password"}, {programs: []string{"wget"}, option: "--proxy-password"},
	{programs: []string{"mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "mariadb-admin", "mongosh", "mongo", "mongodump", "mongorestore"}, option: "--password"},
	{programs: []string{"docker", "podman", "helm", "oc", "skopeo", "buildah", "az"}, option: "--password", only: "login"},
	{programs: []string{"redis-cli"}, option: "--pass"},
	{programs: []string{"http", "https", "xh"}, option: "-a", behind: ':'},
	{programs: []string{"http", "https", "xh"}, option: "--auth", behind: ':'},
	{programs: []string{"mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "mariadb-admin"}, option: "-p", attached: true},
	{programs: []string{"sshpass", "mongosh", "mongo", "mongodump", "mongorestore"}, option: "-p"},
	{programs: []string{"sshpass", "7z", "7za", "7zz", "rar", "unrar"}, option: "-p", attached: true},
	{programs: []string{"docker", "podman", "helm", "oc", "skopeo", "buildah", "az"}, option: "-p", only: "login"},
	{programs: []string{"redis-cli"}, option: "-a"},
	{programs: []string{"ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami", "ldappasswd"}, option: "-w"},
	{programs: []string{"sqlcmd", "bcp", "zip", "unzip"}, option: "-P"},
	{programs: []string{"smbclient", "rpcclient"}, option: "-U", behind: '%'},
}

// Bounds of how far before an option its program is looked for: in bytes, and in words, so that a
// text made of options costs no multiple of that for each of them.
const (
	maxCommand = 2048
	maxWords   = 48
)

// credentialAt reads an option of a command line whose first byte is s[i].
func credentialAt(s []byte, i int) span {
	if len(s)-i < 4 || s[i+1] == ' ' {
		return span{}
	}
	var command []byte
	for n := range credentials {
		c := &credentials[n]
		letters := c.flagsAt(s, i)
		if !bytes.HasPrefix(s[i+letters:], []byte(c.option)[min(letters, 1):]) {
			continue
		}
		value := i + letters + len(c.option) - min(letters, 1)
		separate := value < len(s) && (s[value] == ' ' || s[value] == '=' && len(c.option) > 2)
		if separate == c.attached || !separate && !c.attached {
			continue
		}
		if !c.attached {
			value++
		}
		at := c.secretSpan(s, value)
		if at.to <= at.from {
			continue
		}
		if command == nil {
			command = commandBefore(s, i)
		}
		if c.behindProgram(command) {
			return at
		}
	}
	return span{}
}

// flagsAt gives how much of a word stands before the option: the dash and letters of others.
func (c *credential) flagsAt(s []byte, i int) (n int) {
	for n = 1; c.flags != "" && i+n < len(s) && strings.IndexByte(c.flags, s[i+n]) >= 0; n++ {
	}
	if n == 1 {
		return 0
	}
	return n
}

// commandBefore gives what stands of a command before its option at s[i], be it the value of a name.
func commandBefore(s []byte, i int) []byte {
	start, words := i, 0
	for start > 0 && i-start < maxCommand && words < maxWords {
		switch s[start-1] {
		case ';', '|', '&', '\n':
			return s[start:i]
		case ' ':
			words++
		}
		start--
	}
	return s[start:i]
}

// behindProgram reports whether a command that goes on with an option is one of the programs. Most
// texts do not even have their letters.
func (c *credential) behindProgram(command []byte) bool {
	for _, program := range c.programs {
		if bytes.Contains(command, []byte(program)) {
			return c.hasProgram(nil, command)
		}
	}
	return false
}

// hasProgram looks for the program, and the word that has to stand behind it, in the
// words of two texts.
func (c *credential) hasProgram(texts ...[]byte) bool {
	found, only := false, c.only == ""
	for _, text := range texts {
		for w := range bytes.FieldsFuncSeq(text, betweenWords) {
			w = w[bytes.LastIndexByte(w, '/')+1:]
			for _, program := range c.programs {
				found = found || string(w) == program
			}
			only = only || found && string(w) == c.only
		}
	}
	return found && only
}

func betweenWords(r rune) bool {
	return r <= ' ' || r == '"' || r == '\'' || r == '(' || r == '`' || r == ',' || r == '='
}

// secretSpan gives the part of the value at s[i] that is one.
func (c *credential) secretSpan(s []byte, i int) span {
	for i < len(s) && s[i] == ' ' {
		i++
	}
	from, to := i, len(s)
	stop := []byte(" \t\r\n\"'`;|&)")
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		from, stop = i+1, []byte{s[i]}
	}
	if n := bytes.IndexAny(s[from:], string(stop)); n >= 0 {
		to = from + n
	}
	if c.behind != 0 {
		n := bytes.IndexByte(s[from:to], c.behind)
		if n < 0 {
			return span{}
		}
		from += n + 1
	}
	if from < to && s[from] == '$' || from < to && s[from] == '-' { // a variable, or the next option
		return span{}
	}
	return span{from, to, placedKind}
}

// listedSecrecy judges an element of a list that is a command line: the one before
// it and the text of all before it are given, and the command where another member
// named it.
func listedSecrecy(element, last, before, command []byte) secrecy {
	for n := range credentials {
		c := &credentials[n]
		option := last
		if c.attached {
			option = element
		}
		switch {
		case !bytes.HasPrefix(option, []byte(c.option)) || c.attached == (len(option) == len(c.option)):
		case !c.attached && len(option) > len(c.option) || c.behind != 0 && bytes.IndexByte(element, c.behind) < 0:
		case c.hasProgram(command, before):
			return secret
		}
	}
	return harmless
}
