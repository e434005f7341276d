package sbom

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeTool writes a program in the place of cyclonedx-gomod, which prints its arguments, the time and
// checksums of itself.
func fakeTool(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tool")
	script := `#!/bin/sh
echo '{"bomFormat":"CycloneDX","arguments":"'"$1 $2 $3 $4 $5 $6"'","metadata":{"timestamp":"'"$(date +%s%N)"'","tools":[{"name":"cyclonedx-gomod","version":"v1","hashes":[{"alg":"MD5","content":"'"$$"'"}]}]}}'
`
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTwoRunsAreEqual(t *testing.T) {
	tool, created := fakeTool(t), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	first, err1 := Of(t.Context(), tool, []byte("program"), "1.2.3", created)
	second, err2 := Of(t.Context(), tool, []byte("program"), "1.2.3", created)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if string(first) != string(second) {
		t.Errorf("two runs differ:\n%s\n%s", first, second)
	}
	for _, part := range []string{`"arguments": "bin -json -noserial -std -version v1.2.3"`, `"timestamp": "2026-01-02T03:04:05Z"`,
		`"name": "cyclonedx-gomod"`} {
		if !strings.Contains(string(first), part) {
			t.Errorf("the document lacks %s:\n%s", part, first)
		}
	}
}

func TestErrors(t *testing.T) {
	if _, err := Of(t.Context(), "/no/such/tool", nil, "1", time.Time{}); err == nil || !strings.HasPrefix(err.Error(), "cyclonedx-gomod: ") {
		t.Errorf("error %v", err)
	}
	for _, document := range []string{"text", "{}"} {
		if _, err := normalize([]byte(document), time.Time{}); err == nil || !strings.Contains(err.Error(), "the output of cyclonedx-gomod") {
			t.Errorf("%s: error %v", document, err)
		}
	}
}
