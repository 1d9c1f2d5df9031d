package telemetry

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/clawai/clawai/internal/event"
	"github.com/clawai/clawai/internal/state/export"
)

// Limits of the calls that are kept in memory until their replies come. All other calls are read from the
// database when their replies come.
const (
	mostCalls = 4096
	maxCall   = 4 << 10 // bytes of the line of a call
)

// spanWriter makes spans. One goroutine uses it.
type spanWriter struct {
	tracer  trace.Tracer
	find    func(ctx context.Context, laptop, session string, seq uint64) (*event.Entry, bool, error)
	report  func(error)
	payload bool
	calls   map[string]*event.Entry // calls that have no reply yet, by laptop and record
	order   []string
	made    []sdktrace.ReadOnlySpan
}

func newSpanWriter(o *Options, about *resource.Resource) *spanWriter {
	w := &spanWriter{find: o.Find, report: o.Report, payload: o.Payload, calls: map[string]*event.Entry{}}
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithIDGenerator(ids{}), sdktrace.WithSpanProcessor((*spanProcessor)(w)))
	w.tracer = provider.Tracer(scope, trace.WithInstrumentationVersion(o.Version))
	return w
}

// render returns the spans of the calls that the records of a part complete.
func (w *spanWriter) render(ctx context.Context, p Part) (all []item[sdktrace.ReadOnlySpan]) {
	add := func(call, reply *event.Entry) {
		w.made = nil
		size := w.writeSpan(ctx, &p, call, reply)
		for _, span := range w.made { // one span, or none if the sampler does not want it
			all = append(all, item[sdktrace.ReadOnlySpan]{span, size})
		}
	}
	for _, e := range p.Records {
		switch {
		case isCall(e) && isFinal(e):
			add(e, nil)
		case isCall(e):
			w.keepCall(p.Laptop, e)
		case isReply(e):
			if call := w.takeCall(ctx, p.Laptop, e); call != nil {
				add(call, e)
			}
		}
	}
	return all
}

// keepCall keeps a call until its reply comes.
func (w *spanWriter) keepCall(laptop string, e *event.Entry) {
	if len(e.Raw) > maxCall {
		return
	}
	kept := *withoutPayload(e, w.payload)
	kept.Raw = nil
	key := laptop + " " + e.Record
	w.calls[key] = &kept
	if w.order = append(w.order, key); len(w.order) > mostCalls { // w.order also has keys of calls that already had a reply
		for _, old := range w.order[:mostCalls/2] {
			delete(w.calls, old)
		}
		w.order = slices.Clone(w.order[mostCalls/2:])
	}
}

// takeCall returns the call of a reply; nil if the call cannot be found, or already has a span.
func (w *spanWriter) takeCall(ctx context.Context, laptop string, reply *event.Entry) *event.Entry {
	key := laptop + " " + reply.Ref
	if call := w.calls[key]; call != nil {
		delete(w.calls, key)
		return call
	}
	number, ok := strings.CutPrefix(reply.Ref, reply.Session+"-")
	seq, err := strconv.ParseUint(number, 10, 63)
	if !ok || err != nil {
		return nil
	}
	call, ok, err := w.find(ctx, laptop, reply.Session, seq)
	if err != nil && ctx.Err() == nil {
		w.report(fmt.Errorf("telemetry: spans: the call of a reply is not read: %w", err))
	}
	if err != nil || !ok || !isCall(call) || isFinal(call) {
		return nil
	}
	return withoutPayload(call, w.payload)
}

