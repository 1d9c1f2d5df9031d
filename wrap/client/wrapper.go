package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clawai/clawai/wrap/proxyargs"
)

// invocation is the command line of clawai proxy in the words of an entry.
type invocation struct {
	line   proxyargs.Line
	server string   // value of --server; "" if the option is missing
	was    string   // value of --was; "" if the option is missing
	cage   []string // values of --client-sandbox
	inner  int      // index of the first word after "--"
	failed string   // why the proxy would not start with these words; "" if it would
}

// readInvocation recognises a wrapper by the name of the program, at any path. It reads the options
// in the way of the proxy. The proxy may refuse the words, for example options of another version.
// Then the entry is still a wrapper, and the words of the wrapper end at the first "--".
func readInvocation(words []*node) (v invocation, ok bool) {
	if len(words) < 3 || !isClawai(words[0].text) || words[1].text != "proxy" {
		return invocation{}, false
	}
	own := nodeTexts(words[2:])
	line, err := proxyargs.Parse(own)
	v = invocation{line: line, inner: line.Command + 2}
	switch {
	case err != nil:
		v.failed = err.Error()
	case !line.Dashes && line.Command < len(own):
		v.failed = "it reads no option behind " + quoteText(own[line.Command])
	}
	v.server, _ = line.OptionValue("server")
	v.was, _ = line.OptionValue("was")
	v.cage = line.OptionValues("client-sandbox")
	if line.Dashes {
		return v, true
	}
	for i, word := range own {
		if word == "--" && (i == 0 || own[i-1] != "--server") {
			v.inner = i + 3
			v.was = firstOf(valuesOf(own[:i], wasFlag))
			v.cage = valuesOf(own[:i], sandboxFlag)
			return v, true
		}
	}
	return invocation{}, false
}

// valuesOf returns the values of an option. It is for words that the proxy would refuse.
func valuesOf(words []string, option string) (all []string) {
	for i, word := range words[:max(len(words)-1, 0)] {
		if word == option {
			all = append(all, words[i+1])
		}
	}
	return all
}

func firstOf(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// isObserving reports whether the proxy would only record, and block nothing.
func (v invocation) isObserving() bool {
	value, _ := v.line.OptionValue("observe")
	return value == "true"
}

// isClawai reports whether the last part of a path is clawai or clawai.exe. Slashes and backslashes
// both separate parts.
func isClawai(command string) bool {
	base := command[strings.LastIndexAny(command, `/\`)+1:]
	return base == "clawai" || strings.EqualFold(base, "clawai.exe")
}

const observeFlag = "--observe"

// proxyWords returns the words that Wrap writes after the path of clawai. The parameter was is the
// value of --was from the earlier wrapper; Unwrap needs this value. The parameter cage has the
// rules of the client's sandbox.
func proxyWords(w Wrapper, was string, cage []string) []string {
	words := []string{"proxy", "--server", w.Server}
	if strings.HasPrefix(w.Server, "-") { // use one word with =, because a separate word would look like an option (proxycmd, checkCommand)
		words = []string{"proxy", "--server=" + w.Server}
	}
	if w.Observe {
		words = append(words, observeFlag)
	}
	if was != "" {
		words = append(words, wasFlag, was)
	}
	for _, rule := range cage {
		words = append(words, sandboxFlag, rule)
	}
	return append(words, "--")
}

// findDifferences returns how the words of a wrapper differ from those that Wrap writes for the
// server; nil if they do not differ.
func (v invocation) findDifferences(words []string, server string) (all []string) {
	want := Wrapper{Server: server, Observe: v.isObserving()}
	if slices.Equal(words[1:v.inner], proxyWords(want, v.was, v.cage)) {
		return nil
	}
	if v.failed != "" {
		all = append(all, "the proxy would not start with its options: "+v.failed)
	}
	switch {
	case v.server == "" && server != "":
		all = append(all, "the wrapper does not tell the rules the server's name")
	case v.server != server:
		all = append(all, "the wrapper tells the rules another server's name")
	}
	var given []string
	for _, s := range v.line.Settings {
		if text := settingDiffers(s); text != "" && !slices.Contains(given, s.Name) {
			all = append(all, text)
		}
		given = append(given, s.Name)
	}
	if len(all) == 0 {
		all = append(all, "the wrapper is written in another way than wrap writes it")
	}
	return all
}

// settingDiffers describes the effect of an option that Wrap would not write, or would write in
// another way. It returns "" for --server, --was and --client-sandbox.
func settingDiffers(s proxyargs.Setting) string {
	switch s.Name {
	case "server", "was", "client-sandbox":
		return ""
	case "observe":
		if s.Value == "true" {
			return "--observe enforces nothing, and is not written as wrap writes it"
		}
	case "help":
		return "--help shows the help, and starts nothing"
	case "layer":
		return "--layer adds a policy, and is not in what wrap writes; put what must hold for every session into the organisation's layer, or into your policy"
	case "policy":
		return "--policy judges by another file than your policy"
	case "state":
		return "--state keeps the record elsewhere"
	}
	return fmt.Sprintf("--%s, which wrap does not write", s.Name)
}

func nodeTexts(words []*node) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = w.text
	}
	return all
}
