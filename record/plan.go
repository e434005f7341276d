// Package record turns plans and reports into the Kubernetes objects that keep them, and back.
//
// The package decides what of a large plan is kept: whole waves from the first, the goals of the moves, and the most
// extreme nodes and workloads. It never calls an API, and it never decides what a pass does.
package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/api/v1alpha1"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Bounds of an object. The API server accepts 1.5 MiB in a request, and etcd as much in an object.
const (
	maxSpecBytes   = 400<<10 - 512 // room for the names of the lists, and for what is counted after the cut
	maxStatusBytes = 500 << 10
	maxMoves       = 2000
	maxGoals       = 500
	maxStates      = 100 // of nodes, and of workloads
	maxSamples     = 5   // of pods that stay for one reason, and of problems of an input
	maxInputs      = 20
	maxResources   = 16
	maxHintNodes   = 5000
	maxList        = 50 // of other lists
)

// Bounds of texts, in bytes. Other people choose most of them.
const (
	maxName    = 253
	maxWord    = 63
	maxMessage = 512
)

// bounds are those of a spec: its bytes, and the lengths of its lists.
type bounds struct{ bytes, moves, goals, states int }

// stored are the bounds of an object in the API server, and whole those of a log.
var (
	stored = bounds{maxSpecBytes, maxMoves, maxGoals, maxStates}
	whole  = bounds{math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt}
)

// Spec returns the spec of the object for a plan. mode says who decides about its moves.
func Spec(p *plan.Plan, mode v1alpha1.Mode) v1alpha1.RebalancePlanSpec { return spec(p, mode, stored) }

func spec(p *plan.Plan, mode v1alpha1.Mode, most bounds) v1alpha1.RebalancePlanSpec {
	all := p.Whole()
	s := v1alpha1.RebalancePlanSpec{ID: p.ID, Mode: mode, MoveCount: int32(len(all.Moves)), Score: scoreText(p),
		TakenAt: seconds(p.TakenAt), Expires: seconds(latest(p.TakenAt, p.Expires)), ConfigHash: word(p.ConfigHash),
		Cluster: v1alpha1.ClusterReference{UID: word(p.Cluster.UID), Version: word(p.Cluster.Version)},
		Minimum: minimum(p), NotMoved: notMoved(p.Rejections), Inputs: inputs(p.Inputs), Notices: notices(p)}
	if p.Filtered != nil {
		s.Expires = s.TakenAt // it must not be executed, whoever changes its kind
	}
	s.Strategies, s.StrategyNames = strategies(p)
	s.Before, s.After = states(p, most.states)
	s.Moves, s.Hints = moves(p, most.moves)
	cutMoves(&s, p, most)
	nodes := 0
	s.Goals, nodes = goals(p, s.Moves, most.goals)
	fit(&s, p, nodes, most)
	omitted := v1alpha1.Omitted{Moves: s.MoveCount - int32(len(s.Moves))}
	omitted.Goals = int32(len(all.Goals) - len(s.Goals))
	omitted.Nodes, omitted.Workloads = int32(len(all.Before.Nodes)-len(s.Before.Nodes)), int32(len(all.Before.Workloads)-len(s.Before.Workloads))
	if omitted != (v1alpha1.Omitted{}) {
		s.Omitted = &omitted
	}
	return s
}

// Fits reports whether a spec is no larger than those of plans that passes make.
func Fits(s *v1alpha1.RebalancePlanSpec) bool { return size(s) <= maxSpecBytes+1<<10 }

// size returns the size of an object as the API server stores it.
func size(o any) int {
	text, err := json.Marshal(o)
	if err != nil {
		return math.MaxInt // each of these types has a JSON form
	}
	return len(text)
}

// latest returns the later of two times.
func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// seconds returns a time as the API server stores it.
func seconds(t time.Time) metav1.Time { return metav1.NewTime(t.UTC().Truncate(time.Second)) }

func word(s string) string { return cut(s, maxWord) }

// cut returns the first n bytes of a text, without a part of a character.
func cut(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }

func reason(r plan.Reason) v1alpha1.Reason {
	return v1alpha1.Reason{Code: string(r.Code), Message: cut(r.Message, maxMessage)}
}

func reasonOrNil(r *plan.Reason) *v1alpha1.Reason {
	if r == nil || r.Code == "" {
		return nil
	}
	out := reason(*r)
	return &out
}

