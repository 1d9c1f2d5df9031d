// Package figures counts the work of a centre. It gives the figures to Prometheus, and to an
// OpenTelemetry receiver if environment variables name one. Every attribute has a few fixed values. No
// attribute contains a name of a person, laptop, server or tool, or any other text that a laptop can
// choose.
package figures

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/clawai/clawai/internal/gateway/receiver"
)

// Snapshot is the state of a centre at one time.
type Snapshot struct {
	Waiting int            // number of waiting questions
	Laptops map[string]int // number of laptops by state
	Bundles map[string]int // number of laptops whose bundle is newest, older or none
}

// Figures counts the work of a centre. Its methods are safe for concurrent use, and those that count do
// nothing on a nil *Figures.
type Figures struct {
	provider *sdk.MeterProvider
	handler  http.Handler

	records, bytes, questions, polls, signIns, telemetry metric.Int64Counter
	answers, store                                       metric.Float64Histogram
}

// Options are the settings of New.
type Options struct {
	Version string
	Read    func(context.Context) (Snapshot, error) // called whenever the figures are read or sent
	Report  func(error)                             // called with each error of reading or sending figures
	Getenv  func(string) string
}

// names is the only table of the figures' names, units and descriptions. OpenTelemetry's conventions
// for MCP have no names for a centre, because no MCP message passes through it.
var names = struct{ records, bytes, questions, waiting, answers, polls, laptops, bundles, signIns, store, telemetry name }{
	name{"clawai.centre.records", "{record}", "Records that laptops shipped, by decision."},
	name{"clawai.centre.record.size", "By", "Bytes of records that laptops shipped."},
	name{"clawai.centre.questions", "{question}", "Questions by what became of them."},
	name{"clawai.centre.questions.waiting", "{question}", "Questions that wait for an answer."},
	name{"clawai.centre.answer.duration", "s", "Time from a question until it was decided, by the answer."},
	name{"clawai.centre.bundle.polls", "{poll}", "Polls for the bundle, by what was answered."},
	name{"clawai.centre.laptops", "{laptop}", "Laptops by their state."},
	name{"clawai.centre.laptop.bundles", "{laptop}", "Laptops by the bundle that they have."},
	name{"clawai.centre.sign_ins", "{attempt}", "Attempts of people to sign in."},
	name{"clawai.centre.store.duration", "s", "Time of one access to the database."},
	name{"clawai.centre.telemetry", "{item}", "Log records and spans for a receiver of OpenTelemetry, by what became of them."},
}

type name struct{ is, unit, about string }

// Keys of attributes. clawai log export also writes the first two.
const (
	decisionKey  = attribute.Key("clawai.decision")
	answerKey    = attribute.Key("clawai.answer")
	outcomeKey   = attribute.Key("clawai.outcome")
	stateKey     = attribute.Key("clawai.state")
	bundleKey    = attribute.Key("clawai.bundle")
	operationKey = attribute.Key("clawai.operation")
	signalKey    = attribute.Key("clawai.signal")
)

// Upper bounds of histogram buckets, in seconds.
var (
	secondsOfPeople = []float64{1, 2, 5, 10, 20, 30, 45, 60, 120, 300, 900}
	secondsOfStore  = []float64{0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10}
)

// sendEvery is the pause between two sendings of figures. OTEL_METRIC_EXPORT_INTERVAL overrides it.
const sendEvery = time.Minute

// New returns the figures of a centre. It sends them over OTLP/HTTP only if environment variables name
// a receiver (receiver.IsWanted). The exporter also reads its other environment variables.
func New(ctx context.Context, o Options) (*Figures, error) {
	registry := prometheus.NewRegistry()
	local, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo())
	if err != nil {
		return nil, err
	}
	isWanted, err := receiver.IsWanted(o.Getenv, receiver.Metrics)
	if err != nil {
		return nil, err
	}
	receiver.SetReport(o.Report)
	about, err := receiver.NewResource(ctx, o.Getenv, o.Version)
	if err != nil {
		return nil, err
	}
	options := []sdk.Option{sdk.WithResource(about), sdk.WithReader(local)}
	if isWanted {
		client, err := receiver.NewClient(o.Getenv, receiver.Metrics)
		if err != nil {
			return nil, err
		}
		remote, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithHTTPClient(client))
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %s", receiver.Describe(err))
		}
		every := []sdk.PeriodicReaderOption{sdk.WithInterval(sendEvery)}
		if o.Getenv("OTEL_METRIC_EXPORT_INTERVAL") != "" {
			every = nil // the library reads the variable
		}
		options = append(options, sdk.WithReader(sdk.NewPeriodicReader(remote, every...)))
	}
	f := &Figures{provider: sdk.NewMeterProvider(options...), handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})}
	return f, f.begin(o.Read)
}

