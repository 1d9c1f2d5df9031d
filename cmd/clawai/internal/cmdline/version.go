package cmdline

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is the version of clawai. The release build sets it.
var Version = "dev"

// ReleaseVersion returns the version, and the commit if the build knows it.
func ReleaseVersion() string { return Version + buildRevision(debug.ReadBuildInfo()) }

// BuildInfo returns ReleaseVersion with the Go version and the platform, on one line.
func BuildInfo() string {
	return fmt.Sprintf("%s %s %s/%s", ReleaseVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// buildRevision returns the commit of the build as a text to append to the version, or "" if the
// build does not know the commit.
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
