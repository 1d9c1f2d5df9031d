#!/bin/bash
# path.sh COMMIT... counts the statements that an allowed call and its answer execute, by package: those blocks that
# 300 calls, one at a time, execute at least 300 times more often than one call does.
set -e
cd "$(git rev-parse --show-toplevel)"
dir=$(mktemp -d)
trap 'git worktree remove --force "$dir/tree" 2>/dev/null || true; rm -rf "$dir"' EXIT
cat >"$dir/policy.toml" <<'RULES'
[[rule]]
action = "deny"
tool = "write_file"

[[rule]]
action = "allow"
tool = "read_*"
args.path = "/home/user/projects/**"
RULES
answer='s/.*"id":\([0-9]*\).*/{"jsonrpc":"2.0","id":\1,"result":{"content":[{"type":"text","text":"ok"}]}}/'

calls() { # COUNT: the blocks that so many calls execute, with how often
	mkdir "$dir/$1"
	coproc proxy { GOCOVERDIR="$dir/$1" "$dir/clawai" proxy --policy "$dir/policy.toml" --state "$dir/state" -- sed -u "$answer" 2>/dev/null; }
	local in=${proxy[1]} out=${proxy[0]} pid=$proxy_PID
	for ((i = 1; i <= $1; i++)); do
		echo '{"jsonrpc":"2.0","id":'$i',"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/home/user/projects/app/main.go"}}}' >&"$in"
		read -r <&"$out"
	done
	exec {in}>&-
	wait "$pid"
	go tool covdata textfmt -i="$dir/$1" -o="$dir/$1.txt"
	rm -r "${dir:?}/$1"
}

for commit; do
	git worktree add -q --detach "$dir/tree" "$commit"
	(cd "$dir/tree" && go build -cover -covermode=atomic -coverpkg=./... -o "$dir/clawai" ./cmd/clawai)
	calls 1
	calls 301
	echo "$commit"
	awk 'NR == FNR { before[$1] = $3; next }
		$3 - before[$1] >= 300 { sub(/:.*/, "", $1); sub(/[^\/]*$/, "", $1); n[$1] += $2; all += $2 }
		END { for (p in n) print n[p], p; print all, "together" }' "$dir/1.txt" "$dir/301.txt" | sort -rn
	git worktree remove --force "$dir/tree"
done
