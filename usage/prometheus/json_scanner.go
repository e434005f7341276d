package prometheus

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// jsonScanner scans JSON once. Strings are slices of the text, not copies. A syntax error stops
// the scan; the error states the position.
type jsonScanner struct {
	text string
	pos  int
	err  error
}

// maxDepth limits nesting, because the stack is limited. No real answer is nested that deep.
const maxDepth = 64

func (s *jsonScanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("at byte %d: "+format, append([]any{s.pos}, args...)...)
	}
}

// peek returns the next byte that is not white space. peek returns 0 at the end and after an error.
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
		s.fail("truncated")
	default:
		s.fail("found %q instead of %q", got, c)
	}
	return false
}

// readObject calls f for each key. f must read the value.
func (s *jsonScanner) readObject(f func(key string)) {
	s.readItems('{', '}', func() { k := s.readString(); s.expect(':'); f(k) })
}

// readArray calls f for each element. f must read it.
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

// readString reads a JSON string and returns its unescaped text.
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
			s.fail("control character in a string")
			return ""
		}
	}
	s.fail("truncated in a string")
	return ""
}

// readEscaped reads the rest of a string with escapes.
func (s *jsonScanner) readEscaped(begin int) string {
	for ; s.pos < len(s.text); s.pos++ {
		switch s.text[s.pos] {
		case '\\':
			s.pos++ // the next byte cannot end the string
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
	s.fail("truncated in a string")
	return ""
}

// readNumber reads a JSON number.
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
		s.fail("truncated")
	default:
		s.fail("not a number")
	}
	return v
}

// skipValue skips any value.
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
