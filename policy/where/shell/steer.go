package shell

import "strings"

// steersPrograms reports whether a variable changes what a shell, the loader or a common program
// runs. It also returns true for numeric variables, because some shells compute their values. Deny
// and prompt rules use this list. An allow rule accepts only the variables of allowsVariable.
func steersPrograms(name string) bool {
	if i := strings.IndexByte(name, '['); i >= 0 {
		return true
	}
	if listedIn(steering, name) {
		return true
	}
	for _, prefix := range [...]string{
		"LD_", "DYLD_", "GIT_", "BASH_", "PYTHON", "PERL", "RUBY", "NODE_", "NPM_", "npm_", "CARGO_", "RUSTC",
		"JAVA_", "JDK_", "MAVEN_", "GRADLE_", "DOCKER_", "SSH_", "SUDO_", "LUA_", "PHP",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, suffix := range [...]string{
		"PAGER", "EDITOR", "_COMMAND", "OPTS", "OPTIONS", "FLAGS", "SHELL", "ASKPASS", "WRAPPER", "PATH", "HOOK", "_CMD",
	} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

const steering = `
	path fpath cdpath IFS ENV SHELLOPTS BASHOPTS PS0 PS1 PS2 PS3 PS4 prompt ZDOTDIR HOME VISUAL BROWSER
	LESSOPEN LESSCLOSE LESS MORE MANOPT CC CXX LD AR AS MAKEFILES HOSTALIASES TERMINFO TERMCAP NULLCMD READNULLCMD
	RANDOM SECONDS OPTIND COLUMNS LINES TMOUT PPID UID EUID GID EGID SHLVL LINENO ERRNO HISTSIZE HISTCMD SAVEHIST FUNCNEST
	MAILCHECK LISTMAX LOGCHECK KEYTIMEOUT TRY_BLOCK_ERROR TRY_BLOCK_INTERRUPT EPOCHSECONDS EPOCHREALTIME
	GOROOT GOPROXY GOENV RIPGREP_CONFIG_PATH WGETRC CURL_HOME XDG_CONFIG_HOME TAR RSH RSYNC_RSH CVS_RSH`
