package remember

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// witness finds other calls that a new rule allows, to show them to a person.
type witness struct {
	old, new *policy.Policy
	rule     policy.Rule // the rule that led to the question
	home     string
	reads    bool // the tool only reads
}

// isNewlyAllowed reports whether the new policy allows a call about which the rule of the old
// policy asks.
func (w witness) isNewlyAllowed(c *policy.Call) bool {
	d := w.old.Decide(c)
	return d.Action == policy.Prompt && d.Rule != nil && *d.Rule == w.rule && w.new.Decide(c).Action == policy.Allow
}

// findExample describes another call that the rule allows. It tries several calls, the least
// similar to c first, and takes the first that is allowed. It returns "" if none is allowed.
func findExample(w witness, c *policy.Call, n *policy.Narrowed) (example string) {
	w.eachVariant(c, n, func(other *policy.Call, text string) bool {
		if w.isNewlyAllowed(other) {
			example = text
		}
		return example == ""
	})
	return example
}

// eachVariant makes calls similar to c, the least similar first. It calls try with each of them and
// its description, until try returns false.
func (w witness) eachVariant(c *policy.Call, n *policy.Narrowed, try func(other *policy.Call, text string) bool) {
	on := ""
	if c.Server != "" {
		on = " on " + term.VisibleValue(c.Server)
	}
	if c.Subject == policy.ResourceSubject {
		for _, uri := range w.fillGlob(n.Name, c.Names[0]) {
			other := *c
			other.Names = []string{uri}
			if uri != c.Names[0] && !try(&other, term.VisibleValue(uri)+on) {
				return
			}
		}
	}
	if c.Subject != policy.ToolSubject && c.Subject != policy.PromptSubject {
		return
	}
	args, ok := parseMembers(c.Args)
	if !ok {
		return
	}
	for _, changed := range w.argumentVariants(args, n) {
		other := *c
		other.Args = encodeObject(changed)
		if !try(&other, term.VisibleValue(c.Names[0])+on+describeArguments(args, changed)) {
			return
		}
	}
}

// member is one argument of a call.
type member struct {
	name  string
	value json.RawMessage
}

// parseMembers parses a JSON object. The members stay in order.
func parseMembers(args []byte) (all []member, ok bool) {
	if len(args) == 0 {
		return nil, true
	}
	object := jsonscan.ValueOf(args)
	for name, value := range object.Members() {
		all = append(all, member{name.Text(), value.Bytes()})
	}
	return all, object.Kind() == jsonscan.Object
}

func encodeObject(all []member) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encodeText(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func encodeText(s string) json.RawMessage {
	b, _ := json.Marshal(s) // the error is ignored, because a string can always be encoded
	return b
}

// argumentVariants returns variants of the arguments, the largest change first: all arguments
// changed, then one argument changed, then one argument added.
func (w witness) argumentVariants(args []member, n *policy.Narrowed) (all [][]member) {
	others := make([][]json.RawMessage, len(args))
	most := 0
	for i, m := range args {
		others[i] = w.variedValues(m, n)
		most = max(most, len(others[i]))
	}
	for round := range most {
		changed := slices.Clone(args)
		for i, o := range others {
			if len(o) > 0 {
				changed[i].value = o[min(round, len(o)-1)]
			}
		}
		all = append(all, changed)
	}
	for i, o := range others {
		for _, value := range o {
			changed := slices.Clone(args)
			changed[i].value = value
			all = append(all, changed)
		}
	}
	return append(all, append(slices.Clone(args), member{"another_argument", encodeText("anything")}))
}

// variedValues returns values that differ from the value of a member. The rule may allow these
// values.
func (w witness) variedValues(m member, n *policy.Narrowed) (values []json.RawMessage) {
	var s string
	isText := json.Unmarshal(m.value, &s) == nil && m.value[0] == '"'
	add := func(texts ...string) {
		for _, t := range texts {
			if !isText || t != s {
				values = append(values, encodeText(t))
			}
		}
	}
	for _, l := range n.Limits {
		if len(l.Path) != 1 || l.Path[0] != m.name {
			continue
		}
		for _, g := range l.Globs {
			add(w.fillGlob(g, s)...)
		}
		return values
	}
	switch {
	case isText && (strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~")):
		if w.home != "" {
			for _, file := range w.worstFiles(true) {
				add(w.home + "/" + file)
			}
		}
		add("/etc/passwd", path.Join(path.Dir(s), "another"+path.Ext(s)))
	case isText && strings.Contains(s, "://"):
		add("https://another.example/")
	case isText:
		add("something else")
	case m.value[0] == 't':
		values = append(values, json.RawMessage("false"))
	case m.value[0] == 'f':
		values = append(values, json.RawMessage("true"))
	case m.value[0] == '[':
		values = append(values, json.RawMessage(`["something else"]`))
	case m.value[0] != '{' && m.value[0] != 'n':
		values = append(values, json.RawMessage("12345"))
	}
	return values
}

// fillGlob returns texts that a glob matches, the worst first: files that a person usually does not
// want to allow, then a text with the same ending as the old value, which is the parameter was.
func (w witness) fillGlob(glob, was string) (texts []string) {
	if !strings.ContainsAny(glob, "*?") {
		return nil
	}
	dir := strings.TrimRight(glob, "*")
	ext := path.Ext(was)
	if len(ext) > 8 || strings.ContainsAny(ext, " /") || strings.HasSuffix(glob, ext) {
		ext = ""
	}
	fills := []string{"another/file" + ext, "another" + ext, "another"}
	if dir != glob && (!strings.Contains(dir, "://") || strings.HasPrefix(dir, "file:")) {
		fills = slices.Insert(fills, 0, w.worstFiles(dir == "~/" || dir == w.home+"/")...)
	}
	for _, fill := range fills {
		texts = append(texts, strings.NewReplacer("***", fill, "**", fill, "*", path.Base(fill), "?", "x").Replace(glob))
	}
	return texts
}

// worstFiles returns files that a person usually does not want to allow, the worst first. If the
// tool may write, these are files that run by themselves later; then come files with secrets.
func (w witness) worstFiles(home bool) (files []string) {
	if !w.reads {
		files = textclass.RunsLater.Project
		if home {
			files = textclass.RunsLater.Home
		}
	}
	if home {
		return append(slices.Clip(files), keyFile, ".env")
	}
	return append(slices.Clip(files), ".env")
}

// keyFile is a secret file that exists in many home folders, relative to the home folder.
const keyFile = ".ssh/id_ed25519"

// describeArguments lists the arguments of a changed call. For unchanged arguments it gives only
// the names.
func describeArguments(before, after []member) string {
	var same, other []string
	for i, m := range after {
		name := argumentWord(m.name)
		if i < len(before) && bytes.Equal(before[i].value, m.value) {
			same = append(same, name)
			continue
		}
		value := term.VisibleText(string(m.value))
		var s string
		if json.Unmarshal(m.value, &s) == nil && m.value[0] == '"' {
			value = term.VisibleValue(s)
		}
		other = append(other, name+" = "+value)
	}
	if len(same) == 0 {
		return " with " + joinWords(other)
	}
	return " with the same " + joinWords(same) + ", and " + joinWords(other)
}

// argumentWord returns the name of an argument. A name with unusual characters is in quotes.
func argumentWord(name string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	if name != "" && strings.Trim(name, letters) == "" {
		return name
	}
	return term.VisibleValue(name)
}
