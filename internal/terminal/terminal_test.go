package terminal

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain ä": "plain ä", "\x1b[2J": `\x1b[2J`, "a\nb\tc\r": `a\nb\tc\x0d`, "\u202e": `\u202e`, "\u009b": `\u009b`,
		"\xff": `\xff`, "\uFFFD": "\uFFFD", "\u2028": `\u2028`, "\x7f": `\x7f`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestLineIsBounded checks that Line cuts a text that is too long before the limit, never within a character.
func TestLineIsBounded(t *testing.T) {
	if got := Line("abc\nd", 5); got != `abc\nd` {
		t.Errorf("got %q", got)
	}
	if got := Line("abcäd", 4); got != "abc... (3 more bytes)" {
		t.Errorf("got %q", got)
	}
}

func TestWriterEscapesAndBoundsMessages(t *testing.T) {
	for in, want := range map[string]string{
		"two\nlines\n":                           "two\nlines\n",
		"\x1b]0;t\a\nb\n":                        `\x1b]0;t\x07` + "\nb\n",
		strings.Repeat("x", maxMessage+3) + "\n": strings.Repeat("x", maxMessage) + "... (3 more bytes)\n",
		"":                                       "",
	} {
		var out bytes.Buffer
		if n, err := (Writer{&out}).Write([]byte(in)); n != len(in) || err != nil || out.String() != want {
			t.Errorf("%.20q: wrote %d, %v: %.40q", in, n, err, out.String())
		}
	}
	r, w := io.Pipe()
	r.CloseWithError(errors.New("closed"))
	if n, err := (Writer{w}).Write([]byte("a")); n != 0 || err == nil {
		t.Errorf("a failed write: %d, %v", n, err)
	}
}
