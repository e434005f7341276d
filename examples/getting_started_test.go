package examples

import (
	"regexp"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/config"
)

// TestGettingStartedIsAConfiguration checks that config.Load accepts the values below `config:` of
// docs/getting-started.md, also with the lines for the lab.
func TestGettingStartedIsAConfiguration(t *testing.T) {
	_, text, _ := strings.Cut(readText(t, "docs/getting-started.md"), "\n```yaml\nconfig:\n")
	values, rest, found := strings.Cut(text, "```")
	_, lab, foundLab := strings.Cut(rest, "\n```yaml\n")
	lab, _, _ = strings.Cut(lab, "```")
	if !found || !foundLab {
		t.Fatal("docs/getting-started.md has no values for the chart")
	}
	for _, more := range []string{"", lab} {
		text := "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\n" + regexp.MustCompile(`(?m)^  `).ReplaceAllString(values+more, "")
		if _, err := config.Load("config.yaml", []byte(text)); err != nil {
			t.Errorf("%v in:\n%s", err, text)
		}
	}
}
