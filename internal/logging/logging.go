// Package logging makes the logger of the program from its flags.
//
// The package decides the format of log lines, which lines are shown, and that no line carries control characters or
// grows without limit. It never decides what is logged.
package logging

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/evenkeel-project/evenkeel/internal/terminal"
)

// Options are the flags of the logger. The zero value logs text, from level info on.
type Options struct {
	format  Choice
	level   Choice
	verbose bool
}

// maxValue bounds the text of one value in a JSON log line, in bytes. Text lines are bounded by terminal.Writer.
const maxValue = 8 << 10

var levels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// AddFlags adds --log-format, --log-level and --verbose.
func (o *Options) AddFlags(fl *pflag.FlagSet) {
	o.format = Choice{Value: "text", Names: []string{"text", "json"}}
	o.level = Choice{Value: "info", Names: []string{"debug", "info", "warn", "error"}}
	fl.Var(&o.format, "log-format", "format of the log on standard error: text or json")
	fl.Var(&o.level, "log-level", "lowest log level to print: debug, info, warn or error")
	fl.BoolVarP(&o.verbose, "verbose", "v", false, "set the log level to debug; overrides --log-level")
}

// JSON reports whether log lines are JSON objects.
func (o *Options) JSON() bool { return o.format.Value == "json" }

// Level returns the level of the least important lines that are shown.
func (o *Options) Level() slog.Level {
	if o.verbose {
		return slog.LevelDebug
	}
	return levels[o.level.Value]
}

// New returns a logger that writes to w. Lines of client-go are shown only at level debug, because the program reports
// the errors of its requests itself.
func (o *Options) New(w io.Writer) *slog.Logger {
	settings := &slog.HandlerOptions{Level: o.Level()}
	var handler slog.Handler = slog.NewTextHandler(w, settings)
	if o.JSON() {
		settings.ReplaceAttr = shortenValue
		handler = slog.NewJSONHandler(jsonWriter(w), settings)
	}
	log := slog.New(handler)
	if o.Level() <= slog.LevelDebug {
		klog.SetSlogLogger(log)
	} else {
		silenceKlog()
	}
	return log
}

// silenceKlog runs once, because klog's logger must not change while other goroutines log.
var silenceKlog = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

// jsonWriter returns a writer for JSON log lines. A terminal.Writer would cut long lines and write escapes that JSON
// does not know.
func jsonWriter(w io.Writer) io.Writer {
	if t, ok := w.(terminal.Writer); ok {
		w = t.Writer
	}
	return terminal.JSONWriter{Writer: w}
}

// shortenValue bounds texts and errors.
func shortenValue(_ []string, a slog.Attr) slog.Attr {
	text := ""
	switch v := a.Value.Any().(type) {
	case string:
		text = v
	case error:
		text = v.Error()
	default:
		return a
	}
	if len(text) <= maxValue {
		return a
	}
	return slog.String(a.Key, terminal.Shorten(text, maxValue))
}

// Choice is a flag whose value is one of some names.
type Choice struct {
	Value string
	Names []string
}

// String implements pflag.Value.
func (c *Choice) String() string { return c.Value }

// Type implements pflag.Value.
func (c *Choice) Type() string { return "string" }

// Set implements pflag.Value.
func (c *Choice) Set(text string) error {
	for _, n := range c.Names {
		if n == text {
			c.Value = text
			return nil
		}
	}
	return fmt.Errorf("want %s", c.Wanted())
}

// Wanted returns the allowed values as text.
func (c *Choice) Wanted() string {
	last := len(c.Names) - 1
	return strings.Join(c.Names[:last], ", ") + " or " + c.Names[last]
}
