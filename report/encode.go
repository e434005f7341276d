package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/internal/terminal"
)

func writeJSON(w io.Writer, doc any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("encoding the report as JSON: %w", err)
	}
	return writeBytes(w, terminal.EscapeJSON(b.Bytes()))
}

// writeRows writes lines of a list, without indent.
func writeRows(w io.Writer, rows []string) error {
	var b bytes.Buffer
	for _, row := range rows {
		b.WriteString(strings.TrimLeft(row, " ") + "\n")
	}
	return writeBytes(w, b.Bytes())
}

func writeBytes(w io.Writer, data []byte) error {
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// writeYAML writes doc as YAML in the field order of its JSON form. Encoders that read JSON sort the keys, and yaml/v3
// writes characters that change the text direction unescaped. The subset of YAML that a report needs is small.
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
	return writeBytes(w, y.out.Bytes())
}

type yamlWriter struct {
	dec *json.Decoder
	out bytes.Buffer
}

// value writes the next JSON value with that indent. inline means that the value
// starts the document or follows "- ", so no space or newline precedes it.
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
	y.out.WriteString(yamlScalar(tok))
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
		y.out.WriteString(yamlScalar(key) + ":")
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
	indent = strings.TrimSuffix(indent, "  ") // a list has the indent of its key
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
	// reservedWords are words that some YAML version reads as a boolean or null.
	reservedWords = map[string]bool{"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true,
		"true": true, "false": true, "null": true}
)

// yamlScalar writes a string without quotes if every YAML reader reads it as a string,
// and in double quotes otherwise. YAML understands the escapes of strconv.Quote.
func yamlScalar(tok json.Token) string {
	switch v := tok.(type) {
	case nil:
		return "null"
	case string:
		if plainWord.MatchString(v) && !reservedWords[strings.ToLower(v)] {
			return v
		}
		return strconv.Quote(v)
	}
	return fmt.Sprint(tok) // a number or a boolean
}
