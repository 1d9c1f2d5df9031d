package prove

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/clawai/clawai/policy"
)

// methods has the request method of each subject.
var methods = map[policy.Subject]string{
	policy.ToolSubject:        "tools/call",
	policy.ResourceSubject:    "resources/read",
	policy.PromptSubject:      "prompts/get",
	policy.SamplingSubject:    "sampling/createMessage",
	policy.ElicitationSubject: "elicitation/create",
}

// listCalls returns the calls that a candidate stands for. The first calls have the texts of the
// candidate, and examples for the constraints. If the question is also about readings by
// transformations, calls with other spellings of the texts follow.
func (q *question) listCalls(c candidate) []policy.Call {
	var calls []policy.Call
	for i, spell := range q.listSpellings() {
		if i > 0 && !c.changesWith(spell) {
			continue
		}
		for _, args := range q.listArguments(c, spell) {
			call := policy.Call{Server: c.server, Subject: q.subject, Method: methods[q.subject], Names: []string{c.name}}
			q.meetConditions(&call)
			c.look.putFinds(&call)
			switch q.subject {
			case policy.ResourceSubject:
				call.Names[0] = spell(c.name)
			case policy.MethodSubject:
				call.Method = c.name
			case policy.ToolSubject, policy.PromptSubject:
				if len(args) > 0 {
					call.Args = encodeArguments(args)
				}
			}
			calls = append(calls, call)
			other := q.missConditions(call)
			if c.look.putFinds(&other); other.Facts != call.Facts {
				calls = append(calls, other)
			}
			if q.others && !q.needsServer() {
				call.Server = otherServer
				calls = append(calls, call)
			}
		}
	}
	return calls
}

// otherServer is the name of a server that probably no rule names. It is tried if no needed rule
// names a server, because the server of the candidate may match a rule that the search has ignored.
const otherServer = "another-server"

func (q *question) needsServer() bool {
	return slices.ContainsFunc(q.needed, func(d demand) bool { return d.rule.server != nil })
}

// changesWith reports whether the function spell changes a text of the candidate.
func (c *candidate) changesWith(spell func(string) string) bool {
	for _, text := range c.args {
		if spell(text) != text {
			return true
		}
	}
	return false
}

