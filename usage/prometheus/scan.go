package prometheus

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// scanner walks through JSON once. Strings are parts of the text, not copies. What
// breaks the grammar ends it, with an error that says where.
type scanner struct {
	text string
	pos  int
	err  error
}

// deepest bounds nesting: nobody sends more, and the stack is finite.
const deepest = 64

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("at byte %d: "+format, append([]any{s.pos}, args...)...)
	}
}

// peek is the next byte that is no blank; 0 at the end and after an error.
func (s *scanner) peek() byte {
	for ; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			if s.err != nil {
				return 0
			}
			return c
		}
	}
	return 0
}

func (s *scanner) want(c byte) bool {
	switch got := s.peek(); {
	case s.err != nil:
		return false
	case got == c:
		s.pos++
		return true
	case s.pos >= len(s.text):
		s.fail("it breaks off")
	default:
		s.fail("found %q where %q should stand", got, c)
	}
	return false
}

// object calls f for each key, which must take the value.
func (s *scanner) object(f func(key string)) {
	s.items('{', '}', func() { k := s.str(); s.want(':'); f(k) })
}

// array calls f for each element, which must take it.
func (s *scanner) array(f func()) { s.items('[', ']', f) }

func (s *scanner) items(open, end byte, f func()) {
	if !s.want(open) {
		return
	}
	if s.peek() == end {
		s.pos++
		return
	}
	for s.err == nil {
		if f(); s.peek() == end {
			s.pos++
			return
		}
		s.want(',')
	}
}

// str takes a string.
func (s *scanner) str() string {
	if !s.want('"') {
		return ""
	}
	begin := s.pos
	for ; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			return s.text[begin : s.pos-1]
		case c == '\\':
			return s.escaped(begin)
		case c < ' ':
			s.fail("a control character in a string")
			return ""
		}
	}
	s.fail("it breaks off in a string")
	return ""
}

// escaped takes the rest of a string that has escapes.
func (s *scanner) escaped(begin int) string {
	for ; s.pos < len(s.text); s.pos++ {
		switch s.text[s.pos] {
		case '\\':
			s.pos++ // whatever comes next is no end
		case '"':
			s.pos++
			var out string
			if err := json.Unmarshal([]byte(s.text[begin-1:s.pos]), &out); err != nil {
				s.fail("no string: %v", err)
			}
			return out
		}
	}
	s.pos = len(s.text)
	s.fail("it breaks off in a string")
	return ""
}

// number takes a number.
func (s *scanner) number() float64 {
	if s.peek(); s.err != nil {
		return 0
	}
	begin := s.pos
	for s.pos < len(s.text) && strings.IndexByte("+-.0123456789eE", s.text[s.pos]) >= 0 {
		s.pos++
	}
	v, err := strconv.ParseFloat(s.text[begin:s.pos], 64)
	switch {
	case err == nil:
	case s.pos >= len(s.text):
		s.fail("it breaks off")
	default:
		s.fail("no number")
	}
	return v
}

// skip takes any value.
func (s *scanner) skip(depth int) {
	if depth > deepest {
		s.fail("nested more than %d deep", deepest)
		return
	}
	switch c := s.peek(); c {
	case '{':
		s.object(func(string) { s.skip(depth + 1) })
	case '[':
		s.array(func() { s.skip(depth + 1) })
	case '"':
		s.str()
	case 't', 'f', 'n':
		for _, word := range []string{"true", "false", "null"} {
			if strings.HasPrefix(s.text[s.pos:], word) {
				s.pos += len(word)
				return
			}
		}
		s.fail("an unknown word")
	default:
		s.number()
	}
}
