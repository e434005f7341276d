package html

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report/answers"
)

const (
	// maxListed is the number of workloads up to which the section lists all of them.
	maxListed = 20
	// maxOpen is the number of rows of a list that are open, and maxClosed that of rows that a reader can open.
	maxOpen, maxClosed = 12, 500
)

// Zones is the section about zone failures: a matrix of workloads and zones.
type Zones struct {
	ID, Title  string
	Lead       answers.Text
	Categories []string // of the legend; empty without a matrix
	Tables     []Matrix
	Notes      []answers.Text
}

// Matrix shows the pods of workloads by zone, now and after the plan.
type Matrix struct {
	Caption string
	Summary string // of the details that contain the matrix; empty for an open one
	Zones   []string
	Rows    []MatrixRow
}

// MatrixRow is one workload.
type MatrixRow struct {
	Kind, Name         string
	Now, After         []MatrixCell
	CatNow, CatAfter   string
	Changed, SinglePod bool
}

// MatrixCell is the number of pods in a zone, with the category of what the workload loses if that zone fails.
type MatrixCell struct {
	Pods     int
	Category string // 0 without pods
	Changed  bool
}

// noZone is the heading of nodes without a zone.
const noZone = "no zone"

func zoneLabel(zone string) string { return cmp.Or(zone, noZone) }

func totalPods(w *plan.WorkloadState) (n int) {
	for _, pods := range w.Zones {
		n += pods
	}
	return n
}

// lossOf returns the category of what a workload loses if a zone fails.
func lossOf(w *plan.WorkloadState, zone string) string {
	total, lost := totalPods(w), w.Zones[zone]
	switch {
	case lost == 0:
		return "0"
	case lost == total:
		return "1"
	case 2*lost > total:
		return "2"
	case !w.CategoryCertain || w.FailureCategory < 3:
		return "34"
	}
	return fmt.Sprint(w.FailureCategory)
}

// pair is a workload now and after the plan.
type pair struct{ now, after *plan.WorkloadState }

func (p pair) name() string { return p.now.Namespace + "/" + p.now.Name }

func (p pair) compare(q pair) int {
	return cmp.Or(cmp.Compare(p.now.FailureCategory, q.now.FailureCategory), cmp.Compare(totalPods(q.now), totalPods(p.now)),
		cmp.Compare(p.name(), q.name()), cmp.Compare(p.now.Kind, q.now.Kind))
}

