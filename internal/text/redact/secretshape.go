package redact

import "bytes"

// maxLook is the maximum number of bytes that are read for one possible secret. Without it, a text
// with many beginnings of secrets would take quadratic time.
const maxLook = 512

// shapeFirst gives, for the hash of two bytes, the first shape that begins with such bytes.
// shapeNext gives, for a shape, the next shape with the same hash. Both hold the index plus one; 0
// means none. Most words need only the lookup in shapeFirst.
var shapeFirst, shapeNext = func() (first [1024]uint16, next [len(shapes)]uint16) {
	for i := len(shapes) - 1; i >= 0; i-- {
		n := pairHash(shapes[i].start[0], shapes[i].start[1])
		next[i], first[n] = first[n], uint16(i+1)
	}
	return first, next
}()

// begins gives, for the hash of the first two bytes of a secret, the possible third bytes: one bit
// for each value modulo 64. It covers the shapes, JSON web tokens, and the words Bearer, Basic,
// machine, default, data, stringData, jdbc, Private-Lines, identified, password.
var begins [1024]uint64

func init() { // begins is filled in place, because an array that a function returns would be allocated on the heap
	t := &begins
	for i := range shapes {
		start := shapes[i].start
		if len(start) == 2 {
			t[pairHash(start[0], start[1])] = 1<<64 - 1
		} else {
			t[pairHash(start[0], start[1])] |= 1 << (start[2] & 63)
		}
	}
	for _, b := range "bB" {
		for _, e := range "eE" {
			t[pairHash(byte(b), byte(e))] |= 1<<('a'&63) | 1<<('A'&63)
		}
		for _, a := range "aA" {
			t[pairHash(byte(b), byte(a))] |= 1<<('s'&63) | 1<<('S'&63)
		}
	}
	for _, word := range []string{"mac", "def", "dat", "str", "jdb", "Pri", "ide", "Ide", "IDE", "pas", "Pas", "PAS"} {
		t[pairHash(word[0], word[1])] |= 1 << (word[2] & 63)
	}
	t[pairHash('e', 'y')] |= 1 << ('J' & 63)
}

// mayBegin reports whether a secret can begin at s[i]. It looks only at the three bytes from s[i]
// on. Every secret has at least three bytes. This quick check saves most calls of startAt.
func mayBegin(s []byte, i int) bool {
	return i+2 < len(s) && begins[pairHash(s[i], s[i+1])]&(1<<(s[i+2]&63)) != 0
}

func pairHash(a, b byte) uint { return (uint(a)<<3 ^ uint(b)) & 1023 }

// startAt finds the secret that begins at s[i]. The secret must not include a byte before s[from].
func (r *reading) startAt(i, from int) span {
	s := r.s
	if i+1 >= len(s) {
		return span{}
	}
	if at := r.formAt(i, from); at.to > 0 {
		return at
	}
	switch {
	case s[i]|0x20 == 'b' && s[i+1]|0x20 == 'e':
		return bearerSpan(s, i)
	case s[i]|0x20 == 'b':
		return basicSpan(s, i)
	case s[i] == 'm', s[i] == 'd' && s[i+1] == 'e':
		return netrcAt(s, i, from)
	case s[i] == 'd', s[i] == 's':
		return r.dataAt(i, from)
	case s[i] == 'j':
		return r.oracleAt(i)
	case s[i]|0x20 == 'i', s[i]|0x20 == 'p' && s[i+1]|0x20 == 'a':
		return identifiedAt(s, i)
	case s[i] == 'P':
		return puttyAt(s, i)
	}
	return span{}
}

// formAt finds a secret that begins at s[i] and whose form is known.
func (r *reading) formAt(i, from int) span {
	s := r.s
	if n := shapeFirst[pairHash(s[i], s[i+1])]; n > 0 {
		if at := shapeAt(s, i, from, n); at.to > 0 {
			return at
		}
	}
	if s[i] == 'e' && s[i+1] == 'y' {
		return r.jwtAt(i)
	}
	return span{}
}

// shapeAt tries shape number n and the shapes that follow it in shapeNext.
func shapeAt(s []byte, i, from int, n uint16) span {
	for ; n > 0; n = shapeNext[n-1] {
		sh := &shapes[n-1]
		behind := i + len(sh.start)
		if len(s)-behind < sh.min || string(s[i:behind]) != sh.start {
			continue
		}
		if follows := sh.followLength(s[behind:]); follows > 0 && sh.matchesBefore(s[from:i]) {
			start := i
			if sh.before > 0 {
				start -= sh.before + 1
			}
			if !insideBase64(s, start, behind+follows) {
				return span{start, behind + follows, sh.kind}
			}
		}
	}
	return span{}
}

// followLength returns how many bytes of rest belong to a secret whose first characters are before
// rest; 0 if there is no secret.
func (sh *shape) followLength(rest []byte) int {
	of := sh.of
	if of == 0 {
		of = alnum
	}
	n, digit := 0, !sh.digit
	for n < len(rest) && (n < maxLook || digit) && classes[rest[n]]&of != 0 {
		digit = digit || classes[rest[n]] == decimal
		n++
	}
	if !digit || n < sh.min || sh.max > 0 && n > sh.max || sh.has != "" && !bytes.Contains(rest[:min(n, maxLook)], []byte(sh.has)) {
		return 0
	}
	return n
}

// matchesBefore reports whether the text before a secret ends as the shape requires.
func (sh *shape) matchesBefore(text []byte) bool {
	if sh.before == 0 {
		return true
	}
	if len(text) <= sh.before || text[len(text)-1] != '.' {
		return false
	}
	return ofClass(text[len(text)-1-sh.before:len(text)-1], alnum)
}

func ofClass(s []byte, of class) bool {
	for _, c := range s {
		if classes[c]&of == 0 {
			return false
		}
	}
	return true
}

// jwtAt finds a JSON web token header.payload.signature (RFC 7515) at s[i]. The three parts are
// base64url. If several tokens could begin inside the same header, they have the same end, which is
// read once.
func (r *reading) jwtAt(i int) span {
	s := r.s
	if !bytes.HasPrefix(s[i:], []byte("eyJ")) {
		return span{}
	}
	t := &r.token
	if i < t.from || i >= t.to {
		t.from, t.to, t.end, t.dots = i, 0, i, 0
		for ; t.end < len(s) && (classes[s[t.end]]&wordish != 0 || s[t.end] == '.' && t.dots < 4); t.end++ {
			if s[t.end] == '.' {
				if t.dots++; t.dots == 1 {
					t.to = t.end
				}
			}
		}
		if t.dots == 0 {
			t.to = t.end
		}
	}
	if t.dots < 2 || t.end-i < 24 {
		return span{}
	}
	return span{i, t.end, "jwt"}
}
