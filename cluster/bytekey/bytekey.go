// Package bytekey builds keys of several fields. Two keys are equal only if all their fields are equal, because the
// length of each field precedes it.
package bytekey

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// AppendString appends a string preceded by its length.
func AppendString(b []byte, s string) []byte {
	return append(binary.AppendVarint(b, int64(len(s))), s...)
}

// AppendMap appends a map in the order of its keys.
func AppendMap(b []byte, m map[string]string) []byte {
	b = binary.AppendVarint(b, int64(len(m)))
	var buf [16]string // avoids an allocation for nearly every pod
	keys := buf[:0]
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		b = AppendString(AppendString(b, k), m[k])
	}
	return b
}

// AppendMessage appends an API object in its protobuf form, which sorts maps.
func AppendMessage(b []byte, m interface {
	Size() int
	MarshalToSizedBuffer([]byte) (int, error)
}) []byte {
	size := m.Size()
	b = binary.AppendVarint(b, int64(size)+1)
	from := len(b)
	b = slices.Grow(b, size)[:from+size]
	if _, err := m.MarshalToSizedBuffer(b[from:]); err != nil { // API types never fail; the text form is unique as well
		b = fmt.Appendf(b[:from], "%v", m)
	}
	return b
}
