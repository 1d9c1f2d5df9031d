// Package telemetry sends what laptops have recorded to a receiver of OpenTelemetry by OTLP over HTTP: each
// decision, outcome and answer as a log record, and each call as a span.
//
// The centre passes records to this package after it has stored them. It never has to wait: each signal
// has a queue of limited size, and records that do not fit into the queue are counted and not sent.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/gateway/receiver"
	"github.com/clawai/clawai/internal/state/export"
)

// Part holds the records of one message from a laptop.
type Part struct {
	Laptop, Name string // id and name of the laptop
	Records      []*event.Entry
}

// Outcomes of a log record or a span.
const (
	Sent    = "sent"
	Refused = "refused" // the receiver did not take the item, or gave no answer for too long
	Dropped = "dropped" // the queue was full, or the centre ended
)

// Options are the options of New.
type Options struct {
	Version string
	Payload bool // also send texts that may contain arguments
	// Find returns a stored record; false if there is none.
	Find   func(ctx context.Context, laptop, session string, seq uint64) (*event.Entry, bool, error)
	Count  func(signal, outcome string, n int)
	Report func(error)
	Getenv func(string) string
}

// Sender sends log records and spans. All its methods are safe for concurrent use; on a nil Sender they do
// nothing.
type Sender struct {
	logs   *pipe[sdklog.Record]
	spans  *pipe[sdktrace.ReadOnlySpan]
	report func(error)
}

// New returns a Sender, or nil if the environment names no receiver for logs or spans.
func New(ctx context.Context, o Options) (*Sender, error) {
	wantLogs, logsErr := receiver.IsWanted(o.Getenv, receiver.Logs)
	wantSpans, spansErr := receiver.IsWanted(o.Getenv, receiver.Traces)
	if wantSpans {
		spansErr = receiver.CheckSampler(o.Getenv)
	}
	if err := errors.Join(logsErr, spansErr); err != nil || !wantLogs && !wantSpans {
		return nil, err
	}
	receiver.SetReport(o.Report)
	about, err := receiver.NewResource(ctx, o.Getenv, o.Version)
	if err != nil {
		return nil, err
	}
	s := &Sender{report: o.Report}
	if wantLogs {
		client, err := receiver.NewClient(o.Getenv, receiver.Logs)
		if err != nil {
			return nil, err
		}
		out, err := otlploghttp.New(ctx, otlploghttp.WithHTTPClient(client), otlploghttp.WithRetry(otlploghttp.RetryConfig{}))
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %s", receiver.Describe(err))
		}
		s.logs = newPipe("logs", &o, isLogged, newLogWriter(&o, about).render, out.Export, out.Shutdown)
	}
	if wantSpans {
		client, err := receiver.NewClient(o.Getenv, receiver.Traces)
		if err != nil {
			return nil, errors.Join(err, s.Close(ctx))
		}
		out, err := otlptracehttp.New(ctx, otlptracehttp.WithHTTPClient(client), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %s", receiver.Describe(err)), s.Close(ctx))
		}
		s.spans = newPipe("spans", &o, endsCall, newSpanWriter(&o, about).render, out.ExportSpans, out.Shutdown)
	}
	return s, nil
}

// Add puts the records of a part into the queues, without waiting. Nobody may change the records after
// that.
func (s *Sender) Add(p Part) {
	if s == nil {
		return
	}
	if s.logs != nil {
		s.logs.add(p)
	}
	if s.spans != nil {
		s.spans.add(p)
	}
}

// Close sends the records in the queues until ctx ends, and drops the rest.
func (s *Sender) Close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	ended := make(chan error, 1)
	go func() {
		if s.spans == nil {
			ended <- nil
			return
		}
		ended <- s.spans.end(ctx)
	}()
	var err error
	if s.logs != nil {
		err = s.logs.end(ctx)
	}
	return errors.Join(err, <-ended)
}

func isLogged(e *event.Entry) bool { return slices.Contains(export.LoggedKinds, e.Kind) }

// isCall reports whether a record is about a message that must pass the gate, and not about a reply.
func isCall(e *event.Entry) bool {
	return e.Ref == "" && e.Method != "" && (e.Kind == event.Decision || e.Kind == event.Passed && len(e.ID) > 0)
}

// isFinal reports whether no record of a reply to the call can follow.
func isFinal(e *event.Entry) bool {
	return e.Decision == "deny" || len(e.ID) == 0 || e.IsOfHook()
}

// isReply reports whether a record is of the reply to a call.
func isReply(e *event.Entry) bool {
	return e.Ref != "" && (e.Kind == event.Outcome || e.Kind == event.Listed || e.Kind == event.Decision)
}

// endsCall reports whether a record completes a span.
func endsCall(e *event.Entry) bool { return isReply(e) || isCall(e) && isFinal(e) }
