package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// managerFlags are flags of the controller-manager. The lab's own flags allow 1000 requests per second; the
// Kubernetes defaults are 20 requests per second and 5 concurrent syncs.
var managerFlags = map[string][]string{
	"default": {"--kube-api-qps=20", "--kube-api-burst=30"},
	"tuned": {"--kube-api-qps=1000", "--kube-api-burst=1000",
		"--concurrent-replicaset-syncs=50", "--concurrent-deployment-syncs=50",
		"--concurrent-serviceaccount-token-syncs=10"},
}

// measureRates runs one program on the cluster and stores the eviction rates from the audit log.
func measureRates(ctx context.Context, s settings, program, manager string, stderr *os.File) error {
	flags, ok := managerFlags[manager]
	if !ok {
		return fmt.Errorf("unknown controller-manager settings %q", manager)
	}
	c, err := controlplane.Start(ctx, controlplane.Options{Evenkeel: s.evenkeel, Kwok: s.kwok, Etcd: filepath.Join(s.work, "etcd"),
		ControllerManagerFlags: flags, Progress: stderr})
	if err != nil {
		return err
	}
	defer c.Stop()
	if err := waitForDeployments(ctx, c, s, startTimeout); err != nil {
		return err
	}
	p := runEvenkeel
	if program == "peer" {
		p = runDescheduler
	}
	r := Result{Program: program, ControllerManager: manager, LoadBefore: loadAverage()}
	begun := time.Now()
	moves, err := p(ctx, s, c)
	r.Seconds, r.LoadAfter = time.Since(begun).Seconds(), loadAverage()
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil {
		r.Error = err.Error()
	}
	events, err := c.Audit()
	if err != nil {
		return err
	}
	evicted := acceptedRequests(events, "eviction")
	r.computeRates(evicted, boundAfter(events, evicted), moves)
	if r.Evictions == 0 {
		return fmt.Errorf("%s evicted nothing: %s", program, r.Error)
	}
	return writeJSON(s.resultPath(program+"/"+manager), r)
}

// boundAfter returns the bindings since the first eviction: those of the replacements.
func boundAfter(events []auditv1.Event, evicted []accepted) []accepted {
	return slices.DeleteFunc(acceptedRequests(events, "binding"), func(b accepted) bool {
		return len(evicted) == 0 || b.answered.Before(first(evicted))
	})
}

// startTimeout limits the time in which a new control plane processes the objects that it starts with.
const startTimeout = 10 * time.Minute

// waitForDeployments waits until all Deployments have exactly their pods, all Ready except those that were not Ready in
// a snapshot.
func waitForDeployments(ctx context.Context, c *controlplane.Cluster, s settings, patience time.Duration) error {
	start, err := s.readSeeded()
	if err != nil {
		return err
	}
	err = seed.WaitUntil(ctx, patience, func() (bool, error) {
		list, err := c.Client.AppsV1().Deployments("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, d := range list.Items {
			missing := *d.Spec.Replicas - d.Status.ReadyReplicas
			if d.Status.ObservedGeneration < d.Generation || d.Status.Replicas != *d.Spec.Replicas || int(missing) > start.Unready {
				return false, fmt.Errorf("%s/%s has %d of %d pods Ready", d.Namespace, d.Name, d.Status.ReadyReplicas, *d.Spec.Replicas)
			}
		}
		pods, err := c.Client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		if len(pods.Items) != start.Pods {
			return false, fmt.Errorf("the cluster has %d pods, want %d", len(pods.Items), start.Pods)
		}
		unready := 0
		for _, p := range pods.Items {
			if p.Status.Phase != corev1.PodRunning {
				unready++
			}
		}
		if unready > start.Unready {
			return false, fmt.Errorf("%d pods are not Running", unready)
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until all Deployments have their pods: %w", err)
	}
	return nil
}

const evenkeelConfig = `apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
dryRun: false
guards: {minPodAge: 0s}   # the replacements are seconds old
strategies:
  hot: {type: NodeLoad, schedule: "0 * * * *", args: {target: {cpu: 0.5, memory: 0.5}}}
limits: {perPass: %s, perNode: unlimited, perNamespace: unlimited, perOwner: unlimited, perZone: unlimited,
  perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}}
evictor: {perMinute: unlimited, inFlight: {total: 512, perNode: unlimited, perOwner: unlimited}}
`

// runEvenkeel makes one pass. The result maps each pod to its wave.
func runEvenkeel(ctx context.Context, s settings, c *controlplane.Cluster) (map[string]int, error) {
	config := filepath.Join(s.work, "evenkeel.yaml")
	perPass := "unlimited"
	if s.maxEvictions > 0 {
		perPass = fmt.Sprint(s.maxEvictions)
	}
	if err := os.WriteFile(config, fmt.Appendf(nil, evenkeelConfig, perPass), 0o644); err != nil {
		return nil, err
	}
	log := filepath.Join(s.work, "evenkeel.log")
	_, _, err := program{path: s.evenkeel, log: log, limit: s.limit,
		args: append([]string{"run", "--once", "--lease-namespace", leaseNamespace,
			"--bind-address", "127.0.0.1:0", "--kubeconfig", c.Kubeconfig, "--config", config}, testbed.ReportFlags...)}.run(ctx)
	waves := map[string]int{}
	report, broken := readReport(log)
	for _, m := range report.Spec.Moves {
		waves[m.Pod.Namespace+"/"+m.Pod.Name] = m.Wave
	}
	return waves, errors.Join(err, broken)
}

const peerPolicy = `apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
%sprofiles:
- name: balance
  pluginConfig:
  - name: LowNodeUtilization
    args:
      thresholds: {cpu: 20, memory: 20, pods: 20}
      targetThresholds: {cpu: 50, memory: 50, pods: 50}
  - name: DefaultEvictor
    args: {}
  plugins:
    balance: {enabled: [LowNodeUtilization]}
`

// runDescheduler makes one round with the descheduler, which has no waves.
func runDescheduler(ctx context.Context, s settings, c *controlplane.Cluster) (map[string]int, error) {
	policy, limit := filepath.Join(s.work, "policy.yaml"), ""
	if s.maxEvictions > 0 {
		limit = fmt.Sprintf("maxNoOfPodsToEvictTotal: %d\n", s.maxEvictions)
	}
	if err := os.WriteFile(policy, fmt.Appendf(nil, peerPolicy, limit), 0o644); err != nil {
		return nil, err
	}
	args, err := s.peerArgs(policy, c.Kubeconfig, "--descheduling-interval", "0")
	if err != nil {
		return nil, err
	}
	_, _, err = program{path: s.peer, args: args, log: filepath.Join(s.work, "peer.log"), limit: s.limit}.run(ctx)
	return nil, err
}
