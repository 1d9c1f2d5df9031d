// This module reads what clawai log export writes with OpenTelemetry's own definitions. It is a module of its
// own, so that nothing of them is in the graph of clawai.
module otlp

go 1.26.0

require (
	go.opentelemetry.io/proto/otlp v1.11.1
	google.golang.org/protobuf v1.36.12
)
