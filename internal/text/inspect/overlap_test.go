package inspect

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/cputime"
)

const (
	keyBody  = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
	pemStart = "-----BEGIN RSA PRIVATE" + " KEY-----"
	pemEnd   = "-----END RSA PRIVATE" + " KEY-----"
	bearerID = "Zq8Lw2Rk5Tn9Vb3Xm7Yp1Hd6"
	loginPW  = "Vb3Xm7Yp1Hd6Q"
	antKey   = "sk-ant-" + "api03-" + bearerID
	jwtBody  = ".eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	jwtKey   = "eyJhbGciOiJIUzI1NiJ9" + jwtBody
)

// covers says whether all of want is found as a secret.
func covers(text, want string) bool {
	return slices.ContainsFunc(SearchText(text, kindsOf([]Kind{Secret})), func(f Found) bool {
		return f.Kind == Secret && strings.Contains(text[f.Start:f.End], want)
	})
}

// A secret is found whole where a shorter one, or one that is none, begins before it and ends within it.
func TestSecretsThatBeginWithinOthers(t *testing.T) {
	pem := pemStart + "\n" + keyBody + "\n" + pemEnd
	inJSON := strings.ReplaceAll(pem, "\n", `\n`)
	basic := base64.StdEncoding.EncodeToString([]byte("ana:" + loginPW))
	for text, want := range map[string]string{
		"SSL_PRIVATE_KEY=" + pem:                                                          keyBody,
		"secret=" + pem:                                                                   keyBody,
		"password: " + pem:                                                                keyBody,
		"api_key: " + pemStart + "\n" + keyBody + "\n":                                    keyBody,
		`{"private_key": "` + inJSON + `"}`:                                               keyBody,
		`KEY_SECRET=` + inJSON:                                                            keyBody,
		"PRIVATE_KEY='" + pem + "'":                                                       keyBody,
		"Bearer abc12345" + pem:                                                           keyBody,
		"X-Auth-Token: Bearer " + bearerID:                                                bearerID,
		"AUTH_TOKEN=Bearer " + bearerID:                                                   bearerID,
		"access_token: Bearer " + bearerID:                                                bearerID,
		"token: Basic " + basic:                                                           basic,
		"password: machine h login u password " + loginPW:                                 loginPW,
		"secret: curl -u me:" + loginPW + " https://h/":                                   loginPW,
		"export SECRET_CMD=curl -u me:" + loginPW + " https://h/":                         loginPW,
		"password: mysql -u root -p" + loginPW:                                            loginPW,
		"password=Server=db;User Id=a;Password=" + loginPW + ";":                          loginPW,
		"SECRET=host=db port=5432 user=a password=" + loginPW:                             loginPW,
		"machine " + key + " login u password example":                                    key,
		"curl -u " + key + ":x-oauth-basic https://h":                                     key,
		"curl -u " + key + ":example https://h":                                           key,
		"machine h login " + key + " password x-oauth-basic":                              key,
		"-----BEGIN PRIVATE KEY-----\n" + antKey:                                          antKey,
		"-----BEGIN PRIVATE KEY-----\nxoxb-123456789012-" + bearerID:                      bearerID,
		"-----BEGIN PRIVATE KEY-----\nglpat-" + bearerID:                                  bearerID,
		"-----BEGIN PRIVATE KEY-----\n...\n" + jwtKey:                                     jwtKey,
		"-----BEGIN PRIVATE KEY-----\nxxxx\npostgres://app:" + loginPW + "@db/x":          loginPW,
		"-----BEGIN PRIVATE KEY-----\nexample\n" + antKey + "\n-----END PRIVATE KEY-----": antKey,
		"-----BEGIN PRIVATE KEY-----\n" + pem:                                             keyBody,
		"-----BEGIN PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\n" + keyBody + "\n" + "-----END PRIVATE KEY-----": keyBody,
		"1:" + pemStart + "\n2:" + keyBody + "\n3:" + pemEnd:                                                        keyBody,
		"id-" + pemStart + "\nid-2-" + keyBody + "\nid-3-" + pemEnd:                                                 keyBody,
		pemStart + "\n12:" + keyBody[:32] + "\n13:" + keyBody[32:] + "\n14:" + pemEnd:                               keyBody[:32],
		pemStart + "\n|" + keyBody[:32] + "\n|" + keyBody[32:] + "\n|" + pemEnd:                                     keyBody[:32],
		"-" + pemStart + "\n-" + keyBody[:38] + "\n-" + pemEnd:                                                      keyBody[:38],
		pemStart + "' +\n'" + keyBody[:24] + "' +\n'" + pemEnd:                                                      keyBody[:24],
		"sk-ssh-" + antKey:                 antKey,
		"sk-ecdsa-sha2-nistp256-" + antKey: antKey,
		"kind: Secret\ndata:\n  a: example\n  x: xxxx\nurl: postgres://app:" + loginPW + "@db/x": loginPW,
		"\x1b[32m" + key + "\x1b[0m":                   key,
		"token=\x1b[01;31m\x1b[K" + key + "\x1b[m":     key,
		"\x1b[38;5;208m" + antKey:                      antKey,
		"\x1b(B" + key:                                 key,
		"\u009b32m" + key:                              key,
		"\x1bg" + key:                                  key,
		`\x1b[0m` + key:                                key,
		`\033[32m` + key:                               key,
		`\u001b[1;31m` + key:                           key,
		`token\u003d` + key:                            key,
		`\u0022` + key + `\u0022`:                      key,
		`a\x22` + key:                                  key,
		`say \042` + key:                               key,
		"[32m" + key + "[0m":                           key,
		"\x1b[32m12345678:AA" + bearerID + "abcdefghi": bearerID,
		"\x1b[32mBearer " + bearerID:                   bearerID,
	} {
		if !covers(text, want) {
			t.Errorf("%q: found %v", text, SearchText(text, Kinds{}))
		}
	}
	for _, text := range []string{
		"sk-ssh-ed25519-cert-v01@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com,webauthn-sk-ecdsa-sha2-nistp256@openssh.com", "array[0mghp_x", "\x1b[32mpath\x1b[0m",
		"SSL_PRIVATE_KEY=-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "token: Bearer <your token>", "password: machine h login u password example",
		"-----BEGIN PRIVATE KEY-----\n(/usr/local/share/certificates/private.key)\n-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n<insert-your-base64-private-key-here>\n-----END PRIVATE KEY-----",
		"postgres://token:secret@localhost/db", "secret: curl -u user:password https://h",
	} {
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			t.Errorf("%q: found %v", text, f)
		}
	}
}

