package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// readJSON reads JSON documents one after the other. The items of a List are
// decoded as they come, so that a large List is never held as a whole.
func readJSON(in io.Reader, name string, o *Objects) error {
	d := json.NewDecoder(in)
	for n := 1; ; n++ {
		err := readDocument(d, fmt.Sprintf("%s, document %d", name, n), o, 0)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// document collects the fields of one top-level object.
type document struct {
	at     string
	o      *Objects
	fields map[string]json.RawMessage
	isList bool
	depth  int // Lists around it
}

// readDocument returns io.EOF when there is none left.
func readDocument(d *json.Decoder, at string, o *Objects, depth int) error {
	open, err := d.Token()
	if err != nil {
		if err == io.EOF {
			return io.EOF
		}
		return fmt.Errorf("%s: %w", at, unexpected(err))
	}
	if open == json.Delim('[') {
		return fmt.Errorf("%s: want an object, found a list; should it be the items of a List?", at)
	}
	if open != json.Delim('{') {
		return fmt.Errorf("%s: want an object, found %s", at, foundToken(open))
	}
	doc := &document{at, o, map[string]json.RawMessage{}, false, depth}
	for d.More() {
		if err := doc.field(d); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("%s: %w", at, unexpected(err))
	}
	return doc.end()
}

func (doc *document) field(d *json.Decoder) error {
	key, err := d.Token()
	if err != nil {
		return fmt.Errorf("%s: %w", doc.at, unexpected(err))
	}
	name, _ := key.(string)
	if _, twice := doc.fields[name]; twice {
		return fmt.Errorf("%s: field %q stands twice", doc.at, name)
	}
	doc.fields[name] = nil
	if name == "items" {
		doc.isList = true
		return doc.items(d)
	}
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return fmt.Errorf("%s: field %q: %w", doc.at, name, unexpected(err))
	}
	if len(raw) > maxObjectBytes {
		return fmt.Errorf("%s: field %q is larger than %d bytes", doc.at, name, maxObjectBytes)
	}
	doc.fields[name] = raw
	return nil
}

func (doc *document) items(d *json.Decoder) error {
	open, err := d.Token()
	if err != nil {
		return fmt.Errorf("%s: items: %w", doc.at, unexpected(err))
	}
	if open == nil {
		return nil
	}
	if open != json.Delim('[') {
		return fmt.Errorf("%s: items: want a list, found %s", doc.at, foundToken(open))
	}
	decode := doc.decoder()
	for n := 1; d.More(); n++ {
		at := fmt.Sprintf("%s, item %d", doc.at, n)
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return errors.Join(decode.wait(), fmt.Errorf("%s: %w", at, unexpected(err)))
		}
		if len(raw) > maxObjectBytes {
			return errors.Join(decode.wait(), fmt.Errorf("%s: larger than %d bytes", at, maxObjectBytes))
		}
		decode.items <- item{raw, at, doc.itemHeader()}
	}
	if err := decode.wait(); err != nil {
		return err
	}
	if _, err = d.Token(); err != nil {
		return fmt.Errorf("%s: items: %w", doc.at, unexpected(err))
	}
	return nil
}

// item is one raw object of a List.
type item struct {
	raw      []byte
	at       string
	fallback header
}

// decoder decodes items, in order, while the next ones are cut out of the
// stream: each of the two takes about half of the time.
type decoder struct {
	items chan item
	done  chan error
}

func (doc *document) decoder() *decoder {
	w := &decoder{make(chan item, 64), make(chan error, 1)}
	go func() {
		var first error
		for i := range w.items {
			if first == nil {
				first = doc.o.add(i.raw, i.at, i.fallback, doc.depth)
			}
		}
		w.done <- first
	}()
	return w
}

// wait returns the first item's error once all are decoded.
func (w *decoder) wait() error {
	close(w.items)
	return <-w.done
}

// itemHeader is what the items of a typed list, such as a PodList, leave out.
func (doc *document) itemHeader() header {
	var h header
	if json.Unmarshal(doc.fields["apiVersion"], &h.APIVersion) != nil || json.Unmarshal(doc.fields["kind"], &h.Kind) != nil {
		return header{}
	}
	h.Kind = strings.TrimSuffix(h.Kind, "List")
	return h
}

func (doc *document) end() error {
	var kind string
	if raw := doc.fields["kind"]; raw != nil {
		if err := json.Unmarshal(raw, &kind); err != nil {
			return fmt.Errorf("%s: field \"kind\": %w", doc.at, unreadable(nil, err))
		}
	}
	if !doc.isList && !strings.HasSuffix(kind, "List") {
		raw, err := json.Marshal(doc.fields)
		if err != nil {
			return fmt.Errorf("%s: %w", doc.at, err)
		}
		return doc.o.add(raw, doc.at, header{}, doc.depth)
	}
	if doc.fields["metadata"] == nil {
		return nil
	}
	var meta struct {
		Annotations map[string]string `json:"annotations"`
	}
	if err := json.Unmarshal(doc.fields["metadata"], &meta); err != nil {
		return fmt.Errorf("%s: metadata of the List: %w", doc.at, unreadable(nil, err))
	}
	return doc.o.annotate(meta.Annotations, doc.at)
}

// foundToken says in words what stands where something else belongs.
func foundToken(t json.Token) string {
	switch t := t.(type) {
	case json.Delim:
		return "keys and values"
	case string:
		return strconv.Quote(clip(t))
	}
	return fmt.Sprint(t)
}

// clip bounds what is repeated of the input.
func clip(text string) string {
	if r := []rune(text); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return text
}

// errCut is an input that ends too early.
var errCut = errors.New("the input ends in the middle; is it whole?")

// unexpected says in plain words what is wrong with JSON, also where it ends
// too early.
func unexpected(err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		return errCut
	case errors.As(err, &syntax):
		return fmt.Errorf("broken JSON: %w", err)
	}
	return err
}
