package vault

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// loaders are variables that can make a program run code that its command does not name. A name
// that ends with * stands for all names with that beginning.
var loaders = strings.Fields(`LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_* GCONV_PATH
	PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONUSERBASE PYTHONBREAKPOINT PYTHONWARNINGS
	NODE_OPTIONS NODE_PATH BUN_OPTIONS BUN_PRELOAD PERL5LIB PERL5OPT PERL5DB PERLLIB RUBYOPT RUBYLIB BUNDLE_GEMFILE
	JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS CLASSPATH MAVEN_OPTS GRADLE_OPTS
	BASH_ENV ENV ZDOTDIR PROMPT_COMMAND BASH_FUNC_* GIT_SSH GIT_SSH_COMMAND GIT_EXEC_PATH GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_CONFIG_*
	DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS CORECLR_* COR_* PHPRC PHP_INI_SCAN_DIR LUA_INIT* LUA_PATH* LUA_CPATH* R_PROFILE* R_HOME JULIA_LOAD_PATH ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ERL_LIBS
	NPM_CONFIG_REGISTRY NPM_CONFIG_SCRIPT_SHELL NPM_CONFIG_NODE_OPTIONS UV_INDEX* UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL UV_FIND_LINKS PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS
	GOFLAGS GOPROXY RUSTC_WRAPPER RUSTFLAGS OPENSSL_CONF`)

// harmless matches NAME=VALUE for values of some of the loaders that load no code.
var harmless = sync.OnceValue(func() *regexp.Regexp {
	const word = `--(?:max-old-space-size|max-semi-space-size|max-http-header-size|stack-trace-limit)=\d+|--(?:no-warnings|no-deprecation|trace-warnings|enable-source-maps|use-system-ca)` +
		`|-X(?:ms|mx|ss)\d+[kKmMgG]?|-Dfile\.encoding=[\w-]+|-Djava\.net\.preferIPv4Stack=true|-mod=(?:mod|readonly|vendor)|-trimpath|-buildvcs=(?:true|false|auto)`
	return regexp.MustCompile(`^(?:NODE_OPTIONS|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|JAVA_OPTS|MAVEN_OPTS|GRADLE_OPTS|GOFLAGS)=\s*(?:(?:` + word + `)(?:\s+|$))*$|^PYTHONWARNINGS=[a-z]+(?:::[A-Z]\w*)?$`)
})

// LoadsCode reports whether a variable may make a server run code that its command does not name.
// It ignores the case of the name, because some systems do.
func LoadsCode(name, value string) bool {
	name = strings.ToUpper(name)
	if value == "" || name == "ENV" && !strings.ContainsAny(value, `/\~$`) { // ENV=production
		return false
	}
	return slices.ContainsFunc(loaders, func(loader string) bool {
		start, open := strings.CutSuffix(loader, "*")
		return name == loader || open && strings.HasPrefix(name, start)
	}) && !harmless().MatchString(name+"="+value)
}

// checkVariables returns an error if the environment has a variable that may make the server run
// other code: somebody who can write the client's file could use it to read the value. A variable
// that the bound command sets itself is allowed, because the owner has chosen that command.
func checkVariables(environ, command []string) error {
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if LoadsCode(name, value) && !setsItself(command, name) {
			return fmt.Errorf("it is not given beside %s, which can have the server run other code with it; take it out of the server's entry, or of what its client is started with, or bind a command that sets it: env %[1]s=VALUE COMMAND", name)
		}
	}
	return nil
}

// setsItself reports whether a command begins with env and sets a variable in this way. It returns
// false for variables that load code into env itself, because they take effect before env sets them.
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
