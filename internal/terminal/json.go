package terminal

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
)

// EscapeJSON replaces characters of a JSON document that control a terminal or change the text direction by JSON
// escapes. JSON encoders already escape those below U+0020.
func EscapeJSON(doc []byte) []byte {
	if !bytes.ContainsFunc(doc, isInvisible) {
		return doc
	}
	var b bytes.Buffer
	for _, r := range string(doc) {
		if !isInvisible(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.Bytes()
}

func isInvisible(r rune) bool {
	return r >= 0x7f && !unicode.IsPrint(r) && r != unicode.ReplacementChar
}

// JSONWriter writes JSON documents with EscapeJSON. One call of Write is one document.
type JSONWriter struct{ io.Writer }

// Write writes a document. It returns the length of the document, also if it wrote more bytes.
func (w JSONWriter) Write(doc []byte) (int, error) {
	if _, err := w.Writer.Write(EscapeJSON(doc)); err != nil {
		return 0, err
	}
	return len(doc), nil
}
