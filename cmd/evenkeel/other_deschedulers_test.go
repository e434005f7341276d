package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/controller/leader"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects"
)

// Commands that make a release evict name the other deschedulers that the holder of the Lease saw.
func TestOtherDeschedulersAreNamedByCommandsThatEvict(t *testing.T) {
	isolateFromCluster(t)
	const named = "evenkeel: warning: another descheduler runs (CronJob kube-system/night and 1 more): each may undo what the other does; let only one evict\n"
	for label, want := range map[string]string{"2_CronJob_kube-system_night": named, "none": ""} {
		text := strings.Replace(leaseJSON("node-7", time.Now()), `"metadata":{`, `"metadata":{"labels":{"`+leader.DeschedulersLabel+`":"`+label+`"},`, 1)
		lease := respondText(200, "application/json", text)
		s := newApprovalServer(t)
		dir := t.TempDir()
		saved := filepath.Join(dir, "plan.yaml")
		must.Succeed(t, os.WriteFile(saved, []byte(somePlan), 0o600))
		for _, args := range [][]string{{"approve", waitingPlan}, {"trigger", "zones", "--wait", "10ms"}, {"apply", saved, "--config", "builtin", "--wait", "10ms"}, {"resume"}} {
			paths := s.paths()
			paths[leases+"/evenkeel"] = lease
			paths[requestsPath] = new(requestServer).handle
			if args[0] == "resume" {
				paused := &pauseServer{m: &v1alpha1.Rebalancer{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: objects.ReleaseName}, Spec: v1alpha1.RebalancerSpec{Pause: &v1alpha1.Pause{By: "alice"}}}}
				paths[rebalancersPath], paths[rebalancerPath] = paused.handle, paused.handle
			}
			r := badInput{server: &serverFault{paths: paths}}
			home := r.prepare(t)
			r.serve(t, home)
			got := invoke(t, connectTimeout, append(args, "--kubeconfig", home+"/kubeconfig.yaml", "--lease-namespace", "default"), "")
			if n := strings.Count(got.stderr, "another descheduler"); want != "" && !strings.Contains(got.stderr, want) || want == "" && n > 0 {
				t.Errorf("%s, label %s: %q, want %q", args[0], label, got.stderr, want)
			}
		}
	}
}
