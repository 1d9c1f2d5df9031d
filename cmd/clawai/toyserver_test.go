package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// toyServer is a server the tests can order about: it answers every request,
// dies at the word "die", stays silent at the word "hang", keeps its answers to
// "hold" until the next request, may be deaf to the end of its input and to
// SIGTERM, and may take its time to end.
func toyServer() {
	heard := flag.String("heard", "", "append every line to this file")
	pid := flag.String("pid", "", "write the process id to this file")
	deaf := flag.Bool("deaf", false, "never end by itself")
	tidies := flag.Duration("tidies", 0, "end this long after the end of the input, with the exit code 7")
	says := flag.String("says", "", "answer with the text of this file")
	flag.Parse()
	content := "[]"
	if *says != "" {
		text, _ := os.ReadFile(*says)
		quoted, _ := json.Marshal(string(text))
		content = fmt.Sprintf(`[{"type":"text","text":%s}]`, quoted)
	}
	if *deaf {
		signal.Ignore(syscall.SIGTERM)
	}
	if *pid != "" {
		_ = os.WriteFile(*pid, []byte(strconv.Itoa(os.Getpid())), 0o600)
	}
	var held []string
	out := bufio.NewWriter(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Bytes()
		if *heard != "" {
			appendLine(*heard, line)
		}
		_, after, ok := bytes.Cut(line, []byte(`"id":`))
		switch {
		case bytes.Contains(line, []byte("die")):
			os.Exit(3)
		case bytes.Contains(line, []byte("hang")) || !ok:
		default:
			held = append(held, string(after[:bytes.IndexAny(after, ",}")]))
		}
		if bytes.Contains(line, []byte(`"hold"`)) {
			continue
		}
		for _, id := range held {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"content":%s}}`+"\n", id, content)
		}
		_ = out.Flush()
		held = held[:0]
	}
	if *tidies > 0 {
		time.Sleep(*tidies)
		os.Exit(7)
	}
	for *deaf {
		time.Sleep(time.Hour)
	}
}

func appendLine(path string, line []byte) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	_, _ = f.Write(append(line, '\n'))
}
