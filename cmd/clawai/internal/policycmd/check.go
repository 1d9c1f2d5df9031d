package policycmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/clawai/clawai/cmd/clawai/internal/cmdline"
	"github.com/clawai/clawai/cmd/clawai/internal/policyfile"
	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/state/config"
	"github.com/clawai/clawai/policy"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "load policies, and say everything that is wrong with them",
		UsageText: "clawai policy check [options] [FILE|-]...   (without FILE: your own policy)",
		Flags:     reportFlags(check.FormatNames(false)),
		Action:    runCheck,
	}
}

// loadedFile is one policy file. broken has the errors in the policy. unread is the error of
// reading the file.
type loadedFile struct {
	path   string
	policy *policy.Policy
	broken policy.Errors
	unread error
}

func runCheck(c *cli.Context) error {
	files, err := policyFiles(c)
	if err != nil {
		return err
	}
	format, err := formatOf(c, check.FormatNames(false))
	if err != nil {
		return err
	}
	var all []loadedFile
	code := cmdline.ExitOK
	for _, path := range files {
		f := loadFile(path)
		all = append(all, f)
		switch {
		case f.unread != nil:
			fmt.Fprintf(cmdline.ProseWriter(c.App.ErrWriter), "clawai: %v\n", f.unread)
			code = cmdline.ExitUsage
		case f.broken != nil:
			code = max(code, cmdline.ExitFailed)
		}
	}
	if err := writeReport(c, proseReport(format, checkMarks, writeLoaded(format, all))); err != nil {
		return err
	}
	if code != cmdline.ExitOK {
		return &cmdline.ExitError{Code: code}
	}
	return nil
}

// policyFiles returns the files on the command line. If there are none, it returns the user's own
// policy.
func policyFiles(c *cli.Context) ([]string, error) {
	names, err := cmdline.ParseArguments(c)
	if err != nil || len(names) > 0 {
		return names, err
	}
	folders, err := config.ReadFolders()
	if err != nil {
		return nil, err
	}
	own := folders.PolicyFile()
	if _, err := os.Stat(own); errors.Is(err, fs.ErrNotExist) {
		return nil, cmdline.Usagef("policy %s: no such file; clawai init writes one, or name a file", own)
	}
	return []string{own}, nil
}

// readNamed reads a policy file. If path is "-", it reads standard input.
func readNamed(path string) (name string, src []byte, err error) {
	if path == "-" {
		src, err = io.ReadAll(os.Stdin)
		return "standard input", src, err
	}
	src, err = readPolicyFile(path)
	return path, src, err
}

// checkOptions returns the options for checking a file. The person's own policy is loaded like a
// proxy loads it. Any other file is loaded as a draft, because it may be an organisation's policy.
func checkOptions(path string) policy.Options {
	if folders, err := config.ReadFolders(); err == nil && filepath.Clean(path) == folders.PolicyFile() {
		return policyfile.PolicyOptions("/home/user")
	}
	return policyfile.DraftOptions("/home/user")
}

func loadFile(path string) loadedFile {
	name, src, err := readNamed(path)
	f := loadedFile{path: name, unread: err}
	if err != nil {
		return f
	}
	f.policy, err = policy.Parse(name, src, checkOptions(path))
	if err != nil && !errors.As(err, &f.broken) {
		f.unread = err
	}
	return f
}

func writeLoaded(format string, all []loadedFile) func(io.Writer) error {
	switch format {
	case "json":
		return func(w io.Writer) error { return writeLoadedJSON(w, all) }
	case "text":
		return func(w io.Writer) error { return writeLoadedText(w, all) }
	}
	var findings []check.Finding
	for _, f := range all {
		findings = append(findings, loadFindings(f.broken)...)
	}
	return writeFindings(format, loading, findings)
}

func writeLoadedText(w io.Writer, all []loadedFile) error {
	for _, f := range all {
		var err error
		switch {
		case f.broken != nil:
			_, err = fmt.Fprintln(w, f.broken)
		case f.policy != nil:
			rules := cmdline.CountText(len(f.policy.Rules()), "1 rule", "%d rules")
			if len(f.policy.Rules()) == 0 {
				rules = "no rule, so everything is denied"
			}
			_, err = fmt.Fprintf(w, "%s: ok, %s, revision %s\n", policy.FileName(f.path), rules, f.policy.Revision())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeLoadedJSON(w io.Writer, all []loadedFile) error {
	type failure struct {
		Line    int    `json:"line"`
		Column  int    `json:"column"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
		Text    string `json:"text,omitempty"`
	}
	type result struct {
		File     string    `json:"file"`
		OK       bool      `json:"ok"`
		Rules    int       `json:"rules"`
		Revision string    `json:"policy_revision,omitempty"`
		Errors   []failure `json:"errors"`
		Unread   string    `json:"unreadable,omitempty"`
	}
	doc := struct {
		Policies []result `json:"policies"`
	}{[]result{}}
	for _, f := range all {
		r := result{File: f.path, OK: f.policy != nil, Errors: []failure{}}
		if f.policy != nil {
			r.Rules, r.Revision = len(f.policy.Rules()), f.policy.Revision()
		}
		if f.unread != nil {
			r.Unread = f.unread.Error()
		}
		for _, e := range f.broken {
			r.Errors = append(r.Errors, failure{e.Pos.Line, e.Pos.Column, e.Msg, e.Hint, e.Text})
		}
		doc.Policies = append(doc.Policies, r)
	}
	return cmdline.WriteJSON(w, doc)
}
