//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/audit"
	"github.com/clawai/clawai/internal/state/enrolment"
)

// fleet is a centre with many laptops.
type fleet struct {
	*centre
	options
	out      io.Writer
	sessions []session
	laptops  []*laptop
	shipped  atomic.Int64 // number of records that the centre has acknowledged
	again    atomic.Int64 // number of parts that were sent again, because no answer arrived in time
}

// session is one recorded session: the bytes of its segment.
type session struct {
	id, name string
	text     []byte
	ends     []int // for each record, the offset in text where it ends
}

// laptop is one enrolled laptop.
type laptop struct {
	token  string
	client *http.Client
}

// All laptops upload the same sessions, but for the centre the sessions of each laptop are
// different ones. A laptop stops when it has uploaded all sessions.
const (
	recordedCalls = 1000 // number of calls in a session; each call also has an outcome
	// mostSecond is the maximum number of records that all laptops together are expected to upload
	// in a second. It decides how many sessions are recorded.
	mostSecond = 20_000
)

// countSessions returns how many sessions must be recorded for the whole run.
func (o *options) countSessions() int {
	return 1 + int(o.minutes*60*float64(cmp.Or(2*o.rate, mostSecond)))/o.laptops/recordedCalls
}

// tools are the names of the tools in the recorded calls.
var tools = []string{"read_file", "list_directory", "search_files", "write_file", "edit_file", "run_tests", "fetch", "query", "send_message", "create_issue", "open_page", "get_record"}

// record writes the sessions with clawai's real recorder, so that the chains of records are valid.
func (f *fleet) record(context.Context) error {
	for i := range f.countSessions() {
		dir := filepath.Join(f.dir, fmt.Sprint("record", i), "audit")
		log, err := audit.Open(dir, audit.Options{Sync: audit.SyncNone})
		if err != nil {
			return err
		}
		for n := range recordedCalls {
			if err := recordCall(log, i, n); err != nil {
				return err
			}
		}
		if err := log.Close(); err != nil {
			return err
		}
		if err := f.readSession(dir); err != nil {
			return err
		}
	}
	return nil
}

// recordCall records one call and its outcome, as a real session would.
func recordCall(log *audit.Log, session, n int) error {
	tool, server := tools[(n*n+session)%len(tools)], fmt.Sprint("server", (n*n+session)%len(tools)/3)
	e := event.Event{
		Kind: event.Decision, Time: time.Now(), Server: server, Direction: "client", Method: "tools/call", ID: fmt.Append(nil, n), Subject: "tool", Names: []string{tool},
		Args:   fmt.Appendf(nil, `{"path":"/home/ana/projects/app%d/internal/part%d/file%d.go","limit":%d}`, session, n%17, n, n%100),
		Policy: "allow", Decision: "allow", Stage: "policy", Code: "rule", Reason: "Read files in the projects folder", RuleFile: "~/.config/clawai/policy.toml", RuleLine: 40 + n%12, RuleText: "Read files in the projects folder",
		Bytes: 200, Digest: [32]byte{byte(n), byte(session)},
	}
	var before []*event.Event
	switch {
	case n%20 == 7:
		e.Policy, e.Decision, e.Reason, e.RuleLine, e.RuleText = "deny", "deny", "Keys and secrets stay shut", 74, "Keys and secrets stay shut"
	case n%25 == 3:
		e.Policy, e.Stage, e.Code, e.RuleLine = "prompt", "ask", "answered", 90
		before = []*event.Event{{Kind: event.Answered, Server: server, ID: e.ID, Channel: "terminal", Answer: "once", Waited: 4 * time.Second}}
	}
	if err := log.Record(append(before, &e)...); err != nil || e.Decision == "deny" {
		return err
	}
	return log.Record(&event.Event{Kind: event.Outcome, Server: server, Direction: "server", ID: e.ID, Ref: e.Record, Bytes: 900, Digest: [32]byte{byte(n), byte(session), 1}})
}

