package shell

import "slices"

// Code reads the words of some programs. The names of these programs are in lists: handing and
// opaque hold only names; wordReaders, wrappers and launchers hold names with readers. All other
// programs are rows of options.txt. A search goes through the lists, because a hook process judges
// only one command, and building maps would cost more than the judgement.

// wordReaders lists the programs with their own function for reading the words.
var wordReaders = []wordReader{
	{"find gfind", readFind}, {"xargs gxargs", readXargs}, {"eval", readEval}, {"env genv", readEnv}, {"command", readQuery},
	{"sed gsed", readSed}, {"awk gawk mawk nawk", readAwk}, {"test [ printf", readComputing}, {"tar gtar bsdtar", readTar},
	{"cd chdir pushd popd", changeFolder},
	{"sh bash dash zsh ash ksh mksh pdksh yash posh rbash rksh lksh hush oksh ksh93 bosh loksh", readShell},
}

type wordReader struct {
	names string
	read  func([]word) effect
}

// isOpaque reports whether a program runs something that this package cannot read (hidden), and
// whether even a deny or prompt rule cannot read it (handed).
func isOpaque(name string) (hidden, handed bool) {
	handed = listedIn(handing, name)
	return handed || listedIn(opaque, name), handed
}

// findWordReader returns the reader of a program's words; nil when there is none.
func findWordReader(name string) func([]word) effect {
	if i := slices.IndexFunc(wordReaders, func(r wordReader) bool { return listedIn(r.names, name) }); i >= 0 {
		return wordReaders[i].read
	}
	return nil
}

// findWrapper returns the wrapper of a name; nil when there is none.
func findWrapper(name string) *wrapper {
	if i := slices.IndexFunc(wrappers, func(w wrapper) bool { return w.name == name }); i >= 0 {
		return &wrappers[i]
	}
	return nil
}

// findLauncher returns the launcher of a name; nil when there is none.
func findLauncher(name string) *launcher {
	if i := slices.IndexFunc(launchers, func(l launcher) bool { return listedIn(l.names, name) }); i >= 0 {
		return &launchers[i]
	}
	return nil
}
