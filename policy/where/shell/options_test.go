package shell_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
)

// TestOptions: what a wildcard stands for, class by class of docs/evasions.md.
// Each line is a pattern, a command that it opens, and commands that it must not.
func TestOptions(t *testing.T) {
	for class, lines := range map[string]string{
		"dashes": `npm test **; npm test --silent; npm test -script-shell=x; npm test ---script-shell=x; npm test -prefix x
			go test **; go test --race ./...; go test ---exec=x ./...; go test --exec x ./...
			rg **; rg --hidden x; rg ---pre=y x; rg --pre y x`,
		"case": `tsc **; tsc --noEmit; tsc --OUTFILE x; tsc --outfile x; tsc --noemit
			npm test **; npm test --json; npm test --SCRIPT-SHELL=x; npm test --Json
			sort **; sort -u x; sort -O x y; sort --Output=x y`,
		"abbreviation": `sort **; sort --reverse x; sort --rev x; sort --comp=y x; sort --o=y x; sort --outp y x
			git log **; git log --stat; git log --outp=x; git log --stati`,
		"bundle": `sort **; sort -rnk2 x; sort -uo y x; sort -roy x; sort -k2 -oy x
			grep **; grep -rnoP x .; grep -rn! x
			tar **; tar tvf x; tar tvIf y x; tar -tvIy -f x; tar xfF x y
			ls **; ls -la; ls -la= x`,
		"value": `sort **; sort -t : -k 2 x; sort -t -k x; sort -t, -o y x; sort -C -o y x; sort -c --output y
			git log **; git log -n 5; git log --format --output=x; git log -U --output=x; git log -n --output=x --output=y
			head **; head -n -5 x; head -!
			uniq **; uniq -f 1 x; uniq -f 1 x y; uniq -c - y
			file **; file -b x; file -p x; file --preserve-date x; file -bp x
			date **; date +%s; date 01010000; date -u 01010000`,
		"dashdash": `sort **; sort -r -k 2 -- -x; sort -r -- -o x y; sort x -o y
			npm test -- **; npm test -- --watch; npm test --watch=x -- --y; npm test --script-shell=x --
			npm test **; npm test -- --watch=false src/a.test.ts -t "a b"; npm test -- --watch; npm test -- --config=x; npm test -- --reporter=./x; npm test -- -w; npm test -- --outputFile=x; npm test -- $X; npm test -- "$1"; npm test -- --watch=true; npm test -- -- --config=x
			yarn test **; yarn test --watch=false --testNamePattern=a src; yarn test --config=x; yarn test --watch=all; yarn test --globalSetup=x; yarn test -- --config x; yarn test --watch; yarn test --run=x
			npx jest **; npx jest --watchAll=false; npx jest --watchAll; npx jest --watchAll=x; npx jest --config=x
			cargo test **; cargo test -- --nocapture; cargo test -- --logfile x`,
		"unknown-word": `find **; find "$DIR" -type f; find $DIR; find "$(x)"; find "$_"; find "$1"; find "${DIR:--delete}"; find "$BASH_COMMAND"; find "-$DIR"; for f in -delete; do find "$f"; done; find . "${f}"
			sort **; sort "$DIR/x" ~/y; sort *; sort *.txt; sort $X; sort "-$X"; sort -k"$X" -o"$Y"
			wc **; wc *.txt; wc * > x`,
		"response-file": `tsc **; tsc x.ts; tsc @x
			strings **; strings x; strings @x; strings -a @x
			nm **; nm x.o; nm @x; nm --plugin x y.o
			dotnet build **; dotnet build src/a.csproj; dotnet build @x; dotnet build /logger:x.dll; dotnet build /p:A=b
			go env GO* **; go env GOPATH GOOS; go env GOPROXY; go env GOOS GOAUTH; go env GOFLAGS=-toolexec=x; go env -w GOFLAGS=x; go env GOOS -u
			gofmt -l **; gofmt -l -s src; gofmt -l -w src; gofmt -l -cpuprofile=x src; gofmt -l --w src; gofmt -lw src; gofmt -l -cpuprofile x
			tsc **; tsc --noEmit -p .; tsc -p @x; tsc -p . --outDir x; tsc -p --outFile
			go env **; go env -json GOFLAGS; go env -u GOFLAGS; go env -w GOFLAGS=x`,
		"address": `npm view **; npm view @types/node versions; npm view git+https://x.example/y; npm view ./x; npm view a/b; npm view ~x; npm view @x; npm view file:x
			git ls-remote **; git ls-remote https://x.example/y.git; git ls-remote ext::x; git ls-remote ssh://-oX/y; git ls-remote -o; git ls-remote git+ssh://x/y
			git clone **; git clone -b main https://x.example/y; git clone -u x y; git clone --upload-pack=x y`,
		"subcommand": `git **; git show-branch --all; git config a b; git -c a=b log; git bisect run x; git evil; git submodule foreach x; git $X
			docker **; docker ps -a; docker run x; docker compose exec web x; docker --config x ps; docker -H x ps
			docker compose up **; docker compose up -d web; docker compose up --build; docker compose exec web x
			terraform plan **; terraform plan -no-color; terraform plan -out=x; terraform -chdir=x plan; terraform apply
			terraform **; terraform version; terraform plan; terraform apply; terraform console
			npm **; npm ls --depth=0; npm run x; npm exec x; npm explore x -- y
			aws s3 ls **; aws s3 ls s3://x --recursive; aws s3 cp a b; aws s3 ls --endpoint-url=x`,
		"unknown-program": `mytool check src/*|ls **; mytool check src/x; mytool check ../x; mytool check src/x --run; mytool check "$X"
			mytool **|ls **; ls; mytool; mytool x; mytool --run x; ./mytool x
			mytool * --fast|ls; ls; mytool x --fast
			** --fast|ls; ls; mytool --fast
			mytool --out=*; mytool --out=x; mytool --out; mytool --outx=y`,
		"named-option": `sort --output=* **; sort --output=x y; sort --output x y; sort --outputs=x y; sort --output=x -oz
			rg --pre x **; rg --pre x y; rg --pre y x; rg --pre x y --pre z
			find . -exec * **|ls; ls; find . -delete x`,
		"bracket-class": `sed **; sed 's/[[:alpha:]]/x/' y; sed 's/[[:alpha:]/]/w y/;p' z; sed '/[[:x/:]]/w y' z; sed 's/[\]/]/x/w y' z; sed 's/[]/]/x/w y' z
			awk **; awk '/[[:alpha:]]/' x; awk '/[[:alpha:]/"]/ {print > "f"} /"/' x`,
		"awk-comparison": `awk **; awk '$3 > 5' x; awk '{print $3 > 5}' x; awk '{print $3 > "f"}' x; awk '{print | "x"}' x; awk -f x; awk -i inplace 1 x`,
	} {
		t.Run(class, func(t *testing.T) {
			for line := range strings.Lines(lines) {
				cases := splitCases(strings.TrimSpace(line))
				c := constraint(t, strings.Split(cases[0], "|")...)
				if got := c.JudgeValue(text(cases[1]), true); got != where.Yes {
					t.Errorf("%s: %s: %q", cases[0], verdicts[got], cases[1])
				}
				for _, s := range cases[2:] {
					if got := c.JudgeValue(text(s), true); got == where.Yes {
						t.Errorf("%s: allowed: %q", cases[0], s)
					}
				}
			}
		})
	}
}

