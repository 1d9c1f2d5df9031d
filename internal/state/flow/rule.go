package flow

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// going is what a call takes along. It is read again and again into the same room.
type going struct {
	what  []byte   // the server, the tool and the values that decide, exactly
	to    []string // the values that decide where it goes
	loose bool     // it does not say where
	texts []string // all there is in it, and what it says as JSON or HTML
}

// clearCall lets go of a call, whose bytes are another's.
func (g *going) clearCall() {
	clear(g.to)
	clear(g.texts)
	g.what, g.to, g.texts = g.what[:0], g.to[:0], g.texts[:0]
}

func (g *going) addExact(text string) {
	if len(g.what) > 0 {
		g.what = append(g.what, 0)
	}
	g.what = append(g.what, text...)
}

// readCall reads a call. Of what is no tool and no resource nothing says where it goes. A tool
// without any of the arguments that decide goes where it always goes; one whose arguments that
// decide are all empty does not say where.
func (g *going) readCall(server string, decides []string, c *policy.Call) {
	g.clearCall()
	g.loose = len(c.Names) != 1 && c.Method != builtin.Method // of these the others are its class's
	args, extra := jsonscan.ValueOf(c.Args), jsonscan.ValueOf(c.Extra)
	g.addExact(server)
	g.addExact(c.Subject.RuleKey())
	for _, name := range c.Names {
		g.addExact(name)
	}
	switch {
	case c.Subject == policy.ResourceSubject:
		g.to = append(g.to, c.Names...)
	case c.Subject != policy.ToolSubject:
		g.loose = true
	case decides == nil: // then everything may
		for _, all := range [...]jsonscan.Value{args, extra} {
			for name, value := range all.Members() {
				if name := name.Text(); !isIdentifier(name) {
					g.to = append(g.to, name)
				}
				g.addDestination(name.Text(), value)
			}
		}
		g.loose = g.loose || len(g.to) == 0
	default:
		given := false
		visitArguments(decides, c, func(name string, value jsonscan.Value) {
			known := len(g.to)
			g.addDestination(name, value)
			given = given || value.Kind() != jsonscan.Null // which clients send for what is not given
			if len(g.to) == known && !isEmpty(value) {
				g.to = append(g.to, string(value)) // true, or a record that names nobody
			}
		})
		g.loose = g.loose || given && len(g.to) == 0
	}
	carry := func(name string, leaf jsonscan.Value) {
		visitReadings(textOf(leaf), func(text string) { g.texts = append(g.texts, text) })
		if isOdd(name) {
			g.texts = append(g.texts, name)
		}
	}
	args.VisitLeaves(carry)
	extra.VisitLeaves(carry)
}

// isEmpty reports whether a value holds nothing.
func isEmpty(value jsonscan.Value) bool {
	for range value.Members() {
		return false
	}
	for range value.Elements() {
		return false
	}
	switch value.Kind() {
	case jsonscan.Object, jsonscan.Array, jsonscan.Null, jsonscan.Absent:
		return true
	case jsonscan.Boolean, jsonscan.Number, jsonscan.String:
	}
	return false
}

// visitArguments visits arguments of some names, in whatever letters.
func visitArguments(names []string, c *policy.Call, visit func(name string, value jsonscan.Value)) {
	for key, value := range jsonscan.ValueOf(c.Args).Members() {
		name := key.Text()
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			visit(name, value)
		}
	}
}

// addDestination takes what stands in an argument that decides: its values, and the names in it
// that are no field of a record.
func (g *going) addDestination(name string, value jsonscan.Value) {
	g.addExact(name)
	switch value.Kind() {
	case jsonscan.Object:
		g.addExact("{")
		for key, inner := range value.Members() {
			name := key.Text()
			if !isField(name) || inner.Kind() == jsonscan.Boolean { // {"members":true} names who gets it
				g.to = append(g.to, name)
			}
			g.addDestination(name, inner)
		}
		g.addExact("}")
	case jsonscan.Array:
		g.addExact("[")
		for inner := range value.Elements() {
			if inner.Kind() == jsonscan.Boolean {
				g.to = append(g.to, string(inner))
			}
			g.addDestination("", inner)
		}
		g.addExact("]")
	case jsonscan.Number, jsonscan.String:
		g.to = append(g.to, textOf(value))
		g.addExact(string(value))
	case jsonscan.Boolean, jsonscan.Null, jsonscan.Absent:
		g.addExact(string(value))
	}
}

// visitArgumentTexts visits for people what stands in an argument that decides.
func visitArgumentTexts(value jsonscan.Value, visit func(text string)) {
	switch value.Kind() {
	case jsonscan.Object:
		for key, inner := range value.Members() {
			if name := key.Text(); !isField(name) {
				visit(name)
			}
			visitArgumentTexts(inner, visit)
		}
	case jsonscan.Array:
		for inner := range value.Elements() {
			visitArgumentTexts(inner, visit)
		}
	case jsonscan.Boolean, jsonscan.Number, jsonscan.String:
		visit(textOf(value))
	case jsonscan.Null, jsonscan.Absent:
	}
}

