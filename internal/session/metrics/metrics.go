// Package metrics counts the decisions of the sessions of one process, and prints the figures in
// the text format of Prometheus (version 0.0.4). No label holds an argument, a URI or a session id.
package metrics

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gate"
	"github.com/clawai/clawai/internal/mcp"
)

// Limits of the memory use. A server beyond maxServers counts as "other". A call that begins while
// maxOpen calls are open is counted but not timed.
const (
	maxServers = 500
	maxOpen    = 10_000
)

const other = "other"

// secondsOfCalls, secondsOfPeople and secondsOfRecord are the upper bounds of the histograms'
// buckets, in seconds.
var (
	secondsOfCalls  = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}
	secondsOfPeople = []float64{0.1, 1, 2, 5, 10, 20, 30, 45, 60, 120, 300}
	secondsOfRecord = []float64{0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 1}
)

// Metrics counts the events of the sessions of one process (see CountRecords). Its methods are safe
// for concurrent use.
type Metrics struct {
	program string
	now     func() time.Time

	// Sessions returns the number of open sessions, and the number of questions that wait for a
	// person. It must be set before the first WriteTo.
	Sessions func() (open, waiting int)

	mu        sync.Mutex      // guards the fields below
	failure   error           // error of the last write of the record; nil if it succeeded
	failed    time.Time       // time of the last failed write
	failures  uint64          // number of failed writes
	servers   map[string]bool // servers whose name is used as a label
	methods   map[string]bool // the methods of MCP
	decisions map[decision]uint64
	errors    map[string]uint64     // number of failed calls, by server
	dropped   map[string]uint64     // number of messages that were not forwarded, by server
	calls     map[string]*histogram // durations of calls, by server
	answers   map[string]*histogram // waiting times of questions, by answer
	record    histogram             // durations of writes of the record
	open      map[string]call       // forwarded requests without an answer, by the record id of the decision
}

type decision struct{ server, method, decision, stage string }

// call is a forwarded request that has no answer yet.
type call struct {
	server string
	since  time.Time
}

// New returns the metrics of a program; program is "clawai VERSION".
func New(program string) *Metrics {
	m := &Metrics{
		program: program, now: time.Now, servers: map[string]bool{}, methods: map[string]bool{}, decisions: map[decision]uint64{},
		errors: map[string]uint64{}, dropped: map[string]uint64{}, calls: map[string]*histogram{}, answers: map[string]*histogram{},
		record: histogram{bounds: secondsOfRecord}, open: map[string]call{},
	}
	for _, method := range mcp.Methods() {
		m.methods[method.Name] = true
	}
	return m
}

// recorder counts the events that it passes on.
type recorder struct {
	gate.Recorder
	m *Metrics
}

// CountRecords returns a recorder that counts events and passes them to the recorder in the
// parameter next. It is meant for session.Spec.Through.
func (m *Metrics) CountRecords(next gate.Recorder) gate.Recorder { return &recorder{next, m} }

// Record implements gate.Recorder.
func (r *recorder) Record(events ...*event.Event) error {
	began := r.m.now()
	err := r.Recorder.Record(events...)
	r.m.countEvents(events, began, err)
	return err
}

// countEvents counts events that were written to the record. began is the time at which the write
// began, and err is its error. If err is not nil, every decision is counted as a denial, because
// the gate refuses a call that could not be recorded.
func (m *Metrics) countEvents(events []*event.Event, began time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	m.record.addValue(now.Sub(began))
	if m.failure = err; err != nil {
		m.failed = now
		m.failures++
		for _, ev := range events {
			if ev.Kind == event.Decision {
				m.countDecision(ev, "deny", string(gate.StageRecord))
			}
		}
		return
	}
	for _, ev := range events {
		m.countEvent(ev, now)
	}
}

func (m *Metrics) countEvent(ev *event.Event, now time.Time) {
	switch ev.Kind {
	case event.Decision:
		server := m.countDecision(ev, ev.Decision, ev.Stage)
		if ev.Decision == "allow" && len(ev.ID) > 0 && len(m.open) < maxOpen {
			m.open[ev.Record] = call{server, now}
		}
	case event.Outcome:
		if c, ok := m.open[ev.Ref]; ok {
			delete(m.open, ev.Ref)
			histogramOf(m.calls, c.server, secondsOfCalls).addValue(now.Sub(c.since))
		}
		if ev.IsError {
			m.errors[m.serverLabel(ev.Server)]++
		}
	case event.Answered:
		histogramOf(m.answers, ev.Answer, secondsOfPeople).addValue(ev.Waited)
	case event.Dropped:
		m.dropped[m.serverLabel(ev.Server)] += uint64(max(1, ev.Folded))
	}
}

// countDecision counts a decision, and returns the label of its server.
func (m *Metrics) countDecision(ev *event.Event, word, stage string) (server string) {
	server, method := m.serverLabel(ev.Server), ev.Method
	if !m.methods[method] {
		method = other
	}
	m.decisions[decision{server, method, word, stage}]++
	return server
}

// serverLabel returns the label of a server: its name, or "other" beyond maxServers.
func (m *Metrics) serverLabel(name string) string {
	if !m.servers[name] {
		if len(m.servers) >= maxServers {
			return other
		}
		m.servers[name] = true
	}
	return name
}

// failureLasts is how long Failure returns the error of a failed write if no other write follows.
// Without this limit, a process that gets no more calls would be unhealthy for ever.
const failureLasts = time.Minute

