package shell_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/policy/where"
)

// TestArity: no row is believed that an option takes the next word. Each line is
// patterns, a verdict of a rule that allows, and a command.
func TestArity(t *testing.T) {
	for class, lines := range map[string]string{
		"a value that is an option": `
			go vet ** | maybe | go vet -buildvcs -toolexec=x ./...
			go vet ** | maybe | go vet -tags -toolexec=x ./...
			go build ** | maybe | go build -mod -o x .
			go build ** | yes | go build -buildvcs=false -tags a,b ./...
			go test ** | maybe | go test -run -exec=x .
			go test ** | yes | go test -run TestX -count 1 ./...
			terraform plan ** | maybe | terraform plan -input -out=../x
			terraform plan ** | maybe | terraform plan -lock-timeout -out=../x
			terraform plan ** | yes | terraform plan -input=false
			cargo tree ** | maybe | cargo tree --invert --config=x
			cargo tree ** | maybe | cargo tree --depth --config=x
			cargo tree ** | yes | cargo tree -p foo -i serde --depth 2
			git stash show ** | maybe | git stash show -p --unified --output=x
			git stash show ** | maybe | git stash show -p --skip --output=x
			git log ** | maybe | git log --skip -p
			git log ** | yes | git log -n 5 --author me --since yesterday -- src
			git blame ** | maybe | git blame --abbrev --contents=x y
			tar ** | maybe | tar -cf x.tar -L --use-compress-program=x a
			tar ** | maybe | tar cf x.tar -H --use-compress-program=x a
			tar ** | yes | tar -tf x.tar -C src
			sort ** | maybe | sort -k --output=x y
			sort ** | maybe | sort -S -o y
			rg ** | maybe | rg -e --pre=x y
			rg ** | yes | rg -g '*.go' -A 3 -e x`,
		"a value behind which options end": `
			sort ** | maybe | sort -k -- x
			sort ** | maybe | sort -r -- -o x y
			uniq ** | maybe | uniq -c -- x -d
			git diff ** | yes | git diff --stat -- src`,
		"a value that begins with a sign": `
			git log ** | maybe | git log -n @x
			git log ** | maybe | git log --author +x
			git log ** | maybe | git log -L :f:x.go
			git log ** | yes | git log -L:f:x.go
			head ** | yes | head -n -5 x
			tail ** | yes | tail -n +5 x
			sort ** | yes | sort -t : -k 2 x
			find ** | yes | find . -mtime -7 -size +10k -newer a
			find ** | yes | find . -perm -u+x -type f
			find ** | maybe | find . -name -delete
			find ** | maybe | find . -perm -ls+x -fprint x
			find ** | maybe | find . -newer -fprint x`,
		"a value that is an operand": `
			date ** | yes | date -d yesterday +%F
			date ** | maybe | date -d 01010000
			date ** | maybe | date -r x.y 01010000
			uniq ** | yes | uniq -f 1 x
			uniq ** | maybe | uniq -f x y
			xxd ** | yes | xxd -s 0x10 -l 64 x
			xxd ** | maybe | xxd -l x y
			xxd ** | maybe | xxd . -b
			xxd ** | maybe | xxd a -d
			xxd ** | yes | xxd -b a
			uniq ** | maybe | uniq a -c
			uniq ** | yes | uniq -c a
			npm view ** | maybe | npm view --searchlimit ./x y
			make ** | maybe | make -j SHELL=x
			dotnet test ** | yes | dotnet test --filter Category=Unit
			dotnet test ** | maybe | dotnet test --filter /p:A=b`,
		"before a subcommand": `
			npm ** | maybe | npm --loglevel ls exec evil
			npm ** | maybe | npm --color ls exec evil
			npm ** | yes | npm --loglevel=error ls
			npm ** | yes | npm --silent ls
			kubectl ** | maybe | kubectl -v get exec x
			kubectl ** | yes | kubectl -n x get pods
			kubectl ** | yes | kubectl --namespace=x get pods
			kubectl -n * get ** | yes | kubectl -n x get pods
			kubectl -n * get ** | maybe | kubectl -n exec get pods
			kubectl get ** | yes | kubectl -n x get pods
			kubectl get ** | no | kubectl -n -f get pods
			docker compose ** | maybe | docker compose --ansi ps exec web x
			docker compose ** | yes | docker compose --ansi=never ps
			gh pr ** | maybe | gh pr -R list create
			aws ** | maybe | aws --region s3 ls x
			aws ** | yes | aws --region=x s3 ls
			git ** | yes | git --no-pager log -3`,
		"before a command": `
			xargs **|echo ** | maybe | xargs --max-lines echo
			xargs **|echo **|wc ** | maybe | xargs -L wc echo
			xargs **|wc ** | yes | xargs -n 1 -P 4 wc -l
			xargs **|wc ** | yes | xargs -d '\n' -I {} wc {}
			xargs **|wc **|sh ** | maybe | xargs -I sh wc sh
			xargs **|wc **|sh ** | maybe | xargs -d sh wc
			xargs **|wc ** | yes | xargs --max-args=1 wc
			nice **|ls ** | yes | nice -n 5 ls
			nice **|ls ** | yes | nice -n -5 ls
			nice **|ls ** | maybe | nice -n bash ls
			nice **|ls ** | maybe | nice -n ./x ls
			timeout **|ls ** | yes | timeout -s KILL -k 1 5s ls
			timeout **|ls ** | maybe | timeout bash ls
			timeout **|ls ** | maybe | timeout -k -f 5 ls`,
		"an option that others take without a value": `
			podman images ** | maybe | podman images -n --conmon=x
			gh auth status ** | maybe | gh auth status -a --show-token
			gh auth status ** | maybe | gh auth status -at
			gh run list ** | yes | gh run list -L5
			tar ** | maybe | tar -cf x.tar -W use-compress-program=x a
			tar ** | maybe | tar -xf x.tar -s /a/b/
			make ** | maybe | make -d Fmade all
			date ** | maybe | date -f '%b %d' 'jan 1'
			gh pr list ** | yes | gh pr list --limit 5 --json title`,
	} {
		t.Run(class, func(t *testing.T) { allows(t, lines) })
	}
}

