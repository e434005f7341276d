package logging_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/evenkeel-project/evenkeel/internal/logging"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/terminal"
)

// newLogger returns the logger for the flags. It writes to the buffer through the writer of the program's stderr.
func newLogger(t *testing.T, out *bytes.Buffer, args ...string) *slog.Logger {
	t.Helper()
	o := parse(t, args...)
	return o.New(terminal.Writer{Writer: out})
}

func parse(t *testing.T, args ...string) *logging.Options {
	t.Helper()
	o := &logging.Options{}
	fl := pflag.NewFlagSet("test", pflag.ContinueOnError)
	o.AddFlags(fl)
	must.Succeed(t, fl.Parse(args))
	return o
}

func TestLevels(t *testing.T) {
	for args, want := range map[string]slog.Level{
		"": slog.LevelInfo, "--log-level=debug": slog.LevelDebug, "--log-level=warn": slog.LevelWarn, "--log-level=error": slog.LevelError,
		"-v": slog.LevelDebug, "--verbose": slog.LevelDebug, "-v --log-level=error": slog.LevelDebug, "--log-level=error -v": slog.LevelDebug,
		"--verbose=false --log-level=warn": slog.LevelWarn,
	} {
		if got := parse(t, strings.Fields(args)...).Level(); got != want {
			t.Errorf("%q: level %s, want %s", args, got, want)
		}
	}
}

func TestUnknownValuesNameTheAllowedOnes(t *testing.T) {
	for arg, want := range map[string]string{
		"--log-level=verbose": "want debug, info, warn or error", "--log-level=": "want debug", "--log-level=DEBUG": "want debug",
		"--log-format=xml": "want text or json",
	} {
		o := &logging.Options{}
		fl := pflag.NewFlagSet("test", pflag.ContinueOnError)
		o.AddFlags(fl)
		if err := fl.Parse([]string{arg}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", arg, err, want)
		}
	}
}

// TestJSONLinesAreObjects: each line is one JSON object, whatever the values contain, and safe for a terminal.
func TestJSONLinesAreObjects(t *testing.T) {
	hostile := "x\x1b[2J\r\n\u202e\u009b\x7f\U000e0001\xff\"} ä" + strings.Repeat("long ", 40<<10)
	var out bytes.Buffer
	log := newLogger(t, &out, "--log-format=json")
	log.Info("one", "value", hostile, "error", errors.New(hostile), "n", 3)
	log.Warn(hostile)
	log.Debug("not shown")
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want 2", len(lines))
	}
	for _, line := range lines {
		var got map[string]any
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Errorf("%v: %.200q", err, line)
			continue
		}
		if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) && r != unicode.ReplacementChar }); i >= 0 {
			t.Errorf("an unprintable character at %d: %.200q", i, line)
		}
		if len(line) > 20<<10 {
			t.Errorf("a line of %d bytes", len(line))
		}
		if got["msg"] == "one" && (got["n"] != 3.0 || !strings.HasPrefix(got["value"].(string), "x\x1b[2J\r\n\u202e\u009b\x7f\U000e0001")) {
			t.Errorf("the values changed: %.200q", line)
		}
	}
}

func TestTextLinesAreBoundedAndPrintable(t *testing.T) {
	var out bytes.Buffer
	newLogger(t, &out).Info("one", "value", "x\x1b[2J\n\u202e"+strings.Repeat("long ", 40<<10))
	if out.Len() > 20<<10 || strings.ContainsAny(out.String(), "\x1b\u202e") || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%.300q", out.String())
	}
}

// TestLinesOfClientGo: client-go logs through the same handler at level debug, and nowhere at other levels.
func TestLinesOfClientGo(t *testing.T) {
	t.Cleanup(klog.ClearLogger)
	var out bytes.Buffer
	newLogger(t, &out, "--log-format=json")
	klog.InfoS("from client-go", "token", "x")
	klog.Flush()
	if out.Len() > 0 {
		t.Errorf("at level info: %s", out.String())
	}
	newLogger(t, &out, "--log-format=json", "--log-level=debug")
	klog.InfoS("from client-go", "object", klog.KRef("shop", "web"))
	klog.Background().V(6).Info("a request") // V(6) and above name requests; V(8) and above, their headers
	klog.Background().V(8).Info("the headers of a request")
	var line struct{ Level, Msg string }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Msg != "from client-go" || line.Level != "INFO" {
		t.Errorf("want one line of client-go as JSON, got %v: %s", err, out.String())
	}
}
