package goalverifier

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/verify/planverifier"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/emptied"
	"github.com/evenkeel-project/evenkeel/verify/planverifier/fit"
)

// group is pods that are counted by domain.
type group struct {
	pods    []string
	domain  map[string]string // by node; nodes that do not count are missing
	domains []string
	limit   int
}

func (g group) counts(at places) map[string]int {
	counts := map[string]int{}
	for _, d := range g.domains {
		counts[d] = 0
	}
	for _, p := range g.pods {
		if d, counted := g.domain[at.node[p]]; counted {
			counts[d]++
		}
	}
	return counts
}

// skew returns by how much the numbers of pods in the fullest and the emptiest domain differ more than allowed.
func (g group) skew(at places) float64 {
	counts := slices.Collect(maps.Values(g.counts(at)))
	return float64(max(0, slices.Max(counts)-slices.Min(counts)-g.limit))
}

// toLevel returns the fewest pods that must change domain until the skew is allowed. It tries every
// number of pods in the emptiest domain.
func (g group) toLevel(at places) int {
	counts := slices.Collect(maps.Values(g.counts(at)))
	best := len(g.pods)
	for least := range slices.Max(counts) + 1 {
		leave, arrive := 0, 0
		for _, n := range counts {
			leave, arrive = leave+max(0, n-least-g.limit), arrive+max(0, least-n)
		}
		best = min(best, max(leave, arrive))
	}
	return best
}

// above returns the number of pods above the limit of their domains.
func (g group) above(at places) (sum int) {
	for _, n := range g.counts(at) {
		sum += max(0, n-g.limit)
	}
	return sum
}

// goalOf returns a goal about a group. With skew, the domains may differ by the limit, otherwise
// each has at most the limit.
func (g group) goalOf(strategy, namespace, topologyKey string, skew bool) *goal {
	counts := func(node string) bool { return slices.Contains(g.domains, g.domain[node]) }
	out := &goal{strategy: strategy, pods: setOf(g.pods), excess: g.above, counts: counts, of: plan.Goal{Kind: plan.CountAtMost,
		Subject: plan.ObjectRef{Namespace: namespace}, TopologyKey: topologyKey, Limit: float64(g.limit)}}
	if skew {
		out.of.Kind, out.excess, out.reported = plan.SkewAtMost, g.toLevel, g.skew
	}
	return out
}

func setOf(list []string) map[string]bool {
	out := map[string]bool{}
	for _, x := range list {
		out[x] = true
	}
	return out
}

// spreads returns the goals of TopologySpread.
func (r *verifier) spreads(s planverifier.StrategyRules, actions []string) (out []*goal) {
	seen := map[string]bool{}
	for _, p := range r.running() {
		if emptied.BelongsToNode(p) || !r.hasPod(s, p) {
			continue
		}
		for i := range p.Spec.TopologySpreadConstraints {
			c := &p.Spec.TopologySpreadConstraints[i]
			if !slices.Contains(actions, string(c.WhenUnsatisfiable)) {
				continue
			}
			g, skew, ok := r.spread(p, c)
			if id := fmt.Sprint(p.Namespace, c.TopologyKey, g, skew); ok && !seen[id] {
				seen[id] = true
				out = append(out, g.goalOf(s.Name, p.Namespace, c.TopologyKey, skew))
			}
		}
	}
	return out
}

// spread returns the pods and the domains that a constraint of a pod counts, and whether it limits the skew. It returns
// false if the constraint has no goal.
func (r *verifier) spread(p *corev1.Pod, c *corev1.TopologySpreadConstraint) (g group, skew, ok bool) {
	selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
	if err != nil || selector.Empty() {
		return group{}, false, false
	}
	for _, k := range c.MatchLabelKeys {
		if v, has := p.Labels[k]; has {
			more, _ := labels.SelectorFromSet(labels.Set{k: v}).Requirements()
			selector = selector.Add(more...)
		}
	}
	g = group{domain: map[string]string{}, limit: int(c.MaxSkew)}
	for _, name := range slices.Sorted(maps.Keys(r.nodes)) {
		if n := r.nodes[name]; countsNode(p, c, n) {
			g.domain[name] = n.Labels[c.TopologyKey]
			g.domains = append(g.domains, n.Labels[c.TopologyKey])
		}
	}
	slices.Sort(g.domains)
	g.domains = slices.Compact(g.domains)
	for _, q := range r.running() {
		if q.Namespace == p.Namespace && selector.Matches(labels.Set(q.Labels)) {
			g.pods = append(g.pods, key(q))
		}
	}
	tooFew := c.WhenUnsatisfiable == corev1.DoNotSchedule && c.MinDomains != nil && len(g.domains) < int(*c.MinDomains)
	ok = selector.Matches(labels.Set(p.Labels)) && len(g.pods) > g.limit && (len(g.domains) > 1 || len(g.domains) == 1 && tooFew)
	return g, !tooFew, ok
}

