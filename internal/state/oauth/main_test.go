package oauth_test

import (
	"flag"
	"os"
	"testing"

	"github.com/clawai/clawai/internal/testing/tlstest"
)

// TestMain lets more tests run at once than there are processors: most of them wait. Tests that set
// no environment of their own find no proxy and no authority in it.
func TestMain(m *testing.M) {
	tlstest.UnsetEnvironment()
	flag.Parse()
	if err := flag.Set("test.parallel", "32"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
