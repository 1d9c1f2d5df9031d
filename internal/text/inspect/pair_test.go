package inspect

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/cputime"
)

// A name that is a value, an element or an attribute tells of a secret as one before its value does.
func TestSecretsThatAreNamedBeside(t *testing.T) {
	const pass = "tr0ub4dor-3x"
	for _, text := range []string{
		`{"name":"DB_PASSWORD","value":"` + pass + `"}`, `{"value": "` + pass + `", "name": "DB_PASSWORD"}`, `{"Name":"db-password","Value":"` + pass + `"}`, `{"key":"apiKey","value":"` + pass + `","enabled":true}`,
		`[{"name":"A","value":"b"},{"name":"API_TOKEN","secure":true,"value":"` + pass + `"}]`, `{"ParameterKey":"MasterPassword","ParameterValue":"` + pass + `"}`, `{"id":"password","type":"CONCEALED","label":"password","value":"` + pass + `"}`, `{'name': 'client_secret', 'value': '` + pass + `'}`,
		`{\"name\":\"DB_PASSWORD\",\"value\":\"` + pass + `\"}`, "{\n  \"name\": \"DB_PASSWORD\",\n  \"value\": \"" + pass + "\"\n}", `{"k":"auth_token","v":"` + pass + `"}`, `{"name":"API key","value":"` + pass + `"}`, `{"variable":"JWT_SECRET","value":"` + pass + `","masked":false}`,
		"env:\n  - name: DB_PASSWORD\n    value: " + pass + "\n  - name: X\n    value: y\n", "env:\n- value: \"" + pass + "\"\n  name: DB_PASSWORD\n", "- {name: DB_PASSWORD, value: " + pass + "}", "environment {\n  name  = \"DB_PASSWORD\"\n  value = \"" + pass + "\"\n}",
		"environment:\n  - DB_PASSWORD=" + pass + "\n", "environment:\n  DB_PASSWORD: " + pass + "\n", "environment:\n  DB_PASSWORD: '" + pass + "'\n", `"Env": ["PATH=/bin", "DB_PASSWORD=` + pass + `"]`, `docker run -e DB_PASSWORD=` + pass + ` img`, `docker run --env "DB_PASSWORD=` + pass + `" img`, `{"environment":{"DB_PASSWORD":"` + pass + `"}}`,
		"<password>" + pass + "</password>", "<db:Password>" + pass + "</db:Password>", "<password encrypted='no'>\n  " + pass + "\n</password>", "<ApiKey><![CDATA[" + pass + "]]></ApiKey>", "<server><username>ana</username><password>" + pass + "</password></server>", "<client-secret>" + pass + "</client-secret>",
		"<key>DBPassword</key>\n<string>" + pass + "</string>", "<property><name>fs.secret.key</name><value>" + pass + "</value></property>", "<property><value>" + pass + "</value><name>db.password</name></property>", `<string name="api_key">` + pass + `</string>`, `<entry key="password">` + pass + `</entry>`,
		`<add key="DbPassword" value="` + pass + `" />`, `<add value="` + pass + `" key="DbPassword"/>`, `<property name="password" value="` + pass + `"/>`, `<bean><property value='` + pass + `' name='secret'/></bean>`, `<param name='authToken'>` + pass + `</param>`,
	} {
		found := false
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			found = found || strings.Contains(text[f.Start:f.End], pass)
		}
		if !found {
			t.Errorf("%q: %v", text, SearchText(text, Kinds{}))
		}
	}
}

func TestWhatStandsBesideANameIsNoSecret(t *testing.T) {
	for _, text := range []string{
		`{"name":"DB_PASSWORD","value":""}`, `{"name":"DB_PASSWORD","valueFrom":{"secretKeyRef":{"name":"db-secret1","key":"password1"}}}`, `{"name":"USER","value":"ana12345"},{"name":"DB_PASSWORD","x":"y"}`, `{"name":"DB_PASSWORD","value":"${DB_PASSWORD1}"}`, `{"name":"token","value":"/run/secrets/token1"}`, `{"name":"token","value":"arn:aws:secretsmanager:eu-1:1:secret:x1"}`,
		`{"name":"password","value":"<your password 1>"}`, `{"name":"max_tokens","value":"4096"}`, `{"name":"password","value":"changeme1"}`, `{"name":"password","description":"8 letters and 1 digit"}`, "- name: DB_PASSWORD\n- name: B\n  value: abcdefgh1\n", "- name: DB_PASSWORD\n\n  value: abcdefgh1\n", `{"name":"token","value":"{{ token1 }}"}`, `{"name":"password","value":"op://vault1/db/password"}`,
		`<input type="hidden" name="csrf_token" value="9f8e7d6c5b4a39281706">`, `<meta name="csrf-token" value="9f8e7d6c5b4a39281706">`, "<password></password>", "<password/>", "<password>secret</password>", "<token>a long text of 3 words</token>", "<password>${db.password1}</password>", "<h1 id=\"token\">Token1234</h1>", `<a name="password">Password</a>`, "<secret><a>b1234567</a></secret>",
		"<key>Name</key><string>abcdefgh1</string>", "<name>password</name>", `<label for="password">Password 12</label>`, "PASSWORD_MIN_LENGTH: 12345678", "  SECRET_NAME: abcdefgh1", "token: abcdefgh1", "- token=abcdefgh1",
	} {
		for _, f := range SearchText(text, kindsOf([]Kind{Secret})) {
			t.Errorf("%q: %v", text, f)
		}
	}
}

func TestNamesBesideTakeLinearTime(t *testing.T) {
	for _, unit := range []string{"value:", "value=x ", `"value":"a","name":"b",`, "name=password>", `name="password">x<`, "<key>", "<key>password</key>", "<value>x</value><name>", "<password>", "<password ", "<a:", "v=", "\n- v:a", "A_SECRET:a1234567 ", "-e A_TOKEN="} {
		cputime.CheckLinear(t, unit, func(size int) string {
			return strings.Repeat(unit, size/len(unit))
		}, func(text string) { SearchText(text, kindsOf([]Kind{Secret, SecretLikely})) })
	}
}