// writeSpan makes the span of a call and its reply. It returns the size of the span's texts in bytes.
func (w *spanWriter) writeSpan(ctx context.Context, p *Part, call, reply *event.Entry) int {
	call = withoutPayload(call, w.payload)
	end := call.Time
	if reply != nil && reply.Time.After(end) {
		end = reply.Time
	}
	is := export.NewSpan(call, reply)
	attributes, size := newAttributes(p, is.Attributes)
	kind := trace.SpanKindClient // the conventions use this kind for a program that sends a request on
	if reply == nil && call.Decision == "deny" {
		kind = trace.SpanKindInternal // the request was not sent on
	}
	own := spanOf(p.Laptop, call, call.Traceparent)
	ctx = context.WithValue(ctx, idKey{}, own)
	root := []trace.SpanStartOption{trace.WithNewRoot()}
	if parent, ok := parentOf(call.Traceparent); ok {
		ctx, root = trace.ContextWithRemoteSpanContext(ctx, parent), nil
	}
	_, span := w.tracer.Start(ctx, is.Name, append(root, trace.WithTimestamp(call.Time), trace.WithSpanKind(kind), trace.WithAttributes(attributes...))...)
	if is.Failed {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(end))
	return size
}

// spanOf returns the ids of the span for the call that a record is about. The ids are computed from the
// laptop, the session and the record. So all calls of a session are in one trace, and every centre gives a
// call the same ids. The log records of a call have these ids too. A call with a trace context of its client
// is in the trace of that context.
func spanOf(laptop string, e *event.Entry, traceparent string) trace.SpanContext {
	ofSession := sha256.Sum256([]byte("clawai trace\x00" + laptop + "\x00" + e.Session))
	ofCall := sha256.Sum256([]byte("clawai span\x00" + laptop + "\x00" + cmp.Or(e.Ref, e.Record)))
	c := trace.SpanContextConfig{TraceFlags: trace.FlagsSampled}
	copy(c.TraceID[:], ofSession[:])
	copy(c.SpanID[:], ofCall[:])
	if parent, ok := parentOf(traceparent); ok {
		c.TraceID, c.TraceFlags = parent.TraceID(), parent.TraceFlags()
	}
	return trace.NewSpanContext(c)
}

// parentOf returns the client's span in which a call was made.
func parentOf(traceparent string) (trace.SpanContext, bool) {
	of := event.Event{Traceparent: traceparent}
	traceID, spanID, flags, ok := of.ReadTraceparent()
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: spanID, TraceFlags: trace.TraceFlags(flags), Remote: true}), ok
}

// parents keeps the trace contexts of the latest calls, for the log records of their replies and answers.
type parents struct {
	of    map[string]string // by laptop and record
	order []string
}

// traceparentOf returns the trace context of the call that a record is about; "" if it has none, or came long
// ago.
func (p *parents) traceparentOf(laptop string, e *event.Entry) string {
	if e.Traceparent == "" {
		return p.of[laptop+" "+e.Ref]
	}
	if p.of == nil {
		p.of = map[string]string{}
	}
	key := laptop + " " + e.Record
	p.of[key] = e.Traceparent
	if p.order = append(p.order, key); len(p.order) > mostCalls {
		delete(p.of, p.order[0])
		p.order = p.order[1:]
	}
	return e.Traceparent
}

type idKey struct{}

// ids gives a span the ids of its call.
type ids struct{}

// NewIDs implements trace.IDGenerator.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	is, _ := ctx.Value(idKey{}).(trace.SpanContext)
	return is.TraceID(), is.SpanID()
}

// NewSpanID implements trace.IDGenerator.
func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	is, _ := ctx.Value(idKey{}).(trace.SpanContext)
	return is.SpanID()
}

// spanProcessor gets the spans that the tracer has ended.
type spanProcessor spanWriter

// OnStart implements trace.SpanProcessor.
func (*spanProcessor) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd implements trace.SpanProcessor.
func (w *spanProcessor) OnEnd(s sdktrace.ReadOnlySpan) { w.made = append(w.made, s) }

// Shutdown implements trace.SpanProcessor.
func (*spanProcessor) Shutdown(context.Context) error { return nil }

// ForceFlush implements trace.SpanProcessor.
func (*spanProcessor) ForceFlush(context.Context) error { return nil }
