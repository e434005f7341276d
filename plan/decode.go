package plan

import (
	"encoding/json"
	"fmt"
)

// Bounds of a document that another process wrote. A plan for 2,000 nodes and 40,000 pods has 3 MB, 23,000 objects and
// arrays, 130,000 values, and 6 levels.
const (
	maxDocumentBytes  = 32 << 20
	maxDocumentNodes  = 300_000   // objects and arrays; a decoded move takes about 500 bytes
	maxDocumentValues = 2_000_000 // members of objects and elements of arrays
	maxDocumentDepth  = 32
)

// SizeError says which bound a document exceeds.
type SizeError struct{ message string }

// Error implements error.
func (e SizeError) Error() string { return e.message }

func sizeErrorf(format string, bound int) error { return SizeError{fmt.Sprintf(format, bound)} }

// Decode decodes a plan, a run report or a state that another process wrote. It returns a SizeError, without decoding,
// if the document could take much more memory than such a document needs: an object of two bytes becomes a whole Move.
func Decode(text []byte, doc any) error {
	if err := new(DecodedSize).Add(text); err != nil {
		return err
	}
	return json.Unmarshal(text, doc)
}

// DecodedSize counts the bytes, nodes and values of JSON documents whose contents are in memory together.
type DecodedSize struct{ bytes, nodes, values int }

// Add counts a document in one pass over its bytes. It returns a SizeError if all documents together exceed the bounds
// of one. The counts are also upper bounds for text that is not JSON.
func (s *DecodedSize) Add(text []byte) error {
	if s.bytes += len(text); s.bytes > maxDocumentBytes {
		return sizeErrorf("the document is larger than %d MiB", maxDocumentBytes>>20)
	}
	depth := 0
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++ // the next byte does not end the string
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			s.nodes, depth = s.nodes+1, depth+1
		case c == '}' || c == ']':
			depth--
		case c == ',':
			s.values++
		}
		switch {
		case depth > maxDocumentDepth:
			return sizeErrorf("the document has more than %d levels", maxDocumentDepth)
		case s.nodes > maxDocumentNodes:
			return sizeErrorf("the document has more than %d objects and arrays", maxDocumentNodes)
		case s.values > maxDocumentValues:
			return sizeErrorf("the document has more than %d values", maxDocumentValues)
		}
	}
	return nil
}
