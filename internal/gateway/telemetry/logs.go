package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"

	"github.com/clawai/clawai/internal/state/export"
)

// scope is the name of the program that made log records and spans. The output of clawai log
// export has the same name.
const scope = "clawai"

// logWriter makes log records. One goroutine uses it.
type logWriter struct {
	logger  log.Logger
	payload bool
	parents parents
	made    *sdklog.Record // the record that the logger has emitted last
}

func newLogWriter(o *Options, about *resource.Resource) *logWriter {
	w := &logWriter{payload: o.Payload}
	provider := sdklog.NewLoggerProvider(sdklog.WithResource(about), sdklog.WithProcessor((*logProcessor)(w)), sdklog.WithAllowKeyDuplication()) // a search for equal keys would take long, and there are none
	w.logger = provider.Logger(scope, log.WithInstrumentationVersion(o.Version))
	return w
}

// render returns the log records of a part.
func (w *logWriter) render(ctx context.Context, p Part) (all []item[sdklog.Record]) {
	for _, e := range p.Records {
		if !isLogged(e) {
			continue
		}
		l := export.NewLog(withoutPayload(e, w.payload)).Fit()
		attributes, size := newAttributes(&p, l.Attributes)
		var r log.Record
		r.SetTimestamp(e.Time)
		r.SetObservedTimestamp(e.Time)
		r.SetSeverity(log.Severity(l.Severity))
		r.SetSeverityText(l.SeverityText)
		r.SetEventName(l.Name)
		r.SetBody(attribute.StringValue(l.Body))
		r.AddAttributes(attributes...)
		w.made = nil
		w.logger.Emit(trace.ContextWithSpanContext(ctx, spanOf(p.Laptop, e, w.parents.traceparentOf(p.Laptop, e))), r)
		if w.made != nil {
			all = append(all, item[sdklog.Record]{*w.made, size + len(l.Body)})
		}
	}
	return all
}

// newAttributes returns attributes, and the size of their texts in bytes.
func newAttributes(p *Part, all []export.Attribute) (attributes []attribute.KeyValue, size int) {
	attributes = append(make([]attribute.KeyValue, 0, len(all)+2), attribute.String("clawai.laptop", p.Laptop), attribute.String("clawai.laptop_name", p.Name))
	for _, a := range all {
		attributes = append(attributes, attribute.String(a.Name, a.Text))
		size += len(a.Name) + len(a.Text)
	}
	return attributes, size
}

// logProcessor gets the records that the logger emits.
type logProcessor logWriter

// Enabled implements log.Processor.
func (*logProcessor) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }

// OnEmit implements log.Processor.
func (w *logProcessor) OnEmit(_ context.Context, r *sdklog.Record) error {
	made := r.Clone() // the logger may use its own record again
	w.made = &made
	return nil
}

// Shutdown implements log.Processor.
func (*logProcessor) Shutdown(context.Context) error { return nil }

// ForceFlush implements log.Processor.
func (*logProcessor) ForceFlush(context.Context) error { return nil }
