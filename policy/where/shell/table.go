package shell

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

//go:embed options.txt
var optionsText string

// row is the entry of a program, or of one of its subcommands, in the table.
type row struct {
	options *options
	// runs are the subcommands whose words are a command that they run. opaque are the subcommands
	// that run something which is not in their words. launches are the subcommands whose first
	// operand names the program that they run.
	runs, opaque, launches string
	operands               string // a key of operandKinds; "" if operands may be of any kind
	// Reports whether an operand is harmless; nil if all operands are harmless.
	harmless func(operand string) bool
	subs     map[string]*row // the subcommands that have their own rows
	// Every option is harmless, and so is every word that may become an option.
	all bool
	// A word such as -run is one option, as in Go's flags, and not a bundle.
	single bool
	mixed  bool // options may also follow after "--"
	script bool // the words after "--" go to another program
	// The subcommand does more than show something, so a pattern must name it.
	named bool
	// For a subcommand without a row, a wildcard does not match its words.
	closed    bool
	any       bool // whatever its words are, the program does only what its name says, like echo
	signed    bool // a value may be a signed number
	tasks     bool // the program launches tasks of the project and not programs
	published bool // the options are from a manual; no test has run the program
	tests     bool // the words select tests of a script whose content is not known
	// The program launches another program, and reads that program's options as its own, up to
	// "--".
	greedy bool
}

// value tells whether an option takes a value, and in which word.
type value byte

const (
	none     value = iota
	attached       // in the same word, or no value: -U5, --color=always
	rest           // all of the rest of the same word
	required       // in the same word or in the next word
)

// findRows returns the offsets in the table at which the rows of a program and of its
// subcommands begin. Searching for one name is faster than reading all names.
func findRows(program string) (begins []int) {
	if program == "" || strings.ContainsAny(program, " ,=\n") {
		return nil // a text with such characters is not the name of a program
	}
	for _, before := range []string{"\n", ", "} {
		word := before + program
		for at := 0; ; {
			i := strings.Index(optionsText[at:], word)
			if i < 0 {
				break
			}
			name := at + i + len(before)
			at = name
			begin := strings.LastIndexByte(optionsText[:name], '\n') + 1
			if names, isHeading := headingAt(begin); isHeading && name < begin+len(names) && strings.IndexByte(" ,\n", optionsText[name+len(program)]) >= 0 {
				begins = append(begins, begin)
			}
		}
	}
	slices.Sort(begins)
	return slices.Compact(begins)
}

// headingAt returns the names in the line that begins at an offset, and whether this
// line begins a row.
func headingAt(begin int) (names string, isHeading bool) {
	line, _, _ := strings.Cut(optionsText[begin:], "\n")
	names, _, _ = strings.Cut(line, " = ")
	return names, line != "" && line[0] != '#' && line[0] != '\t'
}

// programRows caches the rows of the programs that were looked up. For one command, only the rows
// of its programs are read, and not the whole table.
var (
	programRows sync.Map // *row by name; nil for a name without a row
	missingRows atomic.Int32
)

// maxMissing is the largest number of names without a row in the cache. A command asks for its
// names many times, so the cache saves work. The number is limited because the author of a call
// chooses the names.
const maxMissing = 1024

// programRow returns the row of a program, with the rows of its subcommands; nil when
// there is none.
func programRow(program string) *row {
	if r, ok := programRows.Load(program); ok {
		return r.(*row)
	}
	at := findRows(program)
	// A copy, because the memory of program belongs to the text of a call and may be reused.
	program = strings.Clone(program)
	if len(at) == 0 {
		if missingRows.Add(1) <= maxMissing && len(program) <= 64 {
			programRows.Store(program, (*row)(nil))
		}
		return nil
	}
	r, _ := programRows.LoadOrStore(program, readRows(program, at)[program])
	return r.(*row)
}

// readRows reads the rows of a program that begin at these offsets.
func readRows(program string, begins []int) map[string]*row {
	table := map[string]*row{}
	for _, at := range begins {
		r := &row{options: &options{}}
		head, body, _ := strings.Cut(optionsText[at:], "\n")
		names, _, _ := strings.Cut(head, " = ")
		for name := range strings.SplitSeq(names, ", ") {
			if first, _, _ := strings.Cut(name, " "); first == program {
				table[name] = r
			}
		}
		for line := range strings.Lines(body) {
			line = strings.TrimSuffix(line, "\n")
			if line == "" || line[0] == '#' {
				continue
			}
			if line[0] != '\t' {
				break
			}
			key, words, _ := strings.Cut(line[1:], " ")
			r.setField(key, words)
		}
	}
	for name := range table {
		if strings.Contains(name, " ") {
			attachSubcommand(table, name)
		}
	}
	return table
}

// options holds the options of one row. They are parsed on first use, because most
// commands need only the options of one subcommand.
type options struct {
	lines []string
	once  sync.Once
	names map[string]value
}

// byName returns the options by name. It returns nil if o is nil: a row that is not in the table
// has no options.
func (o *options) byName() map[string]value {
	if o == nil {
		return nil
	}
	o.once.Do(func() {
		o.names = map[string]value{}
		for _, line := range o.lines {
			for word := range strings.FieldsSeq(line) {
				switch name := word[:len(word)-1]; word[len(word)-1] {
				case '=':
					o.names[name] = required
				case '*':
					o.names[name] = rest
				case '?':
					o.names[name] = attached
				default:
					o.names[word] = none
				}
			}
		}
	})
	return o.names
}

