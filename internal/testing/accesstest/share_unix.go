//go:build unix

package accesstest

import "os"

// Share lets all users read and write a file or folder.
func Share(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Chmod(path, info.Mode().Perm()|0o066)
}