// What lies beyond a bound is found, or said not to have been looked for.
func TestBoundsOfSecretsAreSaid(t *testing.T) {
	b64 := base64.StdEncoding.EncodeToString
	big, value := b64([]byte(strings.Repeat("x", 70_000))), b64([]byte(loginPW+loginPW))
	long := strings.Repeat("a", 600)
	for text, want := range map[string]string{
		"kind: Secret\ndata:\n  a: " + big + "\n  p: " + value + "\n":                                                    value,
		`{"kind":"Secret","data":{"a":"` + big + `","z":"` + value + `"}}`:                                               value,
		"data:\n  z: " + value + "\nmetadata:\n  annotations:\n    x: " + strings.Repeat("y", 3000) + "\nkind: Secret\n": value,
		"text\":\"data:\n  z: " + value + "\nkind: Secret\n":                                                             value,
		"items:\n- data:\n    z: " + value + "\n  kind: Secret\n":                                                        value,
		"ana:" + strings.Repeat(loginPW, 12) + "@tcp(db:3306)/app":                                                       strings.Repeat(loginPW, 12),
		"Server=db;App=" + long + ";Password=" + loginPW + ";":                                                           loginPW,
		"Server=db;App=" + strings.Repeat(long, 40) + ";Password=" + loginPW + ";":                                       "",
		"Server=db;" + strings.Repeat("a=b;", 900) + "Password=" + loginPW + ";":                                         "",
		"host=db application_name=" + long + " password=" + loginPW + " user=u":                                          loginPW,
		"host=db user=u application_name=" + strings.Repeat(long, 40) + " password=" + loginPW:                           "",
		"Server=db;Password=" + strings.Repeat(loginPW, 60) + ";":                                                        strings.Repeat(loginPW, 60),
		"Basic " + b64([]byte("u:"+strings.Repeat(loginPW, 100))):                                                        b64([]byte("u:" + strings.Repeat(loginPW, 100))),
		`{"auths":{"r":{"auth":"` + b64([]byte("_json_key:"+strings.Repeat(loginPW, 200))) + `"}}}`:                      b64([]byte("_json_key:" + strings.Repeat(loginPW, 200))),
		"eyJ" + strings.Repeat("hbGciOiJIUzI1NiJ9", 40) + jwtBody:                                                        jwtBody,
		"eyJ" + strings.Repeat("hbGciOiJIUzI1NiJ9", 4000) + jwtBody:                                                      jwtBody,
		"-----BEGIN " + strings.Repeat("A", 70) + " PRIVATE" + " KEY-----\n" + keyBody:                                   keyBody,
		"-----BEGIN " + strings.Repeat("A", 7000) + " PRIVATE" + " KEY-----\n" + keyBody:                                 "",
		"ana:" + strings.Repeat(loginPW, 100) + "@tcp(db:3306)/app":                                                      strings.Repeat(loginPW, 100),
		"ana:" + strings.Repeat(loginPW, 9000) + "@unix(/run/x)/app":                                                     strings.Repeat(loginPW, 9000),
		"jdbc:oracle:thin:ana/" + strings.Repeat(loginPW, 30) + "@db":                                                    strings.Repeat(loginPW, 30),
		"jdbc:oracle:thin:ana/" + strings.Repeat(loginPW, 900) + "@db":                                                   "",
		"jdbc:postgresql://db/app?application_name=" + long + "&password=" + loginPW:                                     loginPW,
		"jdbc:postgresql://db/app?application_name=" + strings.Repeat(long, 40) + "&password=" + loginPW:                 "",
		"kind:" + strings.Repeat(" ", 40) + "Secret\ndata:\n  z: " + value:                                               value,
		"\"kind\":\n  " + strings.Repeat(" ", 40) + "\"Secret\", \"data\": {\"z\": \"" + value + "\"}":                   value,
		"kind: SecretList\nitems:\n- data:\n    z: " + value:                                                             value,
		"kind: Secret\ndata: # x\n  z: " + value:                                                                         value,
		"kind: Secret\ndata: &d\n  z: " + value:                                                                          value,
		"kind: Secret\ndata: !!map\n  z: " + value:                                                                       value,
		"kind: Secret\ndata: !!map &d {z: " + value + "}":                                                                value,
		"kind: Secret\ndata: !" + long + " {z: " + value + "}":                                                           "",
		"kind: Secret\ndata : \n  z: " + value:                                                                           value,
		"kind: Secret\ndata: {z: " + value + "}":                                                                         value,
		"kind: Secret\ndata:\n  {z: " + value + "}":                                                                      value,
		"kind: Secret\nstringData: {a: '}', b: it's, z: " + loginPW + "}":                                                loginPW,
		"kind: Secret\n\"data\":\n  z: " + value:                                                                         value,
		"kind: Secret\n'data':\n  z: " + value:                                                                           value,
		"kind: Secret\n'stringData': {'z': '" + loginPW + "'}":                                                           loginPW,
		"kind: Secret\ndata:\n\n  a: x\n\n# more\n\r\n  z: " + value:                                                     value,
		"kind: Secret\ndata:\n" + strings.Repeat("\n", 70_000) + "  z: " + value:                                         value,
		"kind: Secret\ndata:\n  a: x\n" + strings.Repeat("# more\n", 10_000) + "  z: " + value:                           value,
		`{"kind":"Secret","stringData":{"a.json":"{\"x\":1}","z":"` + loginPW + `"}}`:                                    loginPW,
		"+kind: Secret\n+data:\n+  a: x\n+\n+  z: " + loginPW + "\n":                                                     loginPW, "-kind: Secret\n-data:\n-  z: " + loginPW + "\n": loginPW, " kind: Secret\n data:\n-  z: x\n+  z: " + loginPW: loginPW,
		`{"kind":"Secret","stringData":{"a":"}\\","z":"` + loginPW + `"}}`:                           loginPW,
		`{"kind":"Secret","stringData":` + strings.Repeat(" ", 600) + `{"z":"` + loginPW + `"}}`:     loginPW,
		`"{\"kind\":\"Secret\",\"stringData\":{\"a\":\"{\\\"x\\\":1}\",\"z\":\"` + loginPW + `\"}}"`: loginPW,
		"machine h login u password " + strings.Repeat(loginPW, 60):                                  strings.Repeat(loginPW, 60),
	} {
		found := SearchText(text, kindsOf([]Kind{Secret}))
		unscreened := slices.ContainsFunc(found, func(f Found) bool { return f.Kind == Unscreened && f.Of == Secret })
		if want != "" && (!covers(text, want) || unscreened) || want == "" && !unscreened {
			t.Errorf("%.60q: found %v", text, found)
		}
	}
	for _, text := range []string{
		"data:\n  a: " + big + "\nkind: ConfigMap\n" + strings.Repeat("# a line\n", 300) + "---\nkind: Secret\n", `{"data":{"image":"` + big + `"}}`, "token=" + strings.Repeat("word ", 5000) + " password=x y",
		"-----BEGIN CERTIFICATE-----\n" + keyBody, "`-----BEGIN X509 CRL`)\n" + strings.Repeat("a line\n", 1000), strings.Repeat("var a = f(b); ", 500) + "o.password = x; y = z;",
		"src=\"data:image/png;base64," + big + "\"", "a:" + big + "@", "kind: Secret\ndata: a list\n  of words and more words", "kind of\n\nSecret: x\ndata: y\n", "kind: ConfigMap\ndata: {image: " + big + "}\n", "kind: SecretStore\ndata:\n  z: " + value,
	} {
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			t.Errorf("%.60q: found %v", text, f)
		}
	}
}

