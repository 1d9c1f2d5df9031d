package textclass

import (
	"strings"
	"testing"
	"time"
)

func choiceOf(wildcard string) choice {
	switch names, reaches := ChoosesSecrets(wildcard); {
	case len(names) > 0:
		return onePlace
	case reaches:
		return anyPlace
	}
	return noPlace
}

func TestChooses(t *testing.T) {
	for want, wildcards := range map[choice]string{
		onePlace: ".env **/.env {.env,a} {a,{b,.env}} .ENV /p/.ssh/id_rsa .ssh/config .ssh/* a/.aws/credentials credentials.json .config/gh/hosts.yml",
		anyPlace: "*env .en* [.]env .[e]nv .en[v-v] ?env .e?v * ** src/** .github/** **/* .* {*,a} {.e*,.env.example} *.pem *.env *.local .env.* .env* id_* *_rsa *.key .s?h/id .[s]sh/* " +
			"**/.s*/config cred* *credentials* **/.env* [!a]env .e*v \\.en* *.tfstate",
		noPlace: "*.go **/*.ts *.{ts,tsx} src/*.js *.test.ts *config.ts *.md !.env !*.pem *.json **/*.yaml Dockerfile* *.config.js a/b.go x " +
			"src/**/*.py README* *.ts* *.local.ts {a,b}/*.go *_test.go *.html",
	} {
		for w := range strings.FieldsSeq(wildcards) {
			if got := choiceOf(w); got != want {
				t.Errorf("%s: %v, want %v", w, got, want)
			}
		}
	}
}

// Every shut name is chosen by itself, and by itself with a letter less.
func TestChoosesEveryShutName(t *testing.T) {
	for _, p := range SecretPlaces {
		for _, shut := range p.Shut {
			name := strings.NewReplacer("y*ml", "yml", "/**", "/x", "**", "x", "*", "x").Replace(shut)
			if got := choiceOf("/p/" + name); got != onePlace {
				t.Errorf("%s: %v", name, got)
			}
			if got := choiceOf("**/" + strings.Replace(name, name[1:2], "?", 1)); got == noPlace {
				t.Errorf("%s with a question mark", name)
			}
		}
	}
}

func TestChoosesInTime(t *testing.T) {
	begun := time.Now()
	ChoosesSecrets(strings.Repeat("*a", 2000))
	ChoosesSecrets(strings.Repeat("{a,b}", 2000))
	ChoosesSecrets(strings.Repeat("{", 20000))
	ChoosesSecrets(strings.Repeat("[a-", 20000))
	if since := time.Since(begun); since > 10*time.Second {
		t.Errorf("took %v", since)
	}
}

func FuzzChooses(f *testing.F) {
	for _, s := range []string{"{a,b}*", "[!a-z]", "\\", "[", "**/.env", "{{,}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ChoosesSecrets(s)
		// A text that is too long may mean every place.
		if c := choiceOf(s + "/.env"); !strings.ContainsAny(s, `*?[]{}\!/`) && c != onePlace && (c != anyPlace || len(s) < maxWildcard/3) {
			t.Errorf("%q/.env", s)
		}
	})
}

func TestSurrounds(t *testing.T) {
	for folder, want := range map[string]bool{
		"/": true, "/home": true, "/home/user": true, "/home/user/": true, "/Users/ana": true, "/root": true, "~": true, "~/": true, "$HOME": true,
		"C:/": true, "C:/Users/Ana": true, "/home/user/.config": true, "~/.local/share": true, "/home/user/Library": true, ".config": true,
		"/home/user/Library/Application Support": true, "/home/user/.claude": true, "~/.codex": true, "/home/user/projects/app/.claude": false, "/home/user/projects/app/.cursor": false,
		"": false, ".": false, "/home/user/projects": false, "/home/user/projects/home": false, "/srv/app": false, "/home/user/.cargo/registry": false,
		"C:/Users/Ana/app": false, "home": false, "/home/user/projects/share": false, "users": false,
	} {
		if SurroundsSecrets(folder) != want {
			t.Errorf("%q: %v", folder, !want)
		}
	}
}

func BenchmarkChooses(b *testing.B) {
	for b.Loop() {
		ChoosesSecrets("/home/user/projects/app/src/**/*.{ts,tsx}")
	}
}
