package shell

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed options.txt
var optionsText string

// row is what the table knows of a program, or of one of its subcommands.
type row struct {
	options *options
	// runs are the subcommands whose words are a program's; opaque are others that
	// run what is not in their words; launches those that run the program named by
	// their first operand.
	runs, opaque, launches string
	operands               string                    // a kind of operandKinds; "" for any
	harmless               func(operand string) bool // of that kind; nil for any
	subs                   map[string]*row           // its subcommands that have rows of their own
	all                    bool                      // every option is harmless: a word that may become one is too
	single                 bool                      // -run is one option, as Go's flags are, and not a bundle
	mixed                  bool                      // "--" ends no options
	script                 bool                      // what follows "--" goes to another program
	named                  bool                      // it does more than look: a pattern has to name the subcommand
	closed                 bool                      // no wildcard stands for words of a subcommand without a row
	any                    bool                      // no word of it does more than its name says
	signed                 bool                      // a value may be a number with a sign
	tasks                  bool                      // it launches what the project names, and no program
	published              bool                      // its options were read in a manual, and never tried
	tests                  bool                      // its words choose tests of a script that is not known
	greedy                 bool                      // it takes options behind the program that it launches, up to "--"
}

// value says whether an option has one.
type value byte

const (
	none     value = iota
	attached       // -U5, --color=always, or none
	rest           // what follows in the same word, whatever it is
	required       // in the same word or the next
)

// findRows finds where the rows of a program begin in the table: its own, and those of its
// subcommands. To look for one takes less than to read the names of all.
func findRows(program string) (begins []int) {
	if program == "" || strings.ContainsAny(program, " ,=\n") {
		return nil // no name of a program
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

// headingAt gives the names of the line that begins there, where that begins a row.
func headingAt(begin int) (names string, isHeading bool) {
	line, _, _ := strings.Cut(optionsText[begin:], "\n")
	names, _, _ = strings.Cut(line, " = ")
	return names, line != "" && line[0] != '#' && line[0] != '\t'
}

// programRows are the programs whose rows were asked for: who judges one command pays for the rows
// of its programs, not for the whole table.
var programRows sync.Map // of *row, by name

// programRow gives the row of a program, with those of its subcommands; nil when there is none.
func programRow(program string) *row {
	if r, ok := programRows.Load(program); ok {
		return r.(*row)
	}
	at := findRows(program)
	if len(at) == 0 {
		return nil
	}
	r, _ := programRows.LoadOrStore(program, readRows(program, at)[program])
	return r.(*row)
}

// readRows reads the rows of a program that begin at these places.
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

// options are those of one row, which are taken apart when one is asked for: most commands
// ask for those of one subcommand of many.
type options struct {
	lines []string
	once  sync.Once
	names map[string]value
}

// byName gives the options by name; of none, as of a row that is not in the table, there are none.
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

// attachSubcommand hangs the row of a subcommand below that of its program.
func attachSubcommand(table map[string]*row, name string) {
	i := strings.LastIndexByte(name, ' ')
	parent := table[name[:i]]
	if parent == nil {
		return // a test finds it
	}
	if parent.subs == nil {
		alone := *parent // the row is that of other names too
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

// operandKinds are the operands of which some make a program do more than its
// name says: a wildcard stands for those that do not.
var operandKinds = map[string]func(text string) bool{
	"none":       func(string) bool { return false },
	"one":        func(string) bool { return true }, // and a second is a file it writes
	"format":     func(text string) bool { return strings.HasPrefix(text, "+") },
	"files":      func(text string) bool { return !strings.HasPrefix(text, "@") }, // @x holds more options
	"package":    isRegistryPackage,
	"remote":     isSafeRemote,
	"refspec":    isSafePush,
	"repository": isGitHubRepo,
	"into":       isSafeFetch,
	// A version is asked of the network: example.com/x@latest.
	"local": func(text string) bool { return !strings.Contains(text, "@") },
	"page":  func(text string) bool { return !strings.Contains(text, "/") },
	"show":  func(text string) bool { return listedIn("show list ls", text) },
	"log":   func(text string) bool { return !listedIn("expire delete drop write", text) },
	"audit": func(text string) bool { return !listedIn("fix signatures", text) },
	// MSBuild's options begin with a slash, too, and @x holds more of them.
	"project": func(text string) bool {
		return !strings.HasPrefix(text, "@") && !(strings.HasPrefix(text, "/") && strings.ContainsAny(text, "=:"))
	},
	"filter": func(text string) bool { return !mayPrintEnv(text) },
	"process": func(text string) bool {
		return len(text) > 8 || !strings.Contains(text, "e") || strings.Trim(text, processLetters) != ""
	},
	// Addresses of proxies hold passwords, and the value of GOAUTH commands.
	"setting": func(text string) bool {
		return !listedIn("GOPROXY GOAUTH GONOSUMDB", text) && !strings.Contains(text, "=")
	},
	"goals": func(text string) bool { return !strings.Contains(text, "=") },
}

const (
	lowercase = "abcdefghijklmnopqrstuvwxyz"
	letters   = lowercase + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	// processLetters are options of ps that need no dash; e prints the environment.
	processLetters = "acefghjklmnrsuvwxACDHLMNSTXZ"
)

// mayPrintEnv reports whether a text, as a filter of jq, may print the environment: by
// env, by $ENV, or by a module that is not read. The name of a file is no such filter.
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

// isGitHubRepo reports whether a word of gh names no repository on another host than GitHub's,
// to which gh may send a token: evil.example/a/b, --repo=evil.example/a/b, a whole address.
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

// isRegistryPackage reports whether a text names a package of the registry, and not an
// address or a folder, which npm would fetch and read with other programs.
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
