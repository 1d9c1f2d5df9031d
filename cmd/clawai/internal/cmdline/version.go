package cmdline

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is set by the release build.
var Version = "dev"

// ReleaseVersion gives the version and, where the build knows it, the commit.
func ReleaseVersion() string { return Version + buildRevision(debug.ReadBuildInfo()) }

// BuildInfo gives Release with what it was built by and for, on one line.
func BuildInfo() string {
	return fmt.Sprintf("%s %s %s/%s", ReleaseVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// buildRevision gives the commit a binary was built from, where the build knows.
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
