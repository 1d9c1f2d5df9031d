package flow

import (
	"strings"

	"github.com/clawai/clawai/policy"
)

// traitsOf returns the traits of a call. The owner's settings come first, then the catalogue, then
// the cautious default. Between layers of the policy the stricter value wins. traitsOf also returns
// two lists of argument names. The result decides lists the arguments that say where the call goes;
// nil if they are not known. The result weighs lists the arguments whose amounts the user must have
// typed.
func (s *ServerLabels) traitsOf(p *policy.Policy, c *policy.Call) (t policy.Traits, decides, weighs []string) {
	server, known := s.callServer(c)
	said := p.ToolTrust(server, toolNames(c))
	t = said.Own
	if own, goes, is := ownTool(c); is {
		if decides = said.Decides; decides == nil {
			decides = goes
		}
		return t.FillUnsaid(own).Join(said.Floor), decides, said.Weighs
	}
	switch {
	case c.Subject == policy.NoSubject, c.Subject == policy.ResourceSubject && len(c.Names) == 0: // a resource without a name is a list of resources
		t = t.FillUnsaid(known.toolTraits(""))
	case c.Subject == policy.ToolSubject && len(c.Names) == 1 && c.Names[0] != "":
		t = t.FillUnsaid(known.toolTraits(c.Names[0]))
	}
	return t.FillUnsaid(cautiousTraits(c)).Join(said.Floor), said.Decides, said.Weighs
}

// callServer returns the name of a call's server and the catalogue's facts about the server. The
// facts are nil for a server of a hub, because only its name is known here.
func (s *ServerLabels) callServer(c *policy.Call) (name string, known *Known) {
	if c.Server == "" || c.Server == s.name {
		return s.name, s.known()
	}
	return c.Server, nil
}

// toolNames returns the names of a called tool, for the policy's tables about tools. For a call of
// another kind it returns nil.
func toolNames(c *policy.Call) []string {
	if c.Subject == policy.ToolSubject {
		return c.Names
	}
	return nil
}

// cautiousTraits returns the traits that are assumed if nothing is known about a call's server and
// tool.
func cautiousTraits(c *policy.Call) policy.Traits {
	t := policy.Traits{PublicSource: policy.Yes, SecretData: policy.Yes, PublicSink: policy.No, DangerousWrites: policy.No}
	switch c.Subject {
	case policy.ToolSubject:
		t.PublicSink = policy.Yes
		if c.Assurances&policy.ReadOnly == 0 {
			t.DangerousWrites = policy.Yes
		}
	case policy.ResourceSubject:
		t.SecretData = policy.Private
		for _, uri := range c.Names { // a request for an address sends the text of the address to its host
			if scheme, _, _ := strings.Cut(strings.TrimSpace(uri), ":"); !strings.EqualFold(scheme, "file") {
				t.PublicSink = policy.Yes
			}
		}
	case policy.SamplingSubject, policy.ElicitationSubject: // the answer goes to the server
		t.PublicSink = policy.Yes
	case policy.PromptSubject, policy.MethodSubject: // the arguments go to the server
		if len(c.Args)+len(c.Extra) > 0 && !isPlainMethod(c.Method) {
			t.PublicSink = policy.Yes
		}
	case policy.NoSubject:
	}
	return t
}

// isPlainMethod reports whether a method carries only data of the protocol: cursors, ids and
// levels. It returns false for tasks/update, which carries the client's data.
func isPlainMethod(method string) bool {
	return method != "tasks/update" && (silent[method] || strings.HasPrefix(method, "tasks/") || strings.HasPrefix(method, "notifications/"))
}

// labelKinds returns the kinds of labels that a server's answer adds.
func labelKinds(t policy.Traits) (kinds []string) {
	if t.PublicSource >= policy.Yes {
		kinds = append(kinds, untrusted)
	}
	switch t.SecretData {
	case policy.Private:
		kinds = append(kinds, private)
	case policy.Yes, policy.Forbidden:
		kinds = append(kinds, secret)
	case policy.Unsaid, policy.No:
	}
	return kinds
}

// sourceName returns the name of a call's source for people, such as the server and the tool.
func (s *ServerLabels) sourceName(c *policy.Call) string {
	server := s.shown
	if c.Server != "" {
		server = c.Server
	}
	switch {
	case c.Subject == policy.ToolSubject && len(c.Names) > 0:
		return cutSource(server + " " + c.Names[0])
	case c.Subject == policy.ResourceSubject:
		return cutSource(server + " resources")
	case c.Subject == policy.PromptSubject:
		return cutSource(server + " prompts")
	}
	return cutSource(server)
}

// cutSource shortens the name of a source, and replaces every character that could control a
// terminal.
func cutSource(text string) string {
	const most = 80
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	if len(text) > most {
		text = text[:most] + "..."
	}
	return text
}
