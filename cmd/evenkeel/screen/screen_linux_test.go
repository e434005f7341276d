package screen_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/evenkeel-project/evenkeel/cmd/evenkeel/screen"
	"github.com/evenkeel-project/evenkeel/internal/pty"
)

func TestTerminal(t *testing.T) {
	tests := map[string]struct {
		columns int
		env     map[string]string
		want    screen.Screen
	}{
		"colors":                 {100, map[string]string{"TERM": "xterm"}, screen.Screen{Width: 100, Color: true}},
		"NO_COLOR":               {100, map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, screen.Screen{Width: 100}},
		"NO_COLOR is empty":      {100, map[string]string{"TERM": "xterm", "NO_COLOR": ""}, screen.Screen{Width: 100, Color: true}},
		"a terminal without":     {100, map[string]string{"TERM": "dumb"}, screen.Screen{Width: 100}},
		"no TERM":                {100, nil, screen.Screen{Width: 100}},
		"the width is not known": {0, map[string]string{"TERM": "xterm"}, screen.Screen{Width: 80, Color: true}},
	}
	for name, tt := range tests {
		_, tty := pty.Open(t, tt.columns)
		if got := screen.Of(tty, func(k string) string { return tt.env[k] }); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestNoTerminal(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	env := func(string) string { return "xterm" }
	if got := screen.Of(file, env); got != (screen.Screen{}) {
		t.Errorf("a file: %+v", got)
	}
	if got := screen.Of(&bytes.Buffer{}, env); got != (screen.Screen{}) {
		t.Errorf("a buffer: %+v", got)
	}
}
