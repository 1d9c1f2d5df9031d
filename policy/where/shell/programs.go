package shell

import (
	"strings"
	"sync"
)

// tables holds the programs whose words are read by code. All other programs are rows
// of options.txt.
type tables struct {
	opaque    map[string]bool // by name; true when a rule that denies cannot read what the words run
	readers   map[string]func([]word) effect
	wrappers  map[string]wrapper
	launchers map[string]launcher
}

// programs builds the tables when the first command is judged.
var programs = sync.OnceValue(func() *tables {
	t := &tables{opaque: map[string]bool{}, readers: map[string]func([]word) effect{}, launchers: map[string]launcher{}, wrappers: wrapperTable()}
	add := func(names string, put func(name string)) {
		for name := range strings.FieldsSeq(names) {
			put(name)
		}
	}
	add(opaque, func(name string) { t.opaque[name] = false })
	add(handing, func(name string) { t.opaque[name] = true })
	for _, l := range launchers {
		add(l.names, func(name string) { t.launchers[name] = l })
	}
	for _, r := range []struct {
		names string
		read  func([]word) effect
	}{
		{"find gfind", readFind}, {"xargs gxargs", readXargs}, {"eval", readEval}, {"env genv", readEnv}, {"command", readQuery},
		{"sed gsed", readSed}, {"awk gawk mawk nawk", readAwk}, {"test [ printf", readComputing}, {"tar gtar bsdtar", readTar},
		{"cd chdir pushd popd", changeFolder},
		{"sh bash dash zsh ash ksh mksh pdksh yash posh rbash rksh lksh hush oksh ksh93 bosh loksh", readShell},
	} {
		add(r.names, func(name string) { t.readers[name] = r.read })
	}
	return t
})
