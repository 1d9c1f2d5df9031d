package inspect

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/cputime"
)

// TestPhrasesAreNoKeys: words and rows of letters that stand for a key are none; real letters
// beside them are.
func TestPhrasesAreNoKeys(t *testing.T) {
	for _, text := range []string{
		"sk-ant-" + "api03-your-key-here", "sk-ant-" + "api03-YOUR_ANTHROPIC_API_KEY_HERE", "sk-or-" + "v1-your-openrouter-key", "xoxb-" + "your-bot-token-goes-here", "ghp_" + "abcdefghijklmnopqrstuvwxyz1234567890",
		"ghp_" + "yourpersonalaccesstokenhere1234567890", "xoxb-" + "123456789012-1234567890123-abcdefghijklmnopqrstuvwx", "sk-proj-" + "your-project-key-here", "github_pat_" + "your_personal_access_token",
	} {
		for _, text := range []string{text, `KEY="` + text + `"`} {
			for _, f := range SearchText(text, Kinds{only: []Kind{Secret}}) {
				t.Errorf("%q: found %v", text, f)
			}
		}
	}
	for _, secret := range []string{
		"sk-ant-" + "api03-your-key-here-" + bearerID, "ghp_" + "abcdefghijklmnopqrstuvwxyz12345678Q0", "xoxb-" + "123456789012-1234567890123-" + bearerID, "xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
		"ghp_" + "yourtokenR7xQm2vTk9LpZsR4wYb8NcD3f", "AKIA" + "KEYTOKENSECRET7Q", "sk-" + "test-" + bearerID,
	} {
		if !covers("KEY="+secret, secret) {
			t.Errorf("%q: found %v", secret, SearchText(secret, Kinds{}))
		}
	}
}

// TestDataOfTemplates: the data of a Kubernetes Secret are no secret where a program or a reader
// fills them in, and are one whatever a tool writes before its lines.
func TestDataOfTemplates(t *testing.T) {
	secret := base64.StdEncoding.EncodeToString([]byte(loginPW))
	const manifest = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ntype: Opaque\ndata:\n  password: %s\n"
	placeholders := []string{
		"{{ .Values.password | b64enc }}", "${PASSWORD}", `""`, "<base64>", "<base64-encoded password>", "REPLACE_ME", "...", "YOUR_BASE64_ENCODED_KEY", `{{ include "x.token" . }}`, "$PASSWORD", `"{{ .Values.a }}" # a comment`,
		"{{- if .x }}", "|", "~", "null", "$(cat password | base64)", "xxxxxxxxxxxx", "!!binary |", `{{ required "a password is needed" .Values.x | b64enc }}`,
	}
	for _, value := range placeholders {
		for _, text := range []string{fmt.Sprintf(manifest, value), fmt.Sprintf(manifest, "\n# a comment\n  b: "+value), `{"kind":"Secret","data":{"a":"` + strings.Trim(value, `"`) + `"}}`} {
			if strings.Count(text, `"`)%2 != 0 || strings.Contains(value, `"`) && text[0] == '{' || strings.Contains(value, "#") && text[0] == '{' {
				continue
			}
			for _, f := range SearchText(text, Kinds{only: []Kind{Secret}}) {
				t.Errorf("%q: found %v", text, f)
			}
		}
		for _, text := range []string{fmt.Sprintf(manifest, value+"\n  other: "+secret), fmt.Sprintf(manifest, secret+"\n  other: "+value)} {
			if !covers(text, secret) {
				t.Errorf("%q: found %v", text, SearchText(text, Kinds{only: []Kind{Secret}}))
			}
		}
	}
	for _, value := range []string{`{{ "` + loginPW + `" | b64enc }}`, `{{ .Values.x | default "` + loginPW + `" | b64enc }}`, "|\n    " + loginPW, "!!binary " + loginPW, "<x>" + loginPW, "my-" + loginPW, "example" + loginPW, "$" + loginPW} {
		if text := fmt.Sprintf(manifest, value); !covers(text, loginPW) {
			t.Errorf("%q: found %v", text, SearchText(text, Kinds{only: []Kind{Secret}}))
		}
	}
	whole := strings.Split(strings.TrimSpace(fmt.Sprintf(manifest, secret)+"  user: YW5hQHguZXhhbXBsZQ=="), "\n")
	for _, sign := range []string{"%6d\t", "%d: ", "> ", ">> ", "# ", "// ", "s.yaml:%d:", "s2.yaml-%d-", " * ", "| ", "%6d→", "2026-11-22T10:11:%02dZ INFO ", "\t", "+", "+   ", "* %d "} {
		var signed []string
		for i, line := range whole {
			if strings.Contains(sign, "%") {
				line = fmt.Sprintf(sign, i+5) + line
			} else {
				line = sign + line
			}
			signed = append(signed, line)
		}
		if text := strings.Join(signed, "\n"); !covers(text, secret) || !covers(text, "YW5hQHgu") {
			t.Errorf("%q: found %v", text, SearchText(text, Kinds{only: []Kind{Secret}}))
		}
	}
	for _, unit := range []string{"> data:\n>   {{ x\n", "1:kind: Secret\n1:data:\n1:  a: b\n", "kind: Secret\ndata:\n  a: <<<<{{{{\n", "{\"kind\":\"Secret\",\"data\":{\"a\":\"<<<<{{{{${$(\"}}", "kind: Secret\ndata:\n  a: {{\"\"\"\"\n", strings.Repeat("9", 100) + "data:\nkind: Secret\n"} {
		cputime.CheckLinear(t, unit, func(size int) string {
			return strings.Repeat(unit, size/len(unit))
		}, func(text string) { SearchText(text, Kinds{only: []Kind{Secret}}) })
	}
}
