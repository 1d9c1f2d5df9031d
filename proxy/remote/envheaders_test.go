package remote_test

import (
	"strings"
	"testing"

	"github.com/clawai/clawai/proxy/remote"
)

// Headers whose value is a variable of the proxy's own environment.
func TestHeadersFromTheEnvironment(t *testing.T) {
	getenv := func(name string) (string, bool) { return "t0ken", name == "TOKEN" }
	h, err := remote.EnvHeaders([]string{
		"CLAWAI_HEADER_ENV_0=Authorization: Bearer ${TOKEN}", "CLAWAI_HEADER_1=X-A:b", "CLAWAI_HEADER_2=Accept: x", "CLAWAI_HEADER_3=content-type: x", "OTHER=X-B: c",
	}, getenv)
	if err != nil || len(h) != 2 || h.Get("Authorization") != "Bearer t0ken" || h.Get("X-A") != "b" {
		t.Errorf("%v %v", h, err)
	}
	for _, wrong := range []string{
		"CLAWAI_HEADER_ENV_1=X: ${CLAWAI_NO_SUCH}", "CLAWAI_HEADER_1=X: ${TOKEN}", "CLAWAI_HEADER_1=s3cr3t", "CLAWAI_HEADER_1=X: s3cr3t\nY: z", "CLAWAI_HEADER_1=Host: s3cr3t",
	} {
		if h, err := remote.EnvHeaders([]string{wrong}, getenv); err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v %v", wrong, h, err)
		}
	}
}
