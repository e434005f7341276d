// Package html writes reports as HTML: one file that makes no network request and is complete without JavaScript.
//
// It decides how a plan, a run, an explanation or a history looks. The words of the first screen come from package
// answers. It never reads a clock, a file or a client. Other packages may use its stylesheet and its templates.
package html

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/evenkeel-project/evenkeel/report/answers"
)

// Style is the stylesheet of all reports.
//
//go:embed report.css
var Style string

// Script sorts and filters tables, and shows long names. It also works on pages that have no table.
//
//go:embed report.js
var Script string

//go:embed templates
var files embed.FS

var templates = template.Must(template.New("").Funcs(functions).ParseFS(files, "templates/*.html"))

// Templates returns a copy of the templates, to which a caller may add pages of its own.
func Templates() *template.Template { return template.Must(templates.Clone()) }

// Hash returns the source of a Content-Security-Policy that permits an inline style or script.
func Hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// policy forbids everything except the style and the script of this package.
var policy = template.HTML(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ` + Hash(Style) +
	"; script-src " + Hash(Script) + `; base-uri 'none'; form-action 'none'">`)

// page is the frame of a report.
type page struct {
	Title string
	Pill  string // says whether the report is about something that happened
	Meta  []answers.Text
	Nav   []link
	// Report is set for plans and runs, and Document for other reports.
	Report   *Report
	Document *Document
	Footer   answers.Text
}

// link leads to a section of the page.
type link struct{ ID, Title string }

func (p *page) write(w io.Writer) error {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "page", p); err != nil {
		return fmt.Errorf("encoding the report as HTML: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
