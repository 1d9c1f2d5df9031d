package vault

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// loaders are variables that can make a program run code that its command does not name, or use
// other settings and packages. A name with * at its end stands for all names with the same
// beginning.
var loaders = sync.OnceValue(func() []string {
	return strings.Fields(`LD_* DYLD_* GCONV_PATH OPENSSL_* COMSPEC
	PYTHON* __PYVENV_LAUNCHER__ PIP_* PIPX_* UV_*
	NODE NODE_* NPM_* PNPM_* YARN_* COREPACK_* BUN_* DENO_* TS_NODE_* TSX_* ESBUILD_BINARY_PATH
	PERL5* PERLLIB PERL_* RUBY* GEM_* BUNDLE_*
	JAVA_* _JAVA_* JDK_JAVA_* CLASSPATH MAVEN_* GRADLE_* SBT_*
	BASH_ENV ENV ZDOTDIR PROMPT_COMMAND BASH_FUNC_* BASH_LOADABLES_PATH SHELLOPTS BASHOPTS PS4 FPATH PSMODULEPATH GIT_*
	DOTNET_* CORECLR_* COR_* COMPLUS_* ASPNETCORE_HOSTINGSTARTUPASSEMBLIES MONO_* NUGET_* PHPRC PHP_INI_SCAN_DIR LUA_* R_PROFILE* R_ENVIRON* R_HOME R_LIBS* JULIA_* ERL_* ELIXIR_* MIX_*
	GOFLAGS GOPROXY GOENV GOTOOLCHAIN GOPATH GOMODCACHE GOROOT GOWORK RUSTC_* RUSTFLAGS CARGO_* RUSTUP_*
	PYENV_ROOT RBENV_ROOT NODENV_ROOT ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR VOLTA_HOME FNM_DIR N_PREFIX PROTO_HOME JAVACMD JVM_OPTS CATALINA_OPTS
	OCAMLPATH CAML_LD_LIBRARY_PATH TCL_LIBRARY TCLLIBPATH GUILE_LOAD_* PLTCOLLECTS PLTADDONDIR GHC_PACKAGE_PATH CL_SOURCE_REGISTRY EMACSLOADPATH
	SASL_PATH LIBMYSQL_PLUGIN_DIR LIBMYSQL_PLUGINS ODBCSYSINI ODBCINI GDAL_DRIVER_PATH MAGICK_CODER_MODULE_PATH RSYNC_RSH SVN_SSH CVS_RSH HGRCPATH GUNICORN_CMD_ARGS COVERAGE_PROCESS_START
	PUPPETEER_EXECUTABLE_PATH PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH CHROME_PATH ELECTRON_OVERRIDE_DIST_PATH
	AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE KUBECONFIG CLOUDSDK_CONFIG CLOUDSDK_PYTHON AZURE_CONFIG_DIR AZURE_EXTENSION_DIR HELM_PLUGINS TF_CLI_CONFIG_FILE ANSIBLE_CONFIG GH_CONFIG_DIR
	DOCKER_HOST DOCKER_CONFIG CONTAINER_HOST CONTAINERS_CONF XDG_CONFIG_DIRS XDG_DATA_DIRS`)
})

