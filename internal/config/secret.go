package config

import (
	"fmt"
	"os"
	"runtime"
)

// ReadSecret is ReadFile for a file that nobody but its owner may read.
func ReadSecret(path string) ([]byte, error) {
	src, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others; allow only yourself: chmod 600 %s", path, path)
	}
	return src, nil
}

// SignIns is where sign-ins at remote servers are kept, and their lock.
func (f Folders) SignIns() string { return f.State + string(os.PathSeparator) + "oauth" }
