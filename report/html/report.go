package html

import (
	"io"
	"strings"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/answers"
	"github.com/evenkeel-project/evenkeel/report/view"
)

// Report is a plan or a run, section by section. Each section has a template of the name in its ID.
type Report struct {
	First   answers.First
	Numbers Numbers
	Zones   Zones
	Nodes   Nodes
	// Extra are sections of the caller. They come first.
	Extra []Section
	// Moves are those of the plan, of a second plan, and of the proposals.
	Moves  []Moves
	Undone Undone
	Inputs Section
	Config Section

	view      *view.View
	plan      *plan.Plan
	shown     *plan.Plan // whose moves change nodes and workloads: the plan, or a proposal if only that has moves
	proposed  bool       // shown is a proposal
	effect    string     // says what "after" means if it is not the state after the plan
	omitted   view.Omitted
	zones     []string // "" for nodes without a zone, the last
	zoneOf    map[string]string
	nodes     *nodeSet
	workloads []pair
	outcomes  map[int]*plan.Outcome // by step; nil without a live run
}

type target = view.Target

// Section is a heading with tables and details.
type Section struct {
	ID, Title string
	Lead      answers.Text
	Tables    []Table
	Notes     []answers.Text
	Details   []Details
	Config    string // the configuration
	Hash      string // of the configuration
}

// New makes a report of a view with the answers of its first screen.
func New(v *view.View, first answers.First) *Report {
	r := &Report{First: first, view: v, plan: &v.Plan, omitted: v.LeftOut()}
	if v.Run != nil && v.Run.Mode == plan.Live { // a dry run has no outcomes, although its report lists the moves
		r.outcomes = make(map[int]*plan.Outcome, len(v.Run.Outcomes))
		for i := range v.Run.Outcomes {
			r.outcomes[v.Run.Outcomes[i].Step] = &v.Run.Outcomes[i]
		}
	}
	r.setShown()
	r.nodes = &nodeSet{view: v, shown: r.shown, omitted: r.omitted.Nodes, effect: r.effect, all: nodePairs(r.shown)}
	r.zones, r.workloads, r.zoneOf = r.zoneNames(), r.pairs(), make(map[string]string, len(r.nodes.all))
	for _, n := range r.nodes.all {
		r.zoneOf[n.now.Name] = n.now.Zone
	}
	r.nodes.zones = r.zones
	r.nodes.setMeasures()
	r.Numbers, r.Zones, r.Nodes = r.makeNumbers(), r.makeZones(), r.makeNodes()
	r.Moves, r.Undone, r.Inputs, r.Config = r.makeMoves(), r.makeUndone(), r.makeInputs(), r.makeConfig()
	return r
}

// leavesOut says what the report lacks, and what a stored plan keeps.
func (r *Report) leavesOut(what, keeps string) string {
	if r.plan.Filtered != nil {
		return "The filter leaves out " + what + "."
	}
	return strings.TrimSpace("The stored plan leaves out " + what + ". " + keeps)
}

// setShown chooses the plan whose effect the page shows.
func (r *Report) setShown() {
	r.shown = r.plan
	if r.outcomes != nil {
		r.effect = "After is what the plan predicted. "
	}
	for _, of := range r.lists()[1:] {
		if len(r.shown.Moves) == 0 && of.id != "replan" && len(of.plan.Before.Nodes) > 0 {
			r.shown, r.proposed = of.plan, true
			r.effect = "After is the state after the " + strings.ToLower(of.title[:1]) + of.title[1:] + ". "
		}
	}
}

// Sections lists the sections in their order, for links to them.
func (r *Report) Sections() []link {
	out := []link{{"main", "Answers"}}
	for _, s := range r.Extra {
		out = append(out, link{s.ID, s.Title})
	}
	out = append(out, link{r.Zones.ID, r.Zones.Title}, link{r.Nodes.ID, r.Nodes.Title})
	for _, m := range r.Moves {
		out = append(out, link{m.ID, m.Title})
	}
	return append(out, link{r.Undone.ID, r.Undone.Title}, link{r.Inputs.ID, r.Inputs.Title}, link{r.Config.ID, "Configuration"})
}

// Write writes a plan or a run as one HTML file. Extra sections come first.
func Write(w io.Writer, v *view.View, first answers.First, extra ...Section) error {
	r := New(v, first)
	r.Extra = extra
	p := page{Title: "Evenkeel: " + first.Headline.String(), Pill: r.pill(), Meta: r.meta(), Nav: r.Sections(), Report: r,
		Footer: text("Made by Evenkeel from plan ", code(v.Plan.ID), ", configuration ", code(v.Plan.ConfigHash), ". This file makes no network request.")}
	return p.write(w)
}

func (r *Report) pill() string {
	switch run := r.view.Run; {
	case run != nil && run.Mode == plan.Live && run.Finished.IsZero():
		return "Running"
	case run != nil && run.Mode == plan.Live:
		return "Run"
	case r.view.Name != "":
		return "Stored plan"
	case run == nil && r.view.Evicts:
		return "Plan" // a pass with this configuration evicts; this plan has not been executed
	}
	return "Dry run"
}

// shortID is the length of an ID in the line above the headline.
const shortID = 12

func (r *Report) meta() []answers.Text {
	p := r.plan
	of := "cluster of "
	if r.view.Snapshot {
		of = "snapshot of "
	}
	version := "Kubernetes (version unknown)"
	if v := p.Cluster.Version; v != "" {
		version = "Kubernetes " + v
	}
	var out []answers.Text
	switch {
	case r.view.Name != "":
		out = []answers.Text{text("plan ", name(r.view.Name))}
	case p.ID != "":
		out = []answers.Text{text("plan ", code(p.ID[:min(len(p.ID), shortID)]))}
	}
	out = append(out, text(of+moment(p.TakenAt)), text(version))
	if sizes := r.sizes(); sizes != "" {
		out = append(out, text(sizes))
	}
	switch run := r.view.Run; {
	case run != nil && run.Finished.IsZero():
		out = append(out, text("started "+moment(run.Started)))
	case run != nil:
		out = append(out, text("ended "+moment(run.Finished)))
	case !p.Expires.IsZero():
		out = append(out, text("valid until "+p.Expires.UTC().Format("15:04 UTC")))
	}
	return out
}

// sizes counts what the cluster has, as far as it is known.
func (r *Report) sizes() string {
	nodes, zones := len(r.nodes.all)+r.omitted.Nodes, len(r.zones)
	if nodes == 0 {
		return ""
	}
	if n := len(r.zones); n > 0 && r.zones[n-1] == "" {
		zones--
	}
	out := []string{count(nodes, "node"), count(zones, "zone")}
	if zones == 0 {
		out[1] = "no zone"
	}
	if r.view.Pods > 0 {
		out = append(out, count(r.view.Pods, "pod"))
	}
	return strings.Join(out, ", ")
}