// plain are variables that load nothing, although a name in loaders covers them.
var plain = sync.OnceValue(func() []string {
	return strings.Fields(`LD_BIND_NOW
	PYTHONUNBUFFERED PYTHONIOENCODING PYTHONDONTWRITEBYTECODE PYTHONUTF8 PYTHONHASHSEED PYTHONFAULTHANDLER PYTHONNOUSERSITE PYTHONSAFEPATH
	PYTHONLEGACYWINDOWS* PYTHONASYNCIODEBUG PYTHONDEVMODE PYTHONOPTIMIZE PYTHONTRACEMALLOC PYTHONCOERCECLOCALE PYTHON_COLORS
	PIP_NO_CACHE_DIR PIP_DISABLE_PIP_VERSION_CHECK PIP_REQUIRE_VIRTUALENV PIP_DEFAULT_TIMEOUT PIP_ROOT_USER_ACTION PIP_NO_INPUT PIP_PROGRESS_BAR PIP_QUIET
	UV_LINK_MODE UV_NO_PROGRESS UV_OFFLINE UV_HTTP_TIMEOUT UV_COMPILE_BYTECODE UV_NATIVE_TLS UV_PYTHON_PREFERENCE UV_PYTHON_DOWNLOADS UV_CONCURRENT_* UV_NO_CACHE UV_THREADPOOL_SIZE
	NODE_ENV NODE_DEBUG NODE_NO_WARNINGS NODE_PENDING_DEPRECATION NODE_DISABLE_COLORS NODE_USE_SYSTEM_CA NODE_USE_ENV_PROXY NODE_APP_INSTANCE NODE_HOME
	NPM_COMMAND NPM_LIFECYCLE_* NPM_PACKAGE_* NPM_CONFIG_YES NPM_CONFIG_LOGLEVEL NPM_CONFIG_LOGS_MAX NPM_CONFIG_UPDATE_NOTIFIER NPM_CONFIG_FUND NPM_CONFIG_AUDIT
	NPM_CONFIG_PROGRESS NPM_CONFIG_COLOR NPM_CONFIG_UNICODE NPM_CONFIG_ENGINE_STRICT NPM_CONFIG_FETCH_* NPM_CONFIG_MAXSOCKETS NPM_CONFIG_OFFLINE NPM_CONFIG_PREFER_*
	NPM_CONFIG_USER_AGENT NPM_CONFIG_NPM_VERSION NPM_CONFIG_LOCAL_PREFIX NPM_CONFIG_NOPROXY NPM_CONFIG_PROXY NPM_CONFIG_HTTPS_PROXY NPM_CONFIG_IGNORE_SCRIPTS NPM_CONFIG_SAVE_*
	GIT_AUTHOR_* GIT_COMMITTER_* GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_CEILING_DIRECTORIES GIT_LFS_SKIP_SMUDGE GIT_DISCOVERY_ACROSS_FILESYSTEM
	DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO DOTNET_ENVIRONMENT DOTNET_RUNNING_IN_CONTAINER DOTNET_SYSTEM_* DOTNET_USE_POLLING_FILE_WATCHER DOTNET_GENERATE_ASPNET_CERTIFICATE DOTNET_GC*
	CARGO_TERM_* CARGO_INCREMENTAL MIX_ENV`)
})

// placed are names in loaders whose value is harmless if it is a path to a place that only the
// owner or the system changes (isOwned).
var placed = sync.OnceValue(func() []string {
	return strings.Fields(`XDG_CONFIG_DIRS XDG_DATA_DIRS COMSPEC
	NODE NPM_EXECPATH NPM_NODE_EXECPATH NPM_CONFIG_USERCONFIG NPM_CONFIG_CACHE NPM_CONFIG_PREFIX NPM_CONFIG_GLOBAL_PREFIX NPM_CONFIG_GLOBALCONFIG NPM_CONFIG_NODE_GYP NPM_CONFIG_INIT_MODULE
	NPM_CONFIG_CAFILE NODE_EXTRA_CA_CERTS PIP_CERT GIT_ASKPASS JAVA_HOME MAVEN_HOME GRADLE_HOME DOTNET_ROOT DOTNET_CLI_HOME CARGO_HOME RUSTUP_HOME PNPM_HOME BUN_INSTALL DENO_INSTALL
	GOPATH GOROOT GOMODCACHE UV_CACHE_DIR UV_PYTHON GEM_HOME GEM_PATH DOCKER_CONFIG
	PYENV_ROOT RBENV_ROOT NODENV_ROOT ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR VOLTA_HOME FNM_DIR N_PREFIX PROTO_HOME JAVACMD
	PUPPETEER_EXECUTABLE_PATH PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH CHROME_PATH TCL_LIBRARY PSMODULEPATH ODBCSYSINI ODBCINI
	AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE KUBECONFIG CLOUDSDK_CONFIG CLOUDSDK_PYTHON AZURE_CONFIG_DIR HELM_PLUGINS GH_CONFIG_DIR`)
})

// homes are variables with which programs find their owner's files, each with the usual place of
// these files below the home folder. The place may contain code, such as npm's settings and
// Python's own packages.
var homes = map[string]string{
	"HOME": "", "USERPROFILE": "", "XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_CACHE_HOME": ".cache",
	"APPDATA": "AppData/Roaming", "LOCALAPPDATA": "AppData/Local",
}

