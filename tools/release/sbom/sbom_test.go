package sbom

import (
	"encoding/json"
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
		if _, err := normalize([]byte(document), time.Time{}, nil); err == nil || !strings.Contains(err.Error(), "the output of cyclonedx-gomod") {
			t.Errorf("%s: error %v", document, err)
		}
	}
}

// TestModulesBesideTheProgram checks that a module of the image, which the program does not link, is a component.
func TestModulesBesideTheProgram(t *testing.T) {
	const document = `{"metadata":{},"components":[{"name":"linked.example/a"}]}`
	out, err := normalize([]byte(document), time.Time{}, []Module{{Path: "a.example/roots", Version: "v0.1.2", Description: "certificates"}})
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		Components []struct{ Name, Version, Type, Purl string }
	}
	if err := json.Unmarshal(out, &bom); err != nil {
		t.Fatal(err)
	}
	if len(bom.Components) != 2 || bom.Components[0].Name != "linked.example/a" {
		t.Fatalf("components %+v", bom.Components)
	}
	if c := bom.Components[1]; c.Name != "a.example/roots" || c.Version != "v0.1.2" || c.Type != "library" ||
		c.Purl != "pkg:golang/a.example/roots@v0.1.2?type=module" {
		t.Errorf("component %+v", c)
	}
}
