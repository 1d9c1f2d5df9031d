package layer

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/clawai/clawai/internal/cage/confine"
)

// layer is the layer over one folder. Everything that the command writes in the folder goes into
// the layer. lower and upper are paths through open descriptors. The command cannot find the layer
// by a path, and the layer covers the real folder.
type layer struct {
	folder string
	lower  string // the real folder
	upper  string // the folder that takes the writes
	mount  int    // descriptor of the overlay of both folders, until it is attached
	// hidden are the secret places in the folder, as paths relative to it. Before the command
	// starts, the layer gets an empty file or folder in each of these places.
	hidden map[string]bool
}

// opaqueMark is an attribute. A folder in a layer with this attribute replaces the real folder
// under it. overlayfs uses this name if a user without capabilities has mounted the layer.
const opaqueMark = "user.overlay.opaque"

// devices are the devices that programs find in /dev.
var devices = []string{"null", "zero", "full", "random", "urandom"}

// shutFolders hold sockets and keys of the user and of services. Empty folders cover them.
var shutFolders = []string{"/run/user", "/run/secrets", "/run/credentials", "/sys/kernel/security", "/sys/kernel/debug", "/sys/kernel/tracing", "/sys/fs/bpf"}

// onlyRead are the attributes of all mounts except the layers.
const onlyRead = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID

// arrangeDisk makes the whole disk read-only, with layers over the folders that may be written.
func (r *runner) arrangeDisk() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("this system lets no user arrange mounts: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("cannot mount /proc of the preview: %w", err)
	}
	for _, folder := range byLength(r.spec.Folders) {
		if err := r.openLayer(folder); err != nil {
			return err
		}
	}
	if err := r.mountLayers(); err != nil {
		return err
	}
	if l, _ := r.layerOf(r.spec.Dir); l == nil {
		return fmt.Errorf("no layer can be put over %s (%w): something is mounted in it, or this kernel has no overlays for users (Linux before 6.6)", r.spec.Dir, r.fault)
	}
	dev, err := openDevices()
	if err != nil {
		return err
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: onlyRead}); err != nil {
		return fmt.Errorf("cannot make the disk read-only: %w", err)
	}
	if err := placeMount(dev, "/dev"); err != nil {
		return err
	}
	for _, l := range r.layers {
		if err := placeMount(l.mount, l.folder); err != nil {
			return err
		}
	}
	for _, c := range r.covers {
		if err := placeMount(c.mount, c.place); err != nil {
			return err
		}
	}
	return os.Chdir(r.spec.Dir)
}

// byLength sorts paths so that a folder comes before the paths in it.
func byLength(paths []string) []string {
	return slices.SortedStableFunc(slices.Values(paths), func(a, b string) int { return cmp.Compare(len(a), len(b)) })
}

// layerOf returns the layer over a path, and the path relative to the layer's folder. The layer is
// nil if no layer lies over the path.
func (r *runner) layerOf(path string) (*layer, string) {
	for _, l := range r.layers {
		if path == l.folder {
			return l, "."
		}
		if rest, found := strings.CutPrefix(path, l.folder+"/"); found {
			return l, rest
		}
	}
	return nil, ""
}

// openLayer opens the folder of a layer, before anything is mounted over it. It also opens a folder
// inside another layer's folder, because the outer folder may get no layer.
func (r *runner) openLayer(folder string) error {
	fd, err := unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil && folder == r.spec.Dir {
		return fmt.Errorf("cannot open %s: %w", folder, err)
	}
	if err != nil {
		r.closed = append(r.closed, folder)
		return nil
	}
	r.layers = append(r.layers, &layer{folder: folder, lower: descriptorPath(fd), hidden: map[string]bool{}})
	return nil
}

func descriptorPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// mountLayers makes the layers in memory. The kernel refuses a layer over a folder in which another
// file system is mounted; such a folder is added to closed.
func (r *runner) mountLayers() error {
	options := fmt.Sprintf("mode=0755,size=%d,nr_inodes=100k", r.spec.Bytes)
	if err := unix.Mount("tmpfs", confine.TempFolder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("cannot make the layers: %w", err)
	}
	fd, err := unix.Open(confine.TempFolder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	stage := descriptorPath(fd)
	wanted := r.layers
	r.layers = nil
	for i, l := range wanted {
		if outer, _ := r.layerOf(l.folder); outer != nil {
			continue
		}
		l.upper = filepath.Join(stage, strconv.Itoa(i), "upper")
		if err := r.mountLayer(l); err != nil {
			r.closed, r.fault = append(r.closed, l.folder), cmp.Or(r.fault, err)
			continue
		}
		r.layers = append(r.layers, l)
	}
	if err := r.makeCovers(stage); err != nil {
		return err
	}
	return unix.Unmount(confine.TempFolder, unix.MNT_DETACH) // from now on only the descriptor leads to the layers
}

func (r *runner) mountLayer(l *layer) error {
	work := filepath.Join(filepath.Dir(l.upper), "work")
	info, err := os.Stat(l.lower)
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(l.upper, 0o755), os.MkdirAll(work, 0o700), copyOwner(l.upper, info)); err != nil {
		return err
	}
	for _, place := range r.spec.Empty {
		if rest, found := strings.CutPrefix(place, l.folder+"/"); found {
			if err := l.hide(rest); err != nil {
				return err
			}
		}
	}
	// An interrupted step leaves the mount incompletely configured, so all steps are repeated.
	return repeatInterrupted(func() error { return l.mountOverlay(work) })
}

