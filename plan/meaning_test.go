package plan_test

import (
	"os"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/plan"
)

// TestEveryReasonToStayHasAMeaning checks the codes that docs/reference/reasons.md lists as reasons why pods stay.
func TestEveryReasonToStayHasAMeaning(t *testing.T) {
	page := must.Get(os.ReadFile("../docs/reference/reasons.md"))(t)
	checked := 0
	for _, part := range strings.Split(string(page), "\n## ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		if !strings.HasPrefix(title, "Why a pod may not leave") && !strings.HasPrefix(title, "Why an annotation keeps") &&
			!strings.HasPrefix(title, "Why an eviction would not help") && !strings.HasPrefix(title, "Why a budget or limit forbids") {
			continue
		}
		for _, m := range headingPattern.FindAllStringSubmatch(text, -1) {
			checked++
			if meaning := plan.Code(m[1]).Meaning(); meaning == "" || len(meaning) > 70 || strings.HasSuffix(meaning, ".") {
				t.Errorf("the meaning of %s is %q; want at most 70 characters without a full stop", m[1], meaning)
			}
			if remedy := plan.Code(m[1]).Remedy(); len(remedy) > 80 || strings.HasSuffix(remedy, ".") {
				t.Errorf("the remedy of %s is %q; want at most 80 characters without a full stop", m[1], remedy)
			}
		}
	}
	if checked < 75 {
		t.Errorf("%d reasons are checked, want at least 75", checked)
	}
}
