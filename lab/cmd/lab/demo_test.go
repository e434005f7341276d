package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestWhatTheDemoOffersToTry checks that the demo's configuration file exists until it is removed, and that the
// suggested commands refer to it.
func TestWhatTheDemoOffersToTry(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	config, remove, err := writeDemoConfig()
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for line := range strings.Lines(suggestedCommands("bin/evenkeel", "k.yaml", config)) {
		if strings.HasPrefix(line, "  bin/evenkeel ") {
			commands = append(commands, strings.TrimSpace(line))
		}
	}
	if len(commands) != 3 || !strings.Contains(commands[0], " plan ") || !strings.Contains(commands[1], " explain ") {
		t.Errorf("got commands %q, want plan and two explain commands", commands)
	}
	for _, c := range commands {
		if !strings.HasSuffix(c, " --kubeconfig k.yaml --config "+config) {
			t.Errorf("command %q lacks the kubeconfig or the configuration", c)
		}
	}
	if text, err := os.ReadFile(config); err != nil || string(text) != demoConfig {
		t.Errorf("reading the configuration: %v, got:\n%s", err, text)
	}
	remove()
	if _, err := os.Stat(config); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the configuration file still exists after remove: %v", err)
	}
}