// fields are names of what records of a recipient, a place or a time have, in lower case and
// without marks. Another name could be a recipient's.
var fields = map[string]bool{
	"account": true, "address": true, "addresses": true, "bcc": true, "body": true, "branch": true, "cc": true, "channel": true, "channelid": true, "channels": true,
	"city": true, "code": true, "company": true, "content": true, "country": true, "countrycode": true, "date": true, "datetime": true, "description": true,
	"displayname": true, "domain": true, "email": true, "emailaddress": true, "emailaddresses": true, "emails": true, "end": true, "file": true, "fileid": true,
	"filename": true, "firstname": true, "folder": true, "groups": true, "handle": true, "host": true, "href": true, "iban": true, "id": true, "ids": true,
	"kind": true, "label": true, "lastname": true, "line1": true, "line2": true, "link": true, "login": true, "mail": true, "member": true, "members": true,
	"message": true, "name": true, "number": true, "organization": true, "owner": true, "path": true, "phone": true, "phonenumber": true, "port": true,
	"postalcode": true, "project": true, "projectid": true, "recipient": true, "recipients": true, "ref": true, "repo": true, "repository": true, "role": true,
	"room": true, "scheme": true, "start": true, "state": true, "street": true, "subject": true, "team": true, "text": true, "thread": true, "threadid": true,
	"time": true, "timezone": true, "title": true, "to": true, "type": true, "uid": true, "uri": true, "url": true, "user": true, "userid": true,
	"username": true, "users": true, "value": true, "values": true, "zip": true,
}

func isField(name string) bool { return fields[strings.ToLower(withoutMarks.Replace(name))] }

var withoutMarks = strings.NewReplacer("_", "", "-", "")

// isIdentifier reports whether a name has the form that programs give to arguments.
func isIdentifier(name string) bool {
	for i := range len(name) {
		c := name[i] | 0x20
		if !isAlphanumeric(c) && name[i] != '_' && name[i] != '-' {
			return false
		}
	}
	return name != ""
}

func textOf(leaf jsonscan.Value) string {
	if leaf.Kind() == jsonscan.String {
		return leaf.Text()
	}
	return string(leaf)
}

// opinion is what a session makes of a call that could carry out what it has seen.
type opinion struct {
	goes string   // why it goes without a question; "" where it does not
	why  []string // why it does not
}

func (o *opinion) addReason(reason string) { o.why = append(o.why, reason) }

// Why a call goes, for the record.
const (
	userSaid  = "it goes where the user said"
	ownPlace  = "it has none of the arguments that decide where it goes"
	sameAgain = "a person let the same go there before"
)

// weighCall reports whether a call goes without a question: it goes where the user said, where a
// person let the same go before, or, by the owner's list of what decides, nowhere else, carries no address that others have written and the user
// has not, and nothing of what must not leave. The labels are those of the last look.
func (s *Session) weighCall(server string, decides []string, c *policy.Call) (o opinion, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.openJournals(); err != nil {
		return o, err
	}
	s.awaitMarks()
	k := &s.known
	if err := s.recallMarks(k); err != nil {
		return o, err
	}
	g := &s.going
	g.readCall(server, decides, c)
	defer g.clearCall()
	before := k.isAllowed(g.what)
	if g.loose && !before {
		o.addReason("nothing in it says where it goes")
	}
	for _, to := range g.to {
		if !before && !k.isEndorsed(to) {
			if from := k.findSource(to); from != "" {
				o.addReason(quoteValue(to) + " is from " + from + ", not from the user")
			} else {
				o.addReason("the user did not name " + quoteValue(to))
			}
		}
	}
	k.weighAddresses(g, &o)
	if len(s.labels[secret]) > 0 {
		switch source, has := k.findRepeat(secretRun, g.texts); {
		case source != "":
			o.addReason("it repeats secret data from " + source)
		case has:
			o.addReason("it may repeat secret data")
		}
	}
	switch {
	case len(o.why) > 0:
	case before:
		o.goes = sameAgain
	case len(g.to) == 0:
		o.goes = ownPlace
	default:
		o.goes = userSaid
	}
	return o, nil
}

// weighAddresses is against addresses that others have written and the user has not, each once.
// The host of what the user has named is against it where others have surely written that.
func (k *known) weighAddresses(g *going, o *opinion) {
	var told []string
	for _, text := range g.texts {
		visitAddresses(text, func(word, whole string) {
			if word != whole && k.isMentioned(whole) && !hasMark(k.results, oddWord, []byte(word)) {
				return
			}
			if !k.mayBeForeign(word) || slices.Contains(told, word) || k.isMentioned(word) || k.isAllowed(g.addressKey(word)) {
				return
			}
			told = append(told, word)
			if len(o.why) == 0 || !slices.ContainsFunc(g.to, func(to string) bool { return hasWord(to, word) }) {
				o.addReason("it carries " + quoteValue(word) + fromText(k.findSource(word)))
			}
		})
	}
}

// hasWord reports whether a word is in a text.
func hasWord(text, word string) bool {
	all := splitWords(text)
	for one := all.nextWord(); one != ""; one = all.nextWord() {
		if one == word {
			return true
		}
	}
	return false
}

// addressKey gives what a call that carries an address is allowed by.
func (g *going) addressKey(word string) []byte {
	return slices.Concat(g.what, []byte{0}, []byte(word))
}

// allowCall keeps that a person let a call go: the same goes there again.
func (s *Session) allowCall(server string, decides []string, c *policy.Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refreshState(); err != nil {
		return err
	}
	m, err := s.marksOf(s.journals[0], true)
	if err != nil {
		return err
	}
	m.refreshMarks()
	g := &s.going
	g.readCall(server, decides, c)
	defer g.clearCall()
	all := []mark{m.hashMark(source, []byte("person")), m.hashMark(allowed, g.what)}
	for _, text := range g.texts {
		visitAddresses(text, func(word, _ string) { all = append(all, m.hashMark(allowed, g.addressKey(word))) })
	}
	return m.writeMarks(m.freshMarks(all)...)
}
