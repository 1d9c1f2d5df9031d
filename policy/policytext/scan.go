package policytext

import "bytes"

type scanner struct {
	src   []byte
	at    int
	depth int
}

// peek is the byte ahead; 0 at the end, which no text of TOML holds.
func (s *scanner) peek() byte {
	if s.at < len(s.src) {
		return s.src[s.at]
	}
	return 0
}

func (s *scanner) ahead(text string) bool { return bytes.HasPrefix(s.src[s.at:], []byte(text)) }

// take steps over a text, if it stands there.
func (s *scanner) take(text string) bool {
	if !s.ahead(text) {
		return false
	}
	s.at += len(text)
	return true
}

func (s *scanner) blanks() {
	for s.peek() == ' ' || s.peek() == '\t' {
		s.at++
	}
}

// gap steps over blanks, line ends and comments.
func (s *scanner) gap() {
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

func (s *scanner) statement() (Statement, error) {
	start := s.at
	if s.peek() != '[' {
		return s.pair()
	}
	st := Statement{Header: true, Start: start}
	s.at++
	st.List = s.take("[")
	key, err := s.key()
	if err != nil {
		return st, err
	}
	if !s.take("]") || st.List && !s.take("]") {
		return st, errSyntax
	}
	st.Key, st.End = key, s.at
	return st, nil
}

func (s *scanner) pair() (Statement, error) {
	st := Statement{Start: s.at}
	var err error
	if st.Key, err = s.key(); err != nil {
		return st, err
	}
	if !s.take("=") {
		return st, errSyntax
	}
	s.blanks()
	st.Value, err = s.value()
	st.End = s.at
	return st, err
}

// key reads a dotted key and the blanks around it.
func (s *scanner) key() ([]string, error) {
	var key []string
	for {
		s.blanks()
		start := s.at
		var name string
		var err error
		switch c := s.peek(); c {
		case '"', '\'':
			if err = s.quoted(c); err == nil {
				name, err = decode(s.src[start:s.at])
			}
		default:
			for bare(s.peek()) {
				s.at++
			}
			name = string(s.src[start:s.at])
		}
		if err != nil || s.at == start {
			return nil, errSyntax
		}
		key = append(key, name)
		s.blanks()
		if !s.take(".") {
			return key, nil
		}
	}
}

func bare(c byte) bool {
	return c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func (s *scanner) value() (Value, error) {
	if s.depth++; s.depth > maxNesting {
		return Value{}, errSyntax
	}
	defer func() { s.depth-- }()
	v := Value{Start: s.at}
	var err error
	switch c := s.peek(); c {
	case '"', '\'':
		v.Kind = StringValue
		if err = s.text(c); err == nil {
			v.Text, err = decode(s.src[v.Start:s.at])
		}
	case '[':
		v.Kind = ListValue
		err = s.items(']', func() error {
			element, err := s.value()
			v.Elements = append(v.Elements, element)
			return err
		})
	case '{':
		v.Kind = TableValue
		err = s.items('}', func() error {
			pair, err := s.pair()
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

// items reads what stands between brackets, with commas between.
func (s *scanner) items(closing byte, item func() error) error {
	s.at++
	for s.gap(); s.peek() != closing; s.gap() {
		if err := item(); err != nil {
			return err
		}
		s.gap()
		if !s.take(",") && s.peek() != closing {
			return errSyntax
		}
	}
	s.at++
	return nil
}

// text reads a string, over several lines if it has three quotes.
func (s *scanner) text(quote byte) error {
	three := string([]byte{quote, quote, quote})
	if !s.take(three) {
		return s.quoted(quote)
	}
	for s.at < len(s.src) {
		switch {
		case quote == '"' && s.peek() == '\\':
			s.at += 2
		case s.take(three):
			for n := 0; n < 2 && s.peek() == quote; n++ { // quotes before the closing ones
				s.at++
			}
			return nil
		default:
			s.at++
		}
	}
	return errSyntax
}

// quoted reads a string on one line.
func (s *scanner) quoted(quote byte) error {
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
