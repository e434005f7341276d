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

// dryRuns measures all dry runs of a size that are still wanted, on one control
// plane, which they leave as it is.
func dryRuns(ctx context.Context, s comparison, stderr *os.File) error {
	cells, err := s.openCells(dry)
	if err != nil || len(cells) == 0 {
		return err
	}
	users := make([]controlplane.User, len(cells))
	for i, c := range cells {
		users[i] = newUser(c)
	}
	c, err := controlplane.Start(ctx, controlplane.Options{WithoutKwok: true, Etcd: filepath.Join(s.work, "etcd"),
		ControllerManagerFlags: managerFlags["tuned"], Users: users, AuditPolicy: auditPolicy(users), Progress: stderr})
	if err != nil {
		return err
	}
	defer c.Stop()
	if err := settled(ctx, c, s.settings, patience); err != nil {
		return fmt.Errorf("waiting until the Deployments are content: %w", err)
	}
	for i, cell := range cells {
		if err := dryRun(ctx, s, c, &cell, users[i], stderr); err != nil {
			return err
		}
	}
	return nil
}

// openCells are those of a phase and the size at hand that are still wanted.
func (s comparison) openCells(phase string) ([]Cell, error) {
	all, err := plannedCells(s)
	var out []Cell
	for _, c := range all {
		if c.Phase != phase || c.Nodes != s.nodes || c.Pods != s.pods {
			continue
		}
		ok, broken := wanted(s, c)
		err = errors.Join(err, broken)
		if ok {
			out = append(out, c)
		}
	}
	return out, err
}

// newUser is whom a run acts as: the audit log tells whose a request was.
func newUser(c Cell) controlplane.User {
	return controlplane.User{Token: rand.Text(), Name: strings.TrimSuffix(c.file(), ".json"), Group: "system:masters"}
}

// auditPolicy notes every request of the users, and every eviction.
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

// kubeconfig lets a program act as the user.
func kubeconfig(s comparison, c *controlplane.Cluster, u controlplane.User) (string, error) {
	k := clientcmdapi.NewConfig()
	k.Clusters["lab"] = &clientcmdapi.Cluster{Server: c.Config.Host, CertificateAuthorityData: c.Config.CAData}
	k.AuthInfos["lab"] = &clientcmdapi.AuthInfo{Token: u.Token}
	k.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "lab"}
	k.CurrentContext = "lab"
	path := filepath.Join(s.work, "kubeconfig")
	return path, clientcmd.WriteToFile(*k, path)
}

// dryRun measures one cell. That the program fails is a result; that the lab does
// is an error.
func dryRun(ctx context.Context, s comparison, c *controlplane.Cluster, cell *Cell, u controlplane.User, stderr *os.File) error {
	t, err := targetNamed(cell.Target)
	if err != nil {
		return err
	}
	p, err := contenderNamed(cell.Program)
	if err != nil {
		return err
	}
	o := s.order(dry, p, t)
	config, err := o.write(s.work)
	if err != nil {
		return err
	}
	kube, err := kubeconfig(s, c, u)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "bench:", strings.Join(cell.step(), " "))
	cell.LoadBefore = loadAverage()
	if p.Peer {
		err = peerDry(ctx, s, cell, config, kube)
	} else {
		err = evenkeelDry(ctx, s, cell, p, config, kube)
	}
	cell.LoadAfter = loadAverage()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		cell.Error = err.Error()
		fmt.Fprintln(stderr, "bench:", err)
	}
	events, err := c.Audit()
	if err != nil {
		return err
	}
	if n := len(accepted(events)); n > 0 {
		return fmt.Errorf("a dry run has evicted %d pods", n)
	}
	cell.Requests = requests(events, u.Name)
	return cell.store(s.work)
}

// requests counts those of a user; a watch has several entries in the log.
func requests(events []auditv1.Event, user string) int {
	seen := map[string]bool{}
	for _, e := range events {
		if e.User.Username == user {
			seen[string(e.AuditID)] = true
		}
	}
	return len(seen)
}

// outcome is what of the outcome of a move is looked at here.
type outcome struct {
	Outcome           string
	Reason            struct{ Code string }
	LandedAsPredicted bool
}

// tally counts outcomes by kind and reason.
func tally(all []outcome) (by map[string]int, landedAsPredicted int) {
	by = map[string]int{}
	for _, o := range all {
		by[o.Outcome+"/"+o.Reason.Code]++
		if o.LandedAsPredicted {
			landedAsPredicted++
		}
	}
	return by, landedAsPredicted
}

// told is what of a plan is looked at here.
type told struct {
	Moves []struct {
		Pod      struct{ Namespace, Name string }
		Wave     int
		Strategy string
	}
	Goals []struct {
		ID, Kind string
		Subject  struct{ Name string }
	}
	Bound struct {
		MinEvictions   int
		ResidualByGoal map[string]float64
	}
	After struct {
		Nodes []struct {
			Name, Zone string
			Requested  map[string]float64
		}
		Workloads []struct{ Zones map[string]int }
	}
	Outcomes []outcome `json:"-"` // of the report that holds the plan
}

func evenkeelDry(ctx context.Context, s comparison, cell *Cell, p contender, config, kube string) error {
	args := []string{"plan", "-v", "-o", "json", "--config", config, "--kubeconfig", kube}
	if p.Dry == "run" {
		args = []string{"run", "--once", "-o", "json", "--lease-namespace", nsName(0), "--config", config, "--kubeconfig", kube}
	}
	out, u, err := child{path: s.evenkeel, args: args, log: filepath.Join(s.work, p.Name+".log"), limit: s.limit,
		onLine: func(_ *running, line string) { cell.planned(line) }}.run(ctx)
	cell.used = u
	if err != nil {
		return err
	}
	var report struct {
		told              // of `plan`
		Plan              told
		Started, Finished time.Time
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return fmt.Errorf("reading what %s printed: %w", p.Name, err)
	}
	plan := report.told
	if p.Dry == "run" {
		plan = report.Plan
		cell.CycleSeconds = report.Finished.Sub(report.Started).Seconds()
	}
	cell.Evictions, cell.MinEvictions, cell.ByStrategy = len(plan.Moves), plan.Bound.MinEvictions, map[string]int{}
	for _, m := range plan.Moves {
		cell.ByStrategy[m.Strategy]++
	}
	if cell.PlannerSeconds == 0 {
		return errors.New("evenkeel does not say how long planning took")
	}
	return nil
}

// planned reads the log line of a plan that was made.
func (c *Cell) planned(line string) {
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
