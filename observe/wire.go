package observe

import (
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// fieldSet is a set of field numbers of a protobuf message. Numbers above 63 are in no set.
type fieldSet uint64

func numbers(of ...int) (out fieldSet) {
	for _, n := range of {
		out |= 1 << n
	}
	return out
}

func (s fieldSet) has(number uint64) bool { return number < 64 && s>>number&1 == 1 }

// fieldFilter says which fields of a protobuf message are kept.
type fieldFilter struct {
	drop fieldSet
	// parts filter messages in fields, and accept keeps a field only if it returns true for the value.
	parts  map[uint64]*fieldFilter
	accept map[uint64]func(value []byte) bool
}

var errWire = errors.New("the protobuf message is malformed")

// eachField calls do with each field of a protobuf message: its number, its bytes with tag, and if it has a length,
// the bytes of its value.
func eachField(message []byte, do func(number uint64, field, value []byte) error) error {
	for len(message) > 0 {
		number, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return protowire.ParseError(tag)
		}
		length := protowire.ConsumeFieldValue(number, kind, message[tag:])
		if length < 0 {
			return protowire.ParseError(length)
		}
		var value []byte
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(message[tag:])
		}
		if err := do(uint64(number), message[:tag+length], value); err != nil {
			return err
		}
		message = message[tag+length:]
	}
	return nil
}

// appendKept appends the fields of a message that the filter keeps.
func (f *fieldFilter) appendKept(to, message []byte) ([]byte, error) {
	err := eachField(message, func(number uint64, field, value []byte) error {
		if f.drop.has(number) {
			return nil
		}
		if accept := f.accept[number]; accept != nil && !accept(value) {
			return nil
		}
		part := f.parts[number]
		if part == nil {
			to = append(to, field...)
			return nil
		}
		// The length is known afterwards, so it takes five bytes, as many as the largest length.
		to = binary.AppendUvarint(to, number<<3|2)
		begin := len(to) + 5
		kept, err := part.appendKept(append(to, 0, 0, 0, 0, 0), value)
		if err != nil {
			return err
		}
		length := len(kept) - begin
		for i := range 4 {
			kept[begin-5+i] = byte(length>>(7*i)) | 0x80
		}
		kept[begin-1] = byte(length >> 28)
		to = kept
		return nil
	})
	return to, err
}

// fieldOf returns the value of the last field with the number, or nil. If the message is malformed, it returns nil.
func fieldOf(message []byte, number uint64) (out []byte) {
	if eachField(message, func(n uint64, _, value []byte) error {
		if n == number {
			out = value
		}
		return nil
	}) != nil {
		return nil
	}
	return out
}
