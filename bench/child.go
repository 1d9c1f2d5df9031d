//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/tidwall/gjson"
)

// childArgument is the first argument of the driver's helper programs. The helpers contain no code
// of clawai, so they start fast.
const childArgument = "-child"

// childRole returns the helper program that a command line names, or nil for
// the driver itself.
func childRole(args []string) func(args []string) {
	if len(args) < 3 || args[1] != childArgument {
		return nil
	}
	return map[string]func([]string){
		"echo": func([]string) { echo(0, 1) }, "bytes": relayBytes, "lines": relayLines,
	}[args[2]]
}

// echo is a fast MCP server: it finds the id of a request without parsing the JSON. The arguments
// of read_file choose the answer: "head" is a length of prose in bytes, "tail" is a length of rows
// in bytes.
func echo(stdin, stdout int) {
	var text []byte // the text of the previous answer
	of := ""
	in, out := make([]byte, 0, 1<<20), make([]byte, 0, 1<<20)
	for {
		if len(in) == cap(in) {
			in = append(make([]byte, 0, 2*cap(in)), in...)
		}
		n, err := syscall.Read(stdin, in[len(in):cap(in)])
		if n <= 0 || err != nil {
			return
		}
		in = in[:len(in)+n]
		rest := in
		for {
			line, after, whole := bytes.Cut(rest, []byte{'\n'})
			if !whole {
				break
			}
			rest = after
			id, ok := number(line, `"id":`)
			if !ok {
				continue
			}
			if bytes.Contains(line, []byte(`"method":"initialize"`)) { // a hub sends this request
				out = append(append(append(out, `{"jsonrpc":"2.0","id":`...), id...),
					`,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}}`+"\n"...)
				continue
			}
			if bytes.Contains(line, []byte(`"method":"tools/list"`)) {
				out = append(append(append(out, `{"jsonrpc":"2.0","id":`...), id...), toolsListed...)
				continue
			}
			size, is := 16, prose
			for _, one := range [...]struct{ member, is string }{{`"head":`, prose}, {`"tail":`, rows}} {
				if digits, ok := number(line, one.member); ok && digits[0] != '"' {
					size, _ = strconv.Atoi(string(digits))
					is = one.is
				}
			}
			if len(text) != size || of != is {
				text, of = appendText(text[:0], is, size), is
			}
			out = append(append(append(out, `{"jsonrpc":"2.0","id":`...), id...), `,"result":{"content":[{"type":"text","text":"`...)
			out = append(append(out, text...), `"}]}}`+"\n"...)
		}
		in = in[:copy(in, rest)]
		for len(out) > 0 {
			n, err := syscall.Write(stdout, out)
			if err != nil {
				return
			}
			out = out[:copy(out, out[n:])]
		}
	}
}

// prose and rows are the texts that answers repeat, escaped for a JSON string. prose is like text
// of people, and rows is like a table of a server. prose must be longer than rows, because
// appendText fills the end with prose.
const (
	prose = `The function reads one file after the other, and leaves out those that are not there. It returns an error (see below) when a folder cannot be opened; callers print that and go on. `
	rows  = `{\"id\": 1042, \"name\": \"main.go\", \"path\": \"/home/user/projects/app/main.go\", \"size\": 18233, \"modified\": \"2026-03-14T09:26:53Z\", \"tags\": [\"code\", \"go\"]},\n`
)

// appendText appends size bytes of the repeated text. The last bytes come from prose, because prose
// has no escape sequence that a cut could break.
func appendText(to []byte, of string, size int) []byte {
	for ; size >= len(of); size -= len(of) {
		to = append(to, of...)
	}
	return append(to, prose[:size]...)
}

// toolsListed is the end of the answer to tools/list. It is a part of the list of
// @modelcontextprotocol/server-filesystem.
const toolsListed = `,"result":{"tools":[` +
	`{"name":"read_file","title":"Read File","description":"Read the complete contents of a file as text.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"tail":{"type":"number"},"head":{"type":"number"}},"required":["path"]},"annotations":{"readOnlyHint":true}},` +
	`{"name":"write_file","title":"Write File","description":"Create a new file or completely overwrite an existing file with new content.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]},"annotations":{"readOnlyHint":false,"idempotentHint":true,"destructiveHint":true}}` +
	`]}}` + "\n"

// number returns the text between the name of a member and the next delimiter. The bool is false if
// the line has no such member.
func number(line []byte, member string) ([]byte, bool) {
	_, after, ok := bytes.Cut(line, []byte(member))
	if !ok {
		return nil, false
	}
	end := bytes.IndexAny(after, ",}")
	return after[:max(end, 0)], end > 0
}

// relayBytes is the simplest possible proxy: two io.Copy loops around a child
// process.
func relayBytes(command []string) {
	around(command, func(w io.Writer, r io.Reader) { _, _ = io.Copy(w, r) })
}

// relayLines is the simplest proxy that reads frames: it checks that each line is JSON and reads
// its method. Lines that arrive together are written together.
func relayLines(command []string) {
	around(command, func(w io.Writer, r io.Reader) {
		in, out := bufio.NewReaderSize(r, 64<<10), bufio.NewWriterSize(w, 64<<10)
		var long []byte
		for {
			line, err := in.ReadSlice('\n')
			if errors.Is(err, bufio.ErrBufferFull) {
				long = append(long, line...)
				continue
			}
			if err != nil {
				return
			}
			if len(long) > 0 {
				long = append(long, line...)
				line = long
			}
			if gjson.ValidBytes(line) && len(gjson.GetBytes(line, "method").Raw) < len(line) {
				_, _ = out.Write(line)
			}
			long = long[:0]
			if in.Buffered() == 0 && out.Flush() != nil {
				return
			}
		}
	})
}

// around starts the command and relays both directions until the command ends.
func around(command []string, carry func(io.Writer, io.Reader)) {
	cmd := exec.Command(command[0], command[1:]...)
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
		panic(err)
	}
	go func() {
		carry(in, os.Stdin)
		_ = in.Close()
	}()
	carry(os.Stdout, out)
	_ = cmd.Wait()
}
