package zonespread

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// mostShown cuts long lists, so that one message stays one line on a cluster
// with hundreds of domains.
const mostShown = 8

func (a *axis) message(s *cluster.Snapshot, key string, subject plan.ObjectRef, pods []cluster.PodID, r *reach) string {
	total, touched := 0, []int32(nil)
	for _, id := range pods {
		if v := a.at[s.Pods[id].Node]; v != none && r.has[v] {
			if a.count[v] == 0 {
				touched = append(touched, v)
			}
			a.count[v]++
			total++
		}
	}
	now, even := make([]string, 0, mostShown), make([]string, 0, mostShown)
	for i, share := range a.nearestEven(r.in, touched, total) {
		now, even = append(now, strconv.Itoa(a.count[r.in[i]])), append(even, strconv.Itoa(share))
	}
	for _, v := range touched {
		a.count[v] = 0
	}
	more := ""
	if len(r.in) > mostShown {
		more = "/..."
	}
	return fmt.Sprintf("%s has %s pods over %d values of %s; %s would be even",
		subject.Name, strings.Join(now, "/")+more, len(r.in), key, strings.Join(even, "/")+more)
}

// nearestEven is the even split that the fewest moves reach, of the domains that
// are shown: where the pods cannot be shared alike, the fullest domains keep one
// more, the first of those that are alike.
func (a *axis) nearestEven(in, touched []int32, total int) []int {
	even := make([]int, min(len(in), mostShown))
	for i := range even {
		rank := 0
		for _, v := range touched {
			if a.count[v] > a.count[in[i]] {
				rank++
			}
		}
		for _, v := range in[:i] {
			if a.count[v] == a.count[in[i]] {
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
