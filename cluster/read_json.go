package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// readJSON reads consecutive JSON documents. It decodes the items of a List one by one, so it never
// holds the text of a large List in memory.
func readJSON(in io.Reader, name string, o *Objects) error {
	lines := &lineCounter{r: in}
	d := json.NewDecoder(lines)
	for n := 1; ; n++ {
		err := readDocument(d, fmt.Sprintf("%s, document %d", name, n), o, 0)
		var syntax *json.SyntaxError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &syntax), errors.Is(err, errTruncated):
			return fmt.Errorf("%w (line %d)", err, lines.at(d))
		case err != nil:
			return err
		}
	}
}

// lineCounter counts the ends of lines that a parser has read.
type lineCounter struct {
	r     io.Reader
	lines int
}

func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.lines += bytes.Count(p[:n], []byte("\n"))
	return n, err
}

// at returns the line at which the parser found a syntax error. The parser still holds the value with the error.
func (l *lineCounter) at(d *json.Decoder) int {
	held, _ := io.ReadAll(d.Buffered())
	value := bytes.TrimLeft(held, " \t\r\n,:")
	var syntax *json.SyntaxError
	if err := json.Unmarshal(value, new(json.RawMessage)); errors.As(err, &syntax) {
		value = value[min(max(int(syntax.Offset)-1, 0), len(value)):]
	}
	return 1 + l.lines - bytes.Count(value, []byte("\n"))
}

// document collects the fields of one top-level object.
type document struct {
	at     string
	o      *Objects
	fields map[string]json.RawMessage
	isList bool
	depth  int // the number of enclosing Lists
	// pending holds the items without apiVersion and kind that precede these fields of the list, as in every file with
	// sorted keys. Other items are decoded at once.
	pending []listItem
}

// readDocument reads one document. It returns io.EOF at the end of the stream.
func readDocument(d *json.Decoder, at string, o *Objects, depth int) error {
	open, err := d.Token()
	if err != nil {
		if err == io.EOF {
			return io.EOF
		}
		return fmt.Errorf("%s: %w", at, plainJSONError(err))
	}
	if open == json.Delim('[') {
		return fmt.Errorf("%s: want an object, found a list; did you mean the items of a List?", at)
	}
	if open != json.Delim('{') {
		return fmt.Errorf("%s: want an object, found %s", at, describeToken(open))
	}
	doc := &document{at: at, o: o, fields: map[string]json.RawMessage{}, depth: depth}
	for d.More() {
		if err := doc.readField(d); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("%s: %w", at, plainJSONError(err))
	}
	return doc.finish()
}

func (doc *document) readField(d *json.Decoder) error {
	key, err := d.Token()
	if err != nil {
		return fmt.Errorf("%s: %w", doc.at, plainJSONError(err))
	}
	name, _ := key.(string)
	if _, twice := doc.fields[name]; twice {
		return fmt.Errorf("%s: field %q occurs twice", doc.at, name)
	}
	doc.fields[name] = nil
	if name == "items" {
		doc.isList = true
		return doc.readItems(d)
	}
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return fmt.Errorf("%s: field %q: %w", doc.at, name, plainJSONError(err))
	}
	if len(raw) > maxObjectBytes {
		return fmt.Errorf("%s: field %q is larger than %d bytes", doc.at, name, maxObjectBytes)
	}
	doc.fields[name] = raw
	return nil
}

func (doc *document) readItems(d *json.Decoder) error {
	open, err := d.Token()
	if err != nil {
		return fmt.Errorf("%s: items: %w", doc.at, plainJSONError(err))
	}
	if open == nil {
		return nil
	}
	if open != json.Delim('[') {
		return fmt.Errorf("%s: items: want a list, found %s", doc.at, describeToken(open))
	}
	decode := doc.startDecoder()
	for n := 1; d.More(); n++ {
		at := fmt.Sprintf("%s, item %d", doc.at, n)
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return errors.Join(decode.wait(), fmt.Errorf("%s: %w", at, plainJSONError(err)))
		}
		if len(raw) > maxObjectBytes {
			return errors.Join(decode.wait(), fmt.Errorf("%s: larger than %d bytes", at, maxObjectBytes))
		}
		decode.items <- listItem{raw, at, doc.defaultItemHeader()}
	}
	if err := decode.wait(); err != nil {
		return err
	}
	if _, err = d.Token(); err != nil {
		return fmt.Errorf("%s: items: %w", doc.at, plainJSONError(err))
	}
	return nil
}

// listItem is one raw object of a List.
type listItem struct {
	raw      []byte
	at       string
	fallback header
}

// itemDecoder decodes items in order, while the parser splits the stream into items. Decoding and
// parsing each take about half of the time.
type itemDecoder struct {
	items chan listItem
	done  chan error
}

func (doc *document) startDecoder() *itemDecoder {
	w := &itemDecoder{make(chan listItem, 64), make(chan error, 1)}
	headed := doc.fields["apiVersion"] != nil && doc.fields["kind"] != nil
	go func() {
		var first error
		for i := range w.items {
			if first != nil {
				continue
			}
			first = doc.o.addObject(i.raw, i.at, i.fallback, doc.depth)
			if errors.Is(first, errNoKind) && !headed {
				first, doc.pending = nil, append(doc.pending, i)
			}
		}
		w.done <- first
	}()
	return w
}

