package cmdline

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is set by the release build.
var Version = "dev"

// ReleaseVersion returns the version and, if the build knows it, the commit.
func ReleaseVersion() string { return Version + buildRevision(debug.ReadBuildInfo()) }

// BuildInfo returns ReleaseVersion with the Go version and the platform, on one line.
func BuildInfo() string {
	return fmt.Sprintf("%s %s %s/%s", ReleaseVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// buildRevision returns the commit that a binary was built from, if the build knows it.
func buildRevision(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return ""
	}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	commit := set["vcs.revision"]
	switch {
	case commit == "":
		return ""
	case set["vcs.modified"] == "true":
		return fmt.Sprintf(" (%.12s, modified)", commit)
	}
	return fmt.Sprintf(" (%.12s)", commit)
}