// zoneNames lists the zones of all nodes and pods in order. The zone of nodes without one is "", the last.
func (r *Report) zoneNames() []string {
	seen := map[string]bool{}
	for i := range r.shown.Before.Nodes {
		seen[r.shown.Before.Nodes[i].Zone] = true
	}
	for i := range r.shown.Before.Workloads {
		for z, pods := range r.shown.Before.Workloads[i].Zones {
			seen[z] = seen[z] || z != "" || pods > 0
		}
	}
	var out []string
	for z, ok := range seen {
		if ok {
			out = append(out, z)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(-compareBool(a != "", b != ""), cmp.Compare(a, b))
	})
	return out
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// pairs returns the workloads that the plan lists on both sides.
func (r *Report) pairs() []pair {
	type key struct{ namespace, kind, name string }
	of := func(w *plan.WorkloadState) key { return key{w.Namespace, w.Kind, w.Name} }
	after := make(map[key]*plan.WorkloadState, len(r.shown.After.Workloads))
	for i := range r.shown.After.Workloads {
		after[of(&r.shown.After.Workloads[i])] = &r.shown.After.Workloads[i]
	}
	out := make([]pair, 0, len(after))
	for i := range r.shown.Before.Workloads {
		w := &r.shown.Before.Workloads[i]
		if a := after[of(w)]; a != nil {
			out = append(out, pair{w, a})
		}
	}
	return out
}

// makeZones makes the section about zone failures.
func (r *Report) makeZones() Zones {
	s := Zones{ID: "zones", Title: "If a zone fails"}
	known := slices.DeleteFunc(slices.Clone(r.zones), func(z string) bool { return z == "" })
	switch {
	case len(r.workloads) == 0:
		s.Lead = text("Nothing is known about workloads.")
	case len(known) == 0:
		s.Lead = text("No node has a zone label, so a zone failure cannot be judged.")
	case len(r.zones) == 1:
		s.Lead = text("All nodes are in one zone, so a zone failure takes every workload. Evictions cannot change that.")
	default:
		r.fillZones(&s)
	}
	if n := r.omitted.Workloads; n > 0 {
		s.Notes = append(s.Notes, text(r.leavesOut(count(n, "workload"), "It keeps those that a zone failure hits hardest, and those that change.")))
	}
	return s
}

func (r *Report) fillZones(s *Zones) {
	var worse, better, bad, rest []pair
	low, single := 0, 0
	for _, p := range r.workloads {
		if p.after.FailureCategory <= 2 {
			low++
			if totalPods(p.after) == 1 {
				single++
			}
		}
		switch now, after := p.now.FailureCategory, p.after.FailureCategory; {
		case after < now:
			worse = append(worse, p)
		case after > now:
			better = append(better, p)
		case after <= 2:
			bad = append(bad, p)
		default:
			rest = append(rest, p)
		}
	}
	for _, list := range [][]pair{worse, better, bad} {
		slices.SortFunc(list, pair.compare)
	}
	s.Lead = append(text(r.effect+zonesLead(len(worse), len(better), low, single, len(r.workloads) > maxListed)), r.hitWorst()...)
	s.Categories = []string{"1", "2", "3", "34", "4"}
	if len(r.workloads) <= maxListed {
		s.Tables = []Matrix{r.matrix("Pods by zone, now and after the plan", "", slices.Concat(better, worse, bad, rest))}
		return
	}
	r.addMatrices(s, "Hit harder than now", worse)
	r.addMatrices(s, "Hit less hard than now", better)
	if len(bad) > 0 {
		shown := bad[:min(len(bad), maxClosed)]
		s.Tables = append(s.Tables, r.matrix(partCaption("In category 1 or 2 before and after", len(shown), len(bad)),
			count(len(bad), "workload")+" that "+verb(len(bad), "stays", "stay")+" in category 1 or 2", shown))
	}
	if len(rest) > 0 {
		s.Notes = append(s.Notes, text(fmt.Sprintf("%s in category 3 or 4, now and after, %s not listed. ", count(len(rest), "workload"), verb(len(rest), "is", "are")),
			code("evenkeel plan -o wide"), " lists every workload."))
	}
}

// partCaption adds to a caption how many rows are shown, if not all.
func partCaption(caption string, shown, all int) string {
	if shown < all {
		return caption + ": " + number(shown) + " of " + number(all) + ", worst first"
	}
	return caption
}

// addMatrices adds the first workloads, and the others in details.
func (r *Report) addMatrices(s *Zones, caption string, list []pair) {
	if len(list) == 0 {
		return
	}
	first := list[:min(len(list), maxOpen)]
	s.Tables = append(s.Tables, r.matrix(partCaption(caption, len(first), len(list)), "", first))
	if more := list[len(first):]; len(more) > 0 {
		shown := more[:min(len(more), maxClosed)]
		s.Tables = append(s.Tables, r.matrix(partCaption(caption+", continued", len(shown), len(more)),
			fmt.Sprintf("The other %s that would be hit %s", number(len(more)), caption[len("Hit "):len(caption)-len(" than now")]), shown))
	}
}

func zonesLead(worse, better, bad, single int, many bool) string {
	var say []string
	if better > 0 {
		say = append(say, count(better, "workload")+" would be hit less hard")
	}
	if worse > 0 {
		say = append(say, count(worse, "workload")+" would be hit harder")
	}
	lead := "The plan changes no category. "
	if len(say) > 0 {
		lead = "After the plan, " + join(say) + ". "
	}
	if bad == 0 && !many {
		return lead + "No workload is in category 1 or 2 then."
	}
	lead += fmt.Sprintf("%s %s in category 1 or 2 then", count(bad, "workload"), verb(bad, "is", "are"))
	if single > 0 {
		lead += fmt.Sprintf(", %s of them because %s one pod", number(single), verb(single, "it has", "they have"))
	}
	return lead + "."
}

// hitWorst names the workloads that lose most if their worst zone fails, now and after the plan. A workload with one
// pod is named only if no other is in category 1 or 2.
func (r *Report) hitWorst() (out answers.Text) {
	for i, begin := range []string{" Hit worst now: ", "; after the plan: "} {
		var worst *plan.WorkloadState
		for _, p := range r.workloads {
			if w := []*plan.WorkloadState{p.now, p.after}[i]; w.FailureCategory <= 2 && (worst == nil || compareLoss(w, worst) > 0) {
				worst = w
			}
		}
		if worst == nil {
			out = append(out, text(begin+"none")...)
			continue
		}
		zone, lost := worstZone(worst)
		out = append(out, text(begin+worst.Kind+" ", name(worst.Namespace+"/"+worst.Name), fmt.Sprintf(" (%d of %s in ", lost, count(totalPods(worst), "pod")),
			name(zoneLabel(zone)), ")")...)
	}
	return append(out, text(".")...)
}

// compareLoss orders workloads by what they lose with their worst zone, the largest loss last.
func compareLoss(a, b *plan.WorkloadState) int {
	_, lostA := worstZone(a)
	_, lostB := worstZone(b)
	return cmp.Or(cmp.Compare(min(totalPods(a), 2), min(totalPods(b), 2)), cmp.Compare(b.FailureCategory, a.FailureCategory), cmp.Compare(lostA, lostB))
}

// worstZone returns the zone with most pods, the first of several, and their number.
func worstZone(w *plan.WorkloadState) (zone string, pods int) {
	for _, z := range slices.Sorted(maps.Keys(w.Zones)) {
		if n := w.Zones[z]; n > pods {
			zone, pods = z, n
		}
	}
	return zone, pods
}

func (r *Report) matrix(caption, summary string, list []pair) Matrix {
	m := Matrix{Caption: caption, Summary: summary, Zones: make([]string, len(r.zones)), Rows: make([]MatrixRow, 0, len(list))}
	for i, z := range r.zones {
		m.Zones[i] = zoneLabel(z)
	}
	for _, p := range list {
		row := MatrixRow{Kind: p.now.Kind, Name: p.name(), CatNow: categoryKey(p.now), CatAfter: categoryKey(p.after)}
		for _, z := range r.zones {
			now, after := p.now.Zones[z], p.after.Zones[z]
			row.Now = append(row.Now, MatrixCell{Pods: now, Category: lossOf(p.now, z)})
			row.After = append(row.After, MatrixCell{Pods: after, Category: lossOf(p.after, z), Changed: now != after})
		}
		row.Changed, row.SinglePod = row.CatNow != row.CatAfter, totalPods(p.now) == 1 && row.CatNow == "1"
		m.Rows = append(m.Rows, row)
	}
	return m
}

// categoryCounts counts the workloads by category.
func (r *Report) categoryCounts() (now, after map[string]int) {
	now, after = map[string]int{}, map[string]int{}
	for _, p := range r.workloads {
		now[categoryKey(p.now)]++
		after[categoryKey(p.after)]++
	}
	return now, after
}
