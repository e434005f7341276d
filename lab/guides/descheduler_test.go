package guides

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDescheduler follows the guide from the descheduler, which its own chart installs with its default policy. Until
// the switch, only the person who approves the plan evicts; after it, only the release.
func TestDescheduler(t *testing.T) {
	s := newShell(t, lab.Kubeconfig, map[string]string{"IMAGE": "registry.example.org/evenkeel"})
	s.run(t, "helm install descheduler '"+os.Getenv("EVENKEEL_PEER_CHART")+"' --namespace kube-system")
	seedUneven(t, "shop")
	const runs = "Another descheduler runs: descheduler (CronJob kube-system/descheduler)."
	noEviction := func(t *testing.T, _ string) {
		t.Helper()
		if got := evictors(t, "shop"); len(got) > 0 {
			t.Errorf("evictions by %v, want none", got)
		}
	}
	s.follow(t, "## Descheduler", []action{
		{title: "1. Compare", check: and(wantText("Policy descheduler-values.yaml: ", runs, "RemoveDuplicates"), noEviction)},
		{title: "2. Convert the policy", check: and(wantText("config.yaml is valid: ", "it evicts nothing (dryRun: true)", runs,
			"repaired: shop/d-"), noEviction)},
		{title: "3. Install Evenkeel beside the descheduler", check: func(t *testing.T, _ string) {
			waitForPod(t)
			eventually(t, "a pass of the dry run ends", func() (bool, error) {
				return strings.Contains(output(t.Context()), "pass ended"), nil
			})
			log := s.run(t, "evenkeel logs")
			if moves := regexp.MustCompile(`pod=shop/d-\S+ .*outcome=wouldEvict reason=TooManyDuplicates`).FindAllString(log, -1); len(moves) != 2 {
				t.Errorf("the dry run would evict %q, want 2 pods of shop", moves)
			}
			s.retry(t, "evenkeel status", "descheduler (CronJob kube-system/descheduler) evicts pods, too.")
			noEviction(t, "")
		}},
		{title: "4. Approve one plan", check: func(t *testing.T, _ string) {
			if got, by := zones(t, "shop"), evictors(t, "shop"); got != "2/2/2" || len(by) != 1 {
				t.Errorf("pods per zone %s, evictions by %v; want 2/2/2, by one account", got, by)
			}
		}},
		{title: "5. Switch", before: func(t *testing.T) { seedUneven(t, "shop-2") },
			check: func(t *testing.T, _ string) {
				eventually(t, "the release evens out the pods", func() (bool, error) { return zones(t, "shop-2") == "2/2/2", nil })
				const account = "system:serviceaccount:evenkeel:evenkeel"
				if by := evictors(t, "shop-2"); len(by) != 1 || by[account] != 2 {
					t.Errorf("evictions by %v, want 2 by %s", by, account)
				}
			}},
		{title: "6. Uninstall the descheduler", check: func(t *testing.T, out string) {
			wantText("Plan: ")(t, out)
			// Kubernetes deletes the last Job a little later, and until then the plan names it.
			eventually(t, "the plan no longer names the descheduler", func() (bool, error) {
				return !strings.Contains(s.run(t, "evenkeel plan --config config.yaml"), "descheduler runs"), nil
			})
		}},
	})
	uninstall(t, s)
}