func (f *fleet) readSession(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*-*.ndjson"))
	if err != nil || len(paths) != 1 {
		return fmt.Errorf("%d segments in %s: %w", len(paths), dir, err)
	}
	s := session{name: filepath.Base(paths[0])}
	s.id, _ = audit.SplitSegmentName(s.name)
	if s.text, err = os.ReadFile(paths[0]); err != nil {
		return err
	}
	for i, b := range s.text {
		if b == '\n' {
			s.ends = append(s.ends, i+1)
		}
	}
	f.sessions = append(f.sessions, s)
	return nil
}

// patience is how long a laptop waits for an answer before it sends the part again. clawai itself
// waits for the same time.
const patience = 30 * time.Second

// newClient returns the HTTP client of one laptop. The centre lets only twenty laptops enrol from
// one address, so each group of twenty laptops has its own loopback address.
func newClient(number int) *http.Client {
	from := &net.TCPAddr{IP: net.IPv4(127, 1, byte(number/20/250), byte(1+number/20%250))}
	return &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: from}).DialContext}, Timeout: patience}
}

// enrol enrols all laptops. For each laptop, the administrator allows this on a page of the centre.
func (f *fleet) enrol(ctx context.Context) error {
	for i := range f.options.laptops {
		l := &laptop{client: newClient(i)}
		var code enrolment.DeviceCode
		if _, err := f.send(ctx, l, http.MethodPost, enrolment.EnrollPath, enrolment.AskEnrolment{Name: fmt.Sprintf("laptop-%03d", i), OS: "linux/amd64", Version: "1.0.0"}, &code); err != nil {
			return err
		}
		if _, err := f.submit(ctx, "/enroll", "form", f.form, "code", code.UserCode, "answer", "allow"); err != nil {
			return err
		}
		var grant enrolment.Grant
		if _, err := f.send(ctx, l, http.MethodPost, enrolment.TokenPath, enrolment.AskToken{DeviceCode: code.DeviceCode}, &grant); err != nil {
			return err
		}
		l.token = grant.Token
		f.laptops = append(f.laptops, l)
	}
	return nil
}

// send sends a message of a laptop, and returns the status. If the status is 200, it decodes the
// JSON of the answer into answer.
func (f *fleet) send(ctx context.Context, l *laptop, method, path string, message, answer any) (int, error) {
	var body []byte
	switch m := message.(type) {
	case nil:
	case []byte:
		body = m
	default:
		var err error
		if body, err = json.Marshal(m); err != nil {
			return 0, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, f.address+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	if l.token != "" {
		r.Header.Set("Authorization", "Bearer "+l.token)
	}
	if path == enrolment.BundlePath {
		r.Header.Set("If-None-Match", f.tag)
	}
	resp, err := l.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	src, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return 0, err
	case resp.StatusCode == http.StatusNotModified:
	case resp.StatusCode != http.StatusOK:
		return resp.StatusCode, fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, src)
	case path == enrolment.BundlePath:
		f.tag = resp.Header.Get("ETag")
	case answer != nil:
		err = json.Unmarshal(src, answer)
	}
	return resp.StatusCode, err
}

