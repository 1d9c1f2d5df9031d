package reverse

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/frame"
	"github.com/clawai/clawai/proxy/mcp"
	"github.com/clawai/clawai/proxy/remote"
	"github.com/clawai/clawai/proxy/remote/sse"
	"github.com/tidwall/gjson"
)

// answered carries a JSON answer.
func (v *visit) answered(resp *http.Response) {
	body, err := v.body(resp)
	if err != nil {
		v.unreached(err.Error())
		return
	}
	v.learn(body)
	v.to(v.sink()).Handle(v.s.ctx, remote.OneLine(body))
	v.missing("the server answered something else than the request")
}

// learn takes in what an answer says of the messages to come.
func (v *visit) learn(answer []byte) {
	switch v.frame.Method {
	case "tools/list":
		v.agent.tools.Learn(answer)
	case "initialize":
		if v.talk != nil {
			v.s.opened(v.talk, "", mcp.Negotiated([]byte(gjson.GetBytes(answer, "result").Raw)))
		}
	}
}

// placeable are the places in the streams of this session, or of those without one.
func (v *visit) placeable() *places {
	if v.talk != nil {
		return &v.talk.places
	}
	return &v.agent.places
}

// declined carries a status that is no answer. A JSON-RPC error in the body is the
// server's word, under the id of the request.
func (v *visit) declined(resp *http.Response) {
	if v.frame.Kind != frame.Request {
		v.reader.empty(v.status(resp))
		return
	}
	body, err := v.body(resp)
	if err == nil {
		if f, err := frame.Parse(remote.OneLine(body), v.s.o.Limits); err == nil && f.Kind == frame.Response && f.Error != nil {
			v.to(v.sink()).Handle(v.s.ctx, mcp.Relayed(v.frame.ID, f.Error))
			return
		}
	}
	v.unreached("the server answered " + remote.Status(resp) + v.signInHint(resp))
}

// signInHint tells how signing in works here, and why it did not.
func (v *visit) signInHint(resp *http.Response) string {
	switch {
	case v.unsigned != nil:
		return "; " + v.unsigned.Error()
	case resp.StatusCode != http.StatusUnauthorized:
		return ""
	}
	return "; sign in with: " + signInWith
}

// signInWith is for whoever cannot sign in here: a client.
const signInWith = "clawai auth login, or give the client an Authorization header"

func (v *visit) body(resp *http.Response) ([]byte, error) {
	most := int64(v.s.o.Limits.MaxBytes)
	data, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err == nil && int64(len(data)) > most {
		err = errors.New("the server's answer is too long")
	}
	return data, err
}

// unreached answers in the server's place. It goes the way of an answer, so that
// the record has it.
func (v *visit) unreached(why string) {
	switch v.frame.Kind {
	case frame.Request:
		v.to(v.sink()).Handle(v.s.ctx, mcp.Unreached(v.frame.ID, why))
		v.missing(why)
	default:
		v.reader.empty(http.StatusBadGateway)
	}
}

// sink is where the answer to this message goes.
func (v *visit) sink() proxy.Sink {
	if v.elsewhere() {
		return v.talk.stream
	}
	return v.reader
}

// missing answers a request that the server has not.
func (v *visit) missing(why string) {
	if v.frame.Kind != frame.Request {
		return
	}
	if line := v.from.Fail(v.frame.ID, why); line != nil {
		_ = v.sink().Add(line)
	}
}

// follow carries an event stream, event by event.
func (v *visit) follow(resp *http.Response) {
	resumable, err := v.events(resp, v.reader, v.to(v.sink()))
	if resumable && !v.confirmed.Modern {
		v.reader.hangUp() // as the server did; the client takes the stream up again
		return
	}
	why := "the stream ended before the answer"
	if err != nil {
		why += ": " + err.Error()
	}
	v.missing(why)
}

// headerGrace is how long the header of a stream waits for its first event.
const headerGrace = 2 * time.Millisecond

// events carries what comes until the stream ends.
func (v *visit) events(resp *http.Response, out *responder, to *proxy.Stream) (resumable bool, err error) {
	out.streams()
	soon := time.AfterFunc(headerGrace, out.open) // with the first event, if that is here: one write, not two
	defer func() { soon.Stop(); out.open() }()
	left := resp.ContentLength // -1: unknown
	for in := sse.NewReader(resp.Body, v.s.o.Limits.MaxBytes+64<<10); ; {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			return resumable, nil
		}
		if err != nil {
			return resumable, err
		}
		left -= int64(len(e.Raw))
		resumable = resumable || e.HasID && e.ID != ""
		v.placeable().add(e.ID)
		if e.HasData {
			v.learn(e.Data)
		}
		switch {
		case e.HasData && (e.Name == "" || e.Name == "message") && len(bytes.TrimSpace(e.Data)) > 0:
			done, crossed := out.seen.claim(v.r.Context(), e, v.resumes)
			if crossed {
				v.replayed(e)
				err = out.repeat(e)
				break
			}
			func() {
				defer done() // a panic too must let those go on who wait
				out.carry(e, left == 0, func() { to.Handle(v.s.ctx, remote.OneLine(bytes.Clone(e.Data))) })
			}()
		case e.HasData && e.Name != "" && e.Name != "message":
			err = out.place(e) // its data is no frame, and no client of MCP's reads it
		default:
			err = out.pass(e)
		}
		if err != nil {
			return resumable, err
		}
	}
}

// replayed records an event that comes again.
func (v *visit) replayed(e *sse.Event) {
	_ = v.agent.gate.Session.Note(&event.Event{
		Kind: event.Passed, Direction: mcp.ServerToClient.String(), Code: "replayed", Bytes: len(e.Data),
		Detail: "crossed before, and was sent again to a client that had lost its stream: event " + strconv.Quote(e.ID),
	})
}
