// Command screens measures clawai's screens, and public sets of rules for
// comparison, on corpora that a person has downloaded: how much of each attack
// corpus they find among ordinary texts, and how many ordinary texts they flag.
//
//	go run ./test/screens --corpus DIR [--rules NAME=FILE]...
//	go run ./test/screens --pages DIR
//
// With --pages it prints what the reply profiles do with the files of a folder.
//
// DIR/attack/NAME and DIR/secret/NAME hold texts that should be found, and
// DIR/benign/NAME texts that should not. Each file is a text. In a .jsonl file
// each line is a text: a JSON string, or an object with "text". Attacks are put
// into ordinary texts; secrets are checked as they are. FILE is TOML as for
// gitleaks ([[rules]] with regex), YAML as for pipelock
// (response_scanning.patterns with regex), or a text file with one regular
// expression per line.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/inspect"
	"github.com/clawai/clawai/internal/text/inspect/injection"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "screens:", err)
		os.Exit(2) //nolint:forbidigo // main may end the process
	}
}

// ruleFiles has the values of --rules. Each has the form NAME=FILE.
type ruleFiles []string

func (r *ruleFiles) String() string { return strings.Join(*r, " ") }

func (r *ruleFiles) Set(s string) error {
	if name, file, ok := strings.Cut(s, "="); !ok || name == "" || file == "" {
		return fmt.Errorf("%q is not NAME=FILE", s)
	}
	*r = append(*r, s)
	return nil
}

func run(args []string, out io.Writer) error {
	var files ruleFiles
	flags := flag.NewFlagSet("screens", flag.ContinueOnError)
	dir := flags.String("corpus", "", "the `folder` of corpora")
	pages := flags.String("pages", "", "a `folder` of pages, for what the profiles make of them")
	flags.Var(&files, "rules", "`NAME=FILE` of rules to measure beside (repeatable)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *pages != "" && *dir == "" && flags.NArg() == 0:
		return reportPages(out, *pages)
	case *dir == "" || flags.NArg() > 0:
		return fmt.Errorf("usage: screens --corpus DIR [--rules NAME=FILE], or screens --pages DIR")
	}
	c, err := read(*dir)
	if err != nil {
		return err
	}
	sets := []detector{
		{"injection at 1 %", nil, injection.Likely},
		{"injection", has(inspect.Injection), 0},
		{"injection:strict", has(inspect.InjectionStrict), 0},
		{"secret", has(inspect.Secret), 0},
	}
	sets[0].level = pooled(c)
	for _, f := range files {
		d, err := rules(f, out)
		if err != nil {
			return err
		}
		sets = append(sets, d)
	}
	report(out, c, sets)
	return nil
}

// detector decides whether a text is flagged.
type detector struct {
	name  string
	flags func(text string) bool // if nil, the detector flags the texts whose level is at least the field level
	level injection.Level
}

func (d *detector) flag(text string) bool {
	if d.flags == nil {
		return injection.TopScore(text) >= d.level
	}
	return d.flags(text)
}

func has(kind inspect.Kind) func(string) bool {
	wanted, err := inspect.ParseKinds([]string{string(kind)})
	if err != nil {
		panic(err)
	}
	return func(text string) bool {
		return slices.ContainsFunc(inspect.SearchText(text, wanted), func(f inspect.Found) bool { return f.Kind == kind })
	}
}

// pooled returns the level that only about one in a hundred of all ordinary texts reaches.
func pooled(c *corpora) injection.Level {
	var tops []injection.Level
	for _, one := range c.benign {
		for _, t := range one.texts {
			tops = append(tops, injection.TopScore(t))
		}
	}
	slices.SortFunc(tops, func(a, b injection.Level) int { return cmp.Compare(b, a) })
	return tops[len(tops)/100] + 1
}

func report(out io.Writer, c *corpora, sets []detector) {
	// The fixed seed chooses the same ordinary texts each time.
	r := rand.New(rand.NewPCG(17, 1)) //nolint:gosec
	fmt.Fprintf(out, "%-28s %6s", "share flagged, %", "texts")
	for _, d := range sets {
		fmt.Fprintf(out, "  %16s", d.name)
	}
	fmt.Fprintln(out)
	for _, group := range []struct {
		word string
		of   []corpus
	}{{"attack", c.attack}, {"secret", c.secret}, {"benign", c.benign}} {
		for _, one := range group.of {
			texts := one.texts
			if group.word == "attack" {
				texts = c.among(r, texts)
			}
			fmt.Fprintf(out, "%-28s %6d", group.word+"/"+one.name, len(texts))
			for i := range sets {
				n := 0
				for _, t := range texts {
					if sets[i].flag(t) {
						n++
					}
				}
				fmt.Fprintf(out, "  %16.1f", 100*float64(n)/float64(len(texts)))
			}
			fmt.Fprintln(out)
		}
	}
	fmt.Fprintf(out, "\"injection at 1 %%\" reaches %d, the level that 1 %% of the benign texts together do.\n", sets[0].level)
}
