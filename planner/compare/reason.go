package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/percent"
	"github.com/evenkeel-project/evenkeel/internal/plural"
	"github.com/evenkeel-project/evenkeel/plan"
)

// plugins maps the types of strategies to the plugins of the descheduler that they replace.
var plugins = map[string]string{
	"TopologySpread":       "RemovePodsViolatingTopologySpreadConstraint",
	"Duplicates":           "RemoveDuplicates",
	"InterPodAntiAffinity": "RemovePodsViolatingInterPodAntiAffinity",
	"NodeLoad":             "LowNodeUtilization",
	"Restarts":             "RemovePodsHavingTooManyRestarts",
	"Lifetime":             "PodLifeTime",
	"FailedPods":           "RemoveFailedPods",
	"NodeAffinity":         "RemovePodsViolatingNodeAffinity",
	"NodeTaints":           "RemovePodsViolatingNodeTaints",
	"NodeConsolidation":    "HighNodeUtilization",
}

// PluginOf returns the plugin of the descheduler that is converted to strategies of this type, or the type itself if
// there is none.
func PluginOf(typ string) string {
	if name, known := plugins[typ]; known {
		return name
	}
	return typ
}

// indexGoals indexes the goals of the configuration by node and pod.
func (c *comparison) indexGoals() {
	c.nodes, c.pods = map[cluster.NodeID][]int{}, map[cluster.PodID][]int{}
	for i, g := range c.own.goals() {
		if isAboutNode(g.Kind) {
			c.nodes[g.Node] = append(c.nodes[g.Node], i)
			continue
		}
		for _, p := range g.Pods {
			c.pods[p] = append(c.pods[p], i)
		}
	}
}

func (c *comparison) indexRejections() {
	c.rejections = map[string][]plan.Rejection{}
	add := func(p *plan.Plan) {
		for _, r := range p.Rejections.Samples {
			c.rejections[r.Pod.String()] = append(c.rejections[r.Pod.String()], r)
		}
	}
	add(&c.Plan)
	for i := range c.Plan.Proposals {
		add(&c.Plan.Proposals[i].Plan)
	}
}

func isAboutNode(k plan.GoalKind) bool { return k == plan.NodeBelow || k == plan.NodeEmpty }

// lookingAt returns the goals of the configuration about the same thing as g: the same resource of the same node, the
// same pod, or the spread of common pods over the same domains. The limits may differ.
func (c *comparison) lookingAt(g *plan.Goal) (out []int) {
	add := func(candidates []int) {
		for _, i := range candidates {
			if isSameThing(&c.own.goals()[i], g) && !slices.Contains(out, i) {
				out = append(out, i)
			}
		}
	}
	if isAboutNode(g.Kind) {
		add(c.nodes[g.Node])
	} else {
		for _, p := range g.Pods {
			add(c.pods[p])
		}
	}
	slices.Sort(out)
	return out
}

// isSameThing reports whether two goals with a common node or pod are about the same thing.
func isSameThing(a, b *plan.Goal) bool {
	switch {
	case isSpread(a.Kind) && isSpread(b.Kind):
		return a.TopologyKey == b.TopologyKey
	case a.Kind != b.Kind:
		return false
	case a.Kind == plan.NodeBelow:
		return a.Resource == b.Resource && isByLoad(a) == isByLoad(b)
	}
	return true
}

func isSpread(k plan.GoalKind) bool { return k == plan.SkewAtMost || k == plan.CountAtMost }

func isByLoad(g *plan.Goal) bool { return g.Basis == plan.BasisLoad }

// reason says why the plan leaves a violation.
func (c *comparison) reason(g *plan.Goal, looking []int) plan.Reason {
	if len(looking) == 0 {
		return c.notLooking(g)
	}
	var unmet []int
	for _, i := range looking {
		if c.own.goals()[i].Excess > 0 {
			unmet = append(unmet, i)
		}
	}
	if len(unmet) == 0 {
		return c.allowed(g, looking, "finds no violation here")
	}
	if r := c.inactive(unmet); r.Code != "" {
		return r
	}
	if r := c.rejected(g, unmet); r.Code != "" {
		return r
	}
	if !slices.ContainsFunc(unmet, func(i int) bool { return c.own.tracker.Excess(i) > 0 }) {
		return c.allowed(g, unmet, "is met after the plan")
	}
	return plan.Reason{Code: plan.GoalNotMet, Message: fmt.Sprintf(
		"the plan does not meet the goal of strategy %s, and considered no pod for it", c.names(unmet))}
}

