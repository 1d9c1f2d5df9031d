package cmdline

import (
	"os"

	"golang.org/x/sys/unix"
)

// checkFilesystem returns an error if a file is an interface of the kernel, such as a file in
// /proc. Some of these files contain secrets, and others change the system when they are read.
func checkFilesystem(f *os.File) error {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &s); err != nil {
		return err
	}
	switch int64(s.Type) { //nolint:unconvert // Type is an int32 on some systems
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.CGROUP_SUPER_MAGIC,
		unix.CGROUP2_SUPER_MAGIC, unix.BPF_FS_MAGIC, unix.PSTOREFS_MAGIC, unix.EFIVARFS_MAGIC, unix.SELINUX_MAGIC, unix.SMACK_MAGIC,
		unix.AUTOFS_SUPER_MAGIC, unix.BINFMTFS_MAGIC:
		return errNotRegular
	}
	return nil
}
