package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/check"
	"github.com/clawai/clawai/internal/state/servers"
	"github.com/clawai/clawai/internal/text/textclass"
	"github.com/clawai/clawai/policy"
)

// placeWords maps a word in the name of a server to the place where the tools of this server can act: a chat,
// mail or the browser.
var placeWords = map[string]string{
	"slack": servers.Chat, "discord": servers.Chat, "mattermost": servers.Chat, "telegram": servers.Chat, "whatsapp": servers.Chat, "zulip": servers.Chat,
	"rocketchat": servers.Chat, "webex": servers.Chat, "teams": servers.Chat, "msteams": servers.Chat, "lark": servers.Chat, "feishu": servers.Chat,
	"googlechat": servers.Chat, "irc": servers.Chat, "dingtalk": servers.Chat, "wecom": servers.Chat, "wechat": servers.Chat, "viber": servers.Chat,
	"sendgrid": servers.Mail, "mailgun": servers.Mail, "postmark": servers.Mail, "imap": servers.Mail, "fastmail": servers.Mail, "protonmail": servers.Mail,
	"mail": servers.Mail, "email": servers.Mail, "gmail": servers.Mail, "outlook": servers.Mail, "smtp": servers.Mail,
	"browser": servers.Browser, "chrome": servers.Browser, "playwright": servers.Browser, "puppeteer": servers.Browser,
}

// findPlace returns the place that a name is about, and the word that shows the place; "" for none.
func findPlace(name string) (place, word string) {
	words := textclass.SplitWords(name)
	for i, word := range words {
		if place := placeWords[word]; place != "" {
			return place, word
		}
		if i > 0 { // the word may be two words of the name, as in rocket-chat
			if place := placeWords[words[i-1]+word]; place != "" {
				return place, words[i-1] + word
			}
		}
	}
	return "", ""
}

// actor is a tool with which an agent can write to people in a chat or by mail, or can click on a page.
type actor struct{ place, server, tool string }

// placeTexts holds the texts of a finding for each place: what an agent can do there (does), what the approvers
// have to do with the place (concern), the danger (reads), and what the owner can do (fix).
var placeTexts = map[string]struct {
	severity             check.Severity
	does, concern, reads string
	fix                  string
}{
	servers.Chat: {check.Warning, "write in a chat", "may be asked in that chat", "It can write there what looks like a question, or like the words of a colleague; with the token of a person it writes as that person.",
		"ask about it: action = \"prompt\"; or name the channels in which it may write: args.channel_id = \"C0123456789\""},
	servers.Mail: {check.Note, "write mail", "may be told by mail", "It can send them what looks like the mail of a question.",
		"ask about it: action = \"prompt\"; or name the addresses to which it may write"},
	servers.Browser: {check.Note, "click in a browser", "answer on a page", "Where the browser is signed in as one of them, it can click on what they click on.",
		"ask about it: action = \"prompt\"; or give the agent a browser in which nobody is signed in"},
}

// findFreeActors finds allows that let an agent act where the approvers of a rule are asked, although no person
// is asked about the call. It skips allows with a condition that may limit the place (limitsPlace). If the linter
// knows the layers above the policy, it looks at their rules too.
func findFreeActors(l *linter) {
	all := slices.Clone(l.sources)
	whole := l.policy
	if l.options.Whole != nil {
		whole = l.options.Whole
		for _, layer := range whole.Layers() {
			all = append(all, layer.Sources()...)
		}
	}
	asks := slices.IndexFunc(all, func(r policy.Source) bool { return r.Approval != nil })
	if asks < 0 {
		return
	}
	// The owner cannot change an allow of an extended file. So the finding about such an allow is placed at the
	// policy's own rule with approvers, because only this rule makes the allow dangerous.
	brings := slices.IndexFunc(l.sources, func(r policy.Source) bool { return r.Approval != nil && r.From == "" })
	actors := l.listActors(all)
	l.visitRules(func(i int, r *policy.Source) {
		if !isAllow(r) || r.Subject != policy.ToolSubject || limitsPlace(r) {
			return
		}
		for _, a := range actors {
			c := l.callOf(i, r, a)
			if d := whole.Decide(c); d.Action == policy.Allow && d.Rule != nil && d.Rule.Pos == r.Pos && !isNarrowed(all, r, a) {
				switch {
				case r.From == "":
					l.reportActor(r, r, &all[asks], a, c)
				case brings >= 0:
					l.reportActor(&l.sources[brings], r, &l.sources[brings], a, c)
				}
				return
			}
		}
	})
}

