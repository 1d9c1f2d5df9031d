package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/wire/escape"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/internal/wire/modelapi"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook/client"
)

// readConversation passes the parts of a request to the gate and returns the body to send. The body
// is changed only at refused calls, at denied tools of the service, and at results that the rules
// have altered.
func (t *turn) readConversation(body []byte) ([]byte, error) {
	r, err := modelapi.ReadRequest(t.api, body)
	if err != nil {
		return t.distrustConversation(&r, "a request: "+err.Error(), body)
	}
	for _, kind := range r.Unread {
		if t.noteOnce("part " + kind) {
			t.noteUnread("client", "parts of the kind "+kind, 0)
		}
		if err := t.callUnknown(kind); err != nil {
			return nil, err
		}
	}
	if err := t.uploadWords(&r); err != nil {
		return nil, err
	}
	edits, err := t.withoutDenied(&r)
	if err != nil {
		return nil, err
	}
	refused, instead := map[string]denial{}, map[string]string{} // both maps have the id of a refused call as key; refused holds the denial, and instead holds the false name that stands in the request
	for i := range r.Calls {
		c := &r.Calls[i]
		if d, is := t.findDenial(c.Place.Text()); is {
			edits = append(edits, frame.Edit{Part: c.Place.Bytes(), Token: d.name})
			edits = appendID(edits, c.IDPlace, c.Place.Text(), &d)
			refused[c.ID] = d
			if c.ID != "" {
				instead[c.ID] = c.Place.Text()
			}
		}
	}
	calls := newCallFinder(&r)
	for i := range r.Results {
		one := &r.Results[i]
		asked := calls.findCall(one)
		if d, is := t.denialOf(one, refused); is {
			if one.Content != "" {
				edits = append(edits, frame.Edit{Part: one.Content.Bytes(), Token: contentOf(t.api, d.words)})
			}
			if one.Place != "" {
				edits = append(edits, frame.Edit{Part: one.Place.Bytes(), Token: d.name})
			}
			edits = appendID(edits, one.IDPlace, instead[one.ID], &d)
			continue
		}
		instead, err := t.takeResult(one, asked)
		if err != nil {
			return nil, err
		}
		if instead != nil {
			edits = append(edits, frame.Edit{Part: one.Content.Bytes(), Token: instead})
		}
	}
	_ = t.o.Gate.Flush() // the error is ignored, because after it the gate refuses every later exchange
	return t.editRequest(body, edits)
}

// distrustConversation is distrustRequest for a request that could be read only in part. If
// r.Offered is true, all tools in the request were read.
func (t *turn) distrustConversation(r *modelapi.Request, what string, body []byte) ([]byte, error) {
	if !r.Offered {
		return body, t.distrustRequest(what, body)
	}
	t.noteUnread("client", what, 0)
	if err := t.callUnknown(UnreadMethod); err != nil {
		return nil, err
	}
	edits, err := t.withoutDenied(r)
	if err != nil {
		return nil, err
	}
	if err := t.uploadUnread("a request", body); err != nil {
		return nil, err
	}
	return t.editRequest(body, edits)
}

// editRequest returns the changed request and records the change.
func (t *turn) editRequest(body []byte, edits []frame.Edit) ([]byte, error) {
	if len(edits) == 0 || t.passing != nil { // the bytes of a request that is already being forwarded cannot change
		return body, nil
	}
	sent := frame.SpliceAll(body, edits...)
	return sent, t.noteEdit("client", body, sent, fmt.Sprintf("%d places of a request", len(edits)))
}

// appendID adds an edit for an id that the client has built from the name of a refused call. The
// edit puts the tool's real name into the id.
func appendID(edits []frame.Edit, id jsonscan.Value, name string, d *denial) []frame.Edit {
	if text := id.Text(); name != "" && strings.Contains(text, name) {
		edits = append(edits, frame.Edit{Part: id.Bytes(), Token: escape.QuoteText(strings.ReplaceAll(text, name, jsonscan.ValueOf(d.name).Text()))})
	}
	return edits
}

// denialOf returns the denial of the refused call that a result answers. It returns false if the
// result answers no refused call.
func (t *turn) denialOf(one *modelapi.Result, refused map[string]denial) (denial, bool) {
	if one.Place != "" {
		if d, is := t.findDenial(one.Place.Text()); is {
			return d, true
		}
	}
	d, is := refused[one.ID]
	return d, is && one.ID != ""
}

// contentOf returns a text in the form that the content of a tool's result has.
func contentOf(api modelapi.API, words string) []byte {
	quoted := escape.QuoteText(words)
	if api == modelapi.Gemini {
		return fmt.Appendf(nil, `{"error":%s}`, quoted)
	}
	return quoted
}

// callFinder finds the call that a result answers.
type callFinder struct {
	byID   map[string]*modelapi.Asked
	byName map[string][]*modelapi.Asked // calls without an id that no result has answered yet, by the tool's name
}

