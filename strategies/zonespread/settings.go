package zonespread

import (
	"cmp"
	"fmt"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/cluster/annotation"
	"github.com/evenkeel-project/evenkeel/plan"
)

// zoneKey is the node label that defines the zones of failure categories.
const zoneKey = "topology.kubernetes.io/zone"

// spreadSettings returns the settings of a group from annotations, with the arguments as defaults. If the controllers
// of a group have different annotations, the first topology key, the smallest skew and the strictest zone SLO apply.
// pods has one pod of each controller.
func (z *Strategy) spreadSettings(s *cluster.Snapshot, pods []*cluster.Pod) (key string, skew, slo int) {
	for _, p := range pods {
		r := annotation.OfWorkload(s, p)
		key = cmp.Or(key, r.SpreadBy)
		if r.MaxSkew > 0 && (skew == 0 || r.MaxSkew < skew) {
			skew = r.MaxSkew
		}
		slo = max(slo, r.ZoneSLO)
	}
	return cmp.Or(key, z.args.TopologyKey), cmp.Or(skew, z.args.MaxSkew), slo
}

// missedSLOWeight is the weight of a group that misses its zone SLO. The planner improves such a group before groups
// with weight 1.
const missedSLOWeight = 2

// goalWeight returns the weight of a group's goal, and a message if the group misses its zone SLO. Without usage data,
// category 4 cannot be distinguished from 3, so an SLO of 4 counts as missed.
func goalWeight(s *cluster.Snapshot, utilization func() plan.WorkloadUtilization, pods []cluster.PodID, slo int) (weight float64, missed string) {
	if slo == 0 {
		return 1, ""
	}
	count, most := map[string]int{}, 0
	for _, id := range pods {
		zone, _ := s.Nodes[s.Pods[id].Node].Label(zoneKey)
		count[zone]++
		most = max(most, count[zone])
	}
	category, _ := utilization().Category(pods, most)
	if category >= slo {
		return 1, ""
	}
	return missedSLOWeight, fmt.Sprintf("; failure category %d misses its zone-slo of %d", category, slo)
}
