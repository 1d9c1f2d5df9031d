package model

import (
	"crypto/sha256"
	"fmt"
	"net/http"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/wire/jsonscan"
	"github.com/clawai/clawai/internal/wire/modelapi"
	"github.com/clawai/clawai/policy"
)

// UploadMethod is the method in the record for a part of a request that was judged before it went
// to the model's service.
const UploadMethod = "model/upload"

// screensUploads reports whether rules look at uploads to the service.
func (t *turn) screensUploads() bool { return t.o.Gate.ScreensUploads() }

// newUpload returns the exchange for a part of a request. The part is the result of the given
// calls.
func (t *turn) newUpload(raw []byte, of []policy.Call) *gate.Exchange {
	c := &of[0]
	return &gate.Exchange{Raw: raw, Answered: of, Upload: true, Event: event.Event{
		Server: c.Server, Direction: "client", Method: UploadMethod, Names: c.Names, Detail: t.describeTurn(),
	}}
}

// uploadResult judges the content of a tool's result before it goes to the service. It returns the
// content that takes its place, or nil if nothing changes. If the content cannot be read, every
// rule applies to it and it is never altered.
func (t *turn) uploadResult(one *modelapi.Result, content jsonscan.Value, made *madeCall) (instead []byte, err error) {
	line, err := resultFrame(one.ID, content, true)
	unread := err != nil
	if unread {
		line = content.Bytes()
	}
	observe := func(line []byte, unread bool, kind jsonscan.ValueKind) ([]byte, *gate.Exchange, error) {
		x := t.newUpload(line, made.calls)
		if x.Unread = unread; one.ID != "" {
			x.Event.Detail += ", call " + shortenText(one.ID) // not in Event.ID, because an upload has no reply
		}
		instead, err := t.observeResult(x, &made.calls[0], kind)
		return instead, x, err
	}
	instead, x, err := observe(line, unread, content.Kind())
	switch {
	case err != nil:
		return nil, err
	case instead != nil:
		content = jsonscan.ValueOf(instead) // the findings are removed from the content, so only findings that are split over two parts are left
	case len(x.Event.Finds) > 0:
		return nil, nil // the rules allow the findings, so there is nothing to do
	}
	if content.Kind() != jsonscan.Array {
		return instead, nil
	}
	for _, seam := range modelapi.JoinTexts(textsOf(content)) {
		line, err := resultFrame(one.ID, seam, true)
		if err != nil {
			return nil, err
		}
		cut, _, err := observe(line, false, jsonscan.Absent)
		if err != nil {
			return nil, err
		}
		if cut != nil {
			return contentOf(t.api, errSplit), nil
		}
	}
	return instead, nil
}

// errSplit is the text in place of a result with a finding that is split over several parts. In
// such a result no single part can be altered.
const errSplit = "Withheld by the owner's policy: what must not go to the model is split over parts of this result. The owner finds it in the record"

// textsOf returns the texts in the parts of a list.
func textsOf(content jsonscan.Value) (texts []jsonscan.Value) {
	for part := range content.Elements() {
		if part.Kind() == jsonscan.Object {
			part = part.Member("text")
		}
		texts = append(texts, part)
	}
	return texts
}

// uploadWords judges the texts of a request that are not results. They are never altered.
func (t *turn) uploadWords(r *modelapi.Request) error {
	if !t.screensUploads() {
		return nil
	}
	said := policy.Call{Server: t.o.Client.ID, Method: policy.WordsMethod, Subject: policy.MethodSubject, Names: []string{policy.WordsMethod}, Session: t.session}
	for _, v := range r.Words {
		if err := t.uploadWord(v, &said); err != nil {
			return err
		}
	}
	return nil
}

// uploadWord judges one text of a request. If it returns an error, the request is refused.
func (t *turn) uploadWord(v jsonscan.Value, said *policy.Call) error {
	of := digest(sha256.Sum256(append([]byte("words "), v...)))
	no, known, release, err := t.claimResult(t.ctx, of)
	if err != nil {
		return err
	}
	defer release()
	if known {
		if no != nil {
			return &refusal{http.StatusBadRequest, string(no)}
		}
		return nil
	}
	line, err := resultFrame("", v, true)
	if err != nil {
		err = t.uploadUnread("words", v.Bytes())
	} else {
		x := t.newUpload(line, []policy.Call{*said})
		if err = t.observeUpload(x, "what you or your agent say"); err != nil && x.Event.Code == gate.CodeDeniedByPerson {
			t.keepResult(of, []byte(err.Error()))
		}
	}
	if err == nil {
		t.keepResult(of, nil)
	}
	return err
}

// uploadUnread judges a part of a request that could not be read. Every rule may apply to such a
// part.
func (t *turn) uploadUnread(what string, raw []byte) error {
	if !t.screensUploads() {
		return nil
	}
	x := t.newUpload(raw, []policy.Call{{}})
	x.Unread, x.Event.Server = true, t.o.Client.ID
	return t.observeUpload(x, what+" that clawai cannot read")
}

// observeUpload passes a part of a request to the gate. The part is sent unchanged or not at all.
// If it returns an error, the request is refused.
func (t *turn) observeUpload(x *gate.Exchange, what string) error {
	out := newOutcome(nil)
	x.Out = out
	t.o.Gate.Observe(t.ctx, x)
	v, err := out.await(t.ctx)
	switch {
	case err != nil:
		return err
	case v == nil:
		return nil
	case t.passing != nil: // the rules have changed in the meantime, but the part was already sent
		return errLabels
	}
	d := t.o.Gate.MaskDenial(v.NewDenial(x.Answered[0]))
	text := "the owner's policy keeps back " + what
	if d.Description != "" {
		text += " (" + shortenText(d.Description) + ")"
	}
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	text += ". Nothing of this request was sent. It stays refused while that is in the conversation: take it out, or begin a new one"
	if d.Record != "" {
		text += fmt.Sprintf("; the owner finds it as record %s", d.Record)
	}
	return &refusal{http.StatusBadRequest, text}
}

// uploadElsewhere judges a request to a path with content that clawai does not know. If a path was
// allowed once, it is not judged again.
func (t *turn) uploadElsewhere(r *http.Request) error {
	if !t.screensUploads() || r.ContentLength == 0 {
		return nil
	}
	of := digest(sha256.Sum256([]byte("path " + r.URL.Path)))
	_, known, release, err := t.claimResult(t.ctx, of)
	if err != nil {
		return err
	}
	defer release()
	if known {
		return nil
	}
	err = t.uploadUnread("a request to "+shortenText(r.URL.Path), []byte(r.Method+" "+r.URL.Path))
	if err == nil {
		t.keepResult(of, nil)
	}
	return err
}