// Failure returns the error of the last write of the record. It returns nil if this write
// succeeded, or if it failed longer than failureLasts ago. While writes fail, every call is
// refused.
func (m *Metrics) Failure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now().Sub(m.failed) > failureLasts {
		return nil
	}
	return m.failure
}

// WriteTo prints all figures.
func (m *Metrics) WriteTo(w io.Writer) (int64, error) {
	open, waiting := m.Sessions()
	var p page
	m.mu.Lock()
	p.addFamily("clawai_build_info", "gauge", "The program, as a label.")
	p.addSample("clawai_build_info", 1, "version", strings.TrimPrefix(m.program, "clawai "))
	p.addFamily("clawai_sessions", "gauge", "Gates that are open: one for each agent session at a server, or session of the hub.")
	p.addSample("clawai_sessions", float64(open))
	p.addFamily("clawai_questions_waiting", "gauge", "Questions that wait for a person's answer.")
	p.addSample("clawai_questions_waiting", float64(waiting))
	p.addFamily("clawai_decisions_total", "counter", "Judged messages, by server, MCP method, decision (allow or deny) and the stage that decided.")
	for _, d := range slices.SortedFunc(maps.Keys(m.decisions), compareDecisions) {
		p.addSample("clawai_decisions_total", float64(m.decisions[d]), "server", d.server, "method", d.method, "decision", d.decision, "stage", d.stage)
	}
	p.addCounts("clawai_call_errors_total", "Answers of servers that are errors.", m.errors)
	p.addCounts("clawai_dropped_messages_total", "Messages that were not forwarded and were no call: unreadable, unsolicited, late.", m.dropped)
	p.addHistograms("clawai_call_duration_seconds", "Time from the decision about a request until its answer.", "server", m.calls)
	p.addHistograms("clawai_answer_duration_seconds", "Time that a question waited, by the person's answer.", "answer", m.answers)
	p.addHistograms("clawai_record_duration_seconds", "Time of one write of the record.", "", map[string]*histogram{"": &m.record})
	p.addFamily("clawai_record_errors_total", "counter", "Writes of the record that failed.")
	p.addSample("clawai_record_errors_total", float64(m.failures))
	m.mu.Unlock()
	n, err := w.Write(p.text)
	return int64(n), err
}

func compareDecisions(a, b decision) int {
	return strings.Compare(a.server+"\x00"+a.method+"\x00"+a.decision+"\x00"+a.stage, b.server+"\x00"+b.method+"\x00"+b.decision+"\x00"+b.stage)
}

// histogram counts durations by their size.
type histogram struct {
	bounds []float64 // upper bounds of the buckets, in seconds
	counts []uint64  // number of durations by bucket; the last bucket has no bound
	sum    float64   // sum of all durations, in seconds
}

// histogramOf returns the histogram of a key, and makes it on first use.
func histogramOf(all map[string]*histogram, key string, bounds []float64) *histogram {
	if all[key] == nil {
		all[key] = &histogram{bounds: bounds}
	}
	return all[key]
}

func (h *histogram) addValue(d time.Duration) {
	if h.counts == nil {
		h.counts = make([]uint64, len(h.bounds)+1)
	}
	seconds := max(0, d.Seconds())
	i, _ := slices.BinarySearch(h.bounds, seconds)
	h.counts[i]++
	h.sum += seconds
}

// page is a text in Prometheus's format.
type page struct{ text []byte }

func (p *page) addFamily(name, kind, help string) {
	p.text = fmt.Appendf(p.text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// labelEscapes replaces the three characters that Prometheus's format escapes in labels.
var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// addSample adds one value; labels holds names and values alternately.
func (p *page) addSample(name string, value float64, labels ...string) {
	p.text = append(p.text, name...)
	for i, text := range labels {
		switch {
		case i == 0:
			p.text = append(append(p.text, '{'), text...)
		case i%2 == 0:
			p.text = append(append(p.text, ','), text...)
		default:
			p.text = fmt.Appendf(p.text, `="%s"`, labelEscapes.Replace(strings.ToValidUTF8(text, "\ufffd")))
		}
	}
	if len(labels) > 0 {
		p.text = append(p.text, '}')
	}
	p.text = append(p.text, ' ')
	p.text = strconv.AppendFloat(p.text, value, 'g', -1, 64)
	p.text = append(p.text, '\n')
}

// addCounts adds a family of counters by server.
func (p *page) addCounts(name, help string, counts map[string]uint64) {
	p.addFamily(name, "counter", help)
	for _, server := range slices.Sorted(maps.Keys(counts)) {
		p.addSample(name, float64(counts[server]), "server", server)
	}
}

// addHistograms adds a family of histograms. label is the name of their label; "" means no label.
func (p *page) addHistograms(name, help, label string, all map[string]*histogram) {
	p.addFamily(name, "histogram", help)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		h, labels := all[key], []string{label, key}
		if label == "" {
			labels = nil
		}
		var total uint64
		for i, n := range h.counts {
			total += n
			bound := "+Inf"
			if i < len(h.bounds) {
				bound = strconv.FormatFloat(h.bounds[i], 'g', -1, 64)
			}
			p.addSample(name+"_bucket", float64(total), append(slices.Clone(labels), "le", bound)...)
		}
		p.addSample(name+"_sum", h.sum, labels...)
		p.addSample(name+"_count", float64(total), labels...)
	}
}