// begin registers the figures. The given function is called whenever the figures are read or sent.
func (f *Figures) begin(read func(context.Context) (Snapshot, error)) (err error) {
	m := f.provider.Meter("clawai")
	count := func(into *metric.Int64Counter, n name) {
		if err == nil {
			*into, err = m.Int64Counter(n.is, metric.WithUnit(n.unit), metric.WithDescription(n.about))
		}
	}
	count(&f.records, names.records)
	count(&f.bytes, names.bytes)
	count(&f.questions, names.questions)
	count(&f.polls, names.polls)
	count(&f.signIns, names.signIns)
	count(&f.telemetry, names.telemetry)
	measure := func(into *metric.Float64Histogram, n name, bounds []float64) {
		if err == nil {
			*into, err = m.Float64Histogram(n.is, metric.WithUnit(n.unit), metric.WithDescription(n.about), metric.WithExplicitBucketBoundaries(bounds...))
		}
	}
	measure(&f.answers, names.answers, secondsOfPeople)
	measure(&f.store, names.store, secondsOfStore)
	var waiting, laptops, bundles metric.Int64ObservableGauge
	observe := func(into *metric.Int64ObservableGauge, n name) {
		if err == nil {
			*into, err = m.Int64ObservableGauge(n.is, metric.WithUnit(n.unit), metric.WithDescription(n.about))
		}
	}
	observe(&waiting, names.waiting)
	observe(&laptops, names.laptops)
	observe(&bundles, names.bundles)
	if err != nil {
		return err
	}
	_, err = m.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		is, err := read(ctx)
		if err != nil {
			return err
		}
		o.ObserveInt64(waiting, int64(is.Waiting))
		for state, n := range is.Laptops {
			o.ObserveInt64(laptops, int64(n), metric.WithAttributes(stateKey.String(state)))
		}
		for word, n := range is.Bundles {
			o.ObserveInt64(bundles, int64(n), metric.WithAttributes(bundleKey.String(word)))
		}
		return nil
	}, waiting, laptops, bundles)
	return err
}

// ServeHTTP answers with the figures in the text format of Prometheus.
func (f *Figures) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.handler.ServeHTTP(w, r) }

// Close sends all unsent figures, and ends the sending.
func (f *Figures) Close(ctx context.Context) error { return f.provider.Shutdown(ctx) }

func add(c metric.Int64Counter, n int, key attribute.Key, value string) {
	c.Add(context.Background(), int64(n), metric.WithAttributes(key.String(value)))
}

// CountPart counts a shipped part of a record. size is the number of its bytes. decisions is the number
// of its records by decision.
func (f *Figures) CountPart(size int, decisions map[string]int) {
	if f == nil {
		return
	}
	f.bytes.Add(context.Background(), int64(size))
	for decision, n := range decisions {
		add(f.records, n, decisionKey, decision)
	}
}

// Outcomes of a question, for CountQuestion.
const (
	Asked     = "asked"
	Late      = "late" // a person answered after the question was over
	Used      = "used"
	Cancelled = "cancelled"
)

// CountQuestion counts one outcome of a question.
func (f *Figures) CountQuestion(outcome string) {
	if f != nil {
		add(f.questions, 1, outcomeKey, outcome)
	}
}

// CountAnswer counts a decided question, and the time from the question to the decision.
func (f *Figures) CountAnswer(answer string, took time.Duration) {
	if f != nil {
		add(f.questions, 1, outcomeKey, answer)
		f.answers.Record(context.Background(), max(took, 0).Seconds(), metric.WithAttributes(answerKey.String(answer)))
	}
}

// Outcomes of a poll for the bundle, for CountPoll.
const (
	Unchanged = "unchanged"
	Sent      = "sent"
	None      = "none"
)

// CountPoll counts a laptop's poll for the bundle.
func (f *Figures) CountPoll(outcome string) {
	if f != nil {
		add(f.polls, 1, outcomeKey, outcome)
	}
}

// CountTelemetry counts n log records or spans with the same outcome. signal is "logs" or "spans".
func (f *Figures) CountTelemetry(signal, outcome string, n int) {
	if f != nil {
		f.telemetry.Add(context.Background(), int64(n), metric.WithAttributes(signalKey.String(signal), outcomeKey.String(outcome)))
	}
}

// CountSignIn counts an attempt to sign in. ok says whether the person was signed in.
func (f *Figures) CountSignIn(ok bool) {
	if f == nil {
		return
	}
	outcome := "refused"
	if ok {
		outcome = "signed_in"
	}
	add(f.signIns, 1, outcomeKey, outcome)
}

// TimeStore adds the duration of one access to the database.
func (f *Figures) TimeStore(operation string, took time.Duration) {
	if f != nil {
		f.store.Record(context.Background(), max(took, 0).Seconds(), metric.WithAttributes(operationKey.String(operation)))
	}
}
