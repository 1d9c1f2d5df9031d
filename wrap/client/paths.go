package client

import (
	"fmt"
	"slices"
	"strings"
)

// Paths holds the possible places of a file: first the places in All, which are for every system,
// and then the places for the current system.
//
// A pattern has slashes. It begins with ~ (the home), {config} (the system's folder for settings of
// applications), {xdg} ($XDG_CONFIG_HOME, or ~/.config, on every system), $NAME or
// ${NAME:-default}, / or a drive, or ./ (the project). It can have the globs * ? and [...], but not
// **.
type Paths struct {
	All     []string `toml:"all"`
	Linux   []string `toml:"linux"`
	MacOS   []string `toml:"macos"`
	Windows []string `toml:"windows"`
}

func (p Paths) systemPaths(os string) []string {
	own := map[string][]string{"linux": p.Linux, "darwin": p.MacOS, "windows": p.Windows}[os]
	return slices.Concat(p.All, own)
}

func (p Paths) allPaths() []string { return slices.Concat(p.All, p.Linux, p.MacOS, p.Windows) }

// checkPattern returns an error if a pattern is wrong.
func checkPattern(pattern string) error {
	base, rest := cutBase(pattern)
	switch {
	case strings.Contains(pattern, `\`):
		return fmt.Errorf("path %q has a backslash; write slashes, on Windows too", pattern)
	case strings.Contains(pattern, "**"):
		return fmt.Errorf("path %q has **; only * ? and [...] are known", pattern)
	case slices.Contains(strings.Split(pattern, "/"), ".."):
		return fmt.Errorf("path %q has ..; write the path out", pattern)
	case strings.ContainsAny(rest, "$%{}~"):
		return fmt.Errorf("path %q: a variable may only be its first part", pattern)
	case base == "." && rest != "":
		return nil
	}
	return checkBase(pattern, base)
}

func checkBase(pattern, base string) error {
	bare := func(name string) bool {
		return name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
	}
	inner, braces := strings.CutPrefix(base, "${")
	switch {
	case base == "~", base == "{config}", base == "{xdg}", base == "/":
		return nil
	case len(base) == 2 && base[1] == ':' && isLetter(base[0]):
		return nil
	case braces && strings.HasSuffix(inner, "}"):
		name, preset, more := strings.Cut(inner[:len(inner)-1], ":-")
		if bare(name) && !more {
			return nil
		}
		if bare(name) && preset != "" && !strings.ContainsAny(preset, "*?[") && !strings.HasPrefix(preset, "./") {
			return checkPattern(preset)
		}
	case strings.HasPrefix(base, "$") && bare(base[1:]):
		return nil
	}
	return fmt.Errorf("path %q must start with ~, {config}, {xdg}, $NAME, ${NAME:-default}, /, a drive, or ./ for the project", pattern)
}
