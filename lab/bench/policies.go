package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// target is what both programs are asked for, as data: the texts of their
// configurations are made of it.
type target struct {
	Name  string
	Words string
	// CPU and Memory are shares of allocatable at which a node is full; 0: does not
	// matter.
	CPU, Memory float64
	// Deviation makes them distances from the mean of all nodes.
	Deviation bool
	// Light is the share below which the peer takes a node for a lightly loaded
	// one; with Deviation its distance below the mean.
	Light float64
}

var targets = []target{
	{Name: "a", Words: "no node above 0.55 of its CPU or memory", CPU: 0.55, Memory: 0.55, Light: 0.20},
	{Name: "b", Words: "no node further above the mean CPU share than 0.02", CPU: 0.02, Deviation: true, Light: 0.02},
}

func targetNamed(name string) (target, error) {
	for _, t := range targets {
		if t.Name == name {
			return t, nil
		}
	}
	return target{}, fmt.Errorf("there is no target %q", name)
}

// above is the share of CPU or memory above which a node is full.
func (t target) above(mean, limit float64) float64 {
	if t.Deviation {
		return mean + limit
	}
	return limit
}

func (t target) limits() map[string]float64 {
	out := map[string]float64{"cpu": t.CPU}
	if t.Memory > 0 {
		out["memory"] = t.Memory
	}
	return out
}

// contender is a program with the strategies it may use.
type contender struct {
	Name string
	Peer bool
	// Strategies are the peer's.
	Strategies []string
	// Dry is how it is called without evicting.
	Dry string
}

// The peer is measured with load balancing alone and with what it offers for
// both aims; Evenkeel always has both aims.
var (
	peerLoad       = contender{Name: "peer-load", Peer: true, Strategies: []string{"LowNodeUtilization"}}
	peerAll        = contender{Name: "peer-all", Peer: true, Strategies: []string{"RemoveDuplicates", "RemovePodsViolatingTopologySpreadConstraint", "LowNodeUtilization"}}
	evenkeelPlan   = contender{Name: "evenkeel-plan", Dry: "plan"}
	evenkeelOnce   = contender{Name: "evenkeel-once", Dry: "run"}
	evenkeelRun    = contender{Name: "evenkeel"}
	evenkeelDryRun = contender{Name: "evenkeel-dry", Dry: "run"}

	dryContenders  = []contender{peerLoad, peerAll, evenkeelPlan, evenkeelOnce}
	realContenders = []contender{peerLoad, peerAll, evenkeelRun}
	// A dry run with the same limit is measured beside those that evict a few.
	liveContenders = []contender{peerLoad, peerAll, evenkeelDryRun, evenkeelRun}
)

func contenderNamed(name string) (contender, error) {
	for _, c := range slices.Concat(dryContenders, liveContenders, realContenders) {
		if c.Name == name {
			return c, nil
		}
	}
	return contender{}, fmt.Errorf("there is no program %q", name)
}

// order is what a program is told.
type order struct {
	contender
	target
	DryRun bool
	AtMost int // evictions; 0: as many as it wants
}

var evenkeelText = template.Must(template.New("evenkeel").Parse(`apiVersion: evenkeel.io/v1alpha1
kind: RebalanceConfig
dryRun: {{.DryRun}}
guards: {minPodAge: 0s}   # the replacements are seconds old
strategies:
- name: zones
  type: ZoneSpread
  schedule: "0 * * * *"
  args: {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, by: owner}
- name: load
  type: NodeLoad
  schedule: "0 * * * *"
  args: { {{- if .Deviation}}deviation{{else}}target{{end}}: {cpu: {{.CPU}}{{if .Memory}}, memory: {{.Memory}}{{end -}} } }
limits:
  perPass: {{if .AtMost}}{{.AtMost}}{{else}}unlimited{{end}}
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
{{- if .AtMost}}
maxNoOfPodsToEvictTotal: {{.AtMost}}
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
      thresholds: {cpu: {{percent $.Light}}{{if $.Memory}}, memory: {{percent $.Light}}{{end -}} }
      targetThresholds: {cpu: {{percent $.CPU}}{{if $.Memory}}, memory: {{percent $.Memory}}{{end -}} }
    {{- else}}
    args: {}
    {{- end}}
{{- end}}
  plugins:
    balance: {enabled: [{{list .Strategies}}]}
`))

// text is the configuration that the program gets.
func (o order) text() string {
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

// write puts the configuration into a folder and returns its path.
func (o order) write(folder string) (string, error) {
	path := filepath.Join(folder, fmt.Sprintf("%s-%s.yaml", o.contender.Name, o.target.Name))
	return path, os.WriteFile(path, []byte(o.text()), 0o644)
}

// mark tells whether a configuration is the same.
func (o order) mark() string { return fmt.Sprintf("%x", sha256.Sum256([]byte(o.text())))[:12] }
