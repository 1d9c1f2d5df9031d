package accesstest

import "golang.org/x/sys/windows"

// Share lets all users read and write a file or folder.
func Share(path string) error {
	return Grant(path, windows.WinWorldSid, windows.FILE_GENERIC_READ|windows.FILE_GENERIC_WRITE)
}

// Grant replaces the access list of path. The new list gives this user full access. It gives the
// given rights to the user or group `who`.
func Grant(path string, who windows.WELL_KNOWN_SID_TYPE, rights windows.ACCESS_MASK) error {
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	other, err := windows.CreateWellKnownSid(who)
	if err != nil {
		return err
	}
	entry := func(sid *windows.SID, rights windows.ACCESS_MASK) windows.EXPLICIT_ACCESS {
		return windows.EXPLICIT_ACCESS{
			AccessPermissions: rights, AccessMode: windows.GRANT_ACCESS,
			Trustee: windows.TRUSTEE{TrusteeForm: windows.TRUSTEE_IS_SID, TrusteeValue: windows.TrusteeValueFromSID(sid)},
		}
	}
	acl, err := windows.ACLFromEntries([]windows.EXPLICIT_ACCESS{entry(me.User.Sid, windows.GENERIC_ALL), entry(other, rights)}, nil)
	if err != nil {
		return err
	}
	const what = windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
	return windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, what, nil, nil, acl, nil)
}
