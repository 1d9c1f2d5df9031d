package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"strconv"
	"time"
)

// hashLen is the length of a hash as written: 64 hexadecimal digits.
const hashLen = 2 * sha256.Size

// noHash is the value of "prev" in a line that has no line before it.
const noHash = "0000000000000000000000000000000000000000000000000000000000000000"

// Every line ends with these members. A reader finds them at a fixed distance from the end of the
// line. So it cannot confuse them with other text in the line.
const (
	prevMember = `,"prev":"`
	hashMember = `","hash":"`
	lineEnd    = `"}`
	tailLen    = len(prevMember) + hashLen + len(hashMember) + hashLen + len(lineEnd)
	sealedTail = tailLen - len(prevMember) - hashLen - 1 // length of the text from the comma before "hash" to the end of the line
)

// chain is the position of the next line in a chain of lines.
type chain struct {
	next uint64        // number of the next line, from 1
	prev [hashLen]byte // hash of the line before the next line

	second int64                 // the second (Unix time) that date shows
	date   [len(dateLayout)]byte // date and time in dateLayout; date[0] is 0 before the first use
}

// dateLayout is RFC 3339 in UTC up to the second. All nine digits of the nanosecond follow it, so
// that times can be compared as texts.
const dateLayout = "2006-01-02T15:04:05"

func newChain() chain {
	c := chain{next: 1}
	copy(c.prev[:], noHash)
	return c
}

// beginLine begins a line with the members that every line has. The caller may append members
// before it calls sealLine.
func (c *chain) beginLine(dst []byte, at time.Time) []byte {
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendUint(dst, c.next, 10)
	dst = append(dst, `,"time":"`...)
	if second := at.Unix(); second != c.second || c.date[0] == 0 {
		c.second = second
		at.UTC().AppendFormat(c.date[:0], dateLayout)
	}
	dst = append(dst, c.date[:]...)
	point := len(dst)
	dst = strconv.AppendInt(dst, int64(time.Second)+int64(at.Nanosecond()), 10) // ten digits; the first is a 1, and the dot replaces it
	dst[point] = '.'
	return append(dst, `Z"`...)
}

// sealLine ends the line that began at the offset in the parameter start, and moves the chain to
// the next line. The hash covers every byte of the line before the comma in front of "hash".
func (c *chain) sealLine(dst []byte, start int) []byte {
	dst = append(dst, prevMember...)
	dst = append(dst, c.prev[:]...)
	dst = append(dst, '"')
	sum := sha256.Sum256(dst[start:])
	for i := 0; i < len(sum); i += 4 {
		binary.LittleEndian.PutUint64(c.prev[2*i:], hexDigits(binary.BigEndian.Uint32(sum[i:])))
	}
	c.next++
	dst = append(dst, hashMember[1:]...)
	dst = append(dst, c.prev[:]...)
	return append(dst, `"}`+"\n"...)
}

// skipLines moves the chain past whole lines that are already on disk.
func (c *chain) skipLines(lines []byte) {
	for i, b := range lines {
		if b == '\n' {
			c.next++
			copy(c.prev[:], lines[i-len(lineEnd)-hashLen:])
		}
	}
}

// hexDigits returns the hexadecimal digits of n, the first in the lowest byte. It takes a third of
// the time of encoding/hex.
func hexDigits(n uint32) uint64 {
	w := uint64(bits.ReverseBytes32(n))
	w = (w | w<<16) & 0x0000FFFF0000FFFF
	w = (w | w<<8) & 0x00FF00FF00FF00FF
	w = (w>>4 | w<<8) & 0x0F0F0F0F0F0F0F0F
	letters := (w + 0x0606060606060606) >> 4 & 0x0101010101010101
	return w + 0x3030303030303030 + letters*('a'-'0'-10)
}

// link is the position in the chain that a line states for itself.
type link struct {
	seq        uint64
	prev, hash []byte // hexadecimal digits; both are slices of the line
}

// parseLink reads a line (without its LF). It returns false if the hash of the line does not match
// the bytes, or if the line does not begin and end exactly as sealLine writes lines.
func parseLink(line []byte) (link, bool) {
	var p link
	const start = `{"seq":`
	if len(line) < len(start)+1+tailLen || string(line[:len(start)]) != start {
		return p, false
	}
	i := len(start)
	for ; i < len(line) && line[i] >= '0' && line[i] <= '9' && i < len(start)+19; i++ {
		p.seq = p.seq*10 + uint64(line[i]-'0')
	}
	tail := line[len(line)-tailLen:]
	prev := tail[len(prevMember):]
	hash := prev[hashLen+len(hashMember):]
	if i == len(start) || string(tail[:len(prevMember)]) != prevMember ||
		string(prev[hashLen:hashLen+len(hashMember)]) != hashMember || string(hash[hashLen:]) != lineEnd {
		return p, false
	}
	p.prev, p.hash = prev[:hashLen], hash[:hashLen]
	var sum [hashLen]byte
	raw := sha256.Sum256(line[:len(line)-sealedTail])
	hex.Encode(sum[:], raw[:])
	return p, string(p.hash) == string(sum[:])
}
