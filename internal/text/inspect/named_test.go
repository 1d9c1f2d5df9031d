package inspect

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/cputime"
)

// Where a name and the form of a value reveal a secret together, it is of the first grade.
func TestSecretsByNameAndForm(t *testing.T) {
	const (
		pass  = "tr0ub4dor-3x"
		hexes = "8f14e45fceea167a5a36dedd4bea2543a1b2c3d4"
		aws   = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQ3EGRV7UT"
		part  = "X4cTteJY_gn4FYPsXB8rdXix5vwsg1FLN5E3EaG6RJoVH-HLLKD9M7dx5oo7GURknchnrRweUkC7hT5fJLM0WbFAKNLWY2vv7B6NqXSzUvxT0_YSfqij"
	)
	for text, want := range map[string]string{
		"Authorization: token " + hexes: hexes, "authorization: Token " + hexes: hexes, "Authorization: " + hexes: hexes, "Authorization: ApiKey VnVhQ2ZHY0JDZGJrUW0tZTVhT3g6dWkybHAyYXhUTm1zeWFrdzl0dk5udw==": "VnVhQ2ZHY0JDZGJrUW0t", "Proxy-Authorization: Negotiate YIIJvwYGKwYBBQUCoIIJszCCCa9gDTALBgkqhkiG9w0=": "YIIJvwYGKwYB",
		"Authorization: GenieKey eb243592-faa2-4ba2-a551-1afdf565c889": "eb243592-faa2", "Authorization: SSWS 00QCjAl4MlV-WPXM-ABCdef3GHIjkl0vjbbsd": "00QCjAl4MlV", "Authorization: AWS AKIAQ3EGRV7UT2NWLKDJ:frJIUN8DYpKDtOLCwo7yllqDzg=": "frJIUN8DYpKD",
		`{"headers":{"Authorization":"token ` + hexes + `"}}`: hexes, "curl -H 'Authorization: " + hexes + "' https://h": hexes, "curl -H \"Authorization: token " + hexes + "\" https://h": hexes, "> Authorization: token " + hexes + "\r\n> Accept: */*": hexes,
		"X-API-Key: " + hexes: hexes, "PRIVATE-TOKEN: 9koXpg98eAheJpvBs5tK": "9koXpg98eAheJpvBs5tK", "X-Auth-Token: gAAAAABf8f14e45fceea167a5a36dedd4bea2543": "gAAAAABf8f14", "-H 'X-Vault-Token: hX3kPq8RzT2vWy5LmN7b'": "hX3kPq8RzT2vWy5LmN7b",
		"aws_secret_access_key = " + aws: aws, `{"SecretAccessKey": "` + aws + `"}`: aws, "AWS_SECRET_ACCESS_KEY=" + aws: aws, "export AWS_SECRET_ACCESS_KEY='" + aws + "'": aws, "secretAccessKey: " + aws: aws, "-e AWS_SECRET_ACCESS_KEY=" + aws + " x": aws,
		"[Interface]\nPrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\n": "yAnz5TF+lXXJ",
		"https://h.example/cb#access_token=" + hexes + "&x=1":                      hexes, "https://h.example/x?a=1&client_secret=" + hexes: hexes,
		"localhost:5432:app:ana:" + pass: pass, "*:*:*:ana:" + pass: pass, "db.internal:5432:*:ana:" + pass + "\n": pass, "10.0.0.5:5432:app:ana:" + pass + "\n": pass, "/var/run/postgresql:5432:app:ana:" + pass: pass, "echo 'db:5432:app:ana:" + pass + "' >> ~/.pgpass": pass, "a\ndb:5432:app:ana:" + pass + "\nb": pass,
		"CREATE USER ana IDENTIFIED BY '" + pass + "'": pass, "alter user ana identified with mysql_native_password by '" + pass + "';": pass, "ALTER ROLE ana WITH PASSWORD '" + pass + "'": pass, "CREATE ROLE ana LOGIN ENCRYPTED PASSWORD '" + pass + "' SUPERUSER": pass, "psql -c \"ALTER USER ana PASSWORD '" + pass + "'\"": pass,
		`{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nnd","e":"AQAB","d":"` + part + `"}`: part, `{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}`: "AyM1SysPpbyDfg", "{\n  \"d\": \"" + part + "\",\n  \"kty\": \"EC\"\n}": part,
		"user,password\nana," + pass + "\n": pass, "\"user\",\"password\"\r\n\"ana\",\"" + pass + "\"\r\n": pass, "user\tpassword\nbo\t-\nana\t" + pass: pass, "| user | password |\n|---|---|\n| ana | " + pass + " |\n": pass, "name,url,username,password,note\nx,\"a, b\",ana," + pass + ",\n": pass,
		"Access key ID,Secret access key\nAKIAQ3EGRV7UT2NWLKDJ," + aws + "\n": aws, "name;login_password\nx;" + pass: pass, "text before\n\nemail,password\na@b.example,\"" + pass + "\"\n\nafter": pass,
	} {
		found := false
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			found = found || strings.Contains(text[f.Start:f.End], want)
		}
		if !found {
			t.Errorf("%q: %v", text, SearchText(text, Kinds{}))
		}
	}
}

