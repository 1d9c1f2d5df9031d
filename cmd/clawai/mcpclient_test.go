package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/tidwall/gjson"
)

// mcpClient is a client that reads its answers: it starts the program behind it, writes the lines
// of its own input to it, and ends the program's input when every request has an answer, at the
// latest after patience. A hub gives requests 1.5 s after its input has ended, and on a busy
// machine a server needs longer to start.
func mcpClient() {
	lines, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	open := map[string]bool{} // ids of the requests without an answer
	for line := range bytes.Lines(lines) {
		if id := gjson.GetBytes(line, "id"); id.Exists() && gjson.GetBytes(line, "method").Exists() {
			open[id.Raw] = true
		}
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		panic(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() { _, _ = in.Write(lines) }()              // an error means that the program has ended, as its output tells
	time.AfterFunc(patience, func() { _ = in.Close() }) // a request without an answer fails the script, and does not hold it up
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadBytes('\n')
		_, _ = os.Stdout.Write(line)
		if id := gjson.GetBytes(line, "id"); !gjson.GetBytes(line, "method").Exists() {
			delete(open, id.Raw)
		}
		if len(open) == 0 {
			_ = in.Close()
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait() // the exit code tells
	os.Exit(cmd.ProcessState.ExitCode())
}
