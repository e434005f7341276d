package drills

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/lab/auditverifier"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/recording"
)

// TestEachProtectionHasAWorkload checks that for each protection against eviction, the drill creates a workload whose
// pods carry the protection as a label, by which the verifier recognizes them.
func TestEachProtectionHasAWorkload(t *testing.T) {
	protections := map[string]bool{}
	for _, a := range workloadApps(time.Now()) {
		if a.protected != "" {
			protections[podTemplate(a).Labels[recording.ProtectedLabel]] = true
		}
	}
	for _, want := range []string{"kube-system", "do-not-disrupt", "evict-never", "window", "min-replicas"} {
		if !protections[want] {
			t.Errorf("no workload with the protection %s", want)
		}
	}
}

func TestTheSameSeedKillsAtTheSamePoints(t *testing.T) {
	draw := func() []killPoint {
		s := &drillRun{random: rand.New(rand.NewPCG(1, 2))}
		var out []killPoint
		for range 50 {
			out = append(out, s.randomKillPoint())
		}
		return out
	}
	a, b := draw(), draw()
	classes := map[string]bool{}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("kill point %d is %+v in one run and %+v in the other", i, a[i], b[i])
		}
		classes[string(a[i].class)] = true
	}
	if len(classes) != 4 {
		t.Errorf("50 kill points cover the request classes %v, want 4 classes", classes)
	}
}

func TestOnlyDrillsThatPassedAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	rows := []drillResult{{Name: "good", Violations: map[auditverifier.Kind]int{}},
		{Name: "bad", Violations: map[auditverifier.Kind]int{auditverifier.EvictedTwice: 1}}}
	must.Succeed(t, writeResults(path, rows))
	got, err := readResults(path)
	if err != nil || len(got) != 1 || got[0].Name != "good" {
		t.Errorf("%+v, %v", got, err)
	}
	var out bytes.Buffer
	writeTable(&out, rows)
	if !strings.Contains(out.String(), "FAILED") {
		t.Errorf("the table does not say that a drill failed:\n%s", &out)
	}
	out.Reset()
	writeTable(&out, got)
	if strings.Contains(out.String(), "FAILED") {
		t.Errorf("the table says that a drill failed:\n%s", &out)
	}
}

func TestTheConfigurationSaysTheRules(t *testing.T) {
	r := defaultRules()
	whole := configText(r, "* * * * *")
	for _, want := range []string{"perPass: 12", "perHour: {owner: 400", "inFlight: {total: 6, perNode: 3, perOwner: 1}",
		"perMinute: 120", "backoff:", "breaker:"} {
		if !strings.Contains(whole, want) {
			t.Errorf("no %q in\n%s", want, whole)
		}
	}
}
