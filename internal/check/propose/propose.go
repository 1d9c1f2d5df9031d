// Package propose makes the table for the sandbox of a server (docs/sandbox.md). The places and
// hosts come from the rules about the server, its command, its entry in the client's file, and the
// catalogue. The package reads the disk only through Server.Look.
package propose

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/clawai/clawai/internal/check/learn"
	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/glob"
	"github.com/clawai/clawai/policy/hostlist"
	"github.com/clawai/clawai/policy/policytext"
)

// Variable is an environment variable in a client's entry.
type Variable struct{ Name, Value string }

// Server holds what is known about a server.
type Server struct {
	Name    string
	Command []string // the command with which the client starts the server
	Env     []Variable
	Known   *servers.KnownServer // entry of the catalogue; nil if the catalogue does not have the server
	Home    string
	// Launcher is the program that downloads the server at each start, such as npx. It is "" if
	// there is none, or if the server is installed.
	Launcher string
	// Look reports whether a path exists, and whether it is a folder.
	Look func(path string) (there, folder bool)
}

// Value is one entry of a list in the table, with the reasons for it.
type Value struct {
	Text string
	Why  []string

	byChance bool // for a place: only rules for all servers name it, and they match the server's tools by a wildcard
}

// Table is a proposed table for a sandbox.
type Table struct {
	Server           string
	Read, Write, Net []Value
	Env              []Value
	Source           string   // a phrase that tells whether the catalogue has the server and a sandbox for it
	Note             string   // note from the catalogue for the owner
	Left             []string // sentences about places and hosts that the rules or the command name but the table does not open
}

// proposer makes one table for one server.
type proposer struct {
	s     Server
	table Table
	// opened holds the places that rules name for tools that only read. changed holds the places
	// that rules name for other tools.
	opened, changed []Value
	anyRead         []string // descriptions of the rules that let tools read but name no place
	anyChange       []string
}

// NewTable returns the proposed table for a server.
func NewTable(p *policy.Policy, s Server) *Table {
	o := &proposer{s: s, table: Table{Server: s.Name}}
	for _, source := range p.Sources() {
		if tools := o.toolsOf(&source); tools != nil {
			o.addRule(&source, tools)
		}
	}
	o.addOwnPlaces()
	o.addKnown()
	o.settlePlaces()
	if s.Launcher != "" {
		o.noteLeft("%s downloads the server at each start, and needs its cache and the registry: install it once with clawai sandbox install", s.Launcher)
	}
	for _, list := range []*[]Value{&o.table.Net, &o.table.Env} {
		slices.SortFunc(*list, func(a, b Value) int { return strings.Compare(a.Text, b.Text) })
	}
	return &o.table
}

// toolsOf returns the tools of the server that a rule allows or asks about; nil if there are none.
// If the catalogue has no list of the server's tools, it returns the names in the rule.
func (o *proposer) toolsOf(s *policy.Source) (tools []string) {
	if s.Subject != policy.ToolSubject || s.Action != policy.Allow && s.Action != policy.Prompt || s.Servers != nil && !matchesAny(s.Servers, o.s.Name) {
		return nil
	}
	for _, name := range s.Names {
		if o.s.Known == nil || !o.knowsTools() {
			tools = append(tools, name)
			continue
		}
		for _, effect := range o.s.Known.Tools.ListEffects() {
			for _, tool := range effect.Tools {
				if matchesAny([]string{name}, tool) && !slices.Contains(tools, tool) {
					tools = append(tools, tool)
				}
			}
		}
	}
	return tools
}

func (o *proposer) knowsTools() bool {
	return slices.ContainsFunc(o.s.Known.Tools.ListEffects(), func(e servers.Effect) bool { return len(e.Tools) > 0 })
}

// onlyReads reports whether a tool changes nothing. If the catalogue has the tools of the server,
// the catalogue decides, otherwise the tool's name.
func (o *proposer) onlyReads(tool string) bool {
	if o.s.Known != nil && o.knowsTools() {
		return slices.Contains(o.s.Known.Tools.Read, tool) || slices.Contains(o.s.Known.Tools.Secrets, tool)
	}
	return learn.ClassOf(tool) == learn.Reads
}

// addRule adds the places and hosts in the conditions of a rule.
func (o *proposer) addRule(s *policy.Source, tools []string) {
	reads := !slices.ContainsFunc(tools, func(tool string) bool { return !o.onlyReads(tool) })
	why := describeRule(s, tools)
	// In a rule for all servers, a wildcard may match a tool that the author of the rule did not
	// think of. Such a rule alone opens no place. It only lets addPlace open a place from the
	// server's command.
	byChance := s.Servers == nil && o.s.Known != nil && !slices.ContainsFunc(s.Names, func(name string) bool { return slices.Contains(tools, name) })
	into, whole := &o.changed, &o.anyChange
	if reads {
		into, whole = &o.opened, &o.anyRead
	}
	places, hosts := namedBy(s)
	for _, place := range places {
		addPlaceOf(into, place, why, byChance)
	}
	for _, host := range hosts {
		if !byChance {
			o.addHost(host, why)
		}
	}
	if len(places) == 0 {
		*whole = append(*whole, why)
	}
}

