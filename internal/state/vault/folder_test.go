package vault_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/state/vault"
)

// What the words of a command mean in another folder is another server: it does not get the value.
func TestFolderOfABinding(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its paths are those of other systems")
	}
	base := t.TempDir()
	home, evil, project := filepath.Join(base, "home"), filepath.Join(base, "evil"), filepath.Join(base, "project")
	for name, text := range map[string]string{
		"home/server.js": "", "home/dist/index.js": "", "home/z": "",
		"evil/server.js": "", "evil/dist/index.js": "", "evil/server.cjs": "", "evil/conf": "",
		"evil/node_modules/@a/server/index.js": "", "evil/node_modules/.bin/plain": "", "evil/sub/x": "",
		"evil/package.json":    `{"name":"x","bin":{"owned":"x.js"}}`,
		"project/package.json": `{"name":"x","dependencies":{"react":"1"}}`, "project/src/a.js": "",
	} {
		path := filepath.Join(base, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	// Nothing can search these: a start that reads the pipe would never end.
	pipe, large := filepath.Join(base, "pipe"), filepath.Join(base, "large")
	must(t, os.MkdirAll(pipe, 0o700))
	must(t, exec.CommandContext(t.Context(), "mkfifo", filepath.Join(pipe, "package.json")).Run())
	must(t, os.MkdirAll(large, 0o700))
	must(t, os.WriteFile(filepath.Join(large, "package.json"), make([]byte, 1<<20+1), 0o600))
	absolute := filepath.Join(home, "server.js")
	for _, tt := range []struct {
		command string
		at      string // where it is started; it was bound in home
		given   bool
	}{
		{"npx -y some-server", project, true},
		{"npx -y some-server", pipe, false},
		{"npx -y some-server", large, false},
		{"./server.sh", home, true},
		{"./server.sh", evil, false},
		{"../home/server.sh", evil, false},
		{"bin/server", evil, false},
		{"node server.js", home, true},
		{"node server.js", evil, false},
		{"node server", evil, false},
		{"node --enable-source-maps dist/index.js", evil, false},
		{"node dist/index.js", project, false},
		{"/usr/bin/node server.js", evil, false},
		{"node.exe server.js", evil, false},
		{"python3.12 -m server", evil, false},
		{"python -c code", evil, false},
		{"python server.py", project, false},
		{"deno run -A server.ts", evil, false},
		{"bun server.ts", evil, false},
		{"bash run", evil, false},
		{"sh -c node\x01server.js", evil, false},
		{"sh -c exec\x01./server", evil, false},
		{"java -jar server.jar", evil, false},
		{"uv run server.py", evil, false},
		{"uv run mcp-server", evil, false},
		{"uv --directory here run server.py", evil, false},
		{"npm start", evil, false},
		{"npm run serve", evil, false},
		{"go run .", evil, false},
		{"make serve", evil, false},
		{"docker compose run x", evil, false},
		{"env A=b node server.js", evil, false},
		{"env -i PATH=/bin node server.js", evil, false},
		{"cmd /c node server.js", evil, false},
		{"timeout 5 node server.js", evil, false},
		{"nice -n 5 node server.js", evil, false},
		{"server --config conf", evil, false},
		{"server --config=conf", evil, false},
		{"server -cconf", evil, false},
		{"server --config=./conf", project, false},
		{"server -v ./data:/data", project, false},
		{"server config.toml", project, false},
		{"server .", project, false},
		{"npx -y @a/server", evil, false},
		{"npx -y @a/server", filepath.Join(evil, "sub"), false},
		{"npx -y @a/server@1.2.3", evil, false},
		{"npx plain", evil, false},
		{"npx owned", evil, false},
		{"npm exec -y plain", evil, false},

		{"npx -y server", evil, true},
		{"npx -y @a/server", project, true},
		{"npx -y react", project, false}, // the project says which
		{"npm exec -y @a/server", project, true},
		{"cmd /c npx -y @a/server", project, true},
		{"uvx mcp-server-git --repository /srv/a", project, true},
		{"uv tool run mcp-server-git", project, true},
		{"uv --directory " + home + " run server.py", project, true},
		{"uv run --directory=" + home + " server.py", project, true},
		{"npm --prefix " + home + " start", project, true},
		{"node " + absolute, evil, true},
		{"node --enable-source-maps " + absolute + " --port 3000 stdio", project, true},
		{"python3 " + absolute, evil, true},
		{"env -C " + home + " node server.js", project, true},
		{"sh -c exec\x01node\x01" + absolute, evil, true},
		{"docker run -i --rm -e TOKEN ghcr.io/a/b:1", project, true},
		{"github-mcp-server stdio --toolsets all", project, true},
		{"/usr/local/bin/server --url https://a.example/x stdio", project, true},
		{"https://a.example/mcp", evil, true},
	} {
		words := strings.Split(tt.command, " ")
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "\x01", " ")
		}
		p := place(t)
		store := choose(t, p, vault.InKeychain)
		must(t, store.Change("key", func(e *vault.Entry) error {
			e.Value = []byte("canary-1")
			e.BindServer(vault.Requester{Name: "gh", Command: words, Dir: home})
			return nil
		}))
		r := &vault.Resolver{Open: p.Open, Server: vault.Requester{Name: "gh", Command: words, Dir: tt.at}, Now: now}
		_, err := r.FillEnv([]string{"X=clawai-vault:key"})
		if (err == nil) != tt.given || err != nil && !strings.Contains(err.Error(), "in another folder") {
			t.Errorf("%s in %s: %v", tt.command, filepath.Base(tt.at), err)
		}
	}
}