// attachSubcommand adds the row of a subcommand to the row of its program.
func attachSubcommand(table map[string]*row, name string) {
	i := strings.LastIndexByte(name, ' ')
	parent := table[name[:i]]
	if parent == nil {
		return // no panic here, because a test reports a subcommand whose program has no row
	}
	if parent.subs == nil {
		alone := *parent // a copy, because other names share the row
		alone.subs = map[string]*row{}
		parent = &alone
		table[name[:i]] = parent
		if strings.Contains(name[:i], " ") {
			attachSubcommand(table, name[:i])
		}
	}
	parent.subs[name[i+1:]] = table[name]
}

func (r *row) setField(key, words string) {
	switch key {
	case "options", "also", "manual":
		r.options.lines = append(r.options.lines, words)
	case "operands":
		r.operands, r.harmless = words, operandKinds[words]
	case "runs":
		r.runs = words
	case "opaque":
		r.opaque = words
	case "published":
		r.published = true
	case "launches":
		r.launches = words
	case "marks":
		r.all, r.single = listedIn(words, "all"), listedIn(words, "single")
		r.mixed, r.script = listedIn(words, "mixed"), listedIn(words, "script")
		r.named, r.closed, r.any = listedIn(words, "named"), listedIn(words, "closed"), listedIn(words, "any")
		r.signed, r.tasks, r.greedy = listedIn(words, "signed"), listedIn(words, "tasks"), listedIn(words, "greedy")
		r.tests = listedIn(words, "tests")
	}
}

// operandKinds maps a kind of operand to a function that reports whether an operand is harmless, so
// that a wildcard may match it. An operand that is not harmless makes a program do something that
// the program's name does not show.
var operandKinds = map[string]func(text string) bool{
	"none":       func(string) bool { return false },
	"one":        func(string) bool { return true }, // a second operand would be a file to write
	"format":     func(text string) bool { return strings.HasPrefix(text, "+") },
	"files":      func(text string) bool { return !strings.HasPrefix(text, "@") }, // @x reads more options from x
	"package":    isRegistryPackage,
	"remote":     isSafeRemote,
	"refspec":    isSafePush,
	"repository": isGitHubRepo,
	"into":       isSafeFetch,
	// Refuse a version, example.com/x@latest, because the program asks the network for it.
	"local": func(text string) bool { return !strings.Contains(text, "@") },
	"page":  func(text string) bool { return !strings.Contains(text, "/") },
	"show":  func(text string) bool { return listedIn("show list ls", text) },
	"log":   func(text string) bool { return !listedIn("expire delete drop write", text) },
	"audit": func(text string) bool { return !listedIn("fix signatures", text) },
	// Refuse a slash, which begins an option of MSBuild, and @x, which reads more options from x.
	"project": func(text string) bool {
		return !strings.HasPrefix(text, "@") && !(strings.HasPrefix(text, "/") && strings.ContainsAny(text, "=:"))
	},
	"filter": func(text string) bool { return !mayPrintEnv(text) },
	"process": func(text string) bool {
		return len(text) > 8 || !strings.Contains(text, "e") || strings.Trim(text, processLetters) != ""
	},
	// Refuse proxies, because their addresses may contain passwords. Refuse GOAUTH, because its
	// value may contain commands.
	"setting": func(text string) bool {
		return !listedIn("GOPROXY GOAUTH GONOSUMDB", text) && !strings.Contains(text, "=")
	},
	"goals": func(text string) bool { return !strings.Contains(text, "=") },
}

const (
	lowercase = "abcdefghijklmnopqrstuvwxyz"
	letters   = lowercase + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	// processLetters are the options of ps that need no dash. The option e prints the environment.
	processLetters = "acefghjklmnrsuvwxACDHLMNSTXZ"
)

// mayPrintEnv reports whether a text, read as a filter of jq, may print the environment: by env, by
// $ENV, or by a module, which this package does not read. The name of a file is not such a filter.
func mayPrintEnv(text string) bool {
	if strings.HasSuffix(text, ".json") && strings.Trim(text, letters+"0123456789_/.-") == "" &&
		!strings.Contains(text, "-.") && !strings.Contains(text, "/.") {
		return false
	}
	for i := 0; i < len(text); {
		if !isLetter(text[i]) {
			i++
			continue
		}
		end := i
		for end < len(text) && (isLetter(text[end]) || text[end] >= '0' && text[end] <= '9') {
			end++
		}
		switch text[i:end] {
		case "env":
			if i == 0 || text[i-1] != '.' && !(text[i-1] == '"' && end < len(text) && text[end] == '"') {
				return true
			}
		case "ENV", "import", "include":
			if i == 0 || text[i-1] != '.' {
				return true
			}
		}
		i = end
	}
	return false
}

// isGitHubRepo reports whether a word of gh names a repository on GitHub or no repository. gh may
// send a token to another host: evil.example/a/b, --repo=evil.example/a/b, a whole address.
func isGitHubRepo(text string) bool {
	if strings.HasPrefix(text, "-") {
		_, text, _ = strings.Cut(text, "=")
	}
	_, address, schemed := strings.Cut(text, "://")
	if !schemed {
		address = text
	}
	host, path, _ := strings.Cut(address, "/")
	_, behind, signed := strings.Cut(host, "@")
	if signed {
		host = behind
	}
	host, _, ported := strings.Cut(host, ":")
	elsewhere := schemed || signed && ported ||
		strings.Contains(path, "/") && (ported || strings.Contains(host, ".") || strings.Trim(host, "0123456789") == "")
	return !elsewhere || strings.EqualFold(host, "github.com")
}

// isRegistryPackage reports whether a text names a package of the registry. An address or a folder
// is not a package of the registry: npm would fetch and read it with other programs.
func isRegistryPackage(text string) bool {
	name, scoped := strings.CutPrefix(text, "@")
	if scoped {
		_, name, scoped = strings.Cut(name, "/")
		if !scoped {
			return false
		}
	}
	return !strings.ContainsAny(name, "/:\\") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "~")
}
