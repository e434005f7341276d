package planner_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/verify/simulation"
)

// TestPlansAreTheSameOnAnyNumberOfCores: the plan is the same, byte by byte, on one, two and eight processors, also
// if two plans are computed at the same time. The scheduler samples the nodes of these clusters. One cluster is
// planned with steering.
func TestPlansAreTheSameOnAnyNumberOfCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for steer, size := range map[string][2]int{"none": {520, 6000}, "taint": {220, 3000}} {
		text := strings.Replace(bothStrategies, "PASS", "unlimited", 1)
		conf := must.Get(config.Load("c", []byte(strings.Replace(text, "evictor: {", "evictor: {steer: "+steer+", ", 1))))(t)
		var first []byte
		for _, cores := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(cores)
			plans := make(chan []byte)
			for range min(cores, 2) {
				go func() {
					_, p := planRandomCluster(t, simulation.Uneven(rand.New(rand.NewPCG(4, 1)), size[0], size[1]), conf)
					b, _ := json.Marshal(p)
					plans <- b
				}()
			}
			for range min(cores, 2) {
				got := <-plans
				if first == nil {
					first = got
				}
				if len(got) < 10_000 || !bytes.Equal(first, got) {
					t.Errorf("steer %s: %d processors give another plan than 1", steer, cores)
				}
			}
		}
	}
}