// ship uploads the sessions of all laptops at the same time. It stops after the number of minutes
// in the options. A laptop sends its next part after the centre has acknowledged the previous part.
func (f *fleet) ship(ctx context.Context) error {
	before, err := f.readUsage()
	if err != nil {
		return err
	}
	began := time.Now()
	until := began.Add(time.Duration(f.minutes * float64(time.Minute)))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var waits, pages latencies
	var working sync.WaitGroup
	for i, l := range f.laptops {
		working.Go(func() {
			for n := range f.sessions {
				if err := f.shipSession(ctx, l, &f.sessions[(i+n)%len(f.sessions)], until, &waits); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	memory := make(chan []int64, 1)
	go func() { memory <- f.watchMemory(ctx, until) }()
	working.Go(func() {
		if err := f.readMeanwhile(ctx, until, &pages); err != nil {
			cancel(err)
		}
	})
	working.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	took := time.Since(began)
	after, err := f.readUsage()
	if err != nil {
		return err
	}
	used, n, resident := after.since(before), float64(f.shipped.Load()), <-memory
	fmt.Fprintf(f.out, "\n%d laptops, %s a part, %s, load %s\n\n| | |\n|---|---|\n", len(f.laptops), partText(f.part), rateText(f.rate), readLoad())
	fmt.Fprintf(f.out, "| durable records a second, for %.0f s | %.0f |\n| records | %.0f |\n", took.Seconds(), n/took.Seconds(), n)
	fmt.Fprintf(f.out, "| processor time of 1,000 records: centre, database | %.0f ms, %.0f ms |\n", 1e6*used.centre.Seconds()/n, 1e6*used.database.Seconds()/n)
	fmt.Fprintf(f.out, "| a part until it is acknowledged, least, p50, p99 | %s |\n| parts that were sent again | %d |\n| the first page meanwhile, least, p50, p99 | %s |\n| the centre's resident memory | %s MiB |\n", waits.text(), f.again.Load(), pages.text(), strings.Trim(fmt.Sprint(resident), "[]"))
	return errors.Join(f.checkShipped(ctx), f.checkMemory(resident))
}

func partText(part int) string {
	if part == 0 {
		return "up to 1 MiB"
	}
	return fmt.Sprint(part, " records")
}

func rateText(rate int) string {
	if rate == 0 {
		return "each as soon as the one before is acknowledged"
	}
	return fmt.Sprintf("%d records a second in all", rate)
}

// maxPart is the maximum size of a part in bytes.
const maxPart = 1 << 20

// shipSession uploads one recorded session in parts. It stops early at the time that the parameter
// until gives.
func (f *fleet) shipSession(ctx context.Context, l *laptop, s *session, until time.Time, waits *latencies) error {
	path := enrolment.RecordsPath + s.id + "/" + s.name
	for at, next := 0, 0; next < len(s.ends) && time.Now().Before(until); {
		began := time.Now()
		last := next
		for last+1 < len(s.ends) && (f.part == 0 || last+1-next < f.part) && s.ends[last+1]-at <= maxPart {
			last++
		}
		end := s.ends[last]
		query := fmt.Sprintf("?at=%d", at)
		if end == len(s.text) {
			query += "&complete=1"
		}
		var held enrolment.Held
		_, err := f.send(ctx, l, http.MethodPut, path+query, s.text[at:end], &held)
		if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
			// The centre may have stored the part, so the laptop asks how much it has.
			f.again.Add(1)
			if _, err = f.send(ctx, l, http.MethodGet, path, nil, &held); err == nil && held.Size == int64(at) {
				continue
			}
		}
		if err != nil {
			return err
		}
		waits.add(time.Since(began))
		if held.Size != int64(end) {
			return fmt.Errorf("%s holds %d bytes, and %d were shipped", path, held.Size, end)
		}
		if f.shipped.Add(int64(last + 1 - next)); at == 0 {
			f.shipped.Add(-1) // the first line of a segment is not a record in the centre's index
		}
		if err := f.pause(ctx, began, last+1-next); err != nil {
			return err
		}
		at, next = end, last+1
	}
	return nil
}

// pause waits until the laptop may send its next part. The value of --rate is the maximum number of
// records that all laptops together send in a second. If it is 0, pause does not wait. The time is
// partly random, so that the laptops do not all send at the same moment.
func (f *fleet) pause(ctx context.Context, began time.Time, n int) error {
	if f.rate == 0 {
		return nil
	}
	each := time.Duration(float64(n*len(f.laptops)) / float64(f.rate) * float64(time.Second))
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	// The random number does not have to be secret.
	case <-time.After(time.Until(began.Add(each*9/10 + rand.N(each/5+1)))): //nolint:gosec
		return nil
	}
}
