package client

import (
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/wrap/proxyargs"
)

// TestParse holds the readings that a wrapper is judged by; that the command reads
// the same is TestTheProxyReadsItsOptionsAlike of cmd/clawai.
func TestProxyArgs(t *testing.T) {
	for _, c := range []struct {
		words   string
		want    string // the settings
		command string // what follows
		dashes  bool
		failed  bool
	}{
		{words: "--server fs -- npx -y", want: "server=fs", command: "npx -y", dashes: true},
		{words: "-server=fs -observe=t -- x", want: "server=fs observe=true", command: "x", dashes: true},
		{words: "--observe=F -- x", want: "observe=false", command: "x", dashes: true},
		{words: "--observe x -- y", want: "observe=true", command: "x -- y"},
		{words: "--policy -- --server fs -- x", want: "policy=-- server=fs", command: "x", dashes: true},
		{words: "--server --", want: "server=--"},
		{words: "--server -- --", want: "server=--", dashes: true},
		{words: "--server=-- --", want: "server=--", dashes: true},
		{words: "--layer a --layer b -- x", want: "layer=a layer=b", command: "x", dashes: true},
		{words: "--help -h -- x", want: "help=true help=true", command: "x", dashes: true},
		{words: "--", dashes: true},
		{words: ""},
		{words: "x -- y", command: "x -- y"},
		{words: "- -- y", command: "- -- y"},
		{words: "--server", failed: true},
		{words: "--policy= -- x", want: "policy=", command: "x", dashes: true, failed: true},
		{words: "--policy= --policy=p -- x", want: "policy= policy=p", command: "x", dashes: true},
		{words: "--layer= --layer=p -- x", want: "layer= layer=p", command: "x", dashes: true, failed: true},
		{words: "--layer= --help", want: "layer= help=true"},
		{words: "--nothing -- x", command: "-- x", failed: true},
		{words: "--observe=maybe -- x", command: "-- x", failed: true},
		{words: "---server fs -- x", command: "---server fs -- x", failed: true},
	} {
		words := strings.Fields(c.words)
		line, err := proxyargs.Parse(words)
		var got []string
		for _, s := range line.Settings {
			got = append(got, s.Name+"="+s.Value)
		}
		if strings.Join(got, " ") != c.want || (err != nil) != c.failed || line.Dashes != c.dashes ||
			!slices.Equal(words[line.Command:], strings.Fields(c.command)) {
			t.Errorf("%q: %q, then %q, dashes %v, %v", c.words, got, words[line.Command:], line.Dashes, err)
		}
	}
	line, _ := proxyargs.Parse([]string{"--policy", "a", "--policy=b"})
	if value, ok := line.OptionValue("policy"); value != "b" || !ok {
		t.Error("the last one does not count")
	}
	if _, ok := line.OptionValue("state"); ok {
		t.Error("what was not given is there")
	}
}
