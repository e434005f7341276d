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
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/evenkeel-project/evenkeel/lab/controlplane"
)

// measureDryRuns measures all outstanding dry runs of one cluster size on a shared control plane, because dry runs do
// not change the cluster.
func measureDryRuns(ctx context.Context, s comparison, stderr *os.File) error {
	measurements, err := s.outstandingMeasurements(dryPhase)
	if err != nil || len(measurements) == 0 {
		return err
	}
	users := make([]controlplane.User, len(measurements))
	for i, c := range measurements {
		users[i] = newUser(c)
	}
	c, err := controlplane.Start(ctx, controlplane.Options{WithoutKwok: true, Etcd: filepath.Join(s.work, "etcd"),
		ControllerManagerFlags: managerFlags["tuned"], Users: users, AuditPolicy: auditPolicy(users), Progress: stderr})
	if err != nil {
		return err
	}
	defer c.Stop()
	if err := waitForDeployments(ctx, c, s.settings, startTimeout); err != nil {
		return fmt.Errorf("waiting until all Deployments have their pods: %w", err)
	}
	for i, measurement := range measurements {
		if err := measureDryRun(ctx, s, c, &measurement, users[i], stderr); err != nil {
			return err
		}
	}
	return nil
}

// outstandingMeasurements returns the outstanding measurements of a phase for the current cluster size.
func (s comparison) outstandingMeasurements(phase string) ([]Measurement, error) {
	all, err := plannedMeasurements(s)
	var out []Measurement
	for _, c := range all {
		if c.Phase != phase || c.Nodes != s.nodes || c.Pods != s.pods {
			continue
		}
		ok, broken := mustMeasure(s, c)
		err = errors.Join(err, broken)
		if ok {
			out = append(out, c)
		}
	}
	return out, err
}

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

// kubeconfig writes a kubeconfig for the user.
func kubeconfig(s comparison, c *controlplane.Cluster, u controlplane.User) (string, error) {
	k := clientcmdapi.NewConfig()
	k.Clusters["lab"] = &clientcmdapi.Cluster{Server: c.Config.Host, CertificateAuthorityData: c.Config.CAData}
	k.AuthInfos["lab"] = &clientcmdapi.AuthInfo{Token: u.Token}
	k.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "lab"}
	k.CurrentContext = "lab"
	path := filepath.Join(s.work, "kubeconfig")
	return path, clientcmd.WriteToFile(*k, path)
}

// measureDryRun measures one measurement. A failure of the program is stored as a result; a failure of the lab is returned as an
// error.
func measureDryRun(ctx context.Context, s comparison, c *controlplane.Cluster, measurement *Measurement,
	u controlplane.User, stderr *os.File) error {
	t, err := findTarget(measurement.Target)
	if err != nil {
		return err
	}
	p, err := findContender(measurement.Program)
	if err != nil {
		return err
	}
	o := s.programConfig(dryPhase, p, t)
	config, err := o.write(s.work)
	if err != nil {
		return err
	}
	kube, err := kubeconfig(s, c, u)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "bench:", strings.Join(measurement.stepArgs(), " "))
	measurement.LoadBefore = loadAverage()
	if p.Peer {
		err = measureDeschedulerDryRun(ctx, s, measurement, config, kube)
	} else {
		err = measureEvenkeelDryRun(ctx, s, measurement, p, config, kube)
	}
	measurement.LoadAfter = loadAverage()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		measurement.Error = err.Error()
		fmt.Fprintln(stderr, "bench:", err)
	}
	events, err := c.Audit()
	if err != nil {
		return err
	}
	if n := len(acceptedEvictions(events)); n > 0 {
		return fmt.Errorf("a dry run evicted %d pods", n)
	}
	measurement.Requests = countRequests(events, u.Name)
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

func measureEvenkeelDryRun(ctx context.Context, s comparison, measurement *Measurement, p contender, config, kube string) error {
	args := []string{"plan", "-v", "-o", "json", "--config", config, "--kubeconfig", kube}
	if p.Dry == "run" {
		args = []string{"run", "--once", "-o", "json", "--lease-namespace", namespaceName(0),
			"--config", config, "--kubeconfig", kube}
	}
	out, u, err := program{path: s.evenkeel, args: args, log: filepath.Join(s.work, p.Name+".log"), limit: s.limit,
		onLine: func(_ *runningProgram, line string) { measurement.parsePlannedLine(line) }}.run(ctx)
	measurement.resourceUse = u
	if err != nil {
		return err
	}
	var report struct {
		planOutput        // output of `plan`
		Plan              planOutput
		Started, Finished time.Time
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return fmt.Errorf("parsing the output of %s: %w", p.Name, err)
	}
	plan := report.planOutput
	if p.Dry == "run" {
		plan = report.Plan
		measurement.CycleSeconds = report.Finished.Sub(report.Started).Seconds()
	}
	measurement.Evictions, measurement.MinEvictions, measurement.ByStrategy = len(plan.Moves), plan.Bound.MinEvictions, map[string]int{}
	for _, m := range plan.Moves {
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