// Folders whose programs come from the owner or the system. systemFolders are absolute paths, and
// homeFolders are relative to the home folder.
var (
	systemFolders = strings.Fields("/usr /etc /opt /bin /lib /var/lib /snap /nix /run/current-system /Applications /Library /System C:/Windows C:/ProgramData")
	homeFolders   = strings.Fields(`.nvm .volta .fnm .asdf .nodenv .pyenv .rbenv .sdkman .jdks .local/share/fnm .local/share/mise .local/share/uv .local/share/pnpm .local/share/flatpak .nix-profile
		.proto .aws .kube .azure .config/gcloud .config/gh .local/share/helm
		.npm-global .npm .npmrc .npm-init.js .gem .dotnet .cargo .rustup .bun .deno .docker .cache/uv go .vscode .vscode-server .cursor-server AppData/Roaming/npm AppData/Local/Programs`)
)

// Expressions for variables that load nothing, although a name in loaders covers them. harmless
// matches NAME=VALUE, and harmlessName matches NAME.
var (
	harmless = sync.OnceValue(func() *regexp.Regexp {
		const word = `--(?:max-old-space-size|max-semi-space-size|max-http-header-size|stack-trace-limit)=\d+|--(?:no-warnings|no-deprecation|trace-warnings|enable-source-maps|use-system-ca)` +
			`|-X(?:ms|mx|ss)\d+[kKmMgG]?|-Dfile\.encoding=[\w-]+|-Djava\.net\.preferIPv4Stack=true|-mod=(?:mod|readonly|vendor)|-trimpath|-buildvcs=(?:true|false|auto)`
		return regexp.MustCompile(`^(?:NODE_OPTIONS|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|JAVA_OPTS|MAVEN_OPTS|GRADLE_OPTS|GOFLAGS)=\s*(?:(?:` + word + `)(?:\s+|$))*$|^PYTHONWARNINGS=[a-z]+(?:::[A-Z]\w*)?$` +
			`|^GIT_(?:PAGER|EDITOR|SEQUENCE_EDITOR)=(?:cat|true|less|more|vim?|nano|code --wait|:)$|^GIT_TRACE\w*=[012]$|^GOTOOLCHAIN=(?:local|auto)$|^UV_PYTHON=\d[\d.]*$|^NODE_TLS_REJECT_UNAUTHORIZED=1$` +
			`|^(?:DOCKER|CONTAINER)_HOST=(?:unix|npipe)://.*$|^ENV=[^/\\~$]*$`)
	})
	harmlessName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:NODE|NPM|PYTHON|PYTHON_PIP|RUBY|JAVA|GIT|DOTNET|YARN|BUN|DENO|PERL|UV|PIP|BUNDLER?)_(?:VERSION|SHA256)$` +
			`|^(?:[A-Z]+_)+(?:TOKEN|API_KEY|PASSWORD|USERNAME|USER|EMAIL)$`)
	})
)

// LoadsCode reports whether a variable may make a server run code that its command does not name.
// The parameter own is the owner's environment. LoadsCode returns false for a variable that has the
// same value there.
func LoadsCode(name, value string, own []string) bool {
	return !slices.Contains(own, name+"="+value) && loadsCode(name, value, ownHomes(own))
}

// loadsCode judges a variable by its name and its value. It ignores the case of the name, because
// some systems do. It reads - as _, because npm does.
func loadsCode(name, value string, homeFolders []string) bool {
	name = strings.ReplaceAll(strings.ToUpper(name), "-", "_")
	below, isHome := homes[name]
	switch {
	case isHome:
		return !slices.ContainsFunc(homeFolders, func(home string) bool { return samePlace(value, home+"/"+below) })
	case value == "", !inList(loaders(), name), inList(plain(), name), harmlessName().MatchString(name), harmless().MatchString(name + "=" + value):
		return false
	}
	return !inList(placed(), name) || !isOwned(value, homeFolders)
}

func inList(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		start, open := strings.CutSuffix(entry, "*")
		return name == entry || open && strings.HasPrefix(name, start)
	})
}

// isOwned reports whether every path in a list of paths is in a folder of systemFolders or
// homeFolders. homeFolderList holds the home folders of the owner.
func isOwned(list string, homeFolderList []string) bool {
	for _, place := range strings.Split(list, string(os.PathListSeparator)) {
		if !slices.ContainsFunc(systemFolders, func(folder string) bool { return isBelow(place, folder) }) &&
			!slices.ContainsFunc(homeFolderList, func(home string) bool {
				return slices.ContainsFunc(homeFolders, func(folder string) bool { return isBelow(place, home+"/"+folder) })
			}) {
			return false
		}
	}
	return true
}

func samePlace(a, b string) bool { return a != "" && slashed(a) == slashed(b) }

func isBelow(place, folder string) bool {
	place, folder = slashed(place), slashed(folder)
	return place == folder || strings.HasPrefix(place, folder+"/")
}

// slashed returns the common spelling of a path, so that equal paths can be compared. On Windows
// the spelling is in lower case and has slashes.
func slashed(place string) string {
	if runtime.GOOS == "windows" {
		place = strings.ToLower(strings.ReplaceAll(place, `\`, "/"))
	}
	return path.Clean(place)
}

// accountHome returns the home folder of this account in the system's list of accounts; "" if the
// list has none. It does not use variables, because a client's file can set them.
var accountHome = sync.OnceValue(func() string {
	find := user.Current
	if runtime.GOOS != "windows" {
		find = func() (*user.User, error) { return user.LookupId(strconv.Itoa(os.Getuid())) }
	}
	if account, err := find(); err == nil {
		return account.HomeDir
	}
	return ""
})

// ownHomes returns the home folders of the owner: the home of the account, and the folders in the
// variables of own.
func ownHomes(own []string) (list []string) {
	if home := accountHome(); home != "" {
		list = append(list, home)
	}
	for _, v := range own {
		if name, value, _ := strings.Cut(v, "="); (name == "HOME" || name == "USERPROFILE") && filepath.IsAbs(value) {
			list = append(list, value)
		}
	}
	return list
}

// digestVariables returns short digests of the owner's variables that load code. A server that is
// later started with the same variables still gets the entry's value. Only digests are stored,
// because such a variable may hold a secret.
func digestVariables(own []string) string {
	var list []string
	for _, v := range own {
		if name, value, _ := strings.Cut(v, "="); loadsCode(name, value, ownHomes(nil)) {
			list = append(list, digestVariable(v))
		}
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

func digestVariable(v string) string {
	sum := sha256.Sum256([]byte(v))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// checkVariables returns an error if environ has a variable that may make the server run other
// code. That code would get the value of the entry, and everybody who can write the client's file
// could set such a variable. Two kinds of variables come from the owner and cause no error:
// variables that the bound command sets by itself, and variables that have not changed since the
// entry was bound. The parameter own holds the digests of the second kind.
func checkVariables(environ, command, own []string) error {
	isOwn := func(v string) bool { return slices.Contains(own, digestVariable(v)) }
	homes := ownHomes(slices.DeleteFunc(slices.Clone(environ), func(v string) bool { return !isOwn(v) }))
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if loadsCode(name, value, homes) && !setsItself(command, name) && !isOwn(v) {
			return fmt.Errorf("it is not given beside %s, which can have the server run other code with it; take it out of the server's entry, or of what its client is started with, or bind a command that sets it: env %[1]s=VALUE COMMAND; one that is your own counts if you bind the entry where it is set", name)
		}
	}
	return nil
}

// setsItself reports whether a command begins with env and sets the variable with it. For a
// variable that loads code into env itself it returns false, because the variable takes effect
// before env sets it.
func setsItself(command []string, name string) bool {
	upper := strings.ToUpper(name)
	if len(command) == 0 || path.Base(command[0]) != "env" || strings.HasPrefix(upper, "LD_") || strings.HasPrefix(upper, "DYLD_") || upper == "GCONV_PATH" {
		return false
	}
	for _, word := range command[1:] {
		set, _, is := strings.Cut(word, "=")
		switch {
		case is && set == name:
			return true
		case !is && !strings.HasPrefix(word, "-"):
			return false
		}
	}
	return false
}
