package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
)

func writeJSON(w io.Writer, doc any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("encoding the report as JSON: %w", err)
	}
	return writeBytes(w, escapeInvisible(b.Bytes()))
}

// escapeInvisible replaces characters that control a terminal or change the
// text direction by JSON escapes. The encoder already escapes those below U+0020.
func escapeInvisible(doc []byte) []byte {
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

func writeBytes(w io.Writer, data []byte) error {
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
