package mcp

import "github.com/clawai/clawai/policy"

// Direction is the sender of a message. The zero value means no sender; such a message is refused.
type Direction uint8

// The two directions. Both is the set of them and is never the direction of a message.
const (
	ClientToServer Direction = 1 << iota
	ServerToClient

	Both = ClientToServer | ServerToClient
)

// String returns the word for the sender in records.
func (d Direction) String() string {
	switch d {
	case ClientToServer:
		return "client"
	case ServerToClient:
		return "server"
	default:
		return "unknown"
	}
}

// Class tells how the gate treats a message. The zero value is Judge.
type Class uint8

// The classes of messages.
const (
	Judge Class = iota // the rules for the message's subject judge the message: tool, resource, prompt, sampling or elicitation
	Pass               // forwarded and recorded, but a method rule may still stop it
	List               // like Pass, and the names in the result are recorded
)

// shape tells where the params of a judged method have the names of the call.
type shape uint8

const (
	none shape = iota // the method itself is the only name
	named
	oneURI
	subscriptions
	sampling
	elicitation
)

// Version is a set of released protocol versions.
type Version uint8

// The released versions, and the extensions of the newest version.
const (
	V20241105 Version = 1 << iota
	V20250326
	V20250618
	V20251125
	V20260728
	Extension // an extension of 2026-07-28, such as tasks or skills
)

const (
	legacy = V20241105 | V20250326 | V20250618 | V20251125
	all    = legacy | V20260728
)

// Method is a row of the method table.
type Method struct {
	Name         string
	From         Direction // the side that may send the method
	In           Version   // the versions that have the method as a message of its own
	Class        Class
	Subject      policy.Subject // NoSubject means that no rule ever applies
	Notification bool

	params shape // where the params have the names and arguments of a call
}

// table has every method of every released version, the most frequent first. In 2026-07-28
// sampling/createMessage, elicitation/create and roots/list exist only inside results (see
// InputCalls). But if a server still sends such a request, it is judged too.
var table = [...]Method{
	{"tools/call", ClientToServer, all, Judge, policy.ToolSubject, false, named},
	{"resources/read", ClientToServer, all, Judge, policy.ResourceSubject, false, oneURI},
	{"resources/subscribe", ClientToServer, legacy, Judge, policy.ResourceSubject, false, oneURI},
	{"resources/unsubscribe", ClientToServer, legacy, Judge, policy.ResourceSubject, false, oneURI},
	{"resources/directory/read", ClientToServer, Extension, Judge, policy.ResourceSubject, false, oneURI},
	{"skills/get", ClientToServer, Extension, Judge, policy.ResourceSubject, false, oneURI},
	{"subscriptions/listen", ClientToServer, V20260728, Judge, policy.ResourceSubject, false, subscriptions},
	{"prompts/get", ClientToServer, all, Judge, policy.PromptSubject, false, named},
	{"sampling/createMessage", ServerToClient, legacy, Judge, policy.SamplingSubject, false, sampling},
	{"elicitation/create", ServerToClient, V20250618 | V20251125, Judge, policy.ElicitationSubject, false, elicitation},

	{"tools/list", ClientToServer, all, List, policy.MethodSubject, false, none},
	{"resources/list", ClientToServer, all, List, policy.MethodSubject, false, none},
	{"resources/templates/list", ClientToServer, all, List, policy.MethodSubject, false, none},
	{"prompts/list", ClientToServer, all, List, policy.MethodSubject, false, none},
	{"skills/list", ClientToServer, Extension, List, policy.MethodSubject, false, none},

	{"completion/complete", ClientToServer, all, Pass, policy.MethodSubject, false, none},
	{"logging/setLevel", ClientToServer, legacy, Pass, policy.MethodSubject, false, none},
	{"roots/list", ServerToClient, legacy, Pass, policy.MethodSubject, false, none},
	{"tasks/get", Both, V20251125 | Extension, Pass, policy.MethodSubject, false, none},
	{"tasks/cancel", Both, V20251125 | Extension, Pass, policy.MethodSubject, false, none},
	{"tasks/result", Both, V20251125, Pass, policy.MethodSubject, false, none},
	{"tasks/list", Both, V20251125, Pass, policy.MethodSubject, false, none},
	{"tasks/update", ClientToServer, Extension, Pass, policy.MethodSubject, false, none},

	{"initialize", ClientToServer, legacy, Pass, policy.NoSubject, false, none},
	{"server/discover", ClientToServer, V20260728, Pass, policy.NoSubject, false, none},
	{"ping", Both, legacy, Pass, policy.NoSubject, false, none},

	{"notifications/progress", Both, all, Pass, policy.NoSubject, true, none},
	{"notifications/cancelled", Both, all, Pass, policy.NoSubject, true, none},
	{"notifications/initialized", ClientToServer, legacy, Pass, policy.NoSubject, true, none},
	{"notifications/roots/list_changed", ClientToServer, legacy, Pass, policy.NoSubject, true, none},
	{"notifications/message", ServerToClient, all, Pass, policy.NoSubject, true, none},
	{"notifications/tools/list_changed", ServerToClient, all, Pass, policy.NoSubject, true, none},
	{"notifications/prompts/list_changed", ServerToClient, all, Pass, policy.NoSubject, true, none},
	{"notifications/resources/list_changed", ServerToClient, all, Pass, policy.NoSubject, true, none},
	{"notifications/resources/updated", ServerToClient, all, Pass, policy.NoSubject, true, none},
	{"notifications/elicitation/complete", ServerToClient, V20251125, Pass, policy.NoSubject, true, none},
	{"notifications/tasks/status", Both, V20251125, Pass, policy.NoSubject, true, none},
	{"notifications/subscriptions/acknowledged", ServerToClient, V20260728, Pass, policy.NoSubject, true, none},
	{"notifications/tasks", ServerToClient, Extension, Pass, policy.NoSubject, true, none},
}

// Methods returns a copy of the method table for documentation and tests.
func Methods() []Method { return append([]Method(nil), table[:]...) }

// methodNamed returns the row of a method, or nil if no version has the method.
func methodNamed(name string) *Method {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}
