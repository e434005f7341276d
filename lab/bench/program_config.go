package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// balanceTarget is the balancing target of both programs. The configurations of both programs are
// generated from the target.
type balanceTarget struct {
	Name        string
	Description string
	// CPU and Memory are the fractions of allocatable above which a node is too full; 0 means no limit.
	CPU, Memory float64
	// With Deviation, CPU and Memory are distances above the mean of all nodes.
	Deviation bool
	// Underutilized is the fraction below which the descheduler considers a node underutilized;
	// with Deviation, its distance below the mean.
	Underutilized float64
	// shape is the shape of the clusters for which the target is meant.
	shape string
}

var targets = []balanceTarget{
	{Name: "a", Description: "pods request at most 55% of the CPU and memory of each node", CPU: 0.55, Memory: 0.55, Underutilized: 0.20},
	{Name: "b", Description: "the requested share of each node's CPU is at most 2 percentage points above the mean", CPU: 0.02, Deviation: true,
		Underutilized: 0.02},
	{Name: "c", Description: "pods request at most 65% of the CPU of each node (cluster `mixed`)", CPU: 0.65, Underutilized: 0.50,
		shape: mixedShape},
}

// threshold returns the fraction above which a node is too full.
func (t balanceTarget) threshold(mean, limit float64) float64 {
	if t.Deviation {
		return mean + limit
	}
	return limit
}

func (t balanceTarget) limitsByResource() map[string]float64 {
	out := map[string]float64{"cpu": t.CPU}
	if t.Memory > 0 {
		out["memory"] = t.Memory
	}
	return out
}

// contender is a program with the strategies that it uses.
type contender struct {
	Name string
	Peer bool
	// Strategies are the descheduler's strategies.
	Strategies []string
	// Dry is the subcommand for a dry run.
	Dry string
}

// The descheduler is measured with load balancing only, and with its strategies for both goals. Evenkeel always has
// both goals.
var (
	peerLoad = contender{Name: "peer-load", Peer: true, Strategies: []string{"LowNodeUtilization"}}
	peerAll  = contender{Name: "peer-all", Peer: true,
		Strategies: []string{"RemoveDuplicates", "RemovePodsViolatingTopologySpreadConstraint", "LowNodeUtilization"}}
	evenkeelPlan   = contender{Name: "evenkeel-plan", Dry: "plan"}
	evenkeelOnce   = contender{Name: "evenkeel-once", Dry: "run"}
	evenkeelRun    = contender{Name: "evenkeel"}
	evenkeelDryRun = contender{Name: "evenkeel-dry", Dry: "run"}

	dryContenders  = []contender{peerLoad, peerAll, evenkeelPlan, evenkeelOnce}
	realContenders = []contender{peerLoad, peerAll, evenkeelRun}
	// The list includes a dry run with the same limit as the runs that evict a few pods.
	liveContenders = []contender{peerLoad, peerAll, evenkeelDryRun, evenkeelRun}
)

// programConfig is the configuration of a program for one run.
type programConfig struct {
	contender
	balanceTarget
	DryRun       bool
	MaxEvictions int // maximum evictions; 0 means unlimited
}

var evenkeelText = template.Must(template.New("evenkeel").Parse(`apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
dryRun: {{.DryRun}}
guards: {minPodAge: 0s}   # the replacements are seconds old
strategies:
  zones:
    type: ZoneSpread
    schedule: "0 * * * *"
    args: {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, by: owner}
  load:
    order: 1
    type: NodeLoad
    schedule: "0 * * * *"
    args: { {{- if .Deviation}}deviation{{else}}target{{end}}: {cpu: {{.CPU}}{{if .Memory}}, memory: {{.Memory}}{{end -}} } }
limits:
  perPass: {{if .MaxEvictions}}{{.MaxEvictions}}{{else}}unlimited{{end}}
  perNode: unlimited
  perNamespace: unlimited
  perOwner: unlimited
  perZone: unlimited
  perHour: {owner: unlimited, namespace: unlimited, cluster: unlimited}
evictor: {perMinute: unlimited, inFlight: {total: 512, perNode: unlimited, perOwner: unlimited}}
`))

var peerText = template.Must(template.New("peer").Funcs(template.FuncMap{
	"percent": func(f float64) string { return fmt.Sprintf("%g", 100*f) },
	"list":    func(s []string) string { return strings.Join(s, ", ") },
}).Parse(`apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
{{- if .MaxEvictions}}
maxNoOfPodsToEvictTotal: {{.MaxEvictions}}
{{- end}}
profiles:
- name: bench
  pluginConfig:
  - name: DefaultEvictor
    args: {}
{{- range .Strategies}}
  - name: {{.}}
    {{- if eq . "LowNodeUtilization"}}
    args:
      useDeviationThresholds: {{$.Deviation}}
      thresholds: {cpu: {{percent $.Underutilized}}{{if $.Memory}}, memory: {{percent $.Underutilized}}{{end -}} }
      targetThresholds: {cpu: {{percent $.CPU}}{{if $.Memory}}, memory: {{percent $.Memory}}{{end -}} }
    {{- else}}
    args: {}
    {{- end}}
{{- end}}
  plugins:
    balance: {enabled: [{{list .Strategies}}]}
`))

// render returns the configuration file of the program.
func (o programConfig) render() string {
	var b bytes.Buffer
	t := evenkeelText
	if o.Peer {
		t = peerText
	}
	if err := t.Execute(&b, o); err != nil {
		panic(err) // the templates are constants
	}
	return b.String()
}

// write writes the configuration to a folder and returns its path.
func (o programConfig) write(folder string) (string, error) {
	path := filepath.Join(folder, fmt.Sprintf("%s-%s.yaml", o.contender.Name, o.balanceTarget.Name))
	return path, os.WriteFile(path, []byte(o.render()), 0o644)
}

// fingerprint returns a hash that identifies the configuration.
func (o programConfig) fingerprint() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(o.render())))[:12]
}
