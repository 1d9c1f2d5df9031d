package reverse

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/mcp"
	"github.com/clawai/clawai/internal/wire/frame"
	"github.com/clawai/clawai/internal/wire/sse"
	"github.com/clawai/clawai/proxy"
	"github.com/clawai/clawai/proxy/remote"
	"github.com/tidwall/gjson"
)

// relayJSON carries a JSON answer.
func (rh *requestHandler) relayJSON(resp *http.Response) {
	body, err := remote.ReadBody(resp, rh.s.o.Limits.MaxBytes)
	if err != nil {
		rh.answerUnreachable(err.Error())
		return
	}
	line := remote.OneLine(body)
	rh.learnAnswer(line)
	rh.receiveLine(rh.clientStream(rh.answerSink()), line)
	rh.answerMissing("the server answered something else than the request")
}

// receiveLine hands a line of the server's to the pump. An error that says no id gets that of the
// request it came with; behind what has no answer, and on a stream that is no request's, it is
// no call's.
func (rh *requestHandler) receiveLine(to *proxy.Stream, line []byte) {
	switch {
	case rh.frame.Kind == frame.Request:
		if named := remote.NameError(line, rh.frame.ID, rh.s.o.Limits); named != nil {
			rh.noteNamed(line, named)
			line = named
		}
	case rh.frame.Kind == frame.Notification, rh.frame.Kind == frame.Response, rh.r.Method == http.MethodGet && !rh.resumes:
		if isUnnamedAnswer(line) {
			_ = rh.agent.gate.Session.NoteEvents(&event.Event{
				Kind: event.Dropped, Stage: "frame", Code: frame.CodeID, Reason: "an answer that names no request, and came with none",
				Server: rh.route.server, Direction: mcp.ServerToClient.String(), Bytes: len(line),
			})
			return
		}
	}
	to.HandleLines(rh.agent.in.ctx, line)
}

// isUnnamedAnswer reports an answer that names no request, also as an array of one.
func isUnnamedAnswer(line []byte) bool {
	if elements := frame.SplitArray(line); len(elements) == 1 {
		line = elements[0]
	}
	return frame.IsUnnamed(line)
}

// noteNamed records an error that got the id of the request it came with.
func (rh *requestHandler) noteNamed(line, named []byte) {
	_ = rh.agent.gate.Session.NoteEvents(&event.Event{
		Kind: event.Passed, Stage: "frame", Server: rh.route.server, Direction: mcp.ServerToClient.String(), Code: "repaired",
		ID: rh.frame.ID, Digest: sha256.Sum256(line), Sent: sha256.Sum256(named), Bytes: len(line), Altered: []string{"repair id"},
	})
}

// learnAnswer takes in what an answer says of the messages to come.
func (rh *requestHandler) learnAnswer(answer []byte) {
	switch rh.frame.Method {
	case "tools/list":
		rh.agent.tools.LearnTools(answer)
	case "initialize":
		if rh.session != nil {
			rh.s.setSessionInfo(rh.session, "", mcp.NegotiatedVersion([]byte(gjson.GetBytes(answer, "result").Raw)))
		}
	}
}

// sentEvents gives the event ids in the streams of this session, or of those without one.
func (rh *requestHandler) sentEvents() *eventIDs {
	if rh.session != nil {
		return &rh.session.sentEvents
	}
	return &rh.agent.sentEvents
}

// relayError carries a status that is no answer. A JSON-RPC error in the body is the
// server's word, under the id of the request.
func (rh *requestHandler) relayError(resp *http.Response) {
	if rh.frame.Kind != frame.Request {
		rh.waiter.writeEmpty(rh.clientStatus(resp))
		return
	}
	body, err := remote.ReadBody(resp, rh.s.o.Limits.MaxBytes)
	if err == nil {
		if said := remote.ServerError(body, rh.frame.ID, rh.s.o.Limits); said != nil {
			if came := remote.OneLine(body); !bytes.Equal(came, said) {
				rh.noteNamed(came, said)
			}
			rh.clientStream(rh.answerSink()).HandleLines(rh.agent.in.ctx, said)
			return
		}
	}
	rh.answerUnreachable(remote.FailureWords(resp, body) + rh.signInHint(resp))
}

// signInHint tells how signing in works here, and why it did not.
func (rh *requestHandler) signInHint(resp *http.Response) string {
	switch {
	case rh.signInError != nil:
		return "; " + rh.signInError.Error()
	case resp.StatusCode != http.StatusUnauthorized:
		return ""
	}
	return "; sign in with: " + signInWith
}

