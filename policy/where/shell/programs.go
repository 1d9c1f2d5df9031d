package shell

// programs are the programs whose wildcards must not stand for every option.
// Sources: their manuals, GTFOBins, and the advisories in testdata.
var programs = map[string]*options{
	"git": {
		runs: "--ext-diff --textconv --upload-pack --receive-pack --exec --open-files-in-pager --extcmd --exec-path " +
			"--config --config-env --template --upload-archive --separate-git-dir --editor --sequence-editor --tool --gpg-sign",
		writes: "--output --output-directory",
		only: "status log diff show branch tag remote rev-parse ls-files ls-tree ls-remote describe blame annotate " +
			"shortlog reflog cat-file rev-list merge-base name-rev whatchanged count-objects check-ignore check-attr " +
			"add commit stash fetch pull push checkout switch restore merge reset rm mv init clone cherry cherry-pick " +
			"revert worktree grep version show-ref for-each-ref diff-tree diff-index diff-files symbolic-ref range-diff",
		global: "--no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects --version --help",
		valued: "-C --git-dir --work-tree --bare --namespace",
		under: map[string]string{
			"grep": "-O", "clone": "-u -c", "rebase": "-x", "difftool": "-x -t", "mergetool": "-t",
			"commit": "-S", "tag": "-s -v", "archive": "--remote -o", "format-patch": "-o",
			"submodule": "foreach", "bisect": "run", "branch": "--edit-description",
		},
		hide:  "filter-branch filter-repo for-each-repo send-email daemon instaweb hook upload-pack receive-pack gui gitk citool",
		marks: []string{"::", "://-", "@-"},
	},
	"go": {
		runs: "-C -toolexec -exec -vettool -overlay -ldflags -gcflags -gccgoflags -asmflags -modfile -compiler -fuzz",
		only: "build test vet fmt list version doc mod help", writes: "-o -coverprofile -cpuprofile -memprofile " +
			"-blockprofile -mutexprofile -trace -outputdir",
		words: true, under: map[string]string{"env": "-w -u", "fix": "-fixtool"}, hide: "generate tool",
	},
	"cargo": {
		runs: "--config -Z", only: "build check test clippy fmt tree doc metadata search bench version help",
		global: "--version --offline --locked -q -v --quiet --verbose",
	},
	"rustup": {only: "show component target toolchain check", hide: "run"},
	"npm": {
		runs: "--script-shell --node-options --shell --userconfig --globalconfig --prefix --call --viewer --editor --init-module -c -C",
		only: "ls list outdated view info audit ping whoami test t version help ci search explain why fund", launch: "exec x",
		hide: "explore edit",
	},
	"pnpm":     {runs: "--script-shell --shell-mode --config --dir -c -C", only: "ls list outdated why audit test", launch: "exec dlx"},
	"yarn":     {runs: "--cwd --use-yarnrc --script-shell", only: "list why info audit test outdated", launch: "exec dlx node"},
	"bun":      {runs: "--preload --eval -e -r --config --cwd", only: "test pm outdated", launch: "run x"},
	"corepack": {only: "version", launch: "npm pnpm yarn"},
	"uv":       {runs: "--with --script --directory", only: "tree version", launch: "run", hide: "tool"},
	"poetry":   {only: "show check version", launch: "run", hide: "shell"},
	"pipenv":   {only: "graph check", launch: "run", hide: "shell"},
	"pdm":      {only: "list show", launch: "run"},
	"hatch":    {only: "version", launch: "run", hide: "shell"},
	"rye":      {only: "show list", launch: "run"},
	"conda":    {only: "list info search", hide: "run"},
	"bundle":   {only: "list show info outdated check", launch: "exec", hide: "console open"},
	"composer": {only: "show outdated validate", launch: "exec", hide: "run-script"},
	"dotnet":   {only: "build test list restore", hide: "exec run tool fsi"},
	"mise":     {only: "ls current", hide: "exec x run watch"}, "asdf": {only: "list current", hide: "exec"},
	"volta": {only: "list", hide: "run"}, "nvm": {only: "ls list current", hide: "exec run"},
	"docker": {
		runs: "--host --config --context -H", only: "ps images logs inspect version info stats top port events history diff search",
		hide: "run exec compose buildx build create debug cp commit container sandbox",
	},
	"kubectl": {
		runs: "--kubeconfig --exec-command --token --server -s",
		only: "get describe logs version top explain api-resources api-versions cluster-info",
		hide: "exec run debug cp edit attach plugin proxy krew",
	},
	"helm": {runs: "--post-renderer --kubeconfig --registry-config", only: "list ls status get history show search version template lint", hide: "plugin"},
	"gh":   {runs: "--editor --web --browser -w -e", only: "status search browse", hide: "alias extension config codespace cs"},
	"ip":   {runs: "-b -batch --batch", only: "addr a link route r neigh rule", hide: "netns vrf"},
	"nix":  {only: "show search why-depends", hide: "run shell develop eval repl build"},
	"just": {runs: "--justfile -f --shell --shell-arg --command -c --set --chooser --edit -e --working-directory -d --choose --dump"},

	"rg": {runs: "--pre --pre-glob --hostname-bin --search-zip -z --hyperlink-format"},
	"ag": {runs: "--pager"}, "ack": {runs: "--pager --ackrc --env", writes: "--output"},
	"bat": {runs: "--pager --diff --config-file", writes: "", marks: []string{"cache"}}, "batcat": {runs: "--pager"},
	"delta": {runs: "--pager --config"}, "fd": {runs: "-x -X --exec --exec-batch"}, "fdfind": {runs: "-x -X --exec --exec-batch"},
	"fzf":  {runs: "--bind --preview --filter --execute --listen --become"},
	"man":  {runs: "-P -H -B -X --pager --html --browser --gxditview --preprocessor -p -C --config-file -l --local-file -M -E -T -t -Z", marks: []string{"/"}},
	"info": {runs: "--restore --init-file", writes: "-o --output --dribble"},
	"sort": {runs: "--compress-program --files0-from", writes: "-o --output -T --temporary-directory"},
	"tree": {writes: "-o -R"}, "split": {runs: "--filter"}, "shuf": {writes: "-o --output"},
	"diff": {runs: "--use-compress-program"}, "sdiff": {runs: "--diff-program", writes: "-o --output"},
	"diff3": {runs: "--diff-program"}, "patch": {runs: "-e --ed", writes: "-o --output -r"},
	"date": {writes: "-s --set"}, "hostname": {runs: "-F --file -b"}, "base64": {writes: "-o --output"},
	"yq": {writes: "-i --inplace -s --split-exp -P"}, "tsc": {runs: "--plugins --project -p", writes: "--outfile --outdir"},
	"file": {runs: "-C -m --magic-file --compile -z -Z"}, "iconv": {writes: "-o --output"},
	"sysctl": {runs: "-w -p --load --write"}, "dmesg": {runs: "-H --human -P", writes: "-c -C --clear"},
	"pidstat": {runs: "-e"},
	"gcc":     {runs: "-wrapper -B -specs -fplugin -x"}, "g++": {runs: "-wrapper -B -specs -fplugin"},
	"cc": {runs: "-wrapper -B -specs -fplugin"}, "clang": {runs: "-B -Xclang -fplugin -fpass-plugin --config"},
	"rustc": {runs: "-C -Z --codegen"}, "javac": {runs: "-processor -J -processorpath --processor-path"},
	"zip": {runs: "-T -TT --test --unzip-command"}, "cpio": {runs: "--rsh-command --rmt-command", marks: []string{":"}},
	"rsync": {runs: "-e --rsh --rsync-path --daemon --config -M --remote-option", writes: "--log-file --write-batch", marks: []string{"::"}},
	"scp":   {runs: "-S -o -F -J -D -P -i"},
	"curl": {
		runs: "-K --config --engine", writes: "-o --output -O --remote-name --remote-name-all --output-dir -D --dump-header -c " +
			"--cookie-jar --trace --trace-ascii --stderr --libcurl --etag-save --hsts --alt-svc -T --upload-file --create-dirs",
	},
	"wget": {
		runs: "--use-askpass --config -e --execute", writes: "-O --output-document -o --output-file -a --append-output -P " +
			"--directory-prefix -i --input-file --post-file --body-file --save-cookies --warc-file --rejected-log",
	},
	"eslint":   {runs: "-c --config --rulesdir --resolve-plugins-relative-to --plugin --parser -f --format", writes: "-o --output-file --fix"},
	"prettier": {runs: "--config --plugin --plugin-search-dir", writes: "--write -w"},
	"pytest":   {runs: "-p -c --pdbcls --pdb --rootdir --confcutdir -o --override-ini --import-mode --trace", writes: "--basetemp --junitxml"},
	"mypy":     {runs: "--python-executable --config-file --plugin --install-types"},
	"ruff":     {runs: "--config", writes: "--fix --output-file -o"}, "black": {runs: "--config"},
	"pip": {runs: "--python --editable -e --build-option --global-option --config-settings -C --index-url -i",
		only: "list show freeze check help index debug"},
	"golangci-lint":     {runs: "-c --config", writes: "--fix"},
	"jest":              {runs: "--config -c --globalSetup --setupFiles --runner --testRunner --transform --reporters --resolver"},
	"vitest":            {runs: "--config -c --globals --reporter --environment"},
	"terminal-notifier": {runs: "-execute"}, "pkg-config": {runs: "--define-variable"},
	"nm": {runs: "--plugin"}, "ar": {runs: "--plugin"}, "objdump": {runs: "--plugin"},
	"ffmpeg": {runs: "-filter_complex_script"},
}