// A binding of an earlier version has no folder, and holds where the folder does not matter.
func TestBindingsWithoutAFolder(t *testing.T) {
	dir := t.TempDir()
	for command, want := range map[string]bool{"npx -y server": true, "node server.js": false, "node /srv/server.js": true} {
		words := strings.Fields(command)
		p := place(t)
		must(t, choose(t, p, vault.InKeychain).Change("key", func(e *vault.Entry) error {
			e.Value = []byte("canary-1")
			e.Bindings = []vault.Binding{{Server: "gh", Command: vault.CommandDigest(words), Program: words[0]}}
			return nil
		}))
		r := &vault.Resolver{Open: p.Open, Server: vault.Requester{Name: "gh", Command: words, Dir: dir}, Now: now}
		if _, err := r.FillEnv([]string{"X=clawai-vault:key"}); (err == nil) != want {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// Beside a reference no variable stands that has the server run other code.
func TestVariablesThatLoadOtherCode(t *testing.T) {
	for variable, given := range map[string]bool{
		"PYTHONPATH=/tmp/e": false, "PYTHONWARNINGS=all:0:antigravity.x:0:0": false, "PYTHONHOME=/tmp/e": false, "PYTHONSTARTUP=/tmp/e": false, "PYTHONUSERBASE=/tmp": false,
		"NODE_OPTIONS=--require /tmp/e.js": false, "NODE_OPTIONS=--max-old-space-size=4096 --import=/tmp/e": false, "NODE_PATH=/tmp/e": false,
		"LD_PRELOAD=/tmp/e.so": false, "LD_AUDIT=/tmp/e.so": false, "LD_LIBRARY_PATH=/tmp": false, "DYLD_INSERT_LIBRARIES=/tmp/e": false,
		"DYLD_LIBRARY_PATH=/tmp": false, "PERL5LIB=/tmp": false, "PERL5OPT=-Me": false, "PERL5DB=x": false, "RUBYOPT=-r/tmp/e": false, "RUBYLIB=/tmp": false,
		"JAVA_TOOL_OPTIONS=-javaagent:/tmp/e.jar": false, "_JAVA_OPTIONS=-Xbootclasspath/p:/tmp": false, "JDK_JAVA_OPTIONS=@/tmp/e": false, "CLASSPATH=/tmp": false,
		"BASH_ENV=/tmp/e": false, "ENV=/tmp/e": false, "ENV=./e": false, "ZDOTDIR=/tmp": false, "PROMPT_COMMAND=x": false, "BASH_FUNC_ls%%=() { x; }": false,
		"GIT_SSH_COMMAND=/tmp/e": false, "GIT_SSH=/tmp/e": false, "GIT_EXEC_PATH=/tmp": false, "GIT_PROXY_COMMAND=x": false, "GIT_EXTERNAL_DIFF=x": false, "GIT_CONFIG_COUNT=1": false,
		"DOTNET_STARTUP_HOOKS=/tmp/e.dll": false, "CORECLR_PROFILER_PATH=/tmp": false, "PHPRC=/tmp": false, "PHP_INI_SCAN_DIR=/tmp": false, "LUA_INIT=@/tmp/e": false,
		"npm_config_registry=https://evil.example": false, "NPM_CONFIG_SCRIPT_SHELL=/tmp/e": false, "npm_config_node_options=-r /tmp/e": false, "UV_INDEX_URL=https://evil.example": false,
		"UV_DEFAULT_INDEX=https://evil.example": false, "PIP_INDEX_URL=https://evil.example": false, "PIP_EXTRA_INDEX_URL=https://evil.example": false,
		"node_options=--require /tmp/e.js": false, // Windows has no case in names

		"NODE_OPTIONS=": true, "NODE_OPTIONS=--max-old-space-size=4096": true, "NODE_OPTIONS=--no-warnings --enable-source-maps": true, "JAVA_TOOL_OPTIONS=-Xmx512m -Dfile.encoding=UTF-8": true,
		"ENV=production": true, "PYTHONWARNINGS=ignore::DeprecationWarning": true, "NODE_ENV=production": true, "LANG=C": true, "PATH=/usr/bin:/bin": true, "PYTHONUNBUFFERED=1": true, "PYTHONIOENCODING=utf-8": true,
		"npm_config_yes=true": true, "npm_config_userconfig=/home/a/.npmrc": true, "JAVA_HOME=/opt/java": true, "GIT_AUTHOR_NAME=Ana": true, "LD=1": true,
	} {
		name, _, _ := strings.Cut(variable, "=")
		_, err := resolver(t, vault.Requester{Name: "gh", Command: command, Dir: t.TempDir()}).FillEnv([]string{variable, "X=clawai-vault:key"})
		if (err == nil) != given {
			t.Errorf("%s: %v", variable, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "beside "+name) || !strings.Contains(err.Error(), "take it out") || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%s: %v does not say why, and what next", variable, err)
		}
		if _, err := resolver(t, vault.Requester{Name: "gh", Command: command}).FillEnv([]string{variable}); err != nil {
			t.Errorf("%s without a reference: %v", variable, err)
		}
	}
	own := []string{"env", "NODE_OPTIONS=--import /srv/trace.js", "npx", "-y", "server"} // its words are bound
	p := place(t)
	must(t, choose(t, p, vault.InKeychain).Change("key", func(e *vault.Entry) error {
		e.Value = []byte("canary-1")
		e.BindServer(vault.Requester{Name: "gh", Command: own})
		return nil
	}))
	for variable, given := range map[string]bool{"NODE_OPTIONS=--require /tmp/e.js": true, "LD_PRELOAD=/tmp/e.so": false, "PYTHONPATH=/tmp": false} {
		r := &vault.Resolver{Open: p.Open, Server: vault.Requester{Name: "gh", Command: own, Dir: t.TempDir()}, Now: now}
		if _, err := r.FillEnv([]string{variable, "X=clawai-vault:key"}); (err == nil) != given {
			t.Errorf("%s beside a command that sets NODE_OPTIONS: %v", variable, err)
		}
	}
}
