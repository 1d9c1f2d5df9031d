package policytext

import "bytes"

type scanner struct {
	src   []byte
	at    int
	depth int
}

// peek returns the next byte, or 0 at the end. TOML texts do not hold the byte 0.
func (s *scanner) peek() byte {
	if s.at < len(s.src) {
		return s.src[s.at]
	}
	return 0
}

func (s *scanner) hasPrefix(text string) bool { return bytes.HasPrefix(s.src[s.at:], []byte(text)) }

// takeText skips the given text if it comes next, and reports whether it did.
func (s *scanner) takeText(text string) bool {
	if !s.hasPrefix(text) {
		return false
	}
	s.at += len(text)
	return true
}

func (s *scanner) skipBlanks() {
	for s.peek() == ' ' || s.peek() == '\t' {
		s.at++
	}
}

// skipGap skips blanks, line ends and comments.
func (s *scanner) skipGap() {
	for s.at < len(s.src) {
		switch s.peek() {
		case ' ', '\t', '\r', '\n':
			s.at++
		case '#':
			n := bytes.IndexByte(s.src[s.at:], '\n')
			if n < 0 {
				n = len(s.src) - s.at
			}
			s.at += n
		default:
			return
		}
	}
}

func (s *scanner) readStatement() (Statement, error) {
	start := s.at
	if s.peek() != '[' {
		return s.readPair()
	}
	st := Statement{Header: true, Start: start}
	s.at++
	st.List = s.takeText("[")
	key, err := s.readKey()
	if err != nil {
		return st, err
	}
	if !s.takeText("]") || st.List && !s.takeText("]") {
		return st, errSyntax
	}
	st.Key, st.End = key, s.at
	return st, nil
}

func (s *scanner) readPair() (Statement, error) {
	st := Statement{Start: s.at}
	var err error
	if st.Key, err = s.readKey(); err != nil {
		return st, err
	}
	if !s.takeText("=") {
		return st, errSyntax
	}
	s.skipBlanks()
	st.Value, err = s.readValue()
	st.End = s.at
	return st, err
}

// readKey reads a dotted key and the blanks around it.
func (s *scanner) readKey() ([]string, error) {
	var key []string
	for {
		s.skipBlanks()
		start := s.at
		var name string
		var err error
		switch c := s.peek(); c {
		case '"', '\'':
			if err = s.readQuoted(c); err == nil {
				name, err = decodeString(s.src[start:s.at])
			}
		default:
			for isBareByte(s.peek()) {
				s.at++
			}
			name = string(s.src[start:s.at])
		}
		if err != nil || s.at == start {
			return nil, errSyntax
		}
		key = append(key, name)
		s.skipBlanks()
		if !s.takeText(".") {
			return key, nil
		}
	}
}

func isBareByte(c byte) bool {
	return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func (s *scanner) readValue() (Value, error) {
	if s.depth++; s.depth > maxNesting {
		return Value{}, errSyntax
	}
	defer func() { s.depth-- }()
	v := Value{Start: s.at}
	var err error
	switch c := s.peek(); c {
	case '"', '\'':
		v.Kind = StringValue
		if err = s.readString(c); err == nil {
			v.Text, err = decodeString(s.src[v.Start:s.at])
		}
	case '[':
		v.Kind = ListValue
		err = s.readItems(']', func() error {
			element, err := s.readValue()
			v.Elements = append(v.Elements, element)
			return err
		})
	case '{':
		v.Kind = TableValue
		err = s.readItems('}', func() error {
			pair, err := s.readPair()
			v.Pairs = append(v.Pairs, pair)
			return err
		})
	default:
		end := bytes.IndexAny(s.src[s.at:], ",]}#\r\n")
		if end < 0 {
			end = len(s.src) - s.at
		}
		v.Text = string(bytes.TrimRight(s.src[s.at:s.at+end], " \t"))
		s.at += len(v.Text)
		if v.Text == "" {
			err = errSyntax
		}
	}
	v.End = s.at
	return v, err
}

// readItems reads items that are separated by commas, up to the closing bracket.
func (s *scanner) readItems(closing byte, item func() error) error {
	s.at++
	for s.skipGap(); s.peek() != closing; s.skipGap() {
		if err := item(); err != nil {
			return err
		}
		s.skipGap()
		if !s.takeText(",") && s.peek() != closing {
			return errSyntax
		}
	}
	s.at++
	return nil
}

// readString reads a string. A string with three quotes may have several lines.
func (s *scanner) readString(quote byte) error {
	three := string([]byte{quote, quote, quote})
	if !s.takeText(three) {
		return s.readQuoted(quote)
	}
	for s.at < len(s.src) {
		switch {
		case quote == '"' && s.peek() == '\\':
			s.at += 2
		case s.takeText(three):
			for n := 0; n < 2 && s.peek() == quote; n++ { // up to two quotes before the three closing quotes belong to the string
				s.at++
			}
			return nil
		default:
			s.at++
		}
	}
	return errSyntax
}

// readQuoted reads a string on one line.
func (s *scanner) readQuoted(quote byte) error {
	s.at++
	for s.at < len(s.src) {
		switch c := s.peek(); {
		case c == '\\' && quote == '"':
			s.at += 2
		case c == quote:
			s.at++
			return nil
		case c == '\n':
			return errSyntax
		default:
			s.at++
		}
	}
	return errSyntax
}
