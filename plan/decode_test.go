package plan_test

import (
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/plan"
)

// TestDecodeBounds checks the message for each bound, and that brackets and commas within strings do not count.
func TestDecodeBounds(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a plan":             {`{"kind":"Plan","moves":[{"step":1}]}`, ""},
		"brackets in string": {`{"id":"` + strings.Repeat(`[{,\"`, 400_000) + `"}`, ""},
		"as many moves":      {`{"moves":[{}` + strings.Repeat(`,{}`, 299_997) + `]}`, ""},
		"one move more":      {`{"moves":[{}` + strings.Repeat(`,{}`, 299_998) + `]}`, "the document has more than 300000 objects and arrays"},
		"values":             {`{"goals":[` + strings.Repeat(`0,`, 2_000_001), "the document has more than 2000000 values"},
		"as deep":            {strings.Repeat("[", 32) + strings.Repeat("]", 32), "cannot unmarshal"},
		"deeper":             {strings.Repeat("[", 33) + strings.Repeat("]", 33), "the document has more than 32 levels"},
		"larger":             {`{"id":"` + strings.Repeat("a", 32<<20) + `"}`, "the document is larger than 32 MiB"},
		"an escaped quote":   {`{"id":"\\"` + strings.Repeat(",[", 33), "the document has more than 32 levels"},
	} {
		var p plan.Plan
		err := plan.Decode([]byte(c.text), &p)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