// mountOverlay mounts the upper folder over the lower one.
func (l *layer) mountOverlay(work string) error {
	fs, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fs) }()
	for _, o := range [][2]string{{"source", "preview"}, {"lowerdir", l.lower}, {"upperdir", l.upper}, {"workdir", work},
		{"index", "off"}, {"metacopy", "off"}, {"redirect_dir", "nofollow"}, {"userxattr", ""}} {
		if o[1] == "" {
			err = unix.FsconfigSetFlag(fs, o[0])
		} else {
			err = unix.FsconfigSetString(fs, o[0], o[1])
		}
		if err != nil {
			return err
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return err
	}
	// Test that the layer can store attributes. Without attributes overlayfs cannot mark deleted
	// files.
	if err := unix.Setxattr(l.upper, "user.clawai", []byte("x"), 0); err != nil {
		return err
	}
	_ = unix.Removexattr(l.upper, "user.clawai")
	l.mount, err = unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	return err
}

// repeatInterrupted repeats a call until no signal interrupts it, because Go's scheduler sends
// signals to its own threads.
func repeatInterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// hide puts an empty file or folder into the layer in place of a secret. rest is the path relative
// to the layer's folder. The command may write or delete the empty file or folder.
func (l *layer) hide(rest string) error {
	at := ""
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		at = filepath.Join(at, part)
		real, err := os.Lstat(filepath.Join(l.lower, at))
		if err != nil {
			return nil //nolint:nilerr // it was deleted meanwhile
		}
		path := filepath.Join(l.upper, at)
		switch _, err := os.Lstat(path); {
		case err == nil:
			if l.hidden[at] {
				return nil // a parent folder is hidden already
			}
			continue
		case real.IsDir():
			err = os.Mkdir(path, 0o700)
			if last := i == len(parts)-1; last && err == nil {
				err = unix.Setxattr(path, opaqueMark, []byte("y"), 0)
				l.hidden[at] = true
			}
			if err != nil {
				return err
			}
		default:
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			l.hidden[at] = true
		}
		if err := copyOwner(path, real); err != nil {
			return err
		}
	}
	return nil
}

// copyOwner gives a file in a layer the mode and the owner of the real one. It skips an owner that
// the namespace does not know.
func copyOwner(path string, real os.FileInfo) error {
	stat := real.Sys().(*syscall.Stat_t)
	_ = os.Lchown(path, int(stat.Uid), int(stat.Gid))
	return unix.Chmod(path, stat.Mode&0o7777)
}

// openDevices makes a /dev that holds only devices, links and a temporary folder that programs need.
func openDevices() (fd int, err error) {
	mounts := map[string]int{}
	for _, name := range devices {
		if mounts[name], err = unix.OpenTree(unix.AT_FDCWD, "/dev/"+name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC); err != nil {
			return 0, fmt.Errorf("cannot take /dev/%s: %w", name, err)
		}
		// The mount is read-only, so that root cannot change the mode; writing to the device still works.
		if err := unix.MountSetattr(mounts[name], "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: onlyRead | unix.MOUNT_ATTR_NOEXEC}); err != nil {
			return 0, err
		}
	}
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=64k"); err != nil {
		return 0, fmt.Errorf("cannot make /dev: %w", err)
	}
	for name, mount := range mounts {
		if err := os.WriteFile("/dev/"+name, nil, 0o600); err != nil {
			return 0, err
		}
		if err := placeMount(mount, "/dev/"+name); err != nil {
			return 0, err
		}
	}
	err = os.Mkdir(confine.TempFolder, 0o700)
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		err = errors.Join(err, os.Symlink(to, "/dev/"+name))
	}
	if err != nil {
		return 0, err
	}
	fd, err = unix.OpenTree(unix.AT_FDCWD, "/dev", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err == nil {
		err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	}
	return fd, errors.Join(err, unix.Unmount("/dev", unix.MNT_DETACH))
}

// placeMount attaches a mount at a path.
func placeMount(fd int, place string) error {
	err := unix.MoveMount(fd, "", unix.AT_FDCWD, place, unix.MOVE_MOUNT_F_EMPTY_PATH)
	_ = unix.Close(fd)
	if err != nil {
		return fmt.Errorf("cannot mount %s: %w", place, err)
	}
	return nil
}

// cover is a mount that hides a place outside all layers.
type cover struct {
	mount int
	place string
}

// nameServer is the content of /etc/resolv.conf for the command.
const nameServer = "nameserver 127.0.0.1\n"

// makeCovers makes empty files and folders for the secret places outside all layers, and a
// resolv.conf that names the preview's name server. stage is a folder in memory.
func (r *runner) makeCovers(stage string) error {
	folder, file, names := filepath.Join(stage, "folder"), filepath.Join(stage, "file"), filepath.Join(stage, "resolv.conf")
	if err := errors.Join(os.Mkdir(folder, 0o500), os.WriteFile(file, nil, 0o400), os.WriteFile(names, []byte(nameServer), 0o444), os.Chmod(names, 0o444)); err != nil { //nolint:gosec // programs of other users must read resolv.conf too
		return err
	}
	add := func(from, place string) error {
		mount, err := unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err != nil {
			return fmt.Errorf("cannot hide %s: %w", place, err)
		}
		r.covers = append(r.covers, cover{mount, place})
		return unix.MountSetattr(mount, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: onlyRead | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC})
	}
	if real, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
		if err := add(names, real); err != nil {
			return err
		}
	}
	for _, place := range slices.Concat(shutFolders, r.spec.Empty) {
		info, err := os.Lstat(place)
		if l, _ := r.layerOf(place); l != nil || err != nil {
			continue // the place is hidden in its layer, or does not exist
		}
		from := file
		if info.IsDir() {
			from = folder
		}
		if err := add(from, place); err != nil {
			return err
		}
	}
	return nil
}