func newCallFinder(r *modelapi.Request) callFinder {
	f := callFinder{map[string]*modelapi.Asked{}, map[string][]*modelapi.Asked{}}
	for i := range r.Calls {
		switch c := &r.Calls[i]; {
		case c.ID == "":
			f.byName[c.Place.Text()] = append(f.byName[c.Place.Text()], c)
		case f.byID[c.ID] == nil:
			f.byID[c.ID] = c
		}
	}
	return f
}

// findCall returns the call that a result answers. It is the call with the result's id. If the
// result has no id, it is the first call of the same tool that no earlier result answers.
func (f *callFinder) findCall(one *modelapi.Result) *modelapi.Asked {
	if one.ID != "" {
		return f.byID[one.ID]
	}
	open := f.byName[one.Name]
	if len(open) == 0 {
		return nil
	}
	f.byName[one.Name] = open[1:]
	return open[0]
}

// takeResult passes a result to the gate, unless an earlier request had the same result. It returns
// the content that the rules put in place of the result's content, or nil if nothing changes.
func (t *turn) takeResult(one *modelapi.Result, asked *modelapi.Asked) (instead []byte, err error) {
	if one.Content == "" {
		return nil, nil
	}
	of := digestOf(one)
	instead, known, release, err := t.claimResult(t.ctx, of)
	if err != nil {
		return nil, err
	}
	defer release()
	if known {
		return instead, nil
	}
	made := t.callOf(one, asked)
	uploads := t.screensUploads() && !one.Hosted // a result from the service itself is already known to the service
	if made.cover == ByProxy && !uploads {
		t.keepResult(of, nil)
		return nil, nil
	}
	line, err := resultFrame(one.ID, one.Content, false)
	switch {
	case err != nil:
		t.noteUnread("server", "a result: "+err.Error(), len(one.Content))
		err = t.callUnknown(UnreadMethod)
	case made.cover != ByProxy:
		instead, err = t.takeReply(one, &made, line)
	}
	if err == nil && uploads {
		goes := one.Content
		if instead != nil { // a rule about replies has altered the content
			goes = jsonscan.ValueOf(instead)
		}
		var other []byte
		if other, err = t.uploadResult(one, goes, &made); other != nil {
			instead = other
		}
	}
	if err != nil {
		return nil, err
	}
	t.keepResult(of, instead)
	return instead, nil
}

// takeReply passes a result to the gate as a reply of the tool's server.
func (t *turn) takeReply(one *modelapi.Result, made *madeCall, line []byte) (instead []byte, err error) {
	c := &made.calls[0]
	x := &gate.Exchange{Raw: line, Answered: made.calls, Event: event.Event{
		Server: c.Server, Direction: "server", Method: c.Method, Ref: made.record, Detail: t.describeTurn(),
	}}
	if one.ID != "" {
		x.Event.ID = escape.QuoteText(one.ID)
	}
	if made.cover == ByHook {
		if labels := t.listLabels(x); len(labels) > 0 {
			if err := t.o.Labels.Add(labels, x.Raw); err != nil {
				return nil, errLabels
			}
		}
		return nil, nil
	}
	return t.observeResult(x, c, jsonscan.Absent)
}

// observeResult passes a result to the gate. It returns the content that takes the place of the
// result's content, or nil if nothing changes. kind has the same meaning as in alteredContent.
func (t *turn) observeResult(x *gate.Exchange, c *policy.Call, kind jsonscan.ValueKind) (instead []byte, err error) {
	line, out := x.Raw, newOutcome(nil)
	x.Out = out
	t.o.Gate.Observe(t.ctx, x)
	v, err := out.await(t.ctx)
	switch {
	case err != nil:
		return nil, err
	case v == nil && bytes.Equal(out.sent, line):
		return nil, nil
	case t.passing != nil: // the rules have changed in the meantime, but the result was already sent
		return nil, errLabels
	case v == nil:
		return alteredContent(out.sent, kind)
	}
	d := v.NewDenial(*c)
	d.Ran = true
	return contentOf(t.api, t.o.Gate.MaskDenial(d).DescribeDenial()), nil
}

// digestOf returns a digest of the result. Later requests repeat the result, and the digest
// identifies it.
func digestOf(one *modelapi.Result) (of digest) {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %q ", one.ID, one.Name)
	_, _ = h.Write(one.Content.Bytes())
	h.Sum(of[:0])
	return of
}

func (t *turn) listLabels(x *gate.Exchange) []gate.Label {
	if t.o.Labels == nil {
		return nil
	}
	return t.o.Labels.Brought(x)
}

var errLabels = &refusal{http.StatusServiceUnavailable, "what the session has seen cannot be kept or recorded; tell the owner"}

