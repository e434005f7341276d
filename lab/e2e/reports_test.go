package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// reportBuffer collects the RunReports that a process writes, one per line.
type reportBuffer struct{ testbed.Buffer }

func (s *reportBuffer) parsedReports() (out []passReport) {
	for line := range strings.Lines(s.String()) {
		var r passReport
		if json.Unmarshal([]byte(line), &r) == nil {
			out = append(out, r)
		}
	}
	return out
}

// waitFor waits up to two minutes for a matching report, because the process makes one pass per minute.
func (s *reportBuffer) waitFor(t *testing.T, what string, is func(passReport) bool) (found passReport) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), 2*time.Minute, func() (bool, error) {
		for _, r := range s.parsedReports() {
			if is(r) {
				found = r
				return true, nil
			}
		}
		return false, fmt.Errorf("no report %s", what)
	}))
	return found
}
