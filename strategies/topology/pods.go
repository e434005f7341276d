package topology

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/internal/plural"
)

// RunningPods returns the pods that are bound to a node and neither terminating nor finished: the given list if it has
// no others. The scheduler will place the replacements of the other pods.
func RunningPods(s *cluster.Snapshot, all []cluster.PodID) []cluster.PodID {
	first := slices.IndexFunc(all, func(id cluster.PodID) bool { return !IsRunning(&s.Pods[id]) })
	if first < 0 {
		return slices.Clip(all)
	}
	pods := slices.Clone(all[:first])
	for _, id := range all[first:] {
		if IsRunning(&s.Pods[id]) {
			pods = append(pods, id)
		}
	}
	return pods
}

// IsRunning reports whether a pod is bound to a node and neither terminating nor finished.
func IsRunning(p *cluster.Pod) bool {
	return p.Node != cluster.NoNode && !p.Terminating && !p.Terminal
}

// MaxShownDomains limits the domains in a message, so that the message fits on one line in a cluster with hundreds of
// domains.
const MaxShownDomains = 8

// CountsText writes the numbers of pods in the domains of a set, such as 4/1/1.
func (c *Counter) CountsText(in *Set) string {
	return JoinCounts(min(len(in.Indexes), MaxShownDomains), len(in.Indexes), func(i int) int { return c.Pods[in.Indexes[i]] })
}

// DomainsText describes the numbers of pods in the domains of a set: "4/1/1 pods over 3 values", or
// "0 to 4 pods on each of 5000 values" if a message cannot show all counts.
func (c *Counter) DomainsText(in *Set) string {
	n := len(in.Indexes)
	if n <= MaxShownDomains {
		return c.CountsText(in) + " pods over " + plural.Count(n, "value")
	}
	fewest := 0
	if len(c.Used) == n {
		fewest = c.Total
		for _, v := range c.Used {
			fewest = min(fewest, c.Pods[v])
		}
	}
	return fmt.Sprintf("%d to %d pods on each of %d values", fewest, c.Most(), n)
}

// JoinCounts writes the first counts of a list of `of` counts, such as 4/1/1 or 4/1/1/...
func JoinCounts(first, of int, count func(i int) int) string {
	list := make([]string, first)
	for i := range list {
		list[i] = strconv.Itoa(count(i))
	}
	text := strings.Join(list, "/")
	if first < of {
		text += "/..."
	}
	return text
}
