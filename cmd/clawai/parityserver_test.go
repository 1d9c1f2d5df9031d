package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
)

// parityServer sends the lines of a file, then answers every request it is let
// to hear, and keeps what it heard beside the file.
func parityServer() {
	script := os.Args[1]
	lines, err := os.ReadFile(script)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(lines)
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		appendLine(script+".heard", bytes.TrimSuffix(line, []byte("\n")))
		if answer := parityAnswer(line); answer != "" {
			fmt.Println(answer)
		}
	}
}

// parityAnswer is what the server says to a request; "" to anything else.
func parityAnswer(line []byte) string {
	_, after, ok := bytes.Cut(line, []byte(`"id":`))
	if !ok || !bytes.Contains(line, []byte(`"method":`)) {
		return ""
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, after[:bytes.IndexAny(after, ",}")])
}
