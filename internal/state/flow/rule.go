package flow

import (
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// outgoing holds the content of a call, and where the call goes. Its memory is used again for every
// call.
type outgoing struct {
	what  []byte   // the server, the tool and the deciding values, in exact form
	to    []string // the values that decide where the call goes
	loose bool     // true if no value in the call decides where the call goes
	texts []string // all texts in the call, also decoded as JSON or HTML
}

// clearCall drops all references to the last call, because the memory of that call is used again.
func (g *outgoing) clearCall() {
	clear(g.to)
	clear(g.texts)
	g.what, g.to, g.texts = g.what[:0], g.to[:0], g.texts[:0]
}

func (g *outgoing) addExact(text string) {
	if len(g.what) > 0 {
		g.what = append(g.what, 0)
	}
	g.what = append(g.what, text...)
}

// readCall reads a call. Only calls of tools and resources say where they go. A tool call with none
// of the deciding arguments goes where the tool always goes. If all its deciding arguments are
// empty, the tool call does not say where it goes.
func (g *outgoing) readCall(server string, decides, weighs []string, c *policy.Call) {
	g.clearCall()
	g.loose = len(c.Names) != 1 && c.Method != builtin.Method // a built-in tool can have several names, because its class adds names
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
	case decides == nil: // decides is not known, so every argument may decide where the call goes
		for _, all := range [...]jsonscan.Value{args, extra} {
			for key, value := range all.Members() {
				name := key.Text()
				if slices.ContainsFunc(weighs, func(w string) bool { return strings.EqualFold(w, name) }) {
					continue
				}
				if !isIdentifier(name) {
					g.to = append(g.to, name)
				}
				g.addDestination(name, value)
			}
		}
		g.loose = g.loose || len(g.to) == 0
	default:
		given := false
		visitArguments(decides, c, func(name string, value jsonscan.Value) {
			known := len(g.to)
			g.addDestination(name, value)
			given = given || value.Kind() != jsonscan.Null // some clients send null for a missing argument
			if len(g.to) == known && !isEmpty(value) {
				g.to = append(g.to, string(value)) // the value has no text: it is true, false, or an object or list that holds only null or empty values
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

// visitArguments visits the arguments with these names. It ignores the case of letters.
func visitArguments(names []string, c *policy.Call, visit func(name string, value jsonscan.Value)) {
	for key, value := range jsonscan.ValueOf(c.Args).Members() {
		name := key.Text()
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			visit(name, value)
		}
	}
}

// addDestination adds the content of a deciding argument: its values, and the member names that are
// not usual names of fields.
func (g *outgoing) addDestination(name string, value jsonscan.Value) {
	g.addExact(name)
	switch value.Kind() {
	case jsonscan.Object:
		g.addExact("{")
		for key, inner := range value.Members() {
			name := key.Text()
			if !isField(name) || inner.Kind() == jsonscan.Boolean { // in {"members":true}, for example, the name is a recipient
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

// visitArgumentTexts visits the texts of a deciding argument. People see these texts.
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

// fields are the usual field names of a record for a recipient, a place or a time. They are in
// lower case, without "_" and "-". Any other name could be the name of a recipient.
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

// isIdentifier reports whether a name has the form that programs use for argument names.
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

// opinion is the judgement on a call that could send out data that the session has seen.
type opinion struct {
	goes string   // why the call needs no question; "" if the call needs a question
	why  []string // why the call needs a question
}

func (o *opinion) addReason(reason string) { o.why = append(o.why, reason) }

// Reasons why a call needs no question, for the record.
const (
	userSaid  = "it goes where the user said"
	ownPlace  = "it has none of the arguments that decide where it goes"
	sameAgain = "a person let the same go there before"
)

// weighCall judges whether a call needs a question. Normally no question is needed in three cases:
// a person has allowed the same call before, the user has named where the call goes, or the call
// has none of the deciding arguments. But also in these cases a question is needed if the call
// carries secret data, an address that others have written and the user has not, or an amount that
// the user has not typed. weighCall uses the labels that were read last.
func (s *Session) weighCall(server string, decides, weighs []string, c *policy.Call) (o opinion, err error) {
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
	if err := s.awaitOthers(k); err != nil {
		return o, err
	}
	g := &s.outgoing
	g.readCall(server, decides, weighs, c)
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
	visitWeights(weighs, c, func(value string) {
		if !k.isTypedAmount(value) && !k.isAllowed(g.weightKey(value)) {
			o.addReason("the user did not name " + quoteValue(value))
		}
	})
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

// weighAddresses adds a reason for each address that others have written and the user has not. If
// the user has named the whole address, the host alone is a reason only if others have certainly
// written the host.
func (k *known) weighAddresses(g *outgoing, o *opinion) {
	var told []string
	for _, text := range g.texts {
		visitCarried(text, func(word, whole string) {
			if word != whole && k.isMentioned(whole) && !hasMark(k.results, oddWord, []byte(word)) {
				return
			}
			from := word
			switch {
			case k.isMentioned(word) || slices.Contains(told, word):
				return
			case k.mayBeForeign(word):
			case word != whole && k.isMentioned(whole):
				return
			default:
				if from = k.foreignDomain(word); from == "" {
					return
				}
			}
			if k.isAllowed(g.addressKey(word)) {
				return
			}
			told = append(told, word)
			if len(o.why) == 0 || !slices.ContainsFunc(g.to, func(to string) bool { return hasWord(to, word) }) {
				o.addReason("it carries " + quoteValue(strings.TrimPrefix(word, "-")) + fromText(k.sourceOf(from)))
			}
		})
	}
}

func hasWord(text, word string) bool {
	all := splitWords(text)
	for one := all.nextWord(); one != ""; one = all.nextWord() {
		if one == word {
			return true
		}
	}
	return false
}

// addressKey returns the key under which a person's consent to an address in this call is stored.
func (g *outgoing) addressKey(word string) []byte {
	return slices.Concat(g.what, []byte{0}, []byte(word))
}

// weightKey returns the key under which a person's consent to an amount in this call is stored.
func (g *outgoing) weightKey(value string) []byte { return g.addressKey("=" + value) }

// allowCall stores that a person has allowed a call. The same call needs no question later.
func (s *Session) allowCall(server string, decides, weighs []string, c *policy.Call) error {
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
	g := &s.outgoing
	g.readCall(server, decides, weighs, c)
	defer g.clearCall()
	all := []mark{m.hashMark(source, []byte("person")), m.hashMark(allowed, g.what)}
	for _, text := range g.texts {
		visitCarried(text, func(word, _ string) { all = append(all, m.hashMark(allowed, g.addressKey(word))) })
	}
	visitWeights(weighs, c, func(value string) { all = append(all, m.hashMark(allowed, g.weightKey(value))) })
	return m.writeMarks(m.freshMarks(all)...)
}