// callOf returns the call that a result answers. If the call is unknown, it returns a call that the
// rules judge as the worst case.
func (t *turn) callOf(one *modelapi.Result, asked *modelapi.Asked) madeCall {
	switch {
	case one.Hosted:
		return madeCall{calls: []policy.Call{t.hostedCall(one.Name)}}
	case asked == nil && one.ID != "":
		if made, known := t.findCall(one.ID); known {
			return made
		}
	}
	if asked == nil {
		return madeCall{calls: []policy.Call{t.unknownCall("a tool whose call was not seen")}}
	}
	made := t.makeCall(&asked.Call) // the remembered call may be another one, because some services reuse ids in every conversation
	if kept, known := t.findCall(asked.ID); known && slices.Equal(kept.calls[0].Names, made.calls[0].Names) {
		made.record = kept.record
	}
	t.keepCall(asked.ID, made)
	return made
}

// makeCall returns a call in the form for the rules. The result also tells which other transport
// judges the call, if there is one.
func (t *turn) makeCall(c *modelapi.Call) madeCall {
	req, err := t.o.Client.ReadModelCall(client.ModelCall{Session: t.session, ID: c.ID, Tool: c.Name, Args: c.Args, Text: c.Text, Free: c.Free, Cwd: t.o.Cwd})
	if err == nil && c.Bad != "" {
		err = &refusal{text: c.Bad}
	}
	if err != nil {
		bad := t.unknownCall(c.Name)
		bad.Malformed = err.Error()
		return madeCall{calls: []policy.Call{bad}}
	}
	if req.HasSpelledServer() && t.o.Servers != nil {
		req.NarrowServers(t.o.Servers())
	}
	for i := range req.Calls {
		req.Calls[i].Session = t.session
	}
	made := madeCall{calls: req.Calls}
	if t.o.Covers != nil && !t.o.All {
		made.cover = t.o.Covers(t.peer, &req)
	}
	return made
}

// unknownCall returns a call of a tool with this name. Nothing else is known about the tool.
func (t *turn) unknownCall(name string) policy.Call {
	return policy.Call{Server: t.o.Client.ID, Method: builtin.Method, Subject: policy.ToolSubject, Names: []string{name}, Session: t.session}
}

// hostedCall returns a call for a tool that the service has run. If the client has a built-in tool
// of the same class, such as a web search, it is a call of that tool. Otherwise it is an unknown
// call.
func (t *turn) hostedCall(kind string) policy.Call {
	class := hostedClass(kind)
	if names := builtin.ToolNames(t.o.Client.ID, class); class != "" && len(names) > 0 {
		kind = names[0]
	}
	return t.unknownCall(kind)
}

// callUnknown adds the labels for a call of an unknown tool.
func (t *turn) callUnknown(name string) error {
	if t.o.Labels == nil {
		return nil
	}
	if t.o.Labels.Called([]policy.Call{t.unknownCall(name)}) != nil {
		return errLabels
	}
	return nil
}

// resultFrame returns a result as a frame that a tool's server could have sent, because the gate
// can judge such a frame. blocks means that content is the list of a reply's blocks, or one block.
// Then pictures are recognized, but the rules may add nothing to the content.
func resultFrame(id string, content jsonscan.Value, blocks bool) ([]byte, error) {
	text := content.Bytes()
	if content.Kind() != jsonscan.String && bytes.ContainsAny(text, "\r\n") { // compacted, because a frame must be one line
		room := &bytes.Buffer{}
		if err := json.Compact(room, text); err != nil {
			return nil, err
		}
		text = room.Bytes()
	}
	before, after := `{"content":[],"structuredContent":{"value":`, "}}}"
	switch kind := content.Kind(); {
	case kind == jsonscan.String:
		before, after = `{"content":[{"type":"text","text":`, "}]}}"
	case kind == jsonscan.Array && blocks:
		before, after = `{"content":`, "}}"
	case blocks:
		before, after = `{"content":[`, "]}}"
	}
	line := append([]byte(`{"jsonrpc":"2.0","id":`), escape.QuoteText(id)...)
	line = append(append(append(append(line, `,"result":`...), before...), text...), after...)
	var f frame.Frame
	if err := f.Parse(line, frame.DefaultLimits()); err != nil {
		return nil, err
	}
	return line, nil
}

// alteredContent returns the altered content from a frame of resultFrame. kind is the JSON kind of
// the original content if the frame was made with blocks, and Absent otherwise.
func alteredContent(line []byte, kind jsonscan.ValueKind) ([]byte, error) {
	result := jsonscan.ValueOf(line).Member("result")
	content := result.Member("content")
	switch kind {
	case jsonscan.Array:
		return content.Bytes(), nil
	case jsonscan.Object:
		for one := range content.Elements() {
			return one.Bytes(), nil
		}
	default:
	}
	if v := result.Member("structuredContent").Member("value"); v != "" {
		return v.Bytes(), nil
	}
	for part := range content.Elements() {
		if text := part.Member("text"); text.Kind() == jsonscan.String {
			return text.Bytes(), nil
		}
	}
	return nil, &refusal{http.StatusServiceUnavailable, "what a rule has changed in a result cannot be put into the request, " + strconv.Itoa(len(line)) + " bytes"}
}
