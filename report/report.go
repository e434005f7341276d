package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/evenkeel-project/evenkeel/plan"
)

// Format names a way to write a report.
type Format string

const (
	// Table is for people: the verdict, then what changes and why not more.
	Table Format = "table"
	// Wide is Table with every line and every column.
	Wide Format = "wide"
	// JSON is the document itself: indented for a plan, one line for a run.
	JSON Format = "json"
	// YAML is the same document in the same field order.
	YAML Format = "yaml"
)

// Formats lists the formats in the order in which help texts name them.
func Formats() []Format { return []Format{Table, Wide, JSON, YAML} }

// ParseFormat returns the format called name, or an error that lists them all.
func ParseFormat(name string) (Format, error) {
	known := make([]string, 0, len(Formats()))
	for _, f := range Formats() {
		if string(f) == name {
			return f, nil
		}
		known = append(known, string(f))
	}
	return "", fmt.Errorf("%q is not an output format (want one of %s)", name, strings.Join(known, ", "))
}

// Options are the choices that only the caller can make.
type Options struct {
	// Color adds terminal colours to Table and Wide. The caller decides it from
	// the terminal and NO_COLOR; the default is plain text.
	Color bool
	// Evicts says that with the configuration of this plan `evenkeel run`
	// evicts, although what is reported here did not.
	Evicts bool
}

// Plan writes p to w. At most the first opts is used. It fails on an unknown
// format and on errors of w.
func Plan(w io.Writer, format Format, p plan.Plan, opts ...Options) error {
	switch format {
	case Table, Wide:
		t := newTable(format, opts)
		t.plan(complete(p), "Plan", nothingIsEvicted(p, opts))
		return t.flush(w)
	case JSON:
		return writeJSON(w, complete(p), "  ")
	case YAML:
		return writeYAML(w, complete(p))
	}
	_, err := ParseFormat(string(format))
	return err
}

// nothingIsEvicted says of a plan that it was not carried out, and why not.
func nothingIsEvicted(p plan.Plan, opts []Options) string {
	live, holds := len(opts) > 0 && opts[0].Evicts, held(p)
	switch {
	case live && holds != "":
		return "held (" + holds + "): nothing is evicted, by `evenkeel run` neither"
	case holds != "":
		return "held (" + holds + "), and a dry run: nothing is evicted"
	case live && forgotten(p):
		return "nothing is evicted by this command; with this configuration `evenkeel run` evicts only if it can read what is remembered, which this command could not"
	case live:
		return "nothing is evicted by this command; with this configuration `evenkeel run` evicts"
	}
	return "nothing is evicted (dry run)"
}

// forgotten: what is remembered between passes could not be read, without which no
// run evicts.
func forgotten(p plan.Plan) bool {
	return slices.ContainsFunc(p.Inputs, func(in plan.Input) bool { return in.Source == "memory" && len(in.Problems) > 0 })
}

// Run writes r to w, as Plan does. In JSON it is one line, so that a stream of
// passes is a stream of lines.
func Run(w io.Writer, format Format, r plan.RunReport, opts ...Options) error {
	switch format {
	case Table, Wide:
		t := newTable(format, opts)
		t.run(completeRun(r))
		return t.flush(w)
	case JSON:
		return RunLine(w, r)
	case YAML: // passes follow one another, so each begins a document
		if err := write(w, []byte("---\n")); err != nil {
			return err
		}
		return writeYAML(w, completeRun(r))
	}
	_, err := ParseFormat(string(format))
	return err
}

// RunLine writes r to w as one line of JSON with its newline.
func RunLine(w io.Writer, r plan.RunReport) error {
	return writeJSON(w, completeRun(r), "")
}

func writeJSON(w io.Writer, doc any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("encoding the report as JSON: %w", err)
	}
	return write(w, escapeInvisible(b.Bytes()))
}

// escapeInvisible writes characters that would steer a terminal or turn its
// text as JSON escapes. Those below a blank are escaped by the encoder already.
func escapeInvisible(doc []byte) []byte {
	if !bytes.ContainsFunc(doc, invisible) {
		return doc
	}
	var b bytes.Buffer
	for _, r := range string(doc) {
		if !invisible(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.Bytes()
}

func invisible(r rune) bool { return r >= 0x7f && !unicode.IsPrint(r) && r != unicode.ReplacementChar }

func write(w io.Writer, data []byte) error {
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
