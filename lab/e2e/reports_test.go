package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// reportBuffer collects the log of a process, which has the report of each pass.
type reportBuffer struct{ testbed.Buffer }

func (s *reportBuffer) parsedReports() []testbed.Report { return testbed.Reports(s.String()) }

// waitFor waits up to two minutes for a matching report, because the process makes one pass per minute.
func (s *reportBuffer) waitFor(t *testing.T, what string, is func(testbed.Report) bool) (found testbed.Report) {
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
