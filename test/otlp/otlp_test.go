package otlp

import (
	"bufio"
	"os"
	"strings"
	"testing"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// golden is what the form writes, which the form's own test holds it to.
const golden = "../../internal/state/export/testdata/otlp.golden"

// OpenTelemetry's own reader takes each line, knows each member, and finds what was written.
func TestGolden(t *testing.T) {
	file, err := os.Open(golden)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	n := 0
	for ; lines.Scan(); n++ {
		var doc logspb.LogsData
		if err := (protojson.UnmarshalOptions{DiscardUnknown: false}).Unmarshal(lines.Bytes(), &doc); err != nil {
			t.Fatalf("line %d: %v", n+1, err)
		}
		r := doc.ResourceLogs[0].ScopeLogs[0].LogRecords[0]
		if r.TimeUnixNano != 1796119323123456789 || r.SeverityNumber == logspb.SeverityNumber_SEVERITY_NUMBER_UNSPECIFIED || !strings.HasPrefix(r.EventName, "clawai.") || r.Body.GetStringValue() == "" {
			t.Errorf("line %d: %v", n+1, r)
		}
		found := map[string]string{}
		for _, a := range r.Attributes {
			if found[a.Key] != "" {
				t.Errorf("line %d: %s twice", n+1, a.Key)
			}
			found[a.Key] = a.Value.GetStringValue()
		}
		if found["clawai.record"] == "" || found["clawai.kind"] != strings.TrimPrefix(r.EventName, "clawai.") {
			t.Errorf("line %d: %v", n+1, found)
		}
		if n == 0 && (found["gen_ai.tool.name"] != "write_file" || found["mcp.method.name"] != "tools/call" || found["clawai.decision"] != "allow" || !strings.Contains(found["gen_ai.tool.call.arguments"], "[redacted:")) {
			t.Error(found)
		}
	}
	if n < 7 || lines.Err() != nil {
		t.Errorf("%d lines, %v", n, lines.Err())
	}
}