// notLooking says why no strategy of the configuration has a goal about the violation.
func (c *comparison) notLooking(g *plan.Goal) plan.Reason {
	typ := typeOf(c.Policy, g.Strategy)
	for _, st := range c.Own {
		switch {
		case st.Type != typ:
		case st.NoData != "":
			return plan.Reason{Code: plan.NoUsageData, Message: "strategy " + st.Name + ": " + st.NoData}
		default:
			return plan.Reason{Code: plan.AllowedByStrategy, Message: fmt.Sprintf(
				"strategy %s (%s) finds no violation here: its arguments or its scope differ from the policy", st.Name, typ)}
		}
	}
	return plan.Reason{Code: plan.NoStrategyForThis, Message: fmt.Sprintf(
		"no configured strategy checks this; a strategy of type %s would", typ)}
}

func typeOf(all []Strategy, name string) string {
	for _, st := range all {
		if st.Name == name {
			return st.Type
		}
	}
	return ""
}

// allowed says that goals of the configuration permit the violation, with the limits of both sides.
func (c *comparison) allowed(g *plan.Goal, goals []int, what string) plan.Reason {
	own := &c.own.goals()[goals[0]]
	text := fmt.Sprintf("strategy %s %s", c.names(goals), what)
	switch {
	case g.Kind == plan.NodeBelow:
		text += fmt.Sprintf(": it allows %s, and the policy allows %s", percent.Of(own.Limit), percent.Of(g.Limit))
	case isSpread(g.Kind) && own.Kind == g.Kind:
		text += fmt.Sprintf(": its limit is %s, and that of the policy %s", plural.Count(int(own.Limit), "pod"),
			plural.Count(int(g.Limit), "pod"))
	}
	return plan.Reason{Code: plan.AllowedByStrategy, Message: text}
}

// inactive returns the reason if the plan requests none of the goals.
func (c *comparison) inactive(goals []int) plan.Reason {
	var why plan.Reason
	for _, i := range goals {
		g := &c.own.goals()[i]
		switch {
		case !g.Constraint:
			return plan.Reason{}
		case g.Wait.Code != "":
			why = plan.Reason{Code: g.Wait.Code, Message: fmt.Sprintf("strategy %s waits: %s is %s", g.Strategy,
				g.Subject.Name, g.Wait.Message)}
		case why.Code == "":
			why = plan.Reason{Code: plan.StrategyNotDue, Message: "strategy " + g.Strategy + " is not due"}
		}
	}
	return why
}

// rejected counts the reasons why the pods of the violation stay for the strategies of the goals, or for any strategy
// if these never considered the pods. The code is the most frequent one.
func (c *comparison) rejected(g *plan.Goal, goals []int) plan.Reason {
	strategies := map[string]bool{}
	for _, i := range goals {
		strategies[c.own.goals()[i].Strategy] = true
	}
	if r := c.countRejections(g, func(r *plan.Rejection) bool { return strategies[r.Strategy] }); r.Code != "" {
		return r
	}
	return c.countRejections(g, func(*plan.Rejection) bool { return true })
}

func (c *comparison) countRejections(g *plan.Goal, counts func(*plan.Rejection) bool) plan.Reason {
	pods := g.Pods
	if isAboutNode(g.Kind) {
		pods = c.Snapshot.Nodes[g.Node].Pods
	}
	number, examples := map[plan.Code]int{}, map[plan.Code]string{}
	for _, p := range pods {
		all := c.rejections[plan.PodRefOf(&c.Snapshot.Pods[p]).String()]
		for i := range all {
			if r := &all[i]; counts(r) {
				if number[r.Reason.Code]++; examples[r.Reason.Code] == "" {
					examples[r.Reason.Code] = r.Reason.Message
				}
			}
		}
	}
	return mostFrequent(number, examples)
}

// mostFrequent returns the code with the most pods, and a message with all codes.
func mostFrequent(counts map[plan.Code]int, examples map[plan.Code]string) plan.Reason {
	var out plan.Reason
	var parts []string
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", code, counts[code]))
		if counts[code] > counts[out.Code] {
			out.Code = code
		}
	}
	if out.Message = examples[out.Code]; len(parts) > 1 {
		out.Message += " (all pods: " + strings.Join(parts, ", ") + ")"
	}
	return out
}

// names returns the names of the strategies of the goals.
func (c *comparison) names(goals []int) string {
	var out []string
	for _, i := range goals {
		if name := c.own.goals()[i].Strategy; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
