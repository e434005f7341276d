package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestUIFlags checks what `evenkeel ui` refuses before it connects.
func TestUIFlags(t *testing.T) {
	for args, want := range map[string]string{
		"ui --port 70000":          "--port: 70000 is not a port (want 1 to 65535)",
		"ui --port -1":             "--port: -1 is not a port",
		"ui --lease-namespace A_B": `"A_B" is not a namespace`,
		"ui page":                  "evenkeel ui",
		"ui --kubeconfig /nowhere": "/nowhere",
	} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(args), nil, &out, &errs); code != 1 || !strings.Contains(errs.String(), want) || out.Len() > 0 {
			t.Errorf("%s: exit %d, %q %q, want %q", args, code, out.String(), errs.String(), want)
		}
	}
}
