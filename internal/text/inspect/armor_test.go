package inspect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/cputime"
)

// lines are of base64, as a key has them.
var lines = []string{
	keyBody, "Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MhgwMbRvI0MBZhpJ5nTQ+2sxN9pQ4tUvB", "vm1qLh6Rf0YyXc2DkW8EoPzGa7NsIiTj4Ub3HxQ5lMrKeVw9CuOd+FgSJyBpAtZn", "6Rk2Lx==",
}

// TestKeysInEveryForm: a private key is found however its lines are written.
func TestKeysInEveryForm(t *testing.T) {
	whole := append(append([]string{pemStart}, lines...), pemEnd)
	each := func(format string) string {
		var all []string
		for i, line := range whole {
			all = append(all, fmt.Sprintf(strings.ReplaceAll(format, "%n", fmt.Sprint(i)), line))
		}
		return strings.Join(all, "\n")
	}
	pem := strings.Join(whole, "\n")
	quoted, err := json.Marshal(map[string]string{"k": pem})
	if err != nil {
		t.Fatal(err)
	}
	putty := "PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nComment: x\nPublic-Lines: 1\nAAAAB3NzaC1yc2EAAAADAQABAAABAQ\nPrivate-Lines: 3\n" + strings.Join(lines, "\n") + "\nPrivate-MAC: " + strings.Repeat("0a", 32)
	cut := pemStart + "\n" + strings.Join(lines[:3], "\n")
	for _, text := range []string{
		pem, pem + "\nmore", string(quoted), each("> %s"), each("// %s"), each("# %s"), each(" * %s"), each("+%s"), each("k.pem:%n:%s"), each("     %n\t%s"), each("| %s |"), each("2026-11-22 10:11:12 INFO %s"),
		each("\"%s\\n\" +"), each("    '%s\\n'"), each(`sb.append("%s\n");`), strings.Join(whole, " "), strings.Join(whole, "<br>"), strings.Join(whole, `\n`), strings.Join(whole, `\\n`), strings.Join(whole, `\r\n`), strings.Join(whole, "\n\n"),
		strings.Join(whole, "&#10;"), strings.ReplaceAll(pem, "\n", "\r\n"), cut, cut[:len(cut)-30], pemStart + "\n" + keyBody[:20], "KEY=" + pemStart + `\n` + keyBody + `\n`,
		pemStart + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC," + strings.Repeat("0A", 16) + "\n\n" + strings.Join(lines, "\n"), pemStart + "\nexample\n" + strings.Join(lines, "\n") + "\n" + pemEnd,
		"---- BEGIN SSH2 ENCRYPTED PRIVATE" + " KEY ----\nComment: \"x\"\n" + strings.Join(lines, "\n") + "\n---- END SSH2 ENCRYPTED PRIVATE" + " KEY ----", putty, putty[strings.Index(putty, "Private-L"):],
	} {
		for _, line := range lines[:3] {
			if strings.Contains(text, line) && !covers(text, line) {
				t.Errorf("%.120q: found %v", text, SearchText(text, Kinds{only: []Kind{Secret}}))
			}
		}
		if !covers(text, keyBody[:20]) {
			t.Errorf("%.120q: found %v", text, SearchText(text, Kinds{only: []Kind{Secret}}))
		}
	}
	var groups []string
	for i := 0; i < len(lines[1]); i += 8 {
		groups = append(groups, lines[1][i:i+8], lines[2][i:i+8])
	}
	if text := pemStart + "\n" + strings.Join(groups, "\n") + "\n" + pemEnd; !covers(text, groups[7]) {
		t.Errorf("%q: found %v", text, SearchText(text, Kinds{}))
	}
}

// TestNamesOfFormatsAreNoKeys: the first line of a key in a sentence or a program takes nothing
// away, and a key that is cut off ends with its base64.
func TestNamesOfFormatsAreNoKeys(t *testing.T) {
	rest := strings.Repeat(" The tool then reads the file and starts the server on the port you chose.", 30)
	for _, text := range []string{
		"Look for `-----BEGIN PRIVATE KEY-----` at the top of the file." + rest, "    if \"-----BEGIN RSA PRIVATE KEY-----\" in text:\n        load(text)\n    else:\n        raise ValueError(\"no key\")\n",
		"if (pem.startsWith('-----BEGIN PRIVATE KEY-----')) {\n  return parse(pem);\n}\n", "grep -l -e '-----BEGIN PRIVATE KEY-----' *.pem | xargs chmod 600\n", "msg=\"no -----BEGIN PRIVATE KEY----- block found\" file=/etc/x.pem\n",
		"| `-----BEGIN PRIVATE KEY-----` | PKCS#8 |\n| `-----BEGIN RSA PRIVATE KEY-----` | PKCS#1 |\n\nEnd of the table.\n", "It starts with -----BEGIN OPENSSH PRIVATE KEY----- and ends with -----END OPENSSH PRIVATE KEY-----.",
		"-----BEGIN PRIVATE KEY-----\n<your private key>\n-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nYOUR_PRIVATE_KEY\n-----END PRIVATE KEY-----", "case \"-----BEGIN PRIVATE KEY-----\":\n\treturn x509.ParsePKCS8PrivateKeyOrSomethingElse(der)\n",
		"// -----BEGIN PRIVATE KEY-----\nfunc TestMarshalPKCS8PrivateKeyOfEd25519(t *testing.T) {", "-----BEGIN PRIVATE KEY----- is not\n-----BEGIN CERTIFICATE-----\n" + strings.Join(lines, "\n") + "\n-----END CERTIFICATE-----",
		"Private-Lines: the number of lines", "ssh-keygen writes -----BEGIN OPENSSH PRIVATE KEY-----\nsha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 of it",
	} {
		for _, f := range SearchText(text, Kinds{only: []Kind{Secret}}) {
			t.Errorf("%.100q: found %v", text, f)
		}
	}
	text := pemStart + "\n" + strings.Join(lines[:2], "\n")
	if found := SearchText(text+"\n"+rest, Kinds{only: []Kind{Secret}}); len(found) != 1 || found[0].End != len(text) {
		t.Errorf("of %d bytes, found %v", len(text), found)
	}
	for _, unit := range []string{"-----BEGIN PRIVATE KEY-----\n" + keyBody + "\n", "---- BEGIN PRIVATE KEY ----\n-----END ", "Private-Lines: 1\n", "-----BEGIN PRIVATE KEY-----" + rest, "Private-Lines: " + keyBody} {
		cputime.CheckLinear(t, unit, func(size int) string {
			return strings.Repeat(unit, size/len(unit))
		}, func(text string) { SearchText(text, Kinds{only: []Kind{Secret}}) })
	}
}