// splitCases cuts at semicolons outside quotes and loops.
func splitCases(line string) (list []string) {
	from, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\'':
			quoted = !quoted
		case line[i] == ';' && !quoted && !strings.HasPrefix(line[i:], "; do ") && !strings.HasPrefix(line[i:], "; done"):
			list = append(list, strings.TrimSpace(line[from:i]))
			from = i + 1
		}
	}
	return append(list, strings.TrimSpace(line[from:]))
}

// FuzzOptions: no word makes a program do more than the words it was opened with,
// where they are seen to: whatever is put behind sort, -o stays shut.
func FuzzOptions(f *testing.F) {
	for _, s := range []string{"-r", "--key=2", "-t,", "x", "-k", "--", "-S 1"} {
		f.Add(s)
	}
	c := constraint(f, "sort **", "git log **")
	f.Fuzz(func(t *testing.T, s string) {
		if strings.HasSuffix(s, "\\") || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -=,./") != "" {
			return
		}
		for _, last := range []string{" x --output=y -o z", " -o y -o z", " --output y --output z"} {
			if got := c.JudgeValue(text("sort "+s+last), true); got == where.Yes && !strings.Contains(s, "--") {
				t.Errorf("allowed: sort %s%s", s, last)
			}
		}
		if got := c.JudgeValue(text("git log "+s+" x --output=y --output=z"), true); got == where.Yes && !strings.Contains(s, "-- ") && !strings.HasSuffix(s, "--") {
			t.Errorf("allowed: git log %s", s)
		}
	})
}
