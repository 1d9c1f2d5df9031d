// Command echo is the fastest MCP server there can be: it answers each request
// with a result of -bytes bytes, the id found without parsing.
package main

import (
	"bytes"
	"flag"
	"strings"
	"syscall"
)

func main() {
	size := flag.Int("bytes", 16, "length of the text in each result")
	flag.Parse()
	tail := []byte(`,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", *size) + `"}]}}` + "\n")
	in, out := make([]byte, 0, 1<<20), make([]byte, 0, 1<<20)
	for {
		if len(in) == cap(in) {
			in = append(make([]byte, 0, 2*cap(in)), in...)
		}
		n, err := syscall.Read(0, in[len(in):cap(in)])
		if n <= 0 || err != nil {
			return
		}
		in = in[:len(in)+n]
		for {
			end := bytes.IndexByte(in, '\n')
			if end < 0 {
				break
			}
			if _, after, ok := bytes.Cut(in[:end], []byte(`"id":`)); ok {
				id := after[:bytes.IndexAny(after, ",}")]
				out = append(append(append(out, `{"jsonrpc":"2.0","id":`...), id...), tail...)
			}
			in = in[:copy(in, in[end+1:])]
		}
		for len(out) > 0 {
			n, err := syscall.Write(1, out)
			if err != nil {
				return
			}
			out = out[:copy(out, out[n:])]
		}
	}
}