// countsNode reports whether a constraint of a pod counts a node.
func countsNode(p *corev1.Pod, c *corev1.TopologySpreadConstraint, n *corev1.Node) bool {
	for _, other := range p.Spec.TopologySpreadConstraints {
		if _, has := n.Labels[other.TopologyKey]; other.WhenUnsatisfiable == c.WhenUnsatisfiable && !has {
			return false
		}
	}
	if c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
		if !matchesRequired(p, n) {
			return false
		}
	}
	honorsTaints := c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	return !honorsTaints || len(untolerated(p, n.Spec.Taints, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)) == 0
}

// duplicates returns the goals of Duplicates.
func (r *verifier) duplicates(s planverifier.StrategyRules, kinds ownerKinds) (out []*goal) {
	groups := map[string][]*corev1.Pod{}
	for _, p := range r.sortedPods() {
		c := metav1.GetControllerOf(p)
		if c == nil || isTerminal(p) || isTerminating(p) || emptied.BelongsToNode(p) || !kinds.match(r, p) {
			continue
		}
		var images []string
		for _, x := range p.Spec.Containers {
			images = append(images, x.Image)
		}
		slices.Sort(images)
		id := strings.Join(append(images, p.Namespace, c.Kind, c.Name, string(c.UID)), " ")
		groups[id] = append(groups[id], p)
	}
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		if g := r.equalPods(s, groups[id]); g != nil {
			out = append(out, g)
		}
	}
	return out
}

// equalPods returns the goal of a group of equal pods, or nil.
func (r *verifier) equalPods(s planverifier.StrategyRules, pods []*corev1.Pod) *goal {
	g := group{domain: map[string]string{}}
	total, declares := 0, false
	var bound []*corev1.Pod // they may differ in the volumes that bind them to nodes
	for _, p := range pods {
		n := r.nodes[p.Spec.NodeName]
		if n == nil || r.hasNode(s, n) {
			total++
		}
		if n != nil {
			g.pods, bound = append(g.pods, key(p)), append(bound, p)
			declares = declares || r.hasPod(s, p)
		}
	}
	nodes := map[string]bool{}
	for name, n := range r.nodes {
		host, has := n.Labels[corev1.LabelHostname]
		if has && r.hasNode(s, n) {
			g.domain[name] = host
		}
		if has && r.hasNode(s, n) && slices.ContainsFunc(bound, func(p *corev1.Pod) bool { return r.canRun(p, n) }) {
			nodes[host] = true
			g.domains = append(g.domains, host)
		}
	}
	if len(g.pods) < 2 || !declares || len(nodes) < 2 {
		return nil
	}
	g.limit = max(1, (total+len(nodes)-1)/len(nodes))
	return g.goalOf(s.Name, bound[0].Namespace, corev1.LabelHostname, false)
}

// conflict is two pods that a term keeps apart.
type conflict struct{ a, b, topologyKey string }

// apart returns one goal for all conflicts of InterPodAntiAffinity.
func (r *verifier) apart(s planverifier.StrategyRules) []*goal {
	found := map[conflict]bool{}
	pods := map[string]bool{}
	terms := fit.Cluster{Namespaces: r.namespaces}
	for _, p := range r.running() {
		if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil {
			continue
		}
		for _, t := range p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			for _, q := range r.running() {
				if p == q || !r.inScope(s, p) && !r.inScope(s, q) || !terms.TermSelects(t, p, q) || !r.sameDomain(t.TopologyKey, p.Spec.NodeName, q.Spec.NodeName) {
					continue
				}
				found[conflict{min(key(p), key(q)), max(key(p), key(q)), t.TopologyKey}] = true
				pods[key(p)] = true
				pods[key(q)] = pods[key(q)] || p.Namespace == q.Namespace
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []*goal{{strategy: s.Name, pods: pods, of: plan.Goal{Kind: plan.PodsApart}, excess: func(at places) (n int) {
		for c := range found {
			if r.sameDomain(c.topologyKey, at.node[c.a], at.node[c.b]) {
				n++
			}
		}
		return n
	}}}
}

func (r *verifier) sameDomain(topologyKey, a, b string) bool {
	if r.nodes[a] == nil || r.nodes[b] == nil {
		return false
	}
	x, ok := r.nodes[a].Labels[topologyKey]
	y, too := r.nodes[b].Labels[topologyKey]
	return ok && too && x == y
}
