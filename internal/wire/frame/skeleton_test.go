package frame

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clawai/clawai/internal/testing/hostile"
	"github.com/clawai/clawai/internal/testing/slow"
)

// genuineLines is what clients and servers write, in the order of the files, and some lines with what a
// reader may get wrong.
func genuineLines(tb testing.TB) (all [][]byte) {
	tb.Helper()
	files, err := filepath.Glob("testdata/genuine/*.ndjson")
	if err != nil || len(files) < 6 {
		tb.Fatal(err, files)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))...)
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"/a/b","head":10},"_meta":{"progressToken":3}}}`,
		`{"id":"a-1","jsonrpc":"2.0","params":{"arguments":{"a":{"b":[1,"",true,null,-1,0.5,1e3]}},"name":"x"},"method":"tools\/call"}`,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ok\n\"é\""}],"isError":false}}`,
		`{"jsonrpc":"2.0","id":"","error":{"code":-32602,"message":"no","data":{"n":0}}}`,
		`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":50,"total":100}}`,
		`{"jsonrpc":"2.0","id":3,"method":"ping","params":null}`,
		`{ "jsonrpc" : "2.0" , "id" : 4 , "result" : { "a" : [ 1 , 2 ] , "b" : { } , "c":1,"d":2,"e":3,"f":4,"g":5,"h":6,"i":7 } }`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"x","arguments":{"n":9007199254740993,"a":1,"A":"2"}}}`,
	} {
		all = append(all, []byte(line))
	}
	return all
}

// parseBoth reads a line with m and with Parse, fails unless both do the same, and reports whether m
// knew the line. It overwrites the memory of the line afterwards, because m must keep copies.
func parseBoth(t *testing.T, m *Skeletons, line []byte, l Limits) (knew bool) {
	t.Helper()
	line = bytes.Clone(line)
	defer func() {
		for i := range line {
			line[i] = '!'
		}
	}()
	if len(line) <= maxCompared && l == m.limits {
		knew = m.find(line) != nil
	}
	var got, want Frame
	before := bytes.Clone(line)
	err, wantErr := m.Parse(&got, line, l), want.Parse(line, l)
	if !bytes.Equal(line, before) {
		t.Fatal("the line was written to")
	}
	if !reflect.DeepEqual(err, wantErr) {
		t.Fatalf("%q: %v, and Parse says %v", line, err, wantErr)
	}
	if err != nil {
		return knew
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: %+v, and Parse says %+v", line, got, want)
	}
	parts := func(f *Frame) (all []uintptr) {
		for _, b := range [][]byte{f.Raw, f.ID, f.Params, f.Result, f.Error} {
			all = append(all, byteAddress(b), uintptr(len(b)), uintptr(cap(b)))
		}
		return all
	}
	if !slices.Equal(parts(&got), parts(&want)) {
		t.Fatalf("%q: the parts lie at %v, and Parse has them at %v", line, parts(&got), parts(&want))
	}
	return knew
}

var values = strings.Split("\"\"|\"b\"|\"a\\n\"|\"\\u0000\"|\"\\ud800\"|\"\\ud83d\\ude00\"|\"\\uD83Dx\"|\"é\"|\"\xff\"|\"\xc3\"|\"\xed\xa0\x80\"|\"\x01\"|\"\t\"|\"\x7f\"|"+
	"\"\\\"|\"\\x\"|\"\\\\\"|\"\\\\\\\"\"|\"name\"|\"Name\"|\"\\u006eame\"|\"__proto__\"|\"arguments\"|\"Arguments\"|\"jsonrpc\"|\"tools/call\"|\"1\"|"+
	"0|-0|00|01|1|7|-1|1.0|1e0|1e400|-1e400|1.5|123456789012345|1234567890123456|9007199254740991|9007199254740992|9007199254740993|1e|1.|.5|-|+1|"+
	"true|null|false|{}|[]|[[]]|{\"a\":1}|{\"a\":1,\"a\":2}|{\"a\":1,\"A\":2}|\"x\",\"y\"|\"x\":\"y\"|"+
	"\""+strings.Repeat("i", 1024)+"\"|\""+strings.Repeat("i", 1025)+"\"|"+strings.Repeat("[", 70)+strings.Repeat("]", 70), "|")

// findTokens returns where the strings and the numbers of a line lie. It reads what is not JSON, too: a
// quote that nothing closes is no string.
func findTokens(line []byte) (found [][2]int) {
	for at := 0; at < len(line); {
		end := at + 1
		switch c := line[at]; {
		case c == '"':
			for end < len(line) && line[end] != '"' {
				if line[end] == '\\' {
					end++
				}
				end++
			}
			if end++; end > len(line) {
				at++
				continue
			}
		case isInNumber(c):
			for end < len(line) && isInNumber(line[end]) {
				end++
			}
		default:
			at++
			continue
		}
		found = append(found, [2]int{at, end})
		at = end
	}
	return found
}

func isInNumber(c byte) bool { return c >= '0' && c <= '9' || strings.IndexByte("-.eE+", c) >= 0 }

// mutate changes a line in one place: usually a whole token, sometimes single bytes.
func mutate(r *rand.Rand, line []byte) []byte {
	found := findTokens(line)
	if len(found) == 0 || r.IntN(8) == 0 {
		at := r.IntN(len(line) + 1)
		switch piece := []string{"", `"`, `\`, ",", ":", "{", "}", "[", "]", " ", "\t", "\r", "0", "e", "\x00", "\x80", "é"}[r.IntN(17)]; r.IntN(3) {
		case 0:
			return slices.Concat(line[:at], []byte(piece), line[at:])
		case 1:
			return slices.Concat(line[:at], []byte(piece), line[min(at+1, len(line)):])
		default:
			return slices.Concat(line[:at], line[min(at+1+r.IntN(4), len(line)):])
		}
	}
	if r.IntN(4) > 0 { // no name
		found = slices.DeleteFunc(found, func(at [2]int) bool { return bytes.HasPrefix(line[at[1]:], []byte(":")) })
	}
	if len(found) == 0 {
		return line
	}
	at := found[r.IntN(len(found))]
	value := values[r.IntN(len(values))]
	if r.IntN(2) == 0 { // another value of the same type
		if value = fmt.Sprint(r.IntN(1000)); line[at[0]] == '"' {
			value = `"` + strings.Repeat("z", r.IntN(40)) + `"`
		}
	}
	return slices.Concat(line[:at[0]], []byte(value), line[at[1]:])
}

