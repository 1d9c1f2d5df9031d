package access

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Rights of files and folders (winnt.h). The same bit means different rights on a file and on a
// folder.
const (
	writeData   = 0x2  // for a folder: add a file
	appendData  = 0x4  // for a folder: add a folder
	readData    = 0x1  // for a folder: list it
	deleteChild = 0x40 // for a folder: delete its content, regardless of the rights on that content

	replace = windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_ALL // rights to remove the file, or to take every other right
	change  = replace | writeData | appendData | windows.GENERIC_WRITE                       // rights to change the file in any way
	opened  = change | deleteChild | readData | windows.GENERIC_READ                         // rights to open the file for reading or writing
)

// CheckChange returns an error for a file or folder that belongs to another user or that another
// user can change. For a folder, CheckChange looks only at the rights to change or delete what the
// folder contains now. Other users may add files, as in a sticky folder on other systems.
func CheckChange(path string, fi fs.FileInfo) error {
	if fi.IsDir() {
		return checkAccess(path, replace|deleteChild, "change")
	}
	return checkAccess(path, change, "write")
}

// CheckWrite returns an error for a file or folder that belongs to another user, or that another
// user can write or add to.
func CheckWrite(path string) error { return checkAccess(path, change|deleteChild, "write") }

// CheckOpen returns an error for a file or folder that belongs to another user or that another
// user can open, to read or to write.
func CheckOpen(path string, _ fs.FileInfo) error { return checkAccess(path, opened, "open") }

// CheckOwner returns an error for a file or folder that belongs to another user.
func CheckOwner(path string) error {
	_, _, err := readOwner(path, "change")
	return err
}

// readOwner returns the security descriptor of a file, and this user's SID. It returns an error if
// isTrusted does not accept the owner. The text in verb fills the gap in the error "who may ...
// it".
func readOwner(path, verb string) (sd *windows.SECURITY_DESCRIPTOR, me *windows.SID, err error) {
	sd, err = windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is refused: who may %s it cannot be read: %w", path, verb, err)
	}
	if me, err = user(); err != nil {
		return nil, nil, err
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return nil, nil, fmt.Errorf("%s is refused: its owner cannot be read: %w", path, err)
	}
	if !isTrusted(owner, me) {
		return nil, nil, fmt.Errorf("%s is refused: it belongs to another user (%s), who could change it; run: takeown /f \"%s\"", path, accountName(owner), path)
	}
	return sd, me, nil
}

func checkAccess(path string, rights windows.ACCESS_MASK, verb string) error {
	sd, me, err := readOwner(path, verb)
	if err != nil {
		return err
	}
	acl, _, err := sd.DACL()
	if err != nil {
		return fmt.Errorf("%s is refused: it has no access list, so that everybody may %s it; run: icacls \"%s\" /reset", path, verb, path)
	}
	others, err := listOthers(acl, rights, me)
	if err != nil {
		return fmt.Errorf("%s is refused: its access list cannot be read: %w", path, err)
	}
	if len(others) > 0 {
		return fmt.Errorf("%s is refused: others can %s it (%s); run: icacls \"%s\" /inheritance:d /remove \"%s\"",
			path, verb, strings.Join(others, ", "), path, strings.Join(others, `" "`))
	}
	return nil
}

// listOthers returns the accounts to which the access list grants one of the rights.
func listOthers(acl *windows.ACL, rights windows.ACCESS_MASK, me *windows.SID) (names []string, err error) {
	if acl == nil {
		return []string{"Everyone"}, nil
	}
	for i := range uint32(acl.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(acl, i, &ace); err != nil {
			return nil, err
		}
		switch ace.Header.AceType {
		case windows.ACCESS_DENIED_ACE_TYPE, deniedObject, deniedCallback, deniedCallbackObject:
			continue
		case windows.ACCESS_ALLOWED_ACE_TYPE, allowedCallback:
		default:
			return nil, fmt.Errorf("an entry of type %d", ace.Header.AceType)
		}
		sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart))
		if ace.Header.AceFlags&windows.INHERIT_ONLY_ACE == 0 && ace.Mask&rights != 0 && !isTrusted(sid, me) {
			names = append(names, accountName(sid))
		}
	}
	return names, nil
}

// Types of access list entries (winnt.h). An allowedCallback entry has the same layout as an
// allowing entry in x/sys. Entries of the denied types are skipped.
const (
	deniedObject         = 6
	allowedCallback      = 9
	deniedCallback       = 10
	deniedCallbackObject = 12
)

// isTrusted reports whether an account is this user, or an account that can change every file.
func isTrusted(sid, me *windows.SID) bool {
	return sid.Equals(me) ||
		sid.IsWellKnown(windows.WinLocalSystemSid) ||
		sid.IsWellKnown(windows.WinBuiltinAdministratorsSid) ||
		sid.IsWellKnown(windows.WinCreatorOwnerSid) || // the owner, who was already checked
		sid.IsWellKnown(windows.WinCreatorOwnerRightsSid) ||
		sid.String() == trustedInstaller
}

// trustedInstaller is the owner of files that Windows installed (learn.microsoft.com, "Well-known
// SIDs").
const trustedInstaller = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

// user returns the SID of this process's user, which never changes.
var user = sync.OnceValues(func() (*windows.SID, error) {
	u, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("who this is cannot be read: %w", err)
	}
	return u.User.Sid, nil
})

// accountName returns an account name in the form that icacls accepts.
func accountName(sid *windows.SID) string {
	account, domain, _, err := sid.LookupAccount("")
	switch {
	case err != nil || account == "":
		return "*" + sid.String()
	case domain == "":
		return account
	}
	return domain + `\` + account
}