// wait waits until the items are decoded and returns the first error.
func (w *itemDecoder) wait() error {
	close(w.items)
	return <-w.done
}

// defaultItemHeader returns apiVersion and kind for the items of a typed list such as a PodList.
// Such items omit both fields.
func (doc *document) defaultItemHeader() header {
	var h header
	if json.Unmarshal(doc.fields["apiVersion"], &h.APIVersion) != nil || json.Unmarshal(doc.fields["kind"], &h.Kind) != nil {
		return header{}
	}
	h.Kind = strings.TrimSuffix(h.Kind, "List")
	return h
}

func (doc *document) finish() error {
	var kind string
	if raw := doc.fields["kind"]; raw != nil {
		if err := json.Unmarshal(raw, &kind); err != nil {
			return fmt.Errorf("%s: field \"kind\": %w", doc.at, plainDecodeError(nil, err))
		}
	}
	if !doc.isList && !strings.HasSuffix(kind, "List") {
		raw, err := json.Marshal(doc.fields)
		if err != nil {
			return fmt.Errorf("%s: %w", doc.at, err)
		}
		return doc.o.addObject(raw, doc.at, header{}, doc.depth)
	}
	for _, i := range doc.pending {
		if err := doc.o.addObject(i.raw, i.at, doc.defaultItemHeader(), doc.depth); err != nil {
			return err
		}
	}
	if doc.fields["metadata"] == nil {
		return nil
	}
	var meta struct {
		Annotations map[string]string `json:"annotations"`
	}
	if err := json.Unmarshal(doc.fields["metadata"], &meta); err != nil {
		return fmt.Errorf("%s: metadata of the List: %w", doc.at, plainDecodeError(nil, err))
	}
	return doc.o.applyListAnnotations(meta.Annotations, doc.at)
}

// header holds the fields that identify the kind of a document.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// peekHeader reads only apiVersion and kind. kubectl and API servers write both fields first, so
// peekHeader need not parse the rest of an object.
func peekHeader(raw []byte, h header) (header, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return h, fmt.Errorf("want an object, found %s", truncate(string(raw)))
	}
	for found := 0; d.More() && found < 2; {
		key, err := d.Token()
		if err != nil {
			return h, plainJSONError(err)
		}
		var into any = &json.RawMessage{}
		switch key {
		case "apiVersion":
			into, found = &h.APIVersion, found+1
		case "kind":
			into, found = &h.Kind, found+1
		}
		if err := d.Decode(into); err != nil {
			return h, fmt.Errorf("field %q: %w", key, plainDecodeError(nil, plainJSONError(err)))
		}
	}
	return h, nil
}

var errNoKind = errors.New("apiVersion or kind is missing; is this a Kubernetes object?")

// addObject decodes one object. It takes missing header fields from fallback.
func (o *Objects) addObject(raw []byte, at string, fallback header, depth int) error {
	h, err := peekHeader(raw, fallback)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	if h.Kind == "" || h.APIVersion == "" {
		return fmt.Errorf("%s: %w", at, errNoKind)
	}
	if strings.HasSuffix(h.Kind, "List") {
		if depth >= maxListDepth {
			return fmt.Errorf("%s: Lists are nested more than %d deep", at, maxListDepth)
		}
		return readDocument(json.NewDecoder(bytes.NewReader(raw)), at, o, depth+1)
	}
	if strings.HasPrefix(h.APIVersion, ownGroup) && h.Kind == plannerStateKind {
		return o.addState(raw, at)
	}
	if strings.HasPrefix(h.APIVersion, ownGroup) && h.Kind == usageKind {
		return o.addUsage(raw, at)
	}
	k, ok := kindByName[h.APIVersion+" "+h.Kind]
	if !ok {
		if o.Skipped == nil {
			o.Skipped = map[string]int{}
		}
		o.Skipped[h.APIVersion+" "+h.Kind]++
		o.markUnreadVersion(h, raw)
		return nil
	}
	if err := k.decode(o, raw); err != nil {
		return fmt.Errorf("%s: reading %s: %w", at, strings.TrimSpace(h.Kind+" "+objectName(raw)), err)
	}
	return nil
}

// markUnreadVersion records an object of which another version is read.
func (o *Objects) markUnreadVersion(h header, raw []byte) {
	group, _, _ := strings.Cut(h.APIVersion, "/")
	if _, read := kindByName[group+"/v1 "+h.Kind]; !read {
		return
	}
	namespace, name, namespaced := strings.Cut(objectName(raw), "/")
	if !namespaced {
		namespace, name = "", namespace
	}
	if o.UnreadVersions == nil {
		o.UnreadVersions = map[string]string{}
	}
	if o.UnreadVersions[namespace] == "" {
		o.UnreadVersions[namespace] = fmt.Sprintf("%s %s has the version %s, which is not read; add it as %s/v1", h.Kind, name, h.APIVersion, group)
	}
}

// objectName returns the namespace and name of an object. Either is missing if it is not readable.
func objectName(raw []byte) string {
	var o struct {
		Metadata struct{ Namespace, Name string } `json:"metadata"`
	}
	_ = json.Unmarshal(raw, &o) // the caller already reports the error
	return strings.TrimPrefix(o.Metadata.Namespace+"/"+o.Metadata.Name, "/")
}