// TestExpandedWords: what a program makes of a word before it reads its options.
func TestExpandedWords(t *testing.T) {
	allows(t, `
		nm ** | maybe | nm -t @x y
		nm ** | yes | nm -t d y
		objdump ** | maybe | objdump -M @x y
		readelf ** | maybe | readelf -x @x y
		strings ** | maybe | strings -n @x
		pytest ** | maybe | pytest @args
		pytest ** | maybe | pytest -k @args
		pytest ** | maybe | pytest -- -pevil
		pytest ** | maybe | pytest -k -pevil
		pytest ** | yes | pytest -k x -- tests
		python3 -m pytest ** | maybe | python3 -m pytest @args
		mypy ** | maybe | mypy --python-version @x src
		mypy ** | yes | mypy --python-version 3.11 src
		pylint ** | maybe | pylint --max-line-length --init-hook=x x.py
		pylint ** | maybe | pylint -- --init-hook=x x.py
		pylint ** | maybe | pylint x.py -- --rcfile=x
		flake8 ** | maybe | flake8 --max-line-length --config=x src
		flake8 ** | maybe | flake8 -- --append-config=x
		flake8 ** | yes | flake8 --max-line-length=100 src
		cargo build ** | maybe | cargo build @x
		tsc ** | maybe | tsc --target @x`)
}

