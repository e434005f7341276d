package controller_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/controller"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// The grace period in the chart covers the shutdown of a pass, another read of the Lease and the
// shutdown of the listener. The reference documents both times.
func TestPodsHaveTimeToEnd(t *testing.T) {
	read := func(path string) []byte {
		t.Helper()
		text := must.Get(os.ReadFile(path))(t)
		return text
	}
	var values struct{ TerminationGracePeriodSeconds int }
	must.Succeed(t, yaml.Unmarshal(read("../charts/evenkeel/values.yaml"), &values))
	const spare = 10 * time.Second
	grace := time.Duration(values.TerminationGracePeriodSeconds) * time.Second
	if controller.ShutdownTimeout+spare > grace {
		t.Errorf("the chart allows %s, but a shutdown takes up to %s", grace, controller.ShutdownTimeout)
	}
	text := strings.Join(strings.Fields(string(read("../docs/reference/running.md"))), " ")
	for _, want := range []string{fmt.Sprintf("%.0f s if the API server is not responding", controller.ShutdownTimeout.Seconds()),
		fmt.Sprintf("pods have %.0f s", grace.Seconds())} {
		if !strings.Contains(text, want) {
			t.Errorf("docs/reference/running.md does not contain %q", want)
		}
	}
}