func podRef(p plan.PodRef) v1alpha1.PodReference {
	return v1alpha1.PodReference{Namespace: word(p.Namespace), Name: cut(p.Name, maxName), UID: word(p.UID)}
}

func podRefOrNil(p *plan.PodRef) *v1alpha1.PodReference {
	if p == nil {
		return nil
	}
	out := podRef(*p)
	return &out
}

func objectRef(o plan.ObjectRef) v1alpha1.ObjectReference {
	return v1alpha1.ObjectReference{APIVersion: cut(o.APIVersion, maxName), Kind: word(o.Kind), Namespace: word(o.Namespace),
		Name: cut(o.Name, maxName), UID: word(o.UID)}
}

// perMille returns a fraction 0..1 in per mille.
func perMille(x float64) int32 { return int32(math.Round(x * 1000)) }

func perMilleOf(m map[string]float64) map[string]int32 {
	var out map[string]int32
	for _, r := range sortedKeys(m)[:min(len(m), maxResources)] {
		if out == nil {
			out = map[string]int32{}
		}
		out[r] = perMille(m[r])
	}
	return out
}

// decimal returns a number rounded to thousandths.
func decimal(x float64) v1alpha1.Decimal {
	x = math.Round(max(-maxDecimal, min(x, maxDecimal))*1000) / 1000
	if x == 0 || math.IsNaN(x) {
		return ""
	}
	return v1alpha1.Decimal(strconv.FormatFloat(x, 'f', -1, 64))
}

// maxDecimal is the largest number of an object.
const maxDecimal = 1e12

// scoreText returns the balance score before and after the plan, or "" if it is unknown.
func scoreText(p *plan.Plan) string {
	before, after, known := p.Balance()
	if !known {
		return ""
	}
	return fmt.Sprintf("%.1f -> %.1f", before.Score(), after.Score())
}

func modeOf(m plan.StrategyMode) v1alpha1.Mode {
	switch m {
	case plan.Approve:
		return v1alpha1.ModeApprove
	case plan.ShowOnly:
		return v1alpha1.ModeDryRun
	}
	return v1alpha1.ModeAutomatic
}

func moves(p *plan.Plan, most int) (out []v1alpha1.Move, hints []v1alpha1.WaveHints) {
	for i := range p.Moves[:min(len(p.Moves), most)] {
		m := &p.Moves[i]
		out = append(out, v1alpha1.Move{Step: int32(m.Step), Wave: int32(m.Wave), Pod: podRef(m.Pod), Owner: objectRef(m.Owner),
			Strategy: word(m.Strategy), Reason: reason(m.Reason), Goals: m.Goals[:min(len(m.Goals), maxList)], From: m.From, To: m.To,
			AcceptableNodes: int32(m.Acceptable.Nodes), ConfidencePerMille: perMille(m.Confidence), ReturnPerMille: perMille(m.ReturnProbability),
			PendingPerMille: perMille(m.PendingProbability), Steer: m.Steer, Benefit: decimal(m.Benefit), Priority: m.Priority,
			Removal: string(m.Removal), RequestOnly: string(m.RequestOnly), Landing: string(m.Landing), DisplacedFor: podRefOrNil(m.DisplacedFor)})
	}
	for _, h := range p.Hints[:min(len(p.Hints), most)] {
		hints = append(hints, v1alpha1.WaveHints{Wave: int32(h.Wave), Kind: h.Kind, Nodes: h.Nodes[:min(len(h.Nodes), maxHintNodes)]})
	}
	return out, hints
}

// outOfReach is the code of a goal of which excess is proven to stay.
const outOfReach = "outOfReach"

