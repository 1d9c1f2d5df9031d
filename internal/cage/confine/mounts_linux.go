package confine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// errNoMounts means that the system does not allow this process to make mounts.
var errNoMounts = errors.New("this system lets no user arrange mounts")

// arrangeFolders makes the whole disk read-only except the folders that may be written, covers the
// hidden places, and gives the server its own folder for temporary files. If mounts are not
// possible, Landlock alone protects the files. Landlock cannot shut a place inside an open folder,
// so such a place is then an error.
func arrangeFolders(h *helper) error {
	if h.spec.Layered {
		h.mounts = true
		h.hold("folders: every write goes into layers that are thrown away")
		return nil
	}
	err := errNoMounts
	if h.spec.Own {
		err = h.mountFolders()
	}
	if errors.Is(err, errNoMounts) {
		if shut := append(slices.Clone(h.spec.Hide), h.spec.Fixed...); len(shut) > 0 {
			return fmt.Errorf("%w, so %s cannot be kept shut inside a folder that is open", err, shut[0])
		}
		h.hold("folders: no temporary folder, no changes of modes and owners")
		return nil
	}
	if err != nil {
		return err
	}
	h.mounts, h.variable = true, append(h.variable, "TMPDIR="+TempFolder)
	h.hold("folders: read-only but %d, %d places inside of open ones shut, a temporary folder of its own", len(h.spec.Write), len(h.spec.Hide)+len(h.spec.Fixed))
	return nil
}

func (h *helper) mountFolders() error {
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return errNoMounts
	}
	m := &mounter{}
	for _, path := range byDepth(h.spec.Write) {
		m.take(path, unix.AT_RECURSIVE, 0, path)
	}
	m.do("make the disk read-only", unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}))
	m.put()
	for _, path := range h.foldersBetween() {
		m.take(path, unix.AT_RECURSIVE, 0, path)
		m.put()
	}
	for _, path := range byDepth(h.spec.Fixed) {
		m.take(path, unix.AT_RECURSIVE, unix.MOUNT_ATTR_RDONLY, path)
		m.put()
	}
	if len(h.spec.Hide) > 0 {
		m.hideAll(byDepth(h.spec.Hide), h.spec.Back)
	}
	m.coverHosts(h.spec.Doors)
	m.do("make a temporary folder", unix.Mount("tmpfs", TempFolder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0700,size=64m"))
	m.do("return to the folder", os.Chdir(folder)) // the folder may lie in a new mount
	return m.err
}

// foldersBetween returns the folders between a place that may be written and the shut places in it.
// These folders become mounts, because a mount cannot be renamed. Otherwise a server could rename
// the folder of a shut place, and put another folder into its place.
func (h *helper) foldersBetween() []string {
	between := map[string]bool{}
	for _, shut := range slices.Concat(h.spec.Hide, h.spec.Fixed) {
		for _, open := range h.spec.Write {
			for at := filepath.Dir(shut); strings.HasPrefix(at, open+"/"); at = filepath.Dir(at) {
				between[at] = true
			}
		}
	}
	return byDepth(slices.Collect(maps.Keys(between)))
}

// byDepth sorts paths so that a folder comes before the paths in it.
func byDepth(paths []string) []string {
	return slices.SortedStableFunc(slices.Values(paths), func(a, b string) int { return cmp.Compare(len(a), len(b)) })
}

// mounter makes mounts, and does nothing more after the first error.
type mounter struct {
	err   error
	taken []takenMount
}

// takenMount is a mount that is not attached to its place yet.
type takenMount struct {
	fd    int
	place string
}

func (m *mounter) do(what string, err error) {
	if m.err == nil && err != nil {
		m.err = fmt.Errorf("cannot %s: %w", what, err)
	}
}

// take makes a detached mount of a file or folder. put attaches it.
func (m *mounter) take(from string, flags uint, attributes uint64, place string) {
	if m.err != nil {
		return
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, from, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_NO_AUTOMOUNT|unix.AT_SYMLINK_NOFOLLOW|flags)
	if m.do("mount "+from, err); err != nil {
		return
	}
	if attributes != 0 {
		m.do("close "+place, unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|flags, &unix.MountAttr{Attr_set: attributes}))
	}
	m.taken = append(m.taken, takenMount{fd, place})
}

// put attaches the taken mounts to their places.
func (m *mounter) put() {
	for _, t := range m.taken {
		if m.err == nil {
			m.do("mount "+t.place, unix.MoveMount(t.fd, "", unix.AT_FDCWD, t.place, unix.MOVE_MOUNT_F_EMPTY_PATH))
		}
		_ = unix.Close(t.fd)
	}
	m.taken = nil
}

// hideAll mounts an empty folder over each folder of paths, and an empty file over each file. The
// folders in the list back stay visible: hideAll makes a detached mount of such a folder before it
// covers the path around the folder. The cover contains only the parent folders of these folders,
// and hideAll attaches the detached mounts there.
func (m *mounter) hideAll(paths, back []string) {
	const shut = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC
	folder, file := filepath.Join(TempFolder, "folder"), filepath.Join(TempFolder, "file")
	m.do("make what hides", unix.Mount("tmpfs", TempFolder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0700,size=64k"))
	if m.err == nil {
		m.do("make what hides", os.Mkdir(folder, 0o500))
		m.do("make what hides", os.WriteFile(file, nil, 0o400))
	}
	for i, path := range paths {
		info, err := os.Lstat(path)
		if m.do("hide "+path, err); err != nil {
			return
		}
		from := file
		if info.IsDir() {
			from = folder
		}
		inside := &mounter{}
		for _, place := range back {
			way, found := strings.CutPrefix(place, path+"/")
			if !found {
				continue
			}
			inside.take(place, unix.AT_RECURSIVE, unix.MOUNT_ATTR_RDONLY, place)
			from = filepath.Join(TempFolder, "way", strconv.Itoa(i))
			m.do("make the way to "+place, os.MkdirAll(filepath.Join(from, way), 0o700))
		}
		m.take(from, 0, shut, path)
		m.put()
		inside.put()
		m.do("show what is open in "+path, inside.err)
	}
	if m.err == nil {
		m.do("make what hides", unix.Unmount(TempFolder, unix.MNT_DETACH))
	}
}
