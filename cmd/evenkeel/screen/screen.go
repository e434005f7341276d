// Package screen finds out what an output can show: the width of a terminal, and colors.
//
// It decides whether an output is a terminal. It never decides what is written.
package screen

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/evenkeel-project/evenkeel/report"
)

// fallbackWidth is the width of a terminal that does not tell it, such as the one of some containers.
const fallbackWidth = 80

// Screen is what an output can show.
type Screen struct {
	// Width is the number of columns, or 0 if the output is no terminal.
	Width int
	// Color reports that the output shows colors: it is a terminal, TERM is neither empty nor dumb, and NO_COLOR is
	// unset or empty (https://no-color.org).
	Color bool
}

// Of describes an output. getenv returns environment variables.
func Of(out io.Writer, getenv func(string) string) Screen {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Screen{}
	}
	s := Screen{Width: fallbackWidth}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		s.Width = width
	}
	kind := getenv("TERM")
	s.Color = kind != "" && kind != "dumb" && getenv("NO_COLOR") == ""
	return s
}

// ReportOptions returns what a report on this output can show.
func ReportOptions(out io.Writer) report.Options {
	s := Of(out, os.Getenv)
	return report.Options{Width: s.Width, Color: s.Color}
}
