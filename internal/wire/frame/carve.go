package frame

import "strings"

// newSkeleton returns the skeleton of a line that Parse admitted as f; nil for an array, for a line
// with blanks around it, and for a line that needs a larger skeleton.
func newSkeleton(f *Frame, line []byte) *skeleton {
	if f.Kind == Batch || len(f.Raw) != len(line) {
		return nil
	}
	k := &skeleton{kind: f.Kind, method: strings.Clone(f.Method), unambiguous: f.Unambiguous}
	c := carver{scanner: scanner{b: line}, id: f.ID}
	switch {
	case f.Params != nil:
		k.payload, c.payload = mParams, f.Params
	case f.Result != nil:
		k.payload, c.payload = mResult, f.Result
	case f.Error != nil:
		k.payload, c.payload = mError, f.Error
	}
	if !c.carveHoles(k) {
		return nil
	}
	if f.ID != nil {
		k.id = c.extentOf(c.offsetOf(f.ID), len(f.ID))
	}
	if k.payload == 0 {
		return k
	}
	from := c.offsetOf(c.payload)
	k.part = c.extentOf(from, len(c.payload))
	for _, s := range f.Index.Spans() {
		k.members = append(k.members,
			c.extentOf(from+int(s.Name), int(s.NameEnd-s.Name)), c.extentOf(from+int(s.Value), int(s.End-s.Value)))
	}
	return k
}

// carver cuts the holes into a skeleton.
type carver struct {
	scanner
	id, payload []byte   // the parts of the line that may have holes
	holes       [][2]int // where the holes begin and end
	last        int      // where the last hole ends
	fixed       int      // number of fixed bytes so far
}

// carveHoles reads the tokens of the line, which is admitted, and makes a hole of each value that may
// differ. It returns false when there are too many holes or fixed bytes.
func (c *carver) carveHoles(k *skeleton) bool {
	for i := 0; i < len(c.b); {
		at, end := i, i+1
		switch {
		case c.b[i] == '"':
			end, _ = c.scanString(i + 1)
			if i = end + 1; c.isName(i) || !c.mayDiffer(at) {
				continue
			}
			most := maxCompared
			if c.isWithin(c.id, at) {
				most = maxID - len(`""`)
			}
			c.addHole(k, at+1, end, hole{most: most})
		case isNumberByte(c.b[i]):
			for end < len(c.b) && isNumberByte(c.b[end]) {
				end++
			}
			if i = end; end-at <= maxDigits && endOfDigits(c.b, at) == end && c.mayDiffer(at) {
				c.addHole(k, at, end, hole{digits: true, most: maxDigits})
			}
		default:
			i++
		}
		if len(k.holes) > maxHoles || c.fixed > maxFixed {
			return false
		}
	}
	k.end = string(c.b[c.last:])
	return c.fixed+len(k.end) <= maxFixed
}

func (c *carver) addHole(k *skeleton, from, to int, h hole) {
	h.before = string(c.b[c.last:from])
	k.holes = append(k.holes, h)
	c.holes = append(c.holes, [2]int{from, to})
	c.fixed += from - c.last
	c.last = to
}

// isNumberByte reports whether a number can contain b. It also returns true for the e of true and
// false. This e never becomes a hole, because there are no digits around it.
func isNumberByte(b byte) bool {
	return b-'0' <= 9 || b == '-' || b == '+' || b == '.' || b|0x20 == 'e'
}

// isName reports whether the string that ends at i is the name of a member.
func (c *carver) isName(i int) bool {
	i = c.skipBlank(i)
	return i < len(c.b) && c.b[i] == ':'
}

// mayDiffer reports whether the value at i is in the id or the payload.
func (c *carver) mayDiffer(i int) bool { return c.isWithin(c.id, i) || c.isWithin(c.payload, i) }

func (c *carver) isWithin(part []byte, i int) bool {
	from := c.offsetOf(part)
	return part != nil && from <= i && i < from+len(part)
}

// offsetOf returns the offset of a part of the line.
func (c *carver) offsetOf(part []byte) int { return int(byteAddress(part) - byteAddress(c.b)) }

func (c *carver) extentOf(from, size int) extent {
	return extent{c.placeOf(from), c.placeOf(from + size)}
}

// placeOf returns the place of an offset that is in no hole.
func (c *carver) placeOf(offset int) place {
	p := place{fixed: uint32(offset)}
	for _, h := range c.holes {
		if h[1] <= offset && h[0] < offset {
			p.holes++
			p.fixed -= uint32(h[1] - h[0])
		}
	}
	return p
}
