package view

import (
	"slices"
	"strings"
)

// Names of arguments by kind, in lower case and without _ and -.
var (
	commandKeys = []string{"command", "commands", "cmd", "cmdline", "commandline", "script", "args", "argv", "arguments", "shell", "exec",
		"bash", "powershell", "run", "code", "program", "executable", "expression", "function", "javascript", "python", "applescript"}
	laterKeys = []string{"args", "argv", "arguments"}
	queryKeys = []string{"sql", "query", "queries", "statement", "statements"}
	proseKeys = []string{"content", "contents", "text", "body", "message", "description", "title", "comment", "comments", "summary", "note",
		"notes", "thought", "thoughts", "prompt", "subject", "caption", "reason", "question", "answer", "newtext", "oldtext", "newstr", "oldstr",
		"newstring", "oldstring", "filetext", "inserttext", "markdown", "html", "patch", "diff", "data", "observations", "documentation", "explanation"}
	// toldKeys are names of arguments that hold prose, even if the tool runs a shell.
	toldKeys = []string{"description", "title", "reason", "thought", "thoughts", "explanation", "summary", "comment"}
	pathKeys = []string{"path", "paths", "file", "files", "filename", "filenames", "dir", "directory", "folder", "source", "sources", "src",
		"destination", "dest", "dst", "target", "from", "to", "output", "location", "uri", "link", "notebook", "image"}
	hostKeys = []string{"host", "hostname", "address", "ip", "domain", "server", "endpoint", "origin", "url", "uri", "baseurl", "proxy"}
)

var keySigns = strings.NewReplacer("_", "", "-", "")

// plainKey returns a name in lower case and without _ and -, as in the lists above.
func plainKey(key string) string { return keySigns.Replace(strings.ToLower(key)) }

func isPathKey(key string) bool {
	ends := []string{"path", "paths", "file", "files", "filename", "dir", "directory", "folder"}
	return slices.Contains(pathKeys, key) || slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(key, end) })
}