// namedBy returns the places and hosts in the conditions of a rule.
func namedBy(s *policy.Source) (places, hosts []string) {
	for _, a := range s.Args {
		for _, g := range a.Globs {
			if place := placeOf(g); place != "" {
				places = append(places, place)
			} else if host := hostOf(g); host != "" {
				hosts = append(hosts, host)
			}
		}
	}
	for i := range s.Where {
		switch w := &s.Where[i]; w.Key {
		case "under":
			for _, text := range readTexts(w.Text) {
				places = append(places, strings.TrimSuffix(text, "/"))
			}
		case "host":
			hosts = append(hosts, readTexts(w.Text)...)
		}
	}
	return places, hosts
}

// Asked holds the places and hosts that calls of a server may name, according to one rule.
type Asked struct {
	Rule    *policy.Source
	Places  []string // empty if the rule names no place: then calls may name any place
	Changes bool     // some tools of the rule do more than read
	Hosts   []string
}

// ListAsked returns an Asked for each rule about the server.
func ListAsked(p *policy.Policy, server string) (all []Asked) {
	o := &proposer{s: Server{Name: server}}
	for _, s := range p.Sources() {
		tools := o.toolsOf(&s)
		if s.Servers == nil || tools == nil {
			continue
		}
		asked := Asked{Rule: &s, Changes: slices.ContainsFunc(tools, func(tool string) bool { return !o.onlyReads(tool) })}
		asked.Places, asked.Hosts = namedBy(&s)
		all = append(all, asked)
	}
	return all
}

// addPlaceOf adds a place with the rule as the reason.
func addPlaceOf(into *[]Value, place, why string, byChance bool) {
	sure := slices.ContainsFunc(*into, func(v Value) bool { return v.Text == place && !v.byChance })
	addValue(into, place, why)
	(*into)[slices.IndexFunc(*into, func(v Value) bool { return v.Text == place })].byChance = byChance && !sure
}

// describeRule returns the position of a rule and the tools that it allows or asks about.
func describeRule(s *policy.Source, tools []string) string {
	verb := "allows "
	if s.Action == policy.Prompt {
		verb = "asks about "
	}
	names := strings.Join(tools[:min(len(tools), 3)], ", ")
	if len(tools) > 3 {
		names += fmt.Sprintf(" and %d more", len(tools)-3)
	}
	return fmt.Sprintf("%s:%d %s%s", filepath.Base(policy.FileName(s.Pos.File)), s.Pos.Line, verb, names)
}

// placeOf returns the folder, or the file, before the first wildcard of a glob for paths; "" if
// there is none.
func placeOf(text string) string {
	if !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "~/") && text != "~" && !strings.HasPrefix(text, "${cwd}") {
		return ""
	}
	if at := strings.IndexAny(text, "*?"); at >= 0 {
		text = text[:strings.LastIndexByte(text[:at], '/')+1]
	}
	return strings.TrimSuffix(text, "/")
}

// hostOf returns the host of a glob for addresses.
func hostOf(text string) string {
	_, after, found := strings.Cut(text, "://")
	host, _, _ := strings.Cut(after, "/")
	if !found || host == "" {
		return ""
	}
	return host
}

// readTexts parses a TOML string or a TOML list of strings.
func readTexts(text string) (all []string) {
	var doc struct{ X any }
	if toml.Unmarshal([]byte("X = "+text), &doc) != nil {
		return nil
	}
	switch x := doc.X.(type) {
	case string:
		return []string{x}
	case []any:
		for _, one := range x {
			if text, ok := one.(string); ok {
				all = append(all, text)
			}
		}
	}
	return all
}

func (o *proposer) addHost(host, why string) {
	e, err := hostlist.ParseEntry(strings.Replace(host, "**.", "*.", 1))
	if err != nil {
		o.noteLeft("net: %q is not a host that a table can name (%s)", host, why)
		return
	}
	addValue(&o.table.Net, e.String(), why)
}

// ports has the usual port of each scheme of an address in a command or a variable.
var ports = map[string]string{"http": "80", "https": "443", "postgres": "5432", "postgresql": "5432", "mysql": "3306", "mariadb": "3306", "redis": "6379", "rediss": "6379", "mongodb": "27017", "amqp": "5672"}