func TestNamesWithoutSecrets(t *testing.T) {
	for _, text := range []string{
		"Authorization: token <your token>", "Authorization: token OAUTH-TOKEN", "Authorization: Token", "Authorization: $TOKEN", `headers["Authorization"] = "token " + t`, "Authorization: Digest username=\"Mufasa\"", "authorization: none", "Authorization: Bearer token", "the authorization: a header of HTTP/1.1",
		"X-API-Key: your-api-key", `"x-app-token":"MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAs+/oUCTBmD/cLdmcecrnBMHiU"`, "X-API-Key: {{api_key}}", "x-request-token: get_token_from_environment", "PRIVATE-TOKEN: <token>", "token: 8f14e45f", "Private-Token: ${TOKEN}",
		"aws_secret_access_key = YOUR_SECRET_ACCESS_KEY", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY", "PrivateKey = <base64>", "private_key: internal/keys/private.pem",
		"https://h.example/cb?access_token=ACCESS_TOKEN", "?token=123", "foo.c:12:5:error:unexpected1", "2024-01-01T12:30:45:123:abcd12", "root:x:0:0:root:/root:/bin/bash", "root:*:19000:0:99999:7:::", "nobody:*:-2:-2:user:/var/empty1", "00:11:22:33:44:55", "main.go:120:13:x:y12", "host:5432:db:user:password", "fe80::1:2:3:4", "a:b:c:d:e1", "http://h:8080:a:b:c12345",
		"identified by the letter", "CREATE USER u IDENTIFIED BY 'password'", "IDENTIFIED BY '<password>'", "ALTER USER u PASSWORD '${PASS}'", "the password 'hunter22' is weak", "user role password 'secret'",
		`{"d":"` + strings.Repeat("a1B2", 12) + `"}`, `{"kty":"RSA","n":"` + strings.Repeat("a1B2", 12) + `"}`, `{"kty":"oct","k":"..."}`,
		"field,password,required\npassword,string,yes\n", "| option | password |\n|---|---|\n| user | the password, 8 letters |\n", "a,b\n1,2\n", "user,password\n", "password,confirm\nab12cd34,ab12cd34", "user, token, and 3 others\nx, y12345, z", "user,password\nana,${PASS1}\n", "user,password\nana,hunter\n",
	} {
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			t.Errorf("%q: %v", text, f)
		}
	}
}

// What only names and forms make a secret is read in linear time.
func TestNamesAndFormsTakeLinearTime(t *testing.T) {
	for _, unit := range []string{"d:1a", "h:1", "*:*:", "identified by ", "IDENTIFIED by '", "user password '", "authorization: ", "user,password\n", "user,password,", "\"a,", "|", "p:\"a1"} {
		cputime.CheckLinear(t, unit, func(size int) string {
			return strings.Repeat(unit, size/len(unit))
		}, func(text string) { SearchText(text, kindsOf([]Kind{Secret})) })
	}
}
