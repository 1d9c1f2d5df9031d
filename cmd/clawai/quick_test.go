package main

import (
	"flag"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/slow"
)

// journeys are all that `go test -short` runs here, unless -run asks for other tests: this
// package starts programs and terminals, and what it shows, the rooms show in a moment. One
// journey for each way that messages and commands take is enough to see that they are wired.
var journeys = []string{
	// Pages, options and codes against the code.
	"TestReference", "TestCodesHaveTheirPage", "TestExitCodesOfEveryCommand", "TestIndexNamesEveryPage", "TestPagesStayShort",
	"TestTheDocumentedSettings", "TestTheScreenOfHelp",
	// What the official SDK writes and reads, and what others here are scored with.
	"TestSDK.*", "TestFlowTraces",
	// Messages: by pipes, a hub, HTTP, a hook; the same answer of all.
	"TestParity", "TestProxyAsksTheDiskAndCounts", "TestFlowOverHTTP", "TestBridge", "TestHubIdentity", "TestScripts/^(hub|limit_over_all_tools)$",
	// Commands: of a policy, of the record, of clients' files; a person who is asked.
	"TestScripts/^(policy_check|log_touched|scan)$", "TestALedEntryRuns", "TestStatusOfHooks",
	"TestTrustAsksAtATerminal",
}

// tests are this package's.
type tests struct{ *testing.M }

func (m tests) Run() int {
	slow.Waiting()
	if run := flag.Lookup("test.run"); testing.Short() && run.Value.String() == "" {
		if err := run.Value.Set("^" + strings.Join(journeys, "$|^") + "$"); err != nil {
			panic(err)
		}
	}
	return m.M.Run()
}
