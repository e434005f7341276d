package prometheus

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// jsonScanner walks through JSON once. Strings are parts of the text, not copies. What
// breaks the grammar ends it, with an error that says where.
type jsonScanner struct {
	text string
	pos  int
	err  error
}

// maxDepth bounds nesting: nobody sends more, and the stack is finite.
const maxDepth = 64

func (s *jsonScanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("at byte %d: "+format, append([]any{s.pos}, args...)...)
	}
}

// peek is the next byte that is no blank; 0 at the end and after an error.
func (s *jsonScanner) peek() byte {
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

func (s *jsonScanner) expect(c byte) bool {
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

// readObject calls f for each key, which must take the value.
func (s *jsonScanner) readObject(f func(key string)) {
	s.readItems('{', '}', func() { k := s.readString(); s.expect(':'); f(k) })
}

// readArray calls f for each element, which must take it.
func (s *jsonScanner) readArray(f func()) { s.readItems('[', ']', f) }

func (s *jsonScanner) readItems(open, end byte, f func()) {
	if !s.expect(open) {
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
		s.expect(',')
	}
}

// readString takes a string.
func (s *jsonScanner) readString() string {
	if !s.expect('"') {
		return ""
	}
	begin := s.pos
	for ; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; {
		case c == '"':
			s.pos++
			return s.text[begin : s.pos-1]
		case c == '\\':
			return s.readEscaped(begin)
		case c < ' ':
			s.fail("a control character in a string")
			return ""
		}
	}
	s.fail("it breaks off in a string")
	return ""
}

// readEscaped takes the rest of a string that has escapes.
func (s *jsonScanner) readEscaped(begin int) string {
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

// readNumber takes a number.
func (s *jsonScanner) readNumber() float64 {
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

// skipValue takes any value.
func (s *jsonScanner) skipValue(depth int) {
	if depth > maxDepth {
		s.fail("nested more than %d deep", maxDepth)
		return
	}
	switch c := s.peek(); c {
	case '{':
		s.readObject(func(string) { s.skipValue(depth + 1) })
	case '[':
		s.readArray(func() { s.skipValue(depth + 1) })
	case '"':
		s.readString()
	case 't', 'f', 'n':
		for _, word := range []string{"true", "false", "null"} {
			if strings.HasPrefix(s.text[s.pos:], word) {
				s.pos += len(word)
				return
			}
		}
		s.fail("an unknown word")
	default:
		s.readNumber()
	}
}