// listSpellings returns functions that write a text in another way, so that one reading of the
// result is the text itself. The first function changes nothing.
func (q *question) listSpellings() []func(string) string {
	spellings := []func(string) string{strings.Clone}
	if q.others {
		spellings = append(spellings, strings.ToUpper,
			func(s string) string { return " " + s },
			func(s string) string { return s + " " },
			func(s string) string { return " " + s + " " },
			pathToURI, escapeLastLetter, norm.NFD.String,
			func(s string) string { return pathToURI(escapeLastLetter(s)) },
			func(s string) string { return strings.ReplaceAll(s, "/", `\`) },
			func(s string) string { return tildePath(s, q.home) })
	}
	return spellings
}

// pathToURI returns a path as a file URI, without escapes.
func pathToURI(path string) string {
	switch {
	case strings.HasPrefix(path, "/"):
		return "file://" + path
	case len(path) > 2 && path[1] == ':' && isLetter(rune(path[0])):
		return "file:///" + path
	}
	return path
}

// escapeLastLetter returns a text in which the last letter or digit is percent-encoded.
func escapeLastLetter(s string) string {
	i := strings.LastIndexFunc(s, func(r rune) bool { return isLetter(r) || '0' <= r && r <= '9' })
	if i < 0 {
		return s
	}
	return fmt.Sprintf("%s%%%02x%s", s[:i], s[i], s[i+1:])
}

// tildePath writes ~ for the home folder at the start of a path.
func tildePath(path, home string) string {
	if rest, below := strings.CutPrefix(path, home); below && home != "" && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// value is one argument of a witness.
type value struct {
	path []string
	raw  any
}

// listArguments returns sets of arguments for the calls of a candidate. spell changes the spelling
// of the candidate's texts.
func (q *question) listArguments(c candidate, spell func(string) string) [][]value {
	all := [][]value{nil}
	// An avoided rule (q.avoid) may match only calls without an argument, so also try calls that
	// have this argument.
	var filled []value
	for _, d := range q.avoid {
		for _, w := range d.rule.src.Where {
			if w.Key == "present" && w.Text == "false" {
				filled = append(filled, value{w.Path, strings.Repeat("x", longText)})
			}
		}
	}
	if filled != nil {
		all = append(all, filled)
	}
	switch {
	case q.further:
		all = q.extraArguments()
	case q.bare && slices.ContainsFunc(q.avoid, func(d demand) bool { return d.rule.only }):
		all = append(all, q.extraArguments()...)
	}
	paths := q.argumentPaths()
	for key := range c.args {
		if path := strings.Split(key, "\x00"); key != resourceKey && !slices.ContainsFunc(paths, func(p []string) bool { return slices.Equal(p, path) }) {
			paths = append(paths, path) // the path of an exception's argument
		}
	}
	for _, path := range paths {
		texts := slices.Clone(q.spelledTexts(path))
		for _, d := range q.needed {
			for _, w := range d.rule.src.Where {
				if slices.Equal(w.Path, path) {
					texts = append(texts, exampleValues(w.Key, w.Text)...)
				}
			}
		}
		if text, found := c.args[argumentKey(path)]; found {
			texts = append(texts, spell(text))
			texts = append(texts, q.placeInFolders(path, text)...)
		}
		if q.bare && q.unnamed && q.watchesExtras() {
			texts = append(texts, suspects...)
		}
		if q.broken {
			for _, t := range texts {
				if text, ok := t.(string); ok {
					texts = append(texts, text+"\n", "\n"+text)
				}
			}
		}
		var longer [][]value
		for _, args := range all {
			for _, t := range texts {
				longer = append(longer, append(slices.Clone(args), value{path, t}))
			}
		}
		if all = longer; len(all) > maxCandidates {
			all = all[:maxCandidates]
		}
	}
	return q.addAnywhere(all)
}

// placeInFolders puts a text into the folders of the needed constraint "under". The result ends
// with the text, so it still meets conditions on the end, such as **/.env.
func (q *question) placeInFolders(path []string, text string) (texts []any) {
	for _, d := range q.needed {
		for _, w := range d.rule.src.Where {
			if w.Key != "under" || !slices.Equal(w.Path, path) {
				continue
			}
			for _, folder := range quotedStrings(w.Text) {
				texts = append(texts, strings.TrimRight(folder, "/")+"/"+strings.TrimLeft(text, "/"))
			}
		}
	}
	return texts
}

// argumentPaths returns the paths of the arguments that the needed rules name, without arguments
// that must be absent.
func (q *question) argumentPaths() (paths [][]string) {
	add := func(path []string) {
		if !slices.ContainsFunc(paths, func(p []string) bool { return slices.Equal(p, path) }) {
			paths = append(paths, path)
		}
	}
	for _, d := range q.needed {
		for i := range d.rule.args {
			if a := &d.rule.args[i]; a.key != resourceKey {
				add(a.path)
			}
		}
		for _, w := range d.rule.src.Where {
			if w.Key != "present" || w.Text != "false" {
				add(w.Path)
			}
		}
	}
	return paths
}

// meetConditions changes a call so that it meets, if possible, those conditions of the needed rules
// that are about the whole call. If two rules contradict each other, the call meets the conditions
// of the first.
func (q *question) meetConditions(c *policy.Call) {
	for _, d := range slices.Backward(q.needed) {
		for i := range d.rule.src.Calls {
			d.rule.src.Calls[i].MeetCondition(c)
		}
	}
}

// missConditions returns a copy of the call. If possible, the copy does not meet the conditions of
// the avoided rules (q.avoid).
func (q *question) missConditions(c policy.Call) policy.Call {
	for _, d := range q.avoid {
		for i := range d.rule.src.Calls {
			d.rule.src.Calls[i].MissCondition(&c)
		}
	}
	return c
}

// encodeArguments returns arguments as a JSON object. An argument with a text and with members
// becomes a list of the two.
func encodeArguments(args []value) []byte {
	root := map[string]any{}
	slices.SortStableFunc(args, func(a, b value) int { return len(a.path) - len(b.path) })
	for _, v := range args {
		at := root
		for _, name := range v.path[:len(v.path)-1] {
			at = memberObject(at, name)
		}
		at[v.path[len(v.path)-1]] = v.raw
	}
	out, err := json.Marshal(root)
	if err != nil {
		return nil // cannot happen, because texts can always be encoded
	}
	return out
}

func memberObject(at map[string]any, name string) map[string]any {
	switch v := at[name].(type) {
	case map[string]any:
		return v
	case []any:
		return v[1].(map[string]any)
	case nil:
		m := map[string]any{}
		at[name] = m
		return m
	default:
		m := map[string]any{}
		at[name] = []any{v, m}
		return m
	}
}