// signInWith is for whoever cannot sign in here: a client.
const signInWith = "clawai auth login, or give the client an Authorization header"

// answerUnreachable answers in the server's place. It goes the way of an answer, so that
// the record has it.
func (rh *requestHandler) answerUnreachable(why string) {
	switch rh.frame.Kind {
	case frame.Request:
		rh.clientStream(rh.answerSink()).HandleLines(rh.agent.in.ctx, mcp.UnreachedAnswer(rh.frame.ID, why))
		rh.answerMissing(why)
	default:
		rh.waiter.writeEmpty(http.StatusBadGateway)
	}
}

// answerSink gives where the answer to this message goes.
func (rh *requestHandler) answerSink() proxy.Sink {
	if rh.answersOnStream() {
		return rh.session.stream
	}
	return rh.waiter
}

// answerMissing answers a request that the server has not.
func (rh *requestHandler) answerMissing(why string) {
	if rh.frame.Kind != frame.Request {
		return
	}
	if line := rh.from.FailRequest(rh.frame.ID, why); line != nil {
		_ = rh.answerSink().Add(line)
	}
}

// relayStream carries an event stream, event by event.
func (rh *requestHandler) relayStream(resp *http.Response) {
	resumable, err := rh.relayEvents(resp, rh.waiter, rh.clientStream(rh.answerSink()))
	if resumable && !rh.confirmed.Modern && (rh.frame.Kind != frame.Request || rh.from.AwaitsAnswer(rh.frame.ID)) {
		rh.waiter.hangUp() // as the server did; the client takes the stream up again
		return
	}
	why := "the stream ended before the answer"
	if err != nil {
		why += ": " + err.Error()
	}
	rh.answerMissing(why)
}

// headerGrace is how long the header of a stream waits for its first event.
const headerGrace = 2 * time.Millisecond

// relayEvents carries what comes until the stream ends.
func (rh *requestHandler) relayEvents(resp *http.Response, out *responder, to *proxy.Stream) (resumable bool, err error) {
	out.expectEvents()
	soon := time.AfterFunc(headerGrace, out.openStream) // with the first event, if that is here: one write, not two
	defer func() { soon.Stop(); out.openStream() }()
	left := resp.ContentLength // -1: unknown
	for in := sse.NewReader(resp.Body, rh.s.o.Limits.MaxBytes+64<<10); ; {
		e, err := in.ReadEvent()
		if errors.Is(err, io.EOF) {
			return resumable, nil
		}
		if err != nil {
			return resumable, err
		}
		left -= int64(len(e.Raw))
		raiseRetry(e)
		resumable = resumable || e.HasID && e.ID != ""
		rh.sentEvents().addEvent(e.ID, rh.scope)
		if e.HasData {
			e.Data = remote.OneLine(e.Data)
			rh.learnAnswer(e.Data)
		}
		switch {
		case e.HasData && (e.Name == "" || e.Name == "message") && len(bytes.TrimSpace(e.Data)) > 0:
			done, crossed := out.replays.claimEvent(rh.r.Context(), e, rh.resumes)
			if crossed {
				rh.noteReplay(e)
				err = out.writeReplay(e)
				break
			}
			func() {
				defer done() // a panic too must let those go on who wait
				out.relayEvent(e, left == 0, func() { rh.receiveLine(to, e.Data) })
			}()
		case e.HasData && e.Name != "" && e.Name != "message":
			err = out.writeEventID(e) // its data is no frame, and no client of MCP's reads it
		default:
			err = out.writeEvent(e)
		}
		if err != nil {
			return resumable, err
		}
	}
}

// leastRetry is how long a client waits at least, in milliseconds, before it takes a stream up again.
const leastRetry = 250

// raiseRetry keeps a server that says 0 and ends its streams at once from a client that comes
// back without a pause.
func raiseRetry(e *sse.Event) {
	if e.Retry >= 0 && e.Retry < leastRetry {
		e.Retry, e.Plain = leastRetry, false // it is written anew
	}
}

// noteReplay records an event that comes again.
func (rh *requestHandler) noteReplay(e *sse.Event) {
	_ = rh.agent.gate.Session.NoteEvents(&event.Event{
		Kind: event.Passed, Server: rh.route.server, Direction: mcp.ServerToClient.String(), Code: "replayed", Bytes: len(e.Data),
		Detail: "crossed before, and was sent again to a client that had lost its stream: event " + strconv.Quote(e.ID),
	})
}
