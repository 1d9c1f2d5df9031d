package textclass

import (
	"strings"
	"testing"
)

func TestNamesShut(t *testing.T) {
	for i := range SecretPlaces {
		for _, shut := range SecretPlaces[i].Shut {
			name := strings.NewReplacer("y*ml", "yml", "/**", "/x", "*", "x").Replace(shut)
			for _, file := range []string{name, strings.ToUpper(name), "/p/a/" + name, "./" + name, `p\` + strings.ReplaceAll(name, "/", `\`), "p/x/../" + name, name + "."} {
				if !NamesShut(file) {
					t.Errorf("%s is not shut", file)
				}
			}
		}
	}
	for _, file := range strings.Fields(`*.key *.pem i?_rsa [i]d_rsa *rsa s*.yml secrets.y?ml * config/* {a,.env} .e* .env* */.env ENV~1 a/env~2 SECRET~1.YML SECRET~1.YAM ID_RSA~1
		ENV~1.LOC EN3F2A~1 CREDEN~1.JSO TERRAF~1.TFS testdata/../server.key .env.example.local .ssh .SSH/config GIT-CR~1`) {
		if !NamesShut(file) {
			t.Errorf("%s is not shut", file)
		}
	}
	for _, file := range strings.Fields(`main.go src/app.ts .env.example .ENV.EXAMPLE id_rsa.pub public.pem testdata/server.key fixtures/a/b.pem HEAD~1 main~2 HEAD~1.. feat~1 key.go keys environment
		secrets.go credentials.go *.go src/**/*.ts *.json docs/*.md {a,b}.ts README.md PROGRA~1 SERVER~1 x~y ./... HEAD^ @{1} . ..`) {
		if NamesShut(file) {
			t.Errorf("%s is shut", file)
		}
	}
	if NamesShut("") {
		t.Error("nothing is shut")
	}
}

func BenchmarkNamesShut(b *testing.B) {
	for b.Loop() {
		NamesShut("internal/ask/remember/example_test.go")
	}
}
