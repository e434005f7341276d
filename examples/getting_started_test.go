package examples

import (
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/config"
)

// TestGettingStartedIsAConfiguration checks that config.Load accepts the values below `config:` of
// docs/getting-started.md.
func TestGettingStartedIsAConfiguration(t *testing.T) {
	_, values, found := strings.Cut(readText(t, "docs/getting-started.md"), "\n```yaml\nconfig:\n")
	if !found {
		t.Fatal("docs/getting-started.md has no values for the chart")
	}
	values, _, _ = strings.Cut(values, "```")
	text := "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\n" + regexp.MustCompile(`(?m)^  `).ReplaceAllString(values, "")
	if _, err := config.Load("config.yaml", []byte(text)); err != nil {
		t.Errorf("%v in:\n%s", err, text)
	}
}
