package zonespread

import (
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// zoneKey is the label of zones, which failure categories go by.
const zoneKey = "topology.kubernetes.io/zone"

// spreadSettings is what holds for a group: the arguments, or what people ask for in
// their place. Among the controllers of a group the first topology key, the
// least skew and the strictest zone SLO count.
func (z *Strategy) spreadSettings(s *cluster.Snapshot, one []*cluster.Pod) (key string, skew, slo int) {
	for _, p := range one {
		r := annotation.OfWorkload(s, p)
		if key == "" {
			key = r.SpreadBy
		}
		if r.MaxSkew > 0 && (skew == 0 || r.MaxSkew < skew) {
			skew = r.MaxSkew
		}
		slo = max(slo, r.ZoneSLO)
	}
	if key == "" {
		key = z.args.TopologyKey
	}
	if skew == 0 {
		skew = z.args.MaxSkew
	}
	return key, skew, slo
}

// missedSLOWeight lets a group that misses its zone SLO be served before others.
const missedSLOWeight = 2

// goalWeight is the weight of a group's goal, with words when its zone SLO is
// missed. Category 4 cannot be told from 3 where usage is not known, so that an SLO of
// 4 counts as missed until it is.
func goalWeight(s *cluster.Snapshot, busy func() plan.WorkloadUtilization, pods []cluster.PodID, slo int) (weight float64, missed string) {
	if slo == 0 {
		return 1, ""
	}
	count, most := map[string]int{}, 0
	for _, id := range pods {
		zone, _ := s.Nodes[s.Pods[id].Node].Label(zoneKey)
		count[zone]++
		most = max(most, count[zone])
	}
	category, _ := busy().Category(pods, most)
	if category >= slo {
		return 1, ""
	}
	return missedSLOWeight, fmt.Sprintf("; failure category %d misses its zone-slo of %d", category, slo)
}
