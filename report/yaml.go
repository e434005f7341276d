package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// writeYAML writes doc as YAML in the field order of its JSON form. General
// encoders sort the keys, which puts a plan's "after" before its "before"; the
// subset needed here is small enough to write directly.
func writeYAML(w io.Writer, doc any) error {
	var js bytes.Buffer
	if err := writeJSON(&js, doc, ""); err != nil {
		return err
	}
	dec := json.NewDecoder(&js)
	dec.UseNumber()
	y := yamlWriter{dec: dec}
	if err := y.value("", true); err != nil {
		return fmt.Errorf("encoding the report as YAML: %w", err)
	}
	return write(w, y.out.Bytes())
}

type yamlWriter struct {
	dec *json.Decoder
	out bytes.Buffer
}

// value writes the next JSON value. indent is that of its lines; inline says
// that its first line continues a line already begun without a blank owed
// (the document's start, or after "- ").
func (y *yamlWriter) value(indent string, inline bool) error {
	tok, err := y.dec.Token()
	if err != nil {
		return err
	}
	switch tok {
	case json.Delim('{'):
		return y.mapping(indent, inline)
	case json.Delim('['):
		return y.sequence(indent)
	}
	if !inline {
		y.out.WriteByte(' ')
	}
	y.out.WriteString(scalar(tok))
	y.out.WriteByte('\n')
	return nil
}

func (y *yamlWriter) mapping(indent string, inline bool) error {
	if !y.dec.More() {
		return y.empty("{}", inline)
	}
	if !inline {
		y.out.WriteByte('\n')
	}
	for first := true; y.dec.More(); first = false {
		key, err := y.dec.Token()
		if err != nil {
			return err
		}
		if !first || !inline {
			y.out.WriteString(indent)
		}
		y.out.WriteString(scalar(key) + ":")
		if err := y.value(indent+"  ", false); err != nil {
			return err
		}
	}
	_, err := y.dec.Token() // the closing brace
	return err
}

func (y *yamlWriter) sequence(indent string) error {
	if !y.dec.More() {
		return y.empty("[]", false)
	}
	y.out.WriteByte('\n')
	indent = strings.TrimSuffix(indent, "  ") // a list hangs under its key
	for y.dec.More() {
		y.out.WriteString(indent + "- ")
		if err := y.value(indent+"  ", true); err != nil {
			return err
		}
	}
	_, err := y.dec.Token() // the closing bracket
	return err
}

func (y *yamlWriter) empty(text string, inline bool) error {
	if !inline {
		y.out.WriteByte(' ')
	}
	y.out.WriteString(text + "\n")
	_, err := y.dec.Token() // the closing delimiter
	return err
}

var (
	plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)
	// readAsOther are plain words that some YAML version takes for a boolean or
	// for null.
	readAsOther = map[string]bool{"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true,
		"true": true, "false": true, "null": true}
)

// scalar writes a string plain where no YAML reader can take it for anything
// else, and in double quotes everywhere else: the escapes of Go are YAML's too.
func scalar(tok json.Token) string {
	s, ok := tok.(string)
	if ok && plainWord.MatchString(s) && !readAsOther[strings.ToLower(s)] {
		return s
	}
	if n, ok := tok.(json.Number); ok {
		return n.String()
	}
	if ok {
		return strconv.Quote(s)
	}
	if tok == nil {
		return "null"
	}
	return fmt.Sprint(tok) // a boolean
}