// TestLaunchedPrograms: the words behind a launcher are a command of its own.
func TestLaunchedPrograms(t *testing.T) {
	allows(t, `
		python3 -m pytest ** | yes | python3 -m pytest -q tests
		python3 -m pytest ** | maybe | python3 -m pytest --basetemp=src
		python3 -m pytest ** | maybe | python3 -m pytest --pastebin=all
		python3 -m pip ** | maybe | python3 -m pip install x
		python3 -m pip ** | yes | python3 -m pip list
		python3 -m evil ** | maybe | python3 -m evil --run
		python3 -m evil x | yes | python3 -m evil x
		npx tsc ** | yes | npx tsc --noEmit
		npx tsc ** | maybe | npx tsc a.ts --outFile x
		npx tsc* ** | maybe | npx tsc@5 a.ts --outFile x
		npx tsc ** | maybe | npx tsc -- --outFile x
		npx eslint ** | maybe | npx eslint -o x src
		npx evil ** | maybe | npx evil --run
		npx bash ** | no | npx bash -c id
		npx sh ** | no | npx sh -c id
		npm exec tsc ** | yes | npm exec tsc
		npm exec tsc ** | maybe | npm exec tsc --noEmit
		npm exec tsc -- ** | yes | npm exec tsc -- --noEmit
		npm exec tsc -- ** | maybe | npm exec tsc -- --outFile x
		npm exec prettier ** | maybe | npm exec prettier -c x
		npm exec -- tsc ** | maybe | npm exec -- tsc --outFile x
		pnpm exec tsc ** | maybe | pnpm exec tsc --outFile x
		yarn exec tsc ** | maybe | yarn exec tsc --outFile x
		bunx tsc ** | maybe | bunx tsc --outFile x
		uvx ruff ** | maybe | uvx ruff check --config x
		uv run pytest ** | yes | uv run pytest -x
		uv run pytest ** | maybe | uv run pytest --basetemp=src
		uv run python ** | maybe | uv run python x.py
		uv run python x.py ** | yes | uv run python x.py --all
		poetry run pytest ** | maybe | poetry run pytest -p evil
		poetry run mypy ** | maybe | poetry run mypy --config-file=x
		pipx run black ** | maybe | pipx run black --config x
		go run ./cmd/x ** | yes | go run ./cmd/x --out=y
		npx npx npx npx tsc ** | maybe | npx npx npx npx tsc
		devbox run test ** | yes | devbox run test
		devbox run tsc ** | maybe | devbox run tsc --outFile x
		bun run build ** | yes | bun run build --watch
		bun x tsc ** | maybe | bun x tsc --outFile x
		node node_modules/.bin/tsc ** | maybe | node node_modules/.bin/tsc --outFile x
		node node_modules/.bin/tsc ** | yes | node node_modules/.bin/tsc --noEmit
		python3 /usr/bin/pytest ** | maybe | python3 /usr/bin/pytest --basetemp=src
		python3 scripts/find.py ** | yes | python3 scripts/find.py --all
		python3 -m json.tool ** | maybe | python3 -m json.tool a b
		python3 -m json.tool ** | yes | python3 -m json.tool --indent 2 a
		python3 -m unittest ** | yes | python3 -m unittest discover -s tests -v
		go run github.com/golangci/golangci-lint/cmd/golangci-lint ** | maybe | go run github.com/golangci/golangci-lint/cmd/golangci-lint run --out x`)
	for _, text := range []string{strings.Repeat("npx ", 8000), strings.Repeat("npx tsc -- ", 2000), "uv run " + strings.Repeat("-- npx ", 3000)} {
		withSettings(t, "npx **").JudgeValue(where.Value{Kind: where.String, Text: text, Raw: text}, true)
	}
}

// TestTheEnvironmentStaysShut: programs that print what they read, and can print what
// the environment holds.
func TestTheEnvironmentStaysShut(t *testing.T) {
	allows(t, `
		jq ** | yes | jq -r .version package.json
		jq ** | yes | jq '.env, .a.ENV' env.json
		jq ** | yes | jq '.["env"]' x
		jq ** | yes | jq --arg x y '.a == $x' x
		jq ** | maybe | jq -n env
		jq ** | maybe | jq -n 'env-.json'
		jq ** | maybe | jq -n '"\(env)"'
		jq ** | maybe | jq --arg a b env
		jq ** | maybe | jq -n '$ENV.PATH'
		jq ** | maybe | jq -n --arg a env .
		jq ** | maybe | jq 'import "a" as a; a::f' x
		jq ** | maybe | jq -f x
		jq ** | maybe | jq -nf x
		jq ** | maybe | jq -L x 'f'
		make ** | maybe | make -p
		make ** | maybe | make -np
		make ** | maybe | make --print-data-base
		make ** | maybe | make --print-data
		make ** | yes | make -n test
		awk ** | maybe | awk 'BEGIN {for (k in ENVIRON) print ENVIRON[k]}'
		awk ** | maybe | awk 'BEGIN {print SYMTAB["x"]}'
		ps ** | yes | ps aux
		ps ** | yes | ps -ef
		ps ** | maybe | ps auxe
		ps ** | maybe | ps e`)
	judged(t, true, "gawk **, awk **; hosts: good.example", `
		maybe gawk 1 /inet/tcp/0/evil.example/80
		maybe gawk 1 /inet4/tcp/0/evil.example/80
		maybe gawk -v x=/inet/tcp/0/evil.example/80 1 x
		maybe gawk 'BEGIN {ARGV[1] = "/in" "et/tcp/0/evil.example/80"; ARGC = 2} 1'
		maybe awk 1 "$X"
		yes gawk '{print $1}' x`)
	judged(t, false, "gawk **; hosts: evil.example", `
		yes gawk 1 /inet/tcp/0/evil.example/80
		no gawk 1 x`)
}

// allows compares what rules that allow say of texts.
func allows(t *testing.T, lines string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		parts := strings.Split(strings.TrimSpace(line), " | ")
		if len(parts) != 3 {
			continue
		}
		if got := constraint(t, strings.Split(parts[0], "|")...).JudgeValue(text(parts[2]), true); verdicts[got] != parts[1] {
			t.Errorf("%s: %q is %s, want %s", parts[0], parts[2], verdicts[got], parts[1])
		}
	}
}
