package commandline_test

import (
	"bytes"
	"os"
	"reflect"
	"testing"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/commandline"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/internal/pty"
	"github.com/evenkeel-project/evenkeel/report"
)

func TestTerminal(t *testing.T) {
	tests := map[string]struct {
		columns int
		env     map[string]string
		want    report.Options
	}{
		"colors":                 {100, map[string]string{"TERM": "xterm"}, report.Options{Width: 100, Color: true}},
		"NO_COLOR":               {100, map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, report.Options{Width: 100}},
		"NO_COLOR is empty":      {100, map[string]string{"TERM": "xterm", "NO_COLOR": ""}, report.Options{Width: 100, Color: true}},
		"a terminal without":     {100, map[string]string{"TERM": "dumb"}, report.Options{Width: 100}},
		"no TERM":                {100, nil, report.Options{Width: 100}},
		"the width is not known": {0, map[string]string{"TERM": "xterm"}, report.Options{Width: 80, Color: true}},
	}
	for name, tt := range tests {
		_, tty := pty.Open(t, tt.columns)
		for _, name := range []string{"TERM", "NO_COLOR"} {
			t.Setenv(name, tt.env[name])
		}
		if got := commandline.ReportOptions(tty); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestNoTerminal(t *testing.T) {
	file := must.Get(os.CreateTemp(t.TempDir(), ""))(t)
	defer file.Close()
	t.Setenv("TERM", "xterm")
	if got := commandline.ReportOptions(file); !reflect.DeepEqual(got, report.Options{}) {
		t.Errorf("a file: %+v", got)
	}
	if got := commandline.ReportOptions(&bytes.Buffer{}); !reflect.DeepEqual(got, report.Options{}) {
		t.Errorf("a buffer: %+v", got)
	}
}
