package commandline

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/evenkeel-project/evenkeel/report"
)

// fallbackWidth is the width of a terminal that does not tell it, such as the one of some containers.
const fallbackWidth = 80

// ReportOptions returns what a report on this output can show. The width is 0 if the output is no terminal. A terminal
// shows colors if TERM is neither empty nor dumb, and NO_COLOR is unset or empty (https://no-color.org).
func ReportOptions(out io.Writer) report.Options {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return report.Options{}
	}
	o := report.Options{Width: fallbackWidth}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		o.Width = width
	}
	kind := os.Getenv("TERM")
	o.Color = kind != "" && kind != "dumb" && os.Getenv("NO_COLOR") == ""
	return o
}
