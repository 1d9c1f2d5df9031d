package mcp

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"sync"

	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/policy"
)

// Limits of a session's memory of input requests. If a request was dropped from the memory, its
// answer is judged by the answer's own texts, like an answer for which no request is known.
const (
	maxAsked      = 256
	maxAskedBytes = 1 << 20
)

// Asked remembers the input requests that the gate has let through in one session. With it, the
// answers in a client's retry (params.inputResponses) are judged like the requests. The zero value
// is empty and ready. It is safe for concurrent use.
type Asked struct {
	mu      sync.Mutex
	entries []askedInput // oldest first
	bytes   int
}

type askedInput struct {
	key    string
	digest [sha256.Size]byte
	call   policy.Call
}

// RememberInputs remembers input requests that the gate let through.
func (a *Asked) RememberInputs(in Inputs) {
	if len(in.Calls) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range in.Calls {
		if a.hasEntry(in.Keys[i], in.digests[i]) {
			continue
		}
		e := askedInput{key: strings.Clone(in.Keys[i]), digest: in.digests[i], call: CloneCall(in.Calls[i])}
		a.entries = append(a.entries, e)
		a.bytes += e.entrySize()
		for len(a.entries) > maxAsked || a.bytes > maxAskedBytes {
			a.bytes -= a.entries[0].entrySize()
			a.entries = append(a.entries[:0], a.entries[1:]...)
		}
	}
}

// KnowsInputs reports whether the gate has let all these requests through before, with the same
// bytes and keys. A task repeats its open requests at each poll. Without this check a person would
// be asked at each poll.
func (a *Asked) KnowsInputs(in Inputs) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range in.Calls {
		if !a.hasEntry(in.Keys[i], in.digests[i]) {
			return false
		}
	}
	return len(in.Calls) > 0
}

// AnswerCalls returns the calls that the rules judge for the inputResponses of a message. The
// message's own call is not among them. For each answer it returns the calls of the remembered
// requests that have the same key and kind as the answer. If there is no such request, it returns one
// call with the texts in the answer, or with the text "" if there are none. The call of an answer of
// unknown form is marked as malformed. If AnswerCalls returns a refusal, the whole frame is refused.
func (a *Asked) AnswerCalls(f *frame.Frame, m *Message, server string) ([]policy.Call, *frame.Refusal) {
	if m.InputResponses == nil {
		return nil, nil
	}
	all := jsonscan.ValueOf(m.InputResponses)
	if all.Kind() != jsonscan.Object {
		if all.Kind() == jsonscan.Null {
			return nil, nil
		}
		return nil, refuseFrame(f, CodeResponses, "inputResponses is not an object")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var calls []policy.Call
	n := 0
	for key, answer := range all.Members() {
		if n++; n > maxInputs {
			return nil, refuseFrame(f, CodeResponses, "more answers than a result may ask for")
		}
		if answer.Kind() != jsonscan.Object { // the whole frame is refused, because the server would find it malformed too
			return nil, refuseFrame(f, CodeResponses, "inputResponses holds an answer that is not an object")
		}
		name := key.Text()
		own := callOfAnswer(answer, server)
		known := false
		for i := range a.entries {
			if e := &a.entries[i]; e.key == name && e.call.Method == own.Method && own.Malformed == "" {
				calls, known = append(calls, e.call), true
			}
		}
		if !known {
			calls = append(calls, own)
		}
	}
	return calls, nil
}

// callOfAnswer returns a call that represents an answer to the rules. One member shows the kind of
// the answer: roots, action (elicitation) or role (sampling).
func callOfAnswer(answer jsonscan.Value, server string) policy.Call {
	c := policy.Call{Server: server}
	kinds := 0
	for key := range answer.Members() {
		switch name := key.Text(); {
		case strings.EqualFold(name, "roots"):
			c.Method, c.Subject = "roots/list", policy.MethodSubject
		case strings.EqualFold(name, "action"):
			c.Method, c.Subject = "elicitation/create", policy.ElicitationSubject
		case strings.EqualFold(name, "role"):
			c.Method, c.Subject = "sampling/createMessage", policy.SamplingSubject
		default:
			continue
		}
		kinds++
	}
	if kinds != 1 || hasFoldedMembers(answer) {
		c.Malformed = "an answer that is not one of sampling, elicitation or roots"
		return c
	}
	switch c.Subject {
	case policy.MethodSubject:
		c.Names = []string{c.Method}
	case policy.ElicitationSubject:
		appendScalars(answer.Member("content"), &c.Names)
	default:
		readMessage(answer, &c, 0)
	}
	if len(c.Names) == 0 {
		c.Names = []string{""}
	}
	tooMany(&c)
	return c
}

// appendScalars appends every string, number and boolean in v, at any depth.
func appendScalars(v jsonscan.Value, to *[]string) {
	v.VisitLeaves(func(_ string, leaf jsonscan.Value) {
		if leaf.Kind() == jsonscan.String {
			appendName(to, leaf.Text())
		} else {
			appendName(to, string(leaf))
		}
	})
}

func (a *Asked) hasEntry(key string, digest [sha256.Size]byte) bool {
	for i := range a.entries {
		if a.entries[i].digest == digest && a.entries[i].key == key {
			return true
		}
	}
	return false
}

func (e *askedInput) entrySize() int {
	n := len(e.key) + len(e.call.Extra)
	for _, name := range e.call.Names {
		n += len(name)
	}
	return n
}

// CloneCall returns a copy of a call. The copy does not keep the call's frame in memory.
func CloneCall(c policy.Call) policy.Call {
	names := make([]string, len(c.Names))
	for i, name := range c.Names {
		names[i] = strings.Clone(name)
	}
	c.Method, c.Names, c.Args, c.Extra = strings.Clone(c.Method), names, bytes.Clone(c.Args), bytes.Clone(c.Extra)
	return c
}