// goals returns the unmet goals. First are those to empty a node that moves of the object meet, and nodes counts them.
// Then follow the others that a move serves.
func goals(p *plan.Plan, moves []v1alpha1.Move, most int) (out []v1alpha1.Goal, nodes int) {
	met, rank := emptied(p), map[string]int{}
	for _, m := range moves {
		for _, id := range m.Goals {
			switch {
			case met[id] == "":
				rank[id] = -1
			case rank[id] == 0:
				rank[id], nodes = -2, nodes+1
			}
		}
	}
	unmet := map[string]*plan.UnmetGoal{}
	for i := range p.Bound.UnmetGoals {
		unmet[p.Bound.UnmetGoals[i].Goal] = &p.Bound.UnmetGoals[i]
	}
	all := slices.Clone(p.Goals)
	slices.SortStableFunc(all, func(a, b plan.Goal) int { return cmp.Compare(rank[a.ID], rank[b.ID]) })
	for i := range all[:min(len(all), most)] {
		g := &all[i]
		o := v1alpha1.Goal{ID: g.ID, Strategy: word(g.Strategy), Kind: string(g.Kind), Subject: objectRef(g.Subject), Group: cut(g.Group, maxName),
			Resource: word(g.Resource), Basis: string(g.Basis), TopologyKey: g.TopologyKey, From: g.From, Limit: decimal(g.Limit),
			Weight: decimal(g.Weight), ExcessBefore: decimal(p.Before.Excess[g.ID]), ExcessAfter: decimal(p.After.Excess[g.ID]),
			Leaving: int32(len(g.Leaving))}
		if u := unmet[g.ID]; u != nil {
			o.Unmet = &v1alpha1.Reason{Code: string(u.Reason), Message: cut(u.Detail, maxMessage)}
		}
		if p.Bound.ResidualByGoal[g.ID] > 0 {
			o.Unmet = &v1alpha1.Reason{Code: outOfReach, Message: "no permitted eviction removes all of the excess"}
		}
		out = append(out, o)
	}
	return out, nodes
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// strategies returns the strategies of the plan, and the names of those that are due.
func strategies(p *plan.Plan) (out []v1alpha1.StrategySummary, names string) {
	var due []string
	after := map[string]int32{}
	for _, g := range p.Whole().Goals {
		if p.After.Excess[g.ID] > 0 {
			after[g.Strategy]++
		}
	}
	for _, g := range p.Whole().PodGoals {
		after[g.Strategy] = int32(g.UnmetAfter)
	}
	for _, st := range p.Strategies {
		if len(out) == maxStates {
			break
		}
		if st.Due {
			due = append(due, st.Name)
		}
		s := v1alpha1.StrategySummary{Name: word(st.Name), Mode: modeOf(st.Mode), Due: st.Due, Goals: int32(st.Goals), Unmet: int32(st.Unmet),
			UnmetAfter: after[st.Name]}
		if st.Settings != nil {
			if text, err := json.Marshal(st.Settings); err == nil {
				s.Settings = cut(string(text), maxMessage)
			}
		}
		out = append(out, s)
	}
	return out, cut(strings.Join(due, ","), maxMessage)
}

// notMoved counts the pods that stay, the most frequent reason first.
func notMoved(r plan.Rejections) (out []v1alpha1.NotMoved) {
	for code, n := range r.Counts {
		out = append(out, v1alpha1.NotMoved{Code: string(code), Pods: int32(n)})
	}
	slices.SortFunc(out, func(a, b v1alpha1.NotMoved) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), strings.Compare(a.Code, b.Code))
	})
	for _, x := range r.Samples {
		i := slices.IndexFunc(out, func(c v1alpha1.NotMoved) bool { return c.Code == string(x.Reason.Code) })
		if i >= 0 && len(out[i].Samples) < maxSamples {
			out[i].Samples = append(out[i].Samples, v1alpha1.NotMovedPod{Pod: podRef(x.Pod), Node: x.Node, Strategy: word(x.Strategy),
				Message: cut(x.Reason.Message, maxMessage)})
		}
	}
	return out
}

func minimum(p *plan.Plan) v1alpha1.Minimum {
	m := v1alpha1.Minimum{Evictions: int32(p.Bound.MinEvictions), ForPlan: int32(p.Bound.MinForPlan), OutOfReach: decimal(p.Bound.Residual),
		Unmet: decimal(p.Bound.Unmet)}
	for _, b := range p.Bound.BlockedBy[:min(len(p.Bound.BlockedBy), maxList)] {
		m.BlockedBy = append(m.BlockedBy, v1alpha1.Reason{Code: string(b.Code), Message: cut(b.Detail, maxMessage)})
	}
	return m
}

func inputs(all []plan.Input) (out []v1alpha1.Input) {
	for _, in := range all[:min(len(all), maxInputs)] {
		o := v1alpha1.Input{Source: word(in.Source), Statistic: word(in.Statistic), Age: word(in.Age), CoveragePerMille: perMille(in.Coverage)}
		for _, text := range in.Problems[:min(len(in.Problems), maxSamples)] {
			o.Problems = append(o.Problems, cut(text, maxMessage))
		}
		out = append(out, o)
	}
	return out
}
