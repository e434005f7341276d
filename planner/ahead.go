package planner

import (
	"runtime"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
)

// ahead foretells on a second processor what the search will most likely ask next: of a
// pod that may join a wave, its landing at the wave's beginning; of one that will most
// likely stay, the landing of the next candidate, in a copy of the world. What it finds
// is what the search would have found itself, so that plans do not depend on it.
type ahead struct {
	jobs chan func()
	done chan struct{}
	busy bool

	// What was foretold: of the pod, in the scene after so many shifts.
	scene  *scene
	pod    cluster.PodID
	shifts int
	got    prediction.Prediction

	replica *placement.ClusterModel // follows the search's scene
	made    []shifted               // what it has yet to follow
	joined  bool                    // the last pod that was asked about joined its wave
}

// shifted is a pod's going to a node.
type shifted struct {
	pod cluster.PodID
	to  cluster.NodeID
}

// aheadFrom nodes on a landing takes long enough to hand it over: some 30 us.
const aheadFrom = 500

// goAhead begins to foretell ahead, where there are processors for it; stop ends it.
func (c *search) goAhead() (stop func()) {
	if runtime.GOMAXPROCS(0) < 2 || len(c.s.Nodes) < aheadFrom || c.opts.steers() {
		return func() {}
	}
	a := &ahead{jobs: make(chan func()), done: make(chan struct{}), pod: -1, joined: true}
	go func() {
		for job := range a.jobs {
			job()
			a.done <- struct{}{}
		}
	}()
	c.scene.ahead, c.scene.leads, c.wave.start.ahead = a, true, a
	return func() {
		a.wait()
		close(a.jobs)
		c.scene.ahead, c.wave.start.ahead = nil, nil
	}
}

// wait lets what is under way end.
func (a *ahead) wait() {
	if a != nil && a.busy {
		<-a.done
		a.busy = false
	}
}

// begin lets a landing be foretold beside. The world must not be touched until wait.
func (a *ahead) begin(c *scene, w *placement.ClusterModel, pod cluster.PodID) {
	a.scene, a.pod, a.shifts, a.busy = c, pod, c.shifts, true
	made := a.made
	if w != a.replica {
		made = nil
	} else {
		a.made = nil
	}
	a.jobs <- func() {
		for _, m := range made {
			w.Move(m.pod, m.to)
		}
		a.got = w.PredictOdds(pod)
	}
}

// expect lets either of two landings be foretold beside that of a pod in the search's
// scene: that of the pod at the beginning of the wave, or of the next candidate.
func (a *ahead) expect(c *search, pod cluster.PodID) {
	if a == nil || a.has(c.scene, pod) {
		return
	}
	a.wait()
	switch {
	case a.joined:
		if len(c.wave.steps) > 0 {
			a.begin(c.wave.start, c.wave.start.world, pod)
		}
	case c.next >= 0:
		if a.replica == nil {
			a.replica, a.made = c.world.Clone(), nil
		}
		a.begin(c.scene, a.replica, c.next)
	}
}

// hear tells whether a pod that was asked about may join. If not, nobody asks how it lands
// at the beginning of the wave.
func (a *ahead) hear(start *scene, joins bool) {
	if a == nil {
		return
	}
	if a.joined = joins; !joins && a.scene == start {
		a.wait()
	}
}

// has reports whether the landing is, or is being, foretold.
func (a *ahead) has(c *scene, pod cluster.PodID) bool {
	return a.scene == c && a.pod == pod && a.shifts == c.shifts
}

// foretell says where the replacement of a pod lands. It is good until the next landing
// in the scene.
func (c *scene) foretell(pod cluster.PodID) prediction.Prediction {
	if a := c.ahead; a != nil && a.has(c, pod) {
		a.wait()
		a.pod = -1 // the next prediction there overwrites it
		return a.got
	}
	return c.world.PredictOdds(pod)
}

// follow notes a move for the replica.
func (a *ahead) follow(pod cluster.PodID, to cluster.NodeID) {
	if a.replica != nil {
		a.made = append(a.made, shifted{pod, to})
	}
}
