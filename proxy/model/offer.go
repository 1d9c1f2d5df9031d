package model

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/clawai/clawai/internal/text/builtin"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/modelapi"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/proxy/hook/client"
)

// withoutDenied returns the edits that remove the service's own tools from a request if a rule
// denies them. The service runs such a tool itself, so the tool's calls cannot be judged later. So
// the tool is judged here, without arguments.
func (t *turn) withoutDenied(r *modelapi.Request) ([]frame.Edit, error) {
	if !t.o.Judge || t.o.Denies == nil {
		return nil, nil
	}
	var out []modelapi.Offer
	for _, o := range r.Offers {
		made := t.offeredCall(o.Kind)
		if !t.o.Denies(made.calls) {
			continue
		}
		if err := t.noteOffer(o.Kind, made, []byte(r.Tools)); err != nil {
			return nil, err
		}
		if t.passing != nil {
			return nil, &refusal{http.StatusServiceUnavailable, fmt.Sprintf("the rules have changed and deny %s, which the service of the model would run; ask again", o.Kind)}
		}
		if !o.Alone {
			return nil, &refusal{http.StatusBadRequest, fmt.Sprintf("a rule denies %s, which the service of the model would run, and it cannot be taken out of the request; switch it off in the client", o.Kind)}
		}
		out = append(out, o)
	}
	if len(out) == 0 {
		return nil, nil
	}
	return []frame.Edit{{Part: r.Tools.Bytes(), Token: r.WithoutTools(out)}}, nil
}

// noteOffer records that a rule denies a tool of the service. The record has the form of a refused
// call. There is one record for each kind.
func (t *turn) noteOffer(kind string, made madeCall, raw []byte) error {
	if !t.noteOnce("offer " + kind) {
		return nil
	}
	asked := modelapi.Call{Name: kind}
	_, err := t.judgeHeld(t.ctx, []heldCall{{asked: &asked, made: made}}, raw)
	return err
}

// deniedOffers returns the kinds of the service's own tools that a rule denies.
func (t *turn) deniedOffers() (kinds []string) {
	if !t.o.Judge || t.o.Denies == nil {
		return nil
	}
	all := modelapi.OfferKinds(t.api)
	for i, made := range t.offered[t.api] {
		calls := slices.Clone(made.calls)
		for i := range calls {
			calls[i].Session = t.session
		}
		if t.o.Denies(calls) {
			kinds = append(kinds, all[i])
		}
	}
	return kinds
}

// refuseUnread refuses a request that could not be read, if a rule denies a tool of the service.
// The request may offer this tool, and the tool's calls would not be judged.
func (t *turn) refuseUnread(what string, body []byte) error {
	denied := t.deniedOffers()
	if len(denied) == 0 {
		return nil
	}
	if err := t.noteOffer(denied[0], t.offeredCall(denied[0]), body); err != nil {
		return err
	}
	return &refusal{http.StatusBadRequest, fmt.Sprintf("a rule denies %s, which the service of the model would run, and clawai cannot read whether this offers it: %s; let the client send plain JSON, or allow that tool", denied[0], what)}
}

// offeredCall returns a call, without arguments, of a tool that the service itself runs.
func (t *turn) offeredCall(kind string) madeCall {
	class, args := hostedClass(kind), ""
	switch class {
	case "websearch":
		args = `{"query":""}`
	case "fetch":
		args = `{"url":""}`
	}
	if names := builtin.ToolNames(t.o.Client.ID, class); class != "" && len(names) > 0 {
		req, err := t.o.Client.ReadModelCall(client.ModelCall{Session: t.session, Tool: names[0], Args: []byte(args), Cwd: t.o.Cwd})
		if err == nil {
			return madeCall{calls: req.Calls}
		}
	}
	if class != "" { // the client has no built-in tool of this class, so rules can name only the class
		kind = class
	}
	return madeCall{calls: []policy.Call{t.unknownCall(kind)}}
}

// hostedClass returns the class of built-in tools to which a tool of the service belongs, or "".
func hostedClass(kind string) string {
	switch {
	case strings.HasPrefix(kind, "web_search"), kind == "groundingMetadata":
		return "websearch"
	case strings.HasPrefix(kind, "web_fetch"):
		return "fetch"
	}
	return ""
}
