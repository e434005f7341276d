// Package terminal makes text that other people or servers wrote safe for a terminal.
//
// The package decides which characters are escaped and how much is shown. It never decides what is printed.
package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape escapes control characters, including line ends, characters that change the text direction, and invalid UTF-8.
func Escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && s[i] >= utf8.RuneSelf && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80 && unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Line returns the first limit bytes of s, escaped, and says how many bytes are left out.
func Line(s string, limit int) string {
	shown, left := cut(s, limit)
	return Escape(shown) + left
}

// Shorten returns the first limit bytes of s, unescaped, and says how many bytes are left out.
func Shorten(s string, limit int) string {
	shown, left := cut(s, limit)
	return shown + left
}

// cut returns the first limit bytes of s, without a part of a character, and a note about the others.
func cut(s string, limit int) (shown, left string) {
	if len(s) <= limit {
		return s, ""
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit], fmt.Sprintf("... (%d more bytes)", len(s)-limit)
}

// maxMessage bounds one message of a Writer, in bytes.
const maxMessage = 16 << 10

// Writer escapes messages, except their line ends, and shows at most 16 KiB of each. One call of Write is one message.
type Writer struct{ io.Writer }

// Write writes a message. It returns the length of the message, also if it wrote fewer or more bytes.
func (w Writer) Write(message []byte) (int, error) {
	text, end := string(message), ""
	if strings.HasSuffix(text, "\n") {
		text, end = text[:len(text)-1], "\n"
	}
	text, left := cut(text, maxMessage)
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = Escape(lines[i])
	}
	if _, err := io.WriteString(w.Writer, strings.Join(lines, "\n")+left+end); err != nil {
		return 0, err
	}
	return len(message), nil
}
