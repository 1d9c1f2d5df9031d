package client

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var word = lazyPattern(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// checkRow returns the errors in one row. It does not compare the row with other rows.
func (r Row) checkRow() []error {
	return slices.Concat(r.checkNames(), r.checkPaths(), r.checkShape(), r.checkTransport())
}

func (r Row) checkNames() []error {
	var f findings
	f.addIfBad(!word().MatchString(r.ID), "id must be lower-case words joined by -")
	f.addIfBad(!word().MatchString(r.Client), "client must be lower-case words joined by -")
	f.addIfBad(r.ID != r.Client && !strings.HasPrefix(r.ID, r.Client+"-"), "id must be the client %q, or start with it and -", r.Client)
	f.addIfBad(r.Name == "", "name is missing")
	f.addIfBad(r.Source == "", "source is missing: say where these facts come from")
	f.addIfBad(r.Restart == "", "restart is missing: say what a person does for an edit to take effect")
	oneOf(&f, "scope", r.Scope, User, Local, Project, Profile, Workspace, Plugin, Managed)
	oneOf(&f, "confidence", r.Confidence, First, Experimental)
	return f
}

func (r Row) checkPaths() []error {
	var f findings
	paths := r.Paths.allPaths()
	f.addIfBad(len(paths) == 0, "paths is missing: give paths.all, or linux, macos or windows")
	project := r.Scope == Project || r.Scope == Workspace
	for _, path := range paths {
		if err := checkPattern(path); err != nil {
			f = append(f, err)
			continue
		}
		below := strings.HasPrefix(path, "./")
		f.addIfBad(project && !below, "path %q must start with ./, as the scope is %q", path, r.Scope)
		f.addIfBad(!project && below, "path %q is a project's, but the scope is %q", path, r.Scope)
	}
	f.addIfBad(r.Ancestors && !project, "ancestors needs the scope \"project\" or \"workspace\"")
	return f
}

func (r Row) checkShape() []error {
	var f findings
	oneOf(&f, "format", r.Format, JSON, JSONC, JSON5, TOML, YAML)
	oneOf(&f, "container", r.Container, Map, List, Tables)
	oneOf(&f, "command_form", r.CommandForm, StringCommand, ArrayCommand, ObjectCommand)
	f.addIfBad(slices.Contains(r.KeyPath, ""), "key_path has an empty key")
	f.addIfBad(len(r.KeyPath) > 0 && r.KeyPath[len(r.KeyPath)-1] == "*", "key_path must not end with \"*\"")
	f.addIfBad(len(r.KeyPath) == 0 && r.Container != Map, "container %q needs a key_path", r.Container)
	f.addIfBad(r.Container == Map && r.NameField != "", "name_field needs the container \"list\" or \"tables\"")
	f.addIfBad(r.Container != Map && r.NameField == "", "container %q needs name_field", r.Container)
	f.addIfBad(r.Container == Tables && r.Format != TOML, "container \"tables\" needs the format \"toml\"")
	f.addIfBad(r.Container != Map && len(r.Ignore) > 0, "ignore needs the container \"map\"")
	f.addIfBad(r.CommandForm == ArrayCommand && r.Args != "", "args cannot stand beside the command_form \"array\"")
	f.addIfBad(r.CommandForm != StringCommand && r.Nested != "", "nested needs the command_form \"string\"")
	f.addIfBad(r.Lock != "" && r.Lock != "directory", "lock is %q; only \"directory\" is known", r.Lock)
	f.addIfBad(r.ReadOnly && (r.Lock != "" || len(r.Processes) > 0), "read_only cannot stand beside lock or processes")
	return f
}

func (r Row) checkTransport() []error {
	var f findings
	f.addIfBad(r.TypeField == "" && len(r.StdioTypes) > 0, "stdio_types needs type_field")
	f.addIfBad(r.TypeField == "" && len(r.RemoteTypes) > 0, "remote_types needs type_field")
	for _, t := range r.StdioTypes {
		f.addIfBad(slices.Contains(r.RemoteTypes, t), "type %q is both stdio and remote", t)
	}
	f.addIfBad(len(r.URLFields) == 0 && len(r.ExclusiveFields) > 0, "exclusive_fields needs url_fields")
	f.addIfBad(len(r.URLFields) == 0 && r.HeadersField != "", "headers_field needs url_fields")
	f.addIfBad(r.HeadersField == "" && (r.EnvHeadersField != "" || r.BearerField != ""), "env_headers_field and bearer_field need headers_field")
	f.addIfBad((r.EnvHeadersField != "" || r.BearerField != "") && r.PassEnvField == "", "env_headers_field and bearer_field need pass_env_field")
	f.addIfBad(r.EnvExpands && len(r.Interpolation) == 0, "env_expands needs interpolation")
	command := r.commandKey()
	f.addIfBad(slices.Contains(r.URLFields, command), "%q is both the command and a url field", command)
	f.addIfBad(r.ExpandsArgs && len(r.Interpolation) == 0, "expands_args needs interpolation")
	f.addIfBad(r.HeadersField == "" && len(r.FillsHeaders) > 0, "fills_headers needs headers_field")
	f = append(f, checkExpressions("interpolation", r.Interpolation)...)
	return append(f, checkExpressions("fills_headers", r.FillsHeaders)...)
}

func checkExpressions(key string, patterns []string) (all []error) {
	for _, pattern := range patterns {
		if _, err := regexp.Compile(pattern); err != nil {
			all = append(all, fmt.Errorf("%s %q: %w", key, pattern, err))
		}
	}
	return all
}

type findings []error

func (f *findings) addIfBad(bad bool, format string, args ...any) {
	if bad {
		*f = append(*f, fmt.Errorf(format, args...))
	}
}

func oneOf[T ~string](f *findings, key string, value T, known ...T) {
	if slices.Contains(known, value) {
		return
	}
	words := make([]string, len(known))
	for i, k := range known {
		words[i] = string(k)
	}
	list := strings.Join(words, ", ")
	if value == "" {
		*f = append(*f, errors.New(key+" is missing: one of "+list))
		return
	}
	*f = append(*f, fmt.Errorf("%s is %q; it must be one of %s", key, string(value), list))
}
