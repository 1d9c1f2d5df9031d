package redact

import (
	"strings"
	"testing"
)

// The record keeps nothing of a secret that begins within a shorter one.
func TestSecretsThatBeginWithinOthers(t *testing.T) {
	const pass = "Vb3Xm7Yp1Hd6Q"
	body := "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj"
	pem := "-----BEGIN RSA PRIVATE" + " KEY-----\n" + body + "\n-----END RSA PRIVATE" + " KEY-----"
	for text, secret := range map[string]string{
		"SSH_KEY=" + pem + "\nPORT=1": body,
		"password: " + pem:            body,
		`{"private_key": "` + strings.ReplaceAll(pem, "\n", `\n`) + `"}`: body,
		"Bearer abc12345" + pem:                                               body,
		"X-Auth-Token: Bearer " + pass + "-1":                                 pass,
		"token: Basic " + "YW5hOlZiM1htN1lwMUhkNlE=":                          "VmIzWG03",
		"password: machine h login u password " + pass:                        pass,
		"secret: curl -u me:" + pass + " https://h/":                          pass,
		"password: mysql -u root -p" + pass:                                   pass,
		"password=Server=db;User Id=a;Password=" + pass + ";":                 pass,
		"machine " + github + " login u password " + pass:                     hex40,
		"curl -u " + github + ":x-oauth-basic https://h":                      hex40,
		"\x1b[32m" + github + "\x1b[0m":                                       hex40,
		`\u001b[32m` + github:                                                 hex40,
		"-----BEGIN PRIVATE KEY-----\n\n-----BEGIN PRIVATE KEY-----\n" + body: body,
	} {
		if got := ScrubText(text); strings.Contains(got, secret) || !IsRedacted(got) {
			t.Errorf("%q is kept as %q", text, got)
		}
		quoted := string(ScrubJSON([]byte(`{"note":"` + strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`, "\x1b", `\u001b`).Replace(text) + `"}`)))
		if strings.Contains(quoted, secret) || !IsRedacted(quoted) {
			t.Errorf("%q in an argument is kept as %s", text, quoted)
		}
	}
	for text, want := range map[string]string{
		"SSH_KEY=" + pem + "\nPORT=1":                   "SSH_KEY=[redacted:pem:102]\nPORT=1",
		"token=" + github + " and on":                   "token=[redacted:value:44] and on",
		"password: a -----BEGIN CERTIFICATE-----\nMIIE": "password: [redacted:value:1] -----BEGIN CERTIFICATE-----\nMIIE",
	} {
		if got := ScrubText(text); got != want {
			t.Errorf("%q is kept as %q", text, got)
		}
	}
}
