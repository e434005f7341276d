package zonespread

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// maxShownDomains limits the domains in a message, so that the message fits on one line in a cluster with hundreds of
// domains.
const maxShownDomains = 8

// skewMessage describes the current distribution of the pods and the closest even distribution.
func (a *topology) skewMessage(s *cluster.Snapshot, key string, subject plan.ObjectRef, pods []cluster.PodID, r *reachable) string {
	total, touched := 0, []int32(nil)
	for _, id := range pods {
		if v := a.valueOfNode[s.Pods[id].Node]; v != noValue && r.contains[v] {
			if a.podCount[v] == 0 {
				touched = append(touched, v)
			}
			a.podCount[v]++
			total++
		}
	}
	now, even := make([]string, 0, maxShownDomains), make([]string, 0, maxShownDomains)
	for i, share := range a.evenSplit(r.indexes, touched, total) {
		now, even = append(now, strconv.Itoa(a.podCount[r.indexes[i]])), append(even, strconv.Itoa(share))
	}
	for _, v := range touched {
		a.podCount[v] = 0
	}
	more := ""
	if len(r.indexes) > maxShownDomains {
		more = "/..."
	}
	return fmt.Sprintf("%s has %s pods over %d values of %s; %s would be even",
		subject.Name, strings.Join(now, "/")+more, len(r.indexes), key, strings.Join(even, "/")+more)
}

// evenSplit returns the even distribution that needs the fewest moves, for the first maxShownDomains domains. If the
// pods cannot be divided evenly, the fullest domains keep one more pod. Among equally full domains, the first domains
// keep one more pod.
func (a *topology) evenSplit(in, touched []int32, total int) []int {
	even := make([]int, min(len(in), maxShownDomains))
	for i := range even {
		rank := 0
		for _, v := range touched {
			if a.podCount[v] > a.podCount[in[i]] {
				rank++
			}
		}
		for _, v := range in[:i] {
			if a.podCount[v] == a.podCount[in[i]] {
				rank++
			}
		}
		even[i] = total / len(in)
		if rank < total%len(in) {
			even[i]++
		}
	}
	return even
}
