package vault_test

import (
	"os"
	"os/exec"
	"os/user"
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

		{"docker run -v .:/w image", evil, false},
		{"docker run -v.:/w image", evil, false},
		{"podman run -v $PWD:/w image", evil, false},
		{"docker run --mount type=bind,source=.,target=/w image", evil, false},
		{"docker run --mount type=bind,source=sub,target=/w image", evil, false},
		{"swift run", evil, false},
		{"sbt run", evil, false},
		{"lein run", evil, false},
		{"cabal run", evil, false},
		{"invoke serve", evil, false},
		{"fab serve", evil, false},
		{"tox -e serve", evil, false},
		{"/usr/bin/tox -e serve", evil, false},
		{"uvicorn app:app", evil, false},
		{"/srv/venv/bin/gunicorn app:app", evil, false},
		{"flask run", evil, false},
		{"unheard-of serve", evil, false}, // a program that is not known
		{"unheard-of", project, false},
		{"sudo unheard-of", evil, false},
		{"dotenvx run -- server", evil, false},
		{"mcp run server", evil, false},
		{"mcp-proxy server", evil, false},

		{"unheard-of --config /etc/unheard-of.conf", evil, true},
		{"/opt/unheard-of/bin/unheard-of serve", evil, true},
		{"docker run -i --rm -v /srv/data:/data:ro -p 3000:3000 image", evil, true},
		{"docker run -i --rm --mount type=bind,source=/srv,target=/srv image", evil, true},
		{"playwright-mcp --headless", evil, true},
		{"sh -c printf\x01%s\x01x", evil, true},
		{"clawai demo-server documents", evil, true},
		{"mcp-server-git stdio", evil, true},
		{"ssh host server", evil, true},
		{"uvx --from git+https://a.example/x server", evil, true},
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

// root returns the root of a disk: / or, on Windows, C:/.
func root() string {
	if runtime.GOOS == "windows" {
		return "C:/"
	}
	return "/"
}

func pathList(places ...string) string { return strings.Join(places, string(os.PathListSeparator)) }

// A binding of an earlier version has no folder, and holds where the folder does not matter.
func TestBindingsWithoutAFolder(t *testing.T) {
	dir := t.TempDir()
	for command, want := range map[string]bool{"npx -y server": true, "node server.js": false, "node " + root() + "srv/server.js": true} {
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
	account, err := user.Current()
	must(t, err)
	home := account.HomeDir
	inDir, anywhere := resolver(t, vault.Requester{Name: "gh", Command: command, Dir: t.TempDir()}), resolver(t, vault.Requester{Name: "gh", Command: command})
	for variable, given := range map[string]bool{
		"PYTHONPATH=/tmp/e": false, "PYTHONWARNINGS=all:0:antigravity.x:0:0": false, "PYTHONHOME=/tmp/e": false, "PYTHONSTARTUP=/tmp/e": false, "PYTHONUSERBASE=/tmp": false,
		"NODE_OPTIONS=--require /tmp/e.js": false, "NODE_OPTIONS=--max-old-space-size=4096 --import=/tmp/e": false, "NODE_PATH=/tmp/e": false,
		"LD_PRELOAD=/tmp/e.so": false, "LD_AUDIT=/tmp/e.so": false, "LD_LIBRARY_PATH=/tmp": false, "DYLD_INSERT_LIBRARIES=/tmp/e": false,
		"DYLD_LIBRARY_PATH=/tmp": false, "PERL5LIB=/tmp": false, "PERL5OPT=-Me": false, "PERL5DB=x": false, "RUBYOPT=-r/tmp/e": false, "RUBYLIB=/tmp": false,
		"JAVA_TOOL_OPTIONS=-javaagent:/tmp/e.jar": false, "_JAVA_OPTIONS=-Xbootclasspath/p:/tmp": false, "JDK_JAVA_OPTIONS=@/tmp/e": false, "CLASSPATH=/tmp": false,
		"BASH_ENV=/tmp/e": false, "ENV=/tmp/e": false, "ENV=./e": false, "ZDOTDIR=/tmp": false, "PROMPT_COMMAND=x": false, "BASH_FUNC_ls%%=() { x; }": false,
		"GIT_SSH_COMMAND=/tmp/e": false, "GIT_SSH=/tmp/e": false, "GIT_EXEC_PATH=/tmp": false, "GIT_PROXY_COMMAND=x": false, "GIT_EXTERNAL_DIFF=x": false, "GIT_CONFIG_COUNT=1": false,
		"DOTNET_STARTUP_HOOKS=/tmp/e.dll": false, "CORECLR_PROFILER_PATH=/tmp": false, "PHPRC=/tmp": false, "PHP_INI_SCAN_DIR=/tmp": false, "LUA_INIT=@/tmp/e": false,
		"npm_config_@acme:registry=https://evil.example": false, "npm_config_script-shell=/tmp/e": false, "npm_config_userconfig=/tmp/.npmrc": false, "npm_config_node-options=-r /tmp/e": false,
		"NPM_CONFIG_GLOBALCONFIG=/tmp/e": false, "npm_config_prefix=/tmp/e": false, "npm_config_package=evil": false, "Npm_Config_Cache=/tmp/e": false, "npm_execpath=/tmp/e": false,
		"PYTHONPYCACHEPREFIX=/tmp/e": false, "PYTHONEXECUTABLE=/tmp/e": false, "PYTHONPLATLIBDIR=/tmp/e": false, "__PYVENV_LAUNCHER__=/tmp/e": false, "PIP_CONFIG_FILE=/tmp/e": false, "UV_CONFIG_FILE=/tmp/e": false, "UV_PYTHON=/tmp/e": false,
		"NODE_REPL_EXTERNAL_MODULE=/tmp/e": false, "NODE_COMPILE_CACHE=/tmp/e": false, "NODE_EXTRA_CA_CERTS=/tmp/e.pem": false, "NODE_TLS_REJECT_UNAUTHORIZED=0": false, "COREPACK_NPM_REGISTRY=https://evil.example": false, "BUN_CONFIG_REGISTRY=https://evil.example": false,
		"GEM_HOME=/tmp/e": false, "GIT_TEMPLATE_DIR=/tmp/e": false, "GIT_ASKPASS=/tmp/e": false, "GIT_PAGER=/tmp/e": false, "GIT_DIR=/tmp/e": false, "JAVA_HOME=/tmp/e": false, "DOTNET_ROOT=/tmp/e": false, "OPENSSL_MODULES=/tmp/e": false,
		"CARGO_HOME=/tmp/e": false, "GOPATH=/tmp/e": false, "DOCKER_HOST=tcp://evil.example": false, "TS_NODE_REQUIRE=/tmp/e": false, "COMSPEC=/tmp/e": false,
		"HOME=/tmp/e": false, "home=/tmp/e": false, "HOME=": false, "USERPROFILE=/tmp/e": false, "XDG_CONFIG_HOME=/tmp/e": false, "XDG_CONFIG_HOME=": false, "XDG_DATA_HOME=/tmp/e": false, "XDG_CACHE_HOME=/tmp/e": false, "APPDATA=/tmp/e": false, "LOCALAPPDATA=/tmp/e": false,
		"XDG_CONFIG_DIRS=/tmp/e": false, "XDG_DATA_DIRS=" + pathList("/usr/share", "/tmp/e"): false, "XDG_DATA_DIRS=" + pathList("/tmp/e", "/usr/share"): false, "JAVA_HOME=/opt/../tmp/e": false,
		"npm_config_registry=https://evil.example": false, "NPM_CONFIG_SCRIPT_SHELL=/tmp/e": false, "npm_config_node_options=-r /tmp/e": false, "UV_INDEX_URL=https://evil.example": false,
		"UV_DEFAULT_INDEX=https://evil.example": false, "PIP_INDEX_URL=https://evil.example": false, "PIP_EXTRA_INDEX_URL=https://evil.example": false,
		"SHELLOPTS=xtrace": false, "PS4=$(/tmp/e)": false, "BASHOPTS=extdebug": false, "BASH_LOADABLES_PATH=/tmp/e": false, "FPATH=/tmp/e": false, "PSModulePath=/tmp/e": false, "COMPlus_EnableDiagnostics=/tmp/e": false, "ASPNETCORE_HOSTINGSTARTUPASSEMBLIES=e": false, "MONO_PATH=/tmp/e": false,
		"AWS_CONFIG_FILE=/tmp/e": false, "AWS_SHARED_CREDENTIALS_FILE=/tmp/e": false, "KUBECONFIG=/tmp/e": false, "CLOUDSDK_PYTHON=/tmp/e": false, "CLOUDSDK_CONFIG=/tmp/e": false, "HELM_PLUGINS=/tmp/e": false, "TF_CLI_CONFIG_FILE=/tmp/e": false, "ANSIBLE_CONFIG=/tmp/e": false,
		"PYENV_ROOT=/tmp/e": false, "ASDF_DATA_DIR=/tmp/e": false, "VOLTA_HOME=/tmp/e": false, "N_PREFIX=/tmp/e": false, "JAVACMD=/tmp/e": false, "CATALINA_OPTS=-javaagent:/tmp/e": false, "GUNICORN_CMD_ARGS=-c /tmp/e": false, "COVERAGE_PROCESS_START=/tmp/e": false,
		"PUPPETEER_EXECUTABLE_PATH=/tmp/e": false, "CHROME_PATH=/tmp/e": false, "SASL_PATH=/tmp/e": false, "LIBMYSQL_PLUGIN_DIR=/tmp/e": false, "ODBCINI=/tmp/e": false, "RSYNC_RSH=/tmp/e": false, "OCAMLPATH=/tmp/e": false, "GUILE_LOAD_PATH=/tmp/e": false,
		"node_options=--require /tmp/e.js": false, // Windows has no case in names

		"AWS_CONFIG_FILE=" + home + "/.aws/config": true, "KUBECONFIG=" + home + "/.kube/config": true, "PYENV_ROOT=" + home + "/.pyenv": true, "VOLTA_HOME=" + home + "/.volta": true, "PYENV_VERSION=3.12": true, "VIRTUAL_ENV=" + home + "/p/.venv": true, "PUPPETEER_EXECUTABLE_PATH=/usr/bin/chromium": true, "ASPNETCORE_ENVIRONMENT=Production": true,
		"LESSOPEN=|/usr/bin/lesspipe %s": true, "GTK_MODULES=gail:atk-bridge": true, "CC=clang": true, "MAKEFLAGS=-j8": true, "AWS_PROFILE=x": true, "PS1=$": true,
		"NODE_OPTIONS=": true, "NODE_OPTIONS=--max-old-space-size=4096": true, "NODE_OPTIONS=--no-warnings --enable-source-maps": true, "JAVA_TOOL_OPTIONS=-Xmx512m -Dfile.encoding=UTF-8": true,
		"ENV=production": true, "PYTHONWARNINGS=ignore::DeprecationWarning": true, "NODE_ENV=production": true, "LANG=C": true, "PATH=/usr/bin:/bin": true, "PYTHONUNBUFFERED=1": true, "PYTHONIOENCODING=utf-8": true,
		"npm_config_yes=true": true, "npm_config_userconfig=" + home + "/.npmrc": true, "JAVA_HOME=/opt/java": true,
		"HOME=" + home: true, "HOME=" + home + "/": true, "XDG_CONFIG_HOME=" + home + "/.config": true, "XDG_DATA_DIRS=" + pathList("/usr/local/share", "/usr/share", home+"/.local/share/flatpak/exports/share"): true,
		"npm_config_cache=" + home + "/.npm": true, "npm_config_prefix=/usr/local": true, "npm_config_prefix=" + home + "/.nvm/versions/node/v22.1.0": true, "npm_execpath=/usr/lib/node_modules/npm/bin/npm-cli.js": true,
		"npm_config_loglevel=error": true, "npm_config_user-agent=npm/10": true, "npm_package_name=x": true, "NPM_TOKEN=x": true, "NODE_AUTH_TOKEN=x": true,
		"NODE_EXTRA_CA_CERTS=/etc/ssl/certs/corp.pem": true, "NODE_VERSION=22.1.0": true, "NODE_NO_WARNINGS=1": true, "PYTHONDONTWRITEBYTECODE=1": true, "PYTHON_VERSION=3.12.1": true, "PIP_NO_CACHE_DIR=1": true, "UV_LINK_MODE=copy": true, "UV_PYTHON=3.12": true,
		"GIT_PAGER=cat": true, "GIT_EDITOR=true": true, "GIT_TERMINAL_PROMPT=0": true, "GIT_TOKEN=x": true, "GIT_ASKPASS=/usr/share/code/resources/app/extensions/git/dist/askpass.sh": true, "GIT_ASKPASS=" + home + "/.vscode-server/bin/1/extensions/git/dist/askpass.sh": true,
		"JAVA_HOME=" + home + "/.sdkman/candidates/java/current": true, "DOTNET_CLI_TELEMETRY_OPTOUT=1": true, "GOPATH=" + home + "/go": true, "GOTOOLCHAIN=local": true, "CARGO_HOME=" + home + "/.cargo": true, "DOCKER_HOST=unix:///run/user/1000/docker.sock": true,
		"GITHUB_TOKEN=x": true, "GOOGLE_API_KEY=x": true, "GEMINI_API_KEY=x": true, "NVM_DIR=/x": true, "XDG_RUNTIME_DIR=/run/user/1000": true, "TERM=xterm": true, "GIT_AUTHOR_NAME=Ana": true, "LD=1": true,
	} {
		name, _, _ := strings.Cut(variable, "=")
		_, err := inDir.FillEnv([]string{variable, "X=clawai-vault:key"})
		if (err == nil) != given {
			t.Errorf("%s: %v", variable, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "beside "+name) || !strings.Contains(err.Error(), "take it out") || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%s: %v does not say why, and what next", variable, err)
		}
		if _, err := anywhere.FillEnv([]string{variable}); err != nil {
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

// What the owner has set where the entry was bound is the owner's: the same beside a reference is
// given, another is not.
func TestVariablesOfTheOwner(t *testing.T) {
	p := place(t)
	at := func(text string) string { return strings.ReplaceAll(text, "/srv", root()+"srv") }
	r := vault.Requester{Name: "gh", Command: command, Own: []string{at("HOME=/srv/me"), at("NODE_OPTIONS=--import /srv/trace.js"), "npm_config_@a:registry=https://me:canary@a.example", "LANG=C"}}
	must(t, choose(t, p, vault.InKeychain).Change("key", func(e *vault.Entry) error {
		e.Value = []byte("canary-1")
		e.BindServer(vault.Requester{Name: "gh", Command: command, Own: []string{at("HOME=/srv/before")}})
		if e.BindServer(r) || len(e.Bindings) != 1 || strings.Contains(e.Bindings[0].Own, "canary") || strings.Count(e.Bindings[0].Own, " ") != 2 {
			t.Errorf("bound again: %+v", e.Bindings)
		}
		return nil
	}))
	for variables, given := range map[string]bool{
		at("HOME=/srv/me"): true, at("HOME=/srv/before"): false, at("HOME=/srv/me/x"): false, at("USERPROFILE=/srv/me"): false, at("NODE_OPTIONS=--import /srv/trace.js"): true, at("NODE_OPTIONS=--import /srv/e.js"): false,
		at("HOME=/srv/me npm_config_userconfig=/srv/me/.npmrc"): true, at("npm_config_userconfig=/srv/me/.npmrc"): false, at("HOME=/srv/me XDG_CONFIG_HOME=/srv/me/.config"): true, at("HOME=/srv/e XDG_CONFIG_HOME=/srv/e/.config"): false,
		"npm_config_@a:registry=https://me:canary@a.example": true, "npm_config_@b:registry=https://me:canary@a.example": false,
	} {
		environ := []string{"X=clawai-vault:key"}
		for _, name := range []string{" npm", " XDG"} {
			variables = strings.ReplaceAll(variables, name, "\x00"+name[1:])
		}
		environ = append(environ, strings.Split(variables, "\x00")...)
		one := &vault.Resolver{Open: p.Open, Server: vault.Requester{Name: "gh", Command: command, Dir: t.TempDir()}, Now: now}
		if _, err := one.FillEnv(environ); (err == nil) != given {
			t.Errorf("%q: %v", environ, err)
		}
	}
	for variable, loads := range map[string]bool{at("HOME=/srv/me"): false, at("HOME=/srv/e"): true, at("XDG_CONFIG_HOME=/srv/me/.config"): false, at("NODE_PATH=/srv/me"): true} {
		if name, value, _ := strings.Cut(variable, "="); vault.LoadsCode(name, value, r.Own) != loads {
			t.Errorf("%s beside the owner's environment: %v", variable, !loads)
		}
	}
}