// Whatever a session has seen, its lines are read as if it had seen nothing.
func TestSkeletonsReadAsParseDoes(t *testing.T) {
	slow.Test(t)
	r := rand.New(rand.NewPCG(45, 2))
	lines, hostiles := genuineLines(t), hostile.Frames()
	read, known := 0, 0
	for range slow.Rounds(600, 2500) {
		l := Limits{MaxBytes: 4000 + r.IntN(4000), MaxDepth: 4 + r.IntN(60), MaxResult: r.IntN(3) * 100, AllowBatch: r.IntN(2) == 0}
		var m Skeletons
		seeds := [][]byte{lines[r.IntN(len(lines))], lines[r.IntN(len(lines))], lines[len(lines)-1-r.IntN(9)]}
		if c := hostiles[r.IntN(len(hostiles))]; len(c.Line) < 2000 {
			seeds = append(seeds, []byte(c.Line))
		}
		for _, line := range seeds {
			parseBoth(t, &m, line, l)
		}
		for range 160 {
			line := mutate(r, seeds[r.IntN(len(seeds))])
			if r.IntN(3) == 0 {
				line = mutate(r, line)
			}
			if read++; parseBoth(t, &m, line, l) {
				known++
			}
		}
	}
	if known < read/8 {
		t.Errorf("only %d of %d lines were known", known, read)
	}
}

// What a session says cannot make its skeletons large, and what it says now takes the place of what it said
// once.
func TestSkeletonsAreBounded(t *testing.T) {
	var m Skeletons
	l := DefaultLimits()
	name := func(i int) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x","arguments":{"n%d":"a"}}}`, i, i)
	}
	for i := range 20_000 {
		parseBoth(t, &m, name(i), l)
	}
	long := []byte(`{"jsonrpc":"2.0","id":1,"result":{"text":"` + strings.Repeat("a", maxCompared) + `"}}`)
	wide := []byte(`{"jsonrpc":"2.0","id":1,"result":{"list":[` + strings.Repeat(`"a",`, maxHoles+1) + `1]}}`)
	fixed := []byte(`{"jsonrpc":"2.0","id":1,"result":{"` + strings.Repeat("n", maxFixed) + `":1}}`)
	for _, line := range [][]byte{long, wide, fixed} {
		for range 2 * maxWait {
			if parseBoth(t, &m, line, l) {
				t.Errorf("%.60q is known", line)
			}
		}
	}
	size := 0
	for _, k := range m.known {
		size += len(k.end)
		for _, h := range k.holes {
			size += len(h.before)
		}
	}
	if size > len(m.known)*maxFixed {
		t.Errorf("%d bytes are kept", size)
	}
	for range len(m.known) * (maxWait + 1) { // the oldest give way to what the session says now
		parseBoth(t, &m, []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), l)
	}
	if !parseBoth(t, &m, []byte(`{"jsonrpc":"2.0","id":2,"method":"ping"}`), l) {
		t.Error("a new kind of line is never known")
	}
}

// What was admitted within wider limits is not admitted within narrower ones.
func TestSkeletonsKeepToTheLimits(t *testing.T) {
	var m Skeletons
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":{"b":{"c":"d"}}}}`)
	for range 2 {
		parseBoth(t, &m, line, Limits{MaxBytes: 1000, MaxDepth: 8})
	}
	for _, l := range []Limits{{MaxBytes: 1000, MaxDepth: 3}, {MaxBytes: 20, MaxDepth: 8}, {}} {
		parseBoth(t, &m, line, l)
	}
	l := Limits{MaxBytes: 1000, MaxDepth: 8} // a known line that grows reaches the same limit
	for size := 990 - len(line); size < 1010-len(line); size++ {
		parseBoth(t, &m, bytes.Replace(line, []byte(`"d"`), fmt.Appendf(nil, "%q", strings.Repeat("d", size)), 1), l)
	}
}

// Blanks and a CR around a line are not part of its message, also when the line comes again.
func TestSkeletonsLeaveOutBlanks(t *testing.T) {
	for _, around := range [][2]string{{" ", ""}, {"\t ", " "}, {"", " \t"}, {"", "\r"}, {" ", "\t\r"}} {
		var m Skeletons
		for i := range 3 {
			parseBoth(t, &m, fmt.Appendf(nil, `%s{"jsonrpc":"2.0","id":%d,"result":{"a":"b"}}%s`, around[0], i, around[1]), DefaultLimits())
		}
	}
}

func FuzzSkeletons(f *testing.F) {
	for _, line := range genuineLines(f) {
		for _, value := range values[:6] {
			if at := findTokens(line); len(at) > 0 {
				last := at[len(at)-1]
				f.Add(line, slices.Concat(line[:last[0]], []byte(value), line[last[1]:]))
			}
		}
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var m Skeletons
		l := Limits{MaxBytes: 1 << 20, MaxDepth: 16, MaxResult: 64}
		for _, line := range [][]byte{first, second, first} {
			parseBoth(t, &m, line, l)
		}
	})
}