// callOf returns a call of the actor's tool. The other parts of the call come from the known call that reaches rule i,
// if there is one, so that the result also meets the rule's other conditions.
func (l *linter) callOf(i int, r *policy.Source, a actor) *policy.Call {
	c := policy.Call{}
	if known := l.reach[i].Witness; known != nil {
		c = *known
	}
	c.Subject, c.Method, c.Server, c.Names = policy.ToolSubject, "tools/call", a.server, []string{a.tool}
	if len(r.Args)+len(r.Where) == 0 {
		c.Args = nil
	}
	return &c
}

// contentWords are the names of arguments that hold the text that a tool writes, and not the place where it writes.
var contentWords = strings.Fields("text message msg body content contents markdown mrkdwn html blocks title subject")

// limitsPlace reports whether a rule may limit the places where a tool writes: it has a condition on an argument that
// does not hold the written text, and the condition does not match every value.
func limitsPlace(r *policy.Source) bool {
	holdsContent := func(path []string) bool {
		return len(path) > 0 && slices.Contains(contentWords, strings.ToLower(path[len(path)-1]))
	}
	return slices.ContainsFunc(r.Args, func(a policy.ArgSource) bool {
		return !holdsContent(a.Path) && !slices.ContainsFunc(a.Globs, matchesEverything)
	}) || slices.ContainsFunc(r.Where, func(w policy.WhereSource) bool { return !holdsContent(w.Path) })
}

// isNarrowed reports whether some rule that names the actor's tool and is stricter than r may limit the places. Then
// the owner has already decided for which places a person is asked.
func isNarrowed(all []policy.Source, r *policy.Source, a actor) bool {
	return slices.ContainsFunc(all, func(s policy.Source) bool {
		return s.Subject == policy.ToolSubject && s.Action < r.Action && limitsPlace(&s) && namesActor(&s, a) && slices.ContainsFunc(s.Names, func(g string) bool { return !matchesEverything(g) })
	})
}

// namesActor reports whether the names and the servers in a rule match the actor's tool and server.
func namesActor(r *policy.Source, a actor) bool {
	return matchesAny(r.Names, []string{a.tool}) && (r.Servers == nil || matchesAny(r.Servers, []string{a.server}))
}

// reportActor adds a finding about two rules: one lets an agent use the actor's tool in the place where the
// approvers of the other are asked. The parameters allows and asks are these rules, the parameter at is the
// rule that gets the finding, and the call c is an example.
func (l *linter) reportActor(at, allows, asks *policy.Source, a actor, c *policy.Call) {
	says := placeTexts[a.place]
	tool, fix := a.tool, says.fix
	if at != allows {
		tool += " (" + l.describeRule(allows.Pos) + ")"
		fix += "; write the rule here, above those of extends"
	}
	f := check.Finding{Code: ActsAmongApprovers, Severity: says.severity,
		Message: fmt.Sprintf("an agent can %s by %s, and nobody is asked; the approvers of %s %s", says.does, tool, l.describeRule(asks.Pos), says.concern),
		Why:     says.reads, Fix: fix,
		Related: []check.Related{{Pos: asks.Pos, Message: "asks " + asks.Approval.String()}}}
	l.addWitness(&f, c)
	l.addFinding(at, policy.Position{}, f)
}

