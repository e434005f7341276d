package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// newUser returns the API user of a run, so the audit log shows which run sent a request.
func newUser(c Measurement) controlplane.User {
	return controlplane.User{Token: rand.Text(), Name: strings.TrimSuffix(c.fileName(), ".json"), Group: "system:masters"}
}

// auditPolicy logs every request of the users and every eviction.
func auditPolicy(users []controlplane.User) []byte {
	var names []string
	for _, u := range users {
		names = append(names, u.Name)
	}
	return fmt.Appendf(nil, `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: [%s]
- level: Metadata
  resources: [{group: "", resources: [pods/eviction]}]
- level: None
`, strings.Join(names, ", "))
}

// measureDryRun makes and stores one dry run.
func measureDryRun(ctx context.Context, s comparison, c *controlplane.Cluster, measurement Measurement,
	users []controlplane.User, stderr *os.File) error {
	if err := waitForDeployments(ctx, c, s.settings, startTimeout); err != nil {
		return err
	}
	config, err := s.programConfig(dryPhase, measurement.contender, measurement.target).write(s.work)
	if err != nil {
		return err
	}
	kube, err := c.UserKubeconfig(users[0])
	if err != nil {
		return err
	}
	if err := measurement.record(ctx, stderr, func() error {
		if measurement.contender.Peer {
			return measureDeschedulerDryRun(ctx, s, &measurement, config, kube)
		}
		return measureEvenkeelDryRun(ctx, s, &measurement, config, kube)
	}); err != nil {
		return err
	}
	events, err := c.Audit()
	if err != nil {
		return err
	}
	if n := len(acceptedRequests(events, "eviction")); n > 0 {
		return fmt.Errorf("a dry run evicted %d pods", n)
	}
	measurement.Requests = countRequests(events, users[0].Name)
	return measurement.store(s.work)
}

// countRequests counts the requests of a user. A watch has several audit entries but counts once.
func countRequests(events []auditv1.Event, user string) int {
	seen := map[string]bool{}
	for _, e := range events {
		if e.User.Username == user {
			seen[string(e.AuditID)] = true
		}
	}
	return len(seen)
}

func measureEvenkeelDryRun(ctx context.Context, s comparison, measurement *Measurement, config, kube string) error {
	p := measurement.contender
	args := []string{"plan", "-v", "-o", "json", "--config", config, "--kubeconfig", kube}
	if p.Dry == "run" {
		args = []string{"run", "--once", "-o", "json", "--lease-namespace", leaseNamespace,
			"--config", config, "--kubeconfig", kube}
	}
	out, u, err := program{path: s.evenkeel, args: args, log: filepath.Join(s.work, p.Name+".log"), limit: s.limit,
		onLine: func(_ *runningProgram, line string) { measurement.parsePlannedLine(line) }}.run(ctx)
	measurement.resourceUse = u
	if err != nil {
		return err
	}
	var report testbed.Report
	if err := json.Unmarshal(out, &report); err != nil {
		return fmt.Errorf("parsing the output of %s: %w", p.Name, err)
	}
	measurement.Evictions, measurement.MinEvictions, measurement.ByStrategy = report.Spec.MoveCount, report.Spec.Minimum.Evictions, map[string]int{}
	for _, m := range report.Spec.Moves { // those that fit into an object
		measurement.ByStrategy[m.Strategy]++
	}
	if measurement.PlannerSeconds == 0 {
		return errors.New("the log of evenkeel does not contain the planning time")
	}
	return nil
}

// parsePlannedLine reads the log line that Evenkeel writes after planning.
func (c *Measurement) parsePlannedLine(line string) {
	if !strings.Contains(line, " msg=planned ") {
		return
	}
	took := map[string]float64{}
	for field := range strings.FieldsSeq(line) {
		key, value, _ := strings.Cut(field, "=")
		if d, err := time.ParseDuration(value); err == nil && slices.Contains([]string{"observing", "planning"}, key) {
			took[key] = d.Seconds()
		}
	}
	c.PlannerSeconds, c.CycleSeconds = took["planning"], took["observing"]+took["planning"]
}