// addOwnPlaces adds the folders, files and addresses in the server's command and in the client's
// entry.
func (o *proposer) addOwnPlaces() {
	for i, word := range o.s.Command {
		if i == 0 {
			continue
		}
		if _, value, found := strings.Cut(word, "="); found && strings.HasPrefix(word, "-") {
			word = value
		}
		o.addOwn(word, "its own argument")
	}
	for _, v := range o.s.Env {
		addValue(&o.table.Env, v.Name, "its client's entry sets it")
		o.addOwn(v.Value, "its variable "+v.Name)
	}
}

// addOwn adds one place or address from the server's command or variables.
func (o *proposer) addOwn(text, why string) {
	if u, err := url.Parse(text); err == nil && u.Host != "" && ports[u.Scheme] != "" {
		port := u.Port()
		if port == "" {
			port = ports[u.Scheme]
		}
		o.addHost(u.Hostname()+":"+port, why)
		return
	}
	path := text
	if rest, found := strings.CutPrefix(text, "~/"); found {
		path = filepath.Join(o.s.Home, rest)
	}
	if !filepath.IsAbs(path) || o.isProgram(path) {
		return
	}
	there, folder := o.s.Look(path)
	parent := filepath.Dir(path)
	_, parentFolder := o.s.Look(parent)
	switch {
	case folder:
	case parentFolder && !IsBelow(o.s.Home, parent): // open the folder of a file, because programs write a new file or a journal beside it
		path = parent
	case !there:
		o.noteLeft("%s (%s) is not there", o.shortenPath(path), why)
		return
	}
	o.addPlace(path, why)
}

// isProgram reports whether a path is a program, by its ending. The sandbox always opens the
// server's own program.
func (o *proposer) isProgram(path string) bool {
	if _, folder := o.s.Look(path); folder {
		return false
	}
	return slices.Contains([]string{".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".jar", ".sh"}, filepath.Ext(path))
}

// addPlace opens a place from the server's command or variables. It opens only the part for which a
// rule allows calls of the server.
func (o *proposer) addPlace(path, why string) {
	place := o.shortenPath(path)
	narrow := func(into *[]Value, ruled []Value, whole []string) {
		for _, r := range ruled {
			switch {
			case IsBelow(r.Text, place):
				addValue(into, r.Text, append([]string{why + " holds it"}, r.Why...)...)
			case IsBelow(place, r.Text):
				addValue(into, place, append([]string{why}, r.Why...)...)
			}
		}
		if len(whole) > 0 {
			addValue(into, place, append([]string{why}, whole...)...)
		}
	}
	before := len(o.table.Read) + len(o.table.Write)
	narrow(&o.table.Write, o.changed, o.anyChange)
	narrow(&o.table.Read, o.opened, o.anyRead)
	if len(o.table.Read)+len(o.table.Write) == before {
		o.noteLeft("%s is %s, and no rule lets the server be asked for it", place, why)
	}
}

// addKnown adds the hosts and variables from the catalogue's sandbox for the server.
func (o *proposer) addKnown() {
	switch k := o.s.Known; {
	case k == nil:
	case k.Cage == nil:
		o.table.Source = "the catalogue knows " + k.Name + ", but it has not been run in a sandbox"
	default:
		o.table.Source = "the catalogue has a sandbox for " + k.Name + ", in which " + k.Cage.Tried + " has run"
		o.table.Note = k.Cage.Note
		why := "the catalogue's sandbox for " + k.Name
		for _, host := range k.Cage.Net {
			o.addHost(host, why)
		}
		for _, name := range k.Cage.Env {
			addValue(&o.table.Env, name, why)
		}
	}
}

// settlePlaces adds the places in the conditions of rules. Then it removes places that the sandbox
// never opens, that do not exist, or that are inside another opened place.
func (o *proposer) settlePlaces() {
	for _, r := range o.changed {
		if !r.byChance {
			addValue(&o.table.Write, r.Text, r.Why...)
		}
	}
	for _, r := range o.opened {
		if !r.byChance {
			addValue(&o.table.Read, r.Text, r.Why...)
		}
	}
	for _, list := range []*[]Value{&o.table.Write, &o.table.Read} {
		*list = slices.DeleteFunc(*list, func(v Value) bool {
			full := strings.Replace(v.Text, "~", o.s.Home, 1)
			there, _ := o.s.Look(full)
			switch {
			case textclass.NamesShut(full) || textclass.NamesShut(full+"/"):
				o.noteLeft("%s stays shut: keys and the like are opened by hand (%s)", v.Text, v.Why[0])
			case !o.canLoad(v.Text, list == &o.table.Write):
				o.noteLeft("%q is not a place that a table can name (%s)", v.Text, v.Why[0])
			case !there && !strings.HasPrefix(v.Text, "${cwd}"):
				o.noteLeft("%s is not there (%s)", v.Text, v.Why[0])
			default:
				return false
			}
			return true
		})
		slices.SortFunc(*list, func(a, b Value) int { return strings.Compare(a.Text, b.Text) })
		dropInner(list)
	}
	dropCovered(&o.table.Read, o.table.Write)
	for _, why := range append(slices.Clone(o.anyRead), o.anyChange...) {
		if len(o.table.Read)+len(o.table.Write) == 0 {
			o.noteLeft("%s with any path, and a table has to name folders", why)
			break
		}
	}
}

// canLoad reports whether a table that opens this place is valid.
func (o *proposer) canLoad(place string, write bool) bool {
	t := Table{Server: "x", Read: []Value{{Text: place}}}
	if write {
		t = Table{Server: "x", Write: t.Read}
	}
	_, err := policy.Parse("", []byte(t.Text()), policy.Options{Home: o.s.Home})
	return err == nil
}

// dropCovered removes a place from a list if another list (the parameter others) has the same place
// or a folder around it.
func dropCovered(list *[]Value, others []Value) {
	*list = slices.DeleteFunc(*list, func(v Value) bool {
		return slices.ContainsFunc(others, func(o Value) bool { return IsBelow(v.Text, o.Text) })
	})
}

// dropInner removes from a list the places that are inside another place of the same list.
func dropInner(list *[]Value) {
	all := slices.Clone(*list)
	*list = slices.DeleteFunc(*list, func(v Value) bool {
		return slices.ContainsFunc(all, func(o Value) bool { return v.Text != o.Text && IsBelow(v.Text, o.Text) })
	})
}

// IsBelow reports whether a place is the same as another one, or inside it.
func IsBelow(place, in string) bool {
	return place == in || in == "/" || strings.HasPrefix(place, in+"/")
}

// shortenPath replaces the home folder in a path by ~.
func (o *proposer) shortenPath(path string) string {
	if path == o.s.Home || strings.HasPrefix(path, o.s.Home+"/") {
		return "~" + strings.TrimPrefix(path, o.s.Home)
	}
	return path
}

func (o *proposer) noteLeft(format string, a ...any) {
	if text := fmt.Sprintf(format, a...); !slices.Contains(o.table.Left, text) {
		o.table.Left = append(o.table.Left, text)
	}
}

func addValue(into *[]Value, text string, why ...string) {
	at := slices.IndexFunc(*into, func(v Value) bool { return v.Text == text })
	if at < 0 {
		at = len(*into)
		*into = append(*into, Value{Text: text})
	}
	for _, one := range why {
		if v := &(*into)[at]; !slices.Contains(v.Why, one) {
			v.Why = append(v.Why, one)
		}
	}
}

func matchesAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(text string) bool {
		g, err := glob.Compile(text)
		return err == nil && g.Match(name)
	})
}

