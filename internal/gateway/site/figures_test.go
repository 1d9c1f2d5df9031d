package site

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/gateway/figures"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// What laptops and people do is counted on the operator's page, and no word of theirs is there.
func TestFiguresOfACentre(t *testing.T) {
	w := newWorld(t)
	f, err := figures.New(t.Context(), figures.Options{Version: "1", Read: w.centre.ReadFigures, Report: func(err error) { t.Error(err) }, Getenv: func(string) string { return "" }})
	w.must(err)
	w.centre.Figures = f
	w.centre.Store.SetTimer(f.TimeStore)
	grant, silent := w.enrol("laptop-secretname"), w.enrol("second")
	w.must(w.centre.Store.RevokeLaptop(t.Context(), silent.Laptop, "x", w.centre.Now()))
	for name, text := range recordSegments(t, audit.Options{}, recordedCall("allow", "tool-secretname", `{"a":"argument-secret"}`), recordedCall("deny", "x", `{}`), recordedCall("deny", "x", `{}`)) {
		w.ship(grant.Token, name, 0, text, true)
		w.ship(grant.Token, name, 0, text, true) // comes twice, and counts once
	}
	if w.call(grant.Token, "GET", enrolment.BundlePath, nil, nil) != http.StatusNotFound {
		t.Error("there is a bundle")
	}
	form := w.as("ana")
	q := w.ask(grant.Token, askWhat("1", 1, "role:oncall"))
	w.ask(grant.Token, askWhat("1", 1, "role:oncall")) // the same
	w.ask(grant.Token, askWhat("2", 1, "role:oncall"))
	if status, page := w.answer(form, q.ID, strings.Repeat("1", 64), "allow"); status != http.StatusOK {
		t.Fatal(status, page)
	}
	w.call(grant.Token, "POST", enrolment.QuestionsPath+"/"+q.ID+usePath, nil, nil)
	w.answer(form, q.ID, strings.Repeat("1", 64), "deny") // too late
	w.submit("/sign-in", "token", "nothing")

	l, err := net.Listen("tcp4", "127.0.0.1:0")
	w.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- ServeOperator(ctx, w.centre, l) }()
	defer func() {
		cancel()
		w.must(<-served)
		w.must(f.Close(context.Background()))
	}()
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+l.Addr().String()+"/metrics", nil)
	w.must(err)
	resp, err := w.laptop.Do(r)
	w.must(err)
	defer resp.Body.Close()
	src, err := io.ReadAll(resp.Body)
	w.must(err)
	text := string(src)
	for _, want := range []string{
		`clawai_centre_records_total{clawai_decision="allowed"} 1`, `clawai_centre_records_total{clawai_decision="refused"} 2`, `clawai_centre_record_size_bytes_total `,
		`clawai_centre_questions_total{clawai_outcome="asked"} 2`, `clawai_centre_questions_total{clawai_outcome="approved"} 1`, `clawai_centre_questions_total{clawai_outcome="late"} 1`,
		`clawai_centre_questions_total{clawai_outcome="used"} 1`, `clawai_centre_questions_waiting 1`, `clawai_centre_answer_duration_seconds_count{clawai_answer="approved"} 1`,
		`clawai_centre_bundle_polls_total{clawai_outcome="none"} 1`, `clawai_centre_laptops{clawai_state="in_order"} 1`, `clawai_centre_laptops{clawai_state="revoked"} 1`, `clawai_centre_laptops{clawai_state="silent"} 0`,
		`clawai_centre_laptop_bundles{clawai_bundle="none"} 1`, `clawai_centre_sign_ins_total{clawai_outcome="signed_in"} `, `clawai_centre_sign_ins_total{clawai_outcome="refused"} 1`,
		`clawai_centre_store_duration_seconds_count{clawai_operation="change"} `, `service_version="1"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, word := range []string{"secret", "files", "ana", "oncall", grant.Laptop} {
		if strings.Contains(text, word) {
			t.Errorf("%q is in the figures:\n%s", word, text)
		}
	}
	if promtool, err := exec.LookPath("promtool"); err == nil {
		cmd := exec.CommandContext(t.Context(), promtool, "check", "metrics")
		cmd.Stdin, cmd.Env = strings.NewReader(text), os.Environ()
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("promtool: %v\n%s", err, out)
		}
	}
}
