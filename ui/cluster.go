package ui

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/observe"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/answers"
)

// maxClusterRows bounds the nodes, and the workloads, that are listed.
const maxClusterRows = 100

// clusterPage shows nodes, workloads and zones as they are now.
type clusterPage struct {
	State, Headline string
	Source          string // of the figures, with their age
	ByUse           bool
	Zones           []zoneRow
	Nodes           []nodeRow
	NodesLeft       int
	ZoneNames       []string
	Workloads       []workloadRow
	WorkloadsLeft   int
	NoNodes         string // why the nodes are left out
	NoWorkloads     string
	PodsKnown       bool // all of them, so that sums of nodes and zones are true
	Plans           bool // a plan can be made now
	Plan            *planSummary
}

type zoneRow struct {
	Name, CPU, Memory, Pods string
	Nodes                   int
}

type nodeRow struct {
	Name, Zone, CPU, Memory string
	CPUWidth, MemoryWidth   string
	Pods                    string
}

type workloadRow struct {
	Namespace, Kind, Name string
	Cells                 []cell
	Category              string
	OnePod                bool
	Nodes                 int
}

type cell struct {
	Pods  int
	Class string
}

func (s *Server) showCluster(w http.ResponseWriter, r *http.Request) error {
	q := s.begin(r, "cluster", "cluster")
	c := &clusterPage{State: "Cluster", Plan: s.lastPlan(q), Plans: q.Token != "", ByUse: q.URL.Query().Get("by") == "use"}
	switch {
	case q.NotLive != "":
		c.State, c.Headline = "Unknown", "The API server does not answer, so the cluster is unknown."
	case q.client == nil:
		c.State = "Evenkeel is not installed here"
	}
	if q.NotLive == "" {
		s.readCluster(q, c)
	}
	q.Title = c.Headline
	return s.write(w, q, http.StatusOK, c)
}

// readCluster reads what the person may see.
func (s *Server) readCluster(q *request, c *clusterPage) {
	ctx := q.Context()
	nodes, noNodes := listNodes(ctx, s.Client)
	if noNodes != nil {
		c.NoNodes = s.lackOf(right{"list", "", "nodes", ""}, noNodes)
	}
	namespace := ""
	workloads, err := addPods(ctx, s.Client, "", nodes)
	c.PodsKnown = err == nil
	if lack := explain(right{"list", "", "pods", ""}, err); lack != "" && s.Options.Namespace != "" {
		q.page.Missing = append(q.page.Missing, missing{"Workloads of other namespaces than " + s.Options.Namespace + ", and what the nodes have", lack})
		namespace = s.Options.Namespace
		workloads, err = addPods(ctx, s.Client, namespace, nodes)
	}
	if err != nil {
		c.NoWorkloads = s.lackOf(right{"list", "", "pods", namespace}, err)
	}
	c.Headline = c.headlineOf(nodes, workloads, namespace)
	if apierrors.IsForbidden(noNodes) && apierrors.IsForbidden(err) {
		c.Headline = "You may see neither nodes nor pods."
	}
	if nodes != nil {
		s.addUse(q, c, nodes)
	}
	c.addNodes(nodes)
	c.addWorkloads(nodes, workloads)
}

// lackOf says why something is left out.
func (s *Server) lackOf(r right, err error) string {
	switch lack := explain(r, err); {
	case lack != "":
		return "Missing: " + lack + "."
	case errors.Is(err, errTooMany):
		return fmt.Sprintf("There are more than this page reads (%d nodes, %d pods). A plan made now shows all of them.", maxNodes, maxPods)
	default:
		return observe.PlainError(err).Error() + "."
	}
}

func (c *clusterPage) headlineOf(nodes map[string]*nodeUse, workloads []*workloadUse, namespace string) string {
	var parts []string
	if c.NoNodes == "" {
		parts = append(parts, plural.Count(len(nodes), "node"))
	}
	pods := 0
	for _, w := range workloads {
		pods += w.pods
	}
	if c.NoWorkloads == "" {
		parts = append(parts, plural.Count(len(workloads), "workload"), plural.Count(pods, "running pod"))
	}
	if len(parts) == 0 {
		return "Nodes and pods are unknown."
	}
	where := "."
	if namespace != "" && c.NoWorkloads == "" {
		where = " in namespace " + namespace + "."
	}
	return answers.Join(parts) + where
}