// OpenLauncher opens what npx needs to download the server at each start: its cache, and some
// hosts.
func (t *Table) OpenLauncher(hosts []string) {
	const why = "npx downloads the server at each start"
	addValue(&t.Write, "~/.npm", why)
	for _, host := range hosts {
		addValue(&t.Net, host, why)
	}
	t.Left = slices.DeleteFunc(t.Left, func(text string) bool { return strings.HasPrefix(text, "npx downloads") })
}

// Text returns the table as TOML. Each line has its reason as a comment.
func (t *Table) Text() string {
	var b strings.Builder
	if t.Source != "" {
		fmt.Fprintf(&b, "# %s\n", writeComment([]string{t.Source}))
	}
	fmt.Fprintf(&b, "[%s]\nlevel = \"enforce\"\n", policytext.DottedKey("server", t.Server, "sandbox"))
	for _, list := range []struct {
		key, none string
		values    []Value
	}{
		{"read", "beside its own program", t.Read},
		{"write", "no rule that names a folder lets it change anything", t.Write},
		{"net", "no rule, argument or catalogue row names a host", t.Net},
		{"env", "its client's entry sets none", t.Env},
	} {
		if len(list.values) == 0 {
			fmt.Fprintf(&b, "%s = [] # %s\n", list.key, list.none)
			continue
		}
		fmt.Fprintf(&b, "%s = [\n", list.key)
		for _, v := range list.values {
			fmt.Fprintf(&b, "  %s, # %s\n", policytext.Quote(v.Text), writeComment(v.Why))
		}
		b.WriteString("]\n")
	}
	if t.Note != "" {
		fmt.Fprintf(&b, "# Note: %s\n", writeComment([]string{t.Note}))
	}
	for _, left := range t.Left {
		fmt.Fprintf(&b, "# Not opened: %s\n", writeComment([]string{left}))
	}
	return b.String()
}

// writeComment returns the reasons as a comment on one line.
func writeComment(why []string) string {
	const most = 3
	text := strings.Join(why[:min(len(why), most)], "; ")
	if len(why) > most {
		text += fmt.Sprintf("; and %d more", len(why)-most)
	}
	return term.VisibleText(text)
}
