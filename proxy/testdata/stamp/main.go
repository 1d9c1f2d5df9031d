// Command stamp is an MCP server whose results show when it read the request: the text of a result is
// that time in nanoseconds. For a tool whose name ends in "large", -bytes more bytes follow. It goes
// on reading while it writes. With -every it also sends the time without a request.
package main

import (
	"bytes"
	"flag"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

func now() string { return strconv.FormatInt(time.Now().UnixNano(), 10) }

func main() {
	size := flag.Int("bytes", 0, "length of a large result")
	every := flag.Duration("every", 0, "how often to send a notification")
	flag.Parse()
	runtime.GOMAXPROCS(8) // a goroutine that sleeps in a system call must not delay the others
	out := make(chan [][]byte, 1<<16)
	go write(out)
	if *every > 0 {
		go func() {
			for range time.Tick(*every) {
				out <- [][]byte{[]byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + now() + "\"}}\n")}
			}
		}()
	}
	large := bytes.Repeat([]byte("x"), *size)
	buf, line := make([]byte, 1<<20), []byte(nil) // line: the first 256 bytes of the line that is being read
	for {
		n, err := syscall.Read(0, buf)
		if n <= 0 || err != nil {
			return
		}
		for rest := buf[:n]; ; {
			part, after, whole := bytes.Cut(rest, []byte{'\n'})
			line = append(line, part[:min(len(part), 256-len(line))]...)
			if !whole {
				break
			}
			if _, id, ok := bytes.Cut(line, []byte(`"id":`)); ok {
				head := `{"jsonrpc":"2.0","id":` + string(id[:bytes.IndexAny(id, ",}")]) + `,"result":{"content":[{"type":"text","text":"` + now()
				if bytes.Contains(line, []byte(`large"`)) {
					out <- [][]byte{[]byte(head + " "), large, []byte("\"}]}}\n")}
				} else {
					out <- [][]byte{[]byte(head + "\"}]}}\n")}
				}
			}
			line, rest = line[:0], after
		}
	}
}

func write(lines <-chan [][]byte) {
	for parts := range lines {
		for _, part := range parts {
			for len(part) > 0 {
				n, err := syscall.Write(1, part)
				if err != nil {
					return
				}
				part = part[n:]
			}
		}
	}
}