// addUse adds the measured use, and says where the figures come from.
func (s *Server) addUse(q *request, c *clusterPage, nodes map[string]*nodeUse) {
	c.Source = "Shares of allocatable that pods request, as the API server says now."
	if !c.PodsKnown {
		c.Source = "Requests are left out, because not all pods are known."
	}
	if !c.ByUse {
		return
	}
	c.ByUse = false
	measured, err := s.NodeUsage(q.Context())
	if err != nil || len(measured) == 0 {
		why := "metrics.k8s.io has no figures"
		if apierrors.IsNotFound(err) {
			why = "this cluster does not serve metrics.k8s.io"
		} else if err != nil {
			why = cmp.Or(explain(right{"list", "metrics.k8s.io", "nodes", ""}, err), observe.PlainError(err).Error())
		}
		c.Source = "Use is unknown (" + why + "). " + c.Source
		return
	}
	oldest, known := q.now, 0
	for _, u := range measured {
		if n := nodes[u.Name]; n != nil {
			n.usedCPU, n.used, n.measured = u.MilliCPU, u.MemoryBytes, true
			if known++; u.At.Before(oldest) {
				oldest = u.At
			}
		}
	}
	c.ByUse = known > 0
	c.Source = fmt.Sprintf("Measured use of %d of %s, from metrics.k8s.io, at most %s old.", known, plural.Count(len(nodes), "node"), span(q.now.Sub(oldest).Round(time.Second)))
}

// share returns the share of the node that the page shows, and false if it is unknown.
func (c *clusterPage) share(n *nodeUse) (cpu, memory float64, known bool) {
	x, y := n.requestedCPU, n.requested
	if c.ByUse {
		x, y = n.usedCPU, n.used
	}
	if c.ByUse && !n.measured || !c.ByUse && !c.PodsKnown || n.milliCPU == 0 || n.memory == 0 {
		return 0, 0, false
	}
	return float64(x) / float64(n.milliCPU), float64(y) / float64(n.memory), true
}

// pods writes a sum of pods.
func (c *clusterPage) pods(n int) string {
	if !c.PodsKnown {
		return "unknown"
	}
	return strconv.Itoa(n)
}

func (c *clusterPage) addNodes(nodes map[string]*nodeUse) {
	all := slices.Collect(maps.Values(nodes))
	fullest := func(n *nodeUse) float64 { cpu, memory, _ := c.share(n); return max(cpu, memory) }
	slices.SortFunc(all, func(a, b *nodeUse) int {
		return cmp.Or(cmp.Compare(fullest(b), fullest(a)), strings.Compare(a.name, b.name))
	})
	type sum struct {
		nodes, pods, known int
		cpu, memory        float64
	}
	zones := map[string]*sum{}
	for _, n := range all {
		cpu, memory, known := c.share(n)
		z := zones[n.zone]
		if z == nil {
			z = &sum{}
			zones[n.zone] = z
		}
		if z.nodes, z.pods = z.nodes+1, z.pods+n.pods; known {
			z.known, z.cpu, z.memory = z.known+1, z.cpu+cpu, z.memory+memory
		}
		if len(c.Nodes) == maxClusterRows {
			c.NodesLeft++
			continue
		}
		row := nodeRow{Name: n.name, Zone: cmp.Or(n.zone, "none"), Pods: c.pods(n.pods), CPU: "unknown", Memory: "unknown"}
		if known {
			row.CPU, row.Memory = wholePercent(cpu), wholePercent(memory)
			row.CPUWidth, row.MemoryWidth = wholePercent(min(cpu, 1)), wholePercent(min(memory, 1))
		}
		c.Nodes = append(c.Nodes, row)
	}
	for _, name := range slices.Sorted(maps.Keys(zones)) {
		z := zones[name]
		row := zoneRow{Name: cmp.Or(name, "none"), Nodes: z.nodes, Pods: c.pods(z.pods), CPU: "unknown", Memory: "unknown"}
		if z.known > 0 {
			row.CPU, row.Memory = wholePercent(z.cpu/float64(z.known)), wholePercent(z.memory/float64(z.known))
		}
		c.Zones = append(c.Zones, row)
		if name != "" {
			c.ZoneNames = append(c.ZoneNames, name)
		}
	}
}

func wholePercent(frac float64) string { return fmt.Sprintf("%.0f%%", frac*100) }

func (c *clusterPage) addWorkloads(nodes map[string]*nodeUse, workloads []*workloadUse) {
	for _, w := range workloads {
		if len(c.Workloads) == maxClusterRows {
			c.WorkloadsLeft = len(workloads) - maxClusterRows
			return
		}
		row := workloadRow{Namespace: w.namespace, Kind: w.kind, Name: w.name, Nodes: len(w.nodes)}
		if nodes != nil && len(c.ZoneNames) > 0 {
			row.Category, row.OnePod = categoryKey(w.pods, w.worst), w.pods == 1
			for _, zone := range c.ZoneNames {
				n := w.zones[zone]
				x := cell{Pods: n}
				if n > 0 {
					x.Class = "c" + categoryKey(w.pods, n)
				}
				row.Cells = append(row.Cells, x)
			}
		} else {
			row.Cells = []cell{{Pods: w.pods}}
		}
		c.Workloads = append(c.Workloads, row)
	}
}

// categoryKey returns the failure category. Without measured use, 3 and 4 are one.
func categoryKey(pods, lost int) string {
	if category, certain := plan.FailureCategory(pods, lost); certain {
		return strconv.Itoa(category)
	}
	return "34"
}
