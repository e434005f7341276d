package helm_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedValuesRender: the values that pages tell people to write are accepted as
// they stand there, and hints.yaml lets the account evict in no step but the last.
func TestDocumentedValuesRender(t *testing.T) {
	for page, mark := range map[string]string{"pressure.md": "# hints.yaml\n", "load.md": "extraVolumes:\n"} {
		text, err := os.ReadFile("../../docs/reference/" + page)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			if !strings.HasPrefix(m[1], mark) {
				continue
			}
			found = true
			file := filepath.Join(t.TempDir(), "values.yaml")
			if err := os.WriteFile(file, []byte(m[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{nil, {"--set", "config.dryRun=false"}} {
				out := render(t, append([]string{"--values", file}, args...)...)
				if page == "pressure.md" && strings.Contains(out, "pods/eviction") {
					t.Errorf("%s %v: the account may evict", page, args)
				}
			}
		}
		if !found {
			t.Errorf("%s shows no values that begin with %q", page, mark)
		}
	}
}