// Whatever a text is made of, what begins within another is looked for in linear time.
func TestSecretsWithinOthersTakeLinearTime(t *testing.T) {
	for _, unit := range []string{
		"-----BEGIN PRIVATE KEY-----\n", "-----BEGIN ", "sk-exampleexample1example-", "eyJ-", "eyJ.", "auth=", "a:b", "a:@", "a:@tcp(", "jdbc:oracle:thin:a/", "jdbc:&password=", "kind: ", "kind    Secret data: {'", "kind: Secret\n\"data\":\n\n", "kind: Secret data \" ", "kind: Secret data: &a", "kind: Secret data:!", "data: !kind:Secret! ", "data: #\n kind: Secret\n", `"data":{`, "data:\n", "data:\n kind: Secret\n data: x\n", "stringData\":{\"kind\":\"Secret\"",
		";password=x", " password=x", "Basic ", "machine h ", "Bearer a1-", "\x1b[", "[0;", "password=ghp_exampleexampleexample1-", "https://a:b@", "Bearer example1-----BEGIN PRIVATE KEY-----\n", "curl -u \"",
		"kind: Secret\ndata:\n  a: xxxx\n", "sk-Zq8Lw2Rk5Tn9Vb3Xm7Yp1Hd6-",
	} {
		cputime.CheckLinear(t, unit, func(size int) string {
			return strings.Repeat(unit, size/len(unit))
		}, func(text string) { SearchText(text, kindsOf([]Kind{Secret})) })
	}
}
