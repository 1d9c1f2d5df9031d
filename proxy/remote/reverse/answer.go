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

// relayJSON passes a JSON answer on to the client.
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

// receiveLine passes a server's line to the session. An error without an id gets the id of the
// request that it answers over HTTP. Any other answer without an id is dropped if it came on the
// server's own stream, or in reply to a message that has no answer.
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

// isUnnamedAnswer reports whether a line is an answer without a usable id, or an array with one
// such answer.
func isUnnamedAnswer(line []byte) bool {
	if elements := frame.SplitArray(line); len(elements) == 1 {
		line = elements[0]
	}
	return frame.IsUnnamed(line)
}

// noteNamed records that an error without an id got the id of its request.
func (rh *requestHandler) noteNamed(line, named []byte) {
	_ = rh.agent.gate.Session.NoteEvents(&event.Event{
		Kind: event.Passed, Stage: "frame", Server: rh.route.server, Direction: mcp.ServerToClient.String(), Code: "repaired",
		ID: rh.frame.ID, Digest: sha256.Sum256(line), Sent: sha256.Sum256(named), Bytes: len(line), Altered: []string{"repair id"},
	})
}

// learnAnswer stores the parts of an answer that later messages need.
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

// sentEvents returns the event ids of the streams of this session. Without a session it returns
// those of all streams without a session.
func (rh *requestHandler) sentEvents() *eventIDs {
	if rh.session != nil {
		return &rh.session.sentEvents
	}
	return &rh.agent.sentEvents
}

// relayError handles an answer with an error status. If the body holds a JSON-RPC error, the client
// gets this error with the id of its request.
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

// signInHint returns a text that tells how to sign in or why the sign-in failed.
func (rh *requestHandler) signInHint(resp *http.Response) string {
	switch {
	case rh.signInError != nil:
		return "; " + rh.signInError.Error()
	case resp.StatusCode != http.StatusUnauthorized:
		return ""
	}
	return "; sign in with: " + signInWith
}

// signInWith names the ways to sign in. A client cannot sign in through this server.
const signInWith = "clawai auth login, or give the client an Authorization header"

// answerUnreachable answers in place of the server. The answer passes the gate like every answer,
// so that the record has it.
func (rh *requestHandler) answerUnreachable(why string) {
	switch rh.frame.Kind {
	case frame.Request:
		rh.clientStream(rh.answerSink()).HandleLines(rh.agent.in.ctx, mcp.UnreachedAnswer(rh.frame.ID, why))
		rh.answerMissing(why)
	default:
		rh.waiter.writeEmpty(http.StatusBadGateway)
	}
}

// answerSink returns the sink for the answer to this message.
func (rh *requestHandler) answerSink() proxy.Sink {
	if rh.answersOnStream() {
		return rh.session.stream
	}
	return rh.waiter
}

// answerMissing answers a request with an error if the server has not answered it. The error passes
// the gate, so that the record has it, also if the client has hung up.
func (rh *requestHandler) answerMissing(why string) {
	if rh.frame.Kind != frame.Request {
		return
	}
	if rh.from.AwaitsAnswer(rh.frame.ID) {
		rh.clientStream(rh.answerSink()).HandleLines(rh.agent.in.ctx, mcp.UnreachedAnswer(rh.frame.ID, why))
	}
	if line := rh.from.FailRequest(rh.frame.ID, why); line != nil {
		_ = rh.answerSink().Add(line)
	}
}

// relayStream passes an event stream on to the client, event by event.
func (rh *requestHandler) relayStream(resp *http.Response) {
	resumable, err := rh.relayEvents(resp, rh.waiter, rh.clientStream(rh.answerSink()))
	if resumable && !rh.confirmed.Modern && (rh.frame.Kind != frame.Request || rh.from.AwaitsAnswer(rh.frame.ID)) {
		rh.waiter.hangUp() // ends the client's stream too, because the server has ended its own; the client will resume it
		return
	}
	why := "the stream ended before the answer"
	if err != nil {
		why += ": " + err.Error()
	}
	rh.answerMissing(why)
}

// headerGrace is how long the header of a stream waits, so that the header and the first event can
// go out together.
const headerGrace = 2 * time.Millisecond

// relayEvents passes on the events until the stream ends. resumable reports whether an event had an
// id, so that the client can resume the stream.
func (rh *requestHandler) relayEvents(resp *http.Response, out *responder, to *proxy.Stream) (resumable bool, err error) {
	out.expectEvents()
	soon := time.AfterFunc(headerGrace, out.openStream) // if the first event comes soon, the header and the event are sent in one write
	defer func() { soon.Stop(); out.openStream() }()
	left := resp.ContentLength // bytes left in the stream; -1 if unknown
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
			done, replayed := out.replays.claimEvent(rh.r.Context(), e, rh.resumes)
			if replayed {
				rh.noteReplay(e)
				err = out.writeReplay(e)
				break
			}
			func() {
				defer done() // also after a panic, because other goroutines may wait for it
				out.relayEvent(e, left == 0, func() { rh.receiveLine(to, e.Data) })
			}()
		case e.HasData && e.Name != "" && e.Name != "message":
			err = out.writeEventID(e) // the data of this event is not a frame, and no MCP client reads it
		default:
			err = out.writeEvent(e)
		}
		if err != nil {
			return resumable, err
		}
	}
}

// leastRetry is the shortest retry time, in milliseconds, that a client gets for a stream.
const leastRetry = 250

// raiseRetry raises a retry time that is below leastRetry. Otherwise a server that sends 0 and ends
// its streams at once would make the client reconnect without a pause.
func raiseRetry(e *sse.Event) {
	if e.Retry >= 0 && e.Retry < leastRetry {
		e.Retry, e.Plain = leastRetry, false // not Plain any more, so that the event is encoded again
	}
}

// noteReplay records that an event is sent to the client again.
func (rh *requestHandler) noteReplay(e *sse.Event) {
	_ = rh.agent.gate.Session.NoteEvents(&event.Event{
		Kind: event.Passed, Server: rh.route.server, Direction: mcp.ServerToClient.String(), Code: "replayed", Bytes: len(e.Data),
		Detail: "crossed before, and was sent again to a client that had lost its stream: event " + strconv.Quote(e.ID),
	})
}