// listActors returns the tools with which an agent can act in a chat, by mail or in a browser (see acts). It
// looks for names of servers and tools that show such a place. If no name shows such a place, it returns no
// tools, even if wildcards of the policy match such tools.
func (l *linter) listActors(all []policy.Source) (actors []actor) {
	known, err := servers.LoadCatalogue()
	if err != nil {
		return nil
	}
	named := map[string]bool{}
	for i := range all {
		for _, g := range all[i].Servers {
			named[withoutStars(g)] = true
		}
	}
	for _, t := range l.policy.TrustTables() {
		named[t.Server] = true
	}
	for _, t := range l.policy.CageTables() {
		named[t.Server] = true
	}
	for name := range l.options.Servers {
		named[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if place, word := findPlace(name); place != "" {
			for _, tool := range l.toolsAt(known, all, name, place, word) {
				actors = append(actors, actor{place, name, tool})
			}
		}
	}
	for i := range all {
		if r := &all[i]; r.Subject == policy.ToolSubject && r.Servers == nil {
			for _, g := range r.Names {
				actors = append(actors, actorsOf(known, g)...)
			}
		}
	}
	return actors
}

// toolsAt returns the acting tools (see acts) of a server whose name shows the place. If the tools of the
// server are known (Options.Servers), it chooses from these. Otherwise it returns the tools that rules about
// the server name, the tools of servers of the catalogue for this place, and tools with the usual names.
func (l *linter) toolsAt(known []servers.KnownServer, all []policy.Source, name, place, word string) (tools []string) {
	keep := func(list []string) {
		for _, tool := range list {
			if withoutStars(tool) == tool && acts(known, tool, place) {
				tools = append(tools, tool)
			}
		}
	}
	if listed := l.options.Servers[name]; len(listed) > 0 {
		keep(listed)
		return tools
	}
	for i := range all {
		if r := &all[i]; r.Subject == policy.ToolSubject && r.Servers != nil && matchesAny(r.Servers, []string{name}) {
			keep(r.Names)
		}
	}
	for i := range known {
		if s := &known[i]; s.ActsIn == place && (place != servers.Chat || slices.Contains(textclass.SplitWords(s.ID), word)) {
			tools = append(tools, listActing(s)...)
		}
	}
	return append(tools, usualTools(place, word)...)
}

// usualTools returns the usual names of tools that act in a place.
func usualTools(place, word string) []string {
	switch place {
	case servers.Chat:
		return []string{word + "_send_message", "send_message"}
	case servers.Mail:
		return []string{"send_email"}
	}
	return []string{"browser_click"}
}

// actorsOf returns the acting tools (see acts) for the glob g on tool names. If g is the exact name of a tool
// of a known server, it returns all acting tools of that server. If g contains the word of a place, it returns
// the acting tools for that place whose names g matches.
func actorsOf(known []servers.KnownServer, g string) (actors []actor) {
	literal := withoutStars(g)
	place, word := findPlace(literal)
	if word == "teams" { // in the name of a tool, this word usually means a team of people
		place = ""
	}
	for i := range known {
		s := &known[i]
		if s.ActsIn == "" {
			continue
		}
		all := namesTool(s, g)
		for _, tool := range listActing(s) {
			if all || place == s.ActsIn && matchesAny([]string{g}, []string{tool}) {
				actors = append(actors, actor{s.ActsIn, s.ID, tool})
			}
		}
	}
	switch {
	case place == "" || len(actors) > 0:
	case literal != g:
		for _, tool := range usualTools(place, word) {
			if matchesAny([]string{g}, []string{tool}) {
				actors = append(actors, actor{place, word, tool})
			}
		}
	case acts(known, g, place):
		actors = append(actors, actor{place, word, g})
	}
	return actors
}

// namesTool reports whether a server has a tool of this name.
func namesTool(s *servers.KnownServer, tool string) bool {
	return slices.ContainsFunc(s.Tools.ListEffects(), func(e servers.Effect) bool { return slices.Contains(e.Tools, tool) })
}

var (
	sendWords  = strings.Fields("send post reply respond publish broadcast")
	clickWords = strings.Fields("click press type fill evaluate run script act agent")
)

// listActing returns the tools of a server that send something to people, or that can click on a page.
func listActing(s *servers.KnownServer) []string {
	if s.ActsIn != servers.Browser {
		return s.Tools.Sends
	}
	return slices.DeleteFunc(slices.Concat(s.Tools.Write, s.Tools.Sends, s.Tools.Destructive), func(tool string) bool {
		return !slices.ContainsFunc(textclass.SplitWords(tool), func(word string) bool { return slices.Contains(clickWords, word) })
	})
}

// acts reports whether a tool sends something to people, or can click on a page. If the catalogue has the tool, the
// catalogue decides, otherwise the tool's name. A tool for drafts does not act, because a person sends the draft. A
// tool for a browser acts only if the catalogue has it, because the names of such tools differ too much.
func acts(known []servers.KnownServer, tool, place string) bool {
	for i := range known {
		if s := &known[i]; s.ActsIn == place && namesTool(s, tool) {
			return slices.Contains(listActing(s), tool)
		}
	}
	words := slices.DeleteFunc(textclass.SplitWords(tool), func(word string) bool { return placeWords[word] != "" })
	if place == servers.Browser || textclass.OnlyTells(words) || slices.Contains(words, "draft") {
		return false
	}
	sends := func(word string) bool { return slices.Contains(sendWords, word) }
	return slices.ContainsFunc(words, sends) || slices.Contains(words, "message") && textclass.EffectsOf(words)&textclass.Acts != 0
}

// withoutStars returns a glob without its wildcards.
func withoutStars(g string) string {
	return strings.NewReplacer("*", "", "?", "").Replace(g)
}
