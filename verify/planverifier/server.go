package planverifier

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/plan"
)

// Course is one way in which the calls of a plan can go.
type Course struct {
	// Order says in which order the n calls of a wave are made; nil: as planned.
	Order func(n int) []int
	// Late: the disruption controller writes no status before victims are gone.
	// Otherwise it does so before the first call and after each.
	Late bool
	// Early says, after each call, whether the replacement of the wave's first
	// victim that has none comes up at once; nil: all come at the wave's end.
	Early func() bool
	// Calls ends the course after so many calls; 0: none is left out.
	Calls int
}

// Replay has the calls of a plan answered one by one, as an API server and its
// disruption controller answer, and looks after each call, that is after each
// prefix, whether what budgets and limits hold is still there. It finds what no
// single look at a wave finds; what a call may not do whatever else is done is
// Check's to say.
func Replay(o *cluster.Objects, c Rules, p plan.Plan, now time.Time, course Course) []Violation {
	return run(o, c, p, now, course).found
}

// server is a replay with the server's memory: the status of every budget.
type server struct {
	*replay
	course Course
	made   int
	away   []call // of the wave, in order, without a replacement
	gone   []call // all calls that were let go
	// ahead is by how much the status that stands there differs from the pods.
	ahead map[string]int
}

func run(o *cluster.Objects, c Rules, p plan.Plan, now time.Time, course Course) *server {
	s := &server{replay: &replay{world: look(o), rules: c, now: now, walls: map[string]wall{}, beginnings: map[string][]int{}}, course: course, ahead: map[string]int{}}
	waves := s.waves(p)
	for i, b := range s.budgets {
		s.budgets[i].PodDisruptionBudget = b.DeepCopy()
		s.ahead[key(b)] = int(b.Status.CurrentHealthy) - s.sync(b).healthy
	}
	s.found = nil // Check says those
	if !course.Late {
		s.write()
	}
	for _, w := range waves {
		if s.over() {
			break
		}
		s.play(w)
	}
	return s
}

func (s *server) over() bool { return s.course.Calls > 0 && s.made >= s.course.Calls }

// play makes the calls of one wave. A wave that is cut short ends as it stands.
func (s *server) play(calls []call) {
	order := make([]int, len(calls))
	for i := range order {
		order[i] = i
	}
	if s.course.Order != nil {
		order = s.course.Order(len(calls))
	}
	for _, i := range order {
		if s.over() {
			return
		}
		s.made++
		s.call(calls[i])
		if s.course.Early != nil && s.course.Early() && len(s.away) > 0 {
			s.write()
			s.replace(s.away[:1])
			s.away = s.away[1:]
		}
		if !s.course.Late {
			s.write()
		}
	}
	if s.over() {
		return // not even its replacements are there
	}
	s.write()
	s.replace(s.away)
	s.away = nil
	s.write()
}

// call is one eviction: the answer, and the look at what is left.
func (s *server) call(c call) {
	k := key(c.pod)
	pod := s.live[k]
	if pod == nil || leaving(pod) {
		return
	}
	if !s.answer(c, pod) {
		return
	}
	wasReady := ready(pod)
	victim := pod.DeepCopy()
	end := metav1.NewTime(s.now)
	victim.DeletionTimestamp = &end
	s.live[k] = victim
	s.away = append(s.away, c)
	s.gone = append(s.gone, c)
	if wasReady {
		s.budgetsHold(c)
		s.servicesHold(c)
	}
	s.workloadHolds(c)
	s.inFlight(s.away)
}

// answer is that of the eviction handler (pkg/registry/core/pod/storage/eviction.go).
func (s *server) answer(c call, pod *corev1.Pod) bool {
	if ended(pod) || pod.Status.Phase == corev1.PodPending {
		return true // against no budget
	}
	budgets := s.budgetsOf(pod.Namespace, pod.Labels)
	switch len(budgets) {
	case 0:
		return true
	case 1:
	default:
		s.object(c.move, plan.MultiplePDBs, "the server refuses: %d budgets", len(budgets))
		return false
	}
	b := budgets[0]
	st := &b.Status
	if !condition(pod.Status.Conditions, corev1.PodReady) {
		if u := b.Spec.UnhealthyPodEvictionPolicy; u != nil && *u == policyv1.AlwaysAllow {
			return true
		}
		if st.DesiredHealthy > 0 && st.CurrentHealthy >= st.DesiredHealthy {
			return true
		}
	}
	switch {
	case st.ObservedGeneration < b.Generation:
		s.object(c.move, plan.PDBNotObserved, "the server refuses: budget %s was changed", b.Name)
		return false
	case st.DisruptionsAllowed < 1:
		s.object(c.move, plan.BlockedByPDB, "the server refuses: budget %s allows %d at call %d", b.Name, st.DisruptionsAllowed, s.made)
		return false
	}
	st.DisruptionsAllowed--
	if st.DisruptedPods == nil {
		st.DisruptedPods = map[string]metav1.Time{}
	}
	st.DisruptedPods[pod.Name] = metav1.NewTime(s.now)
	return true
}

// write is the disruption controller's work on all budgets.
func (s *server) write() {
	for _, b := range s.budgets {
		for name, at := range b.Status.DisruptedPods {
			if pod := s.live[b.Namespace+"/"+name]; pod == nil || leaving(pod) || !at.Add(takenFor).After(s.now) {
				delete(b.Status.DisruptedPods, name)
			}
		}
		now, st := s.sync(b), &b.Status
		if now.foreign { // the server alone knows the scale: its own numbers move on
			now.expected, now.desired, now.scaled = int(st.ExpectedPods), int(st.DesiredHealthy), true
			now.healthy += s.ahead[key(b)]
		}
		st.ObservedGeneration = b.Generation
		st.DisruptionsAllowed = int32(now.allowed())
		if now.scaled {
			st.CurrentHealthy, st.DesiredHealthy, st.ExpectedPods = int32(now.healthy), int32(now.desired), int32(now.expected)
		}
	}
}

// budgetsHold: a Ready pod has left, and each of its budgets has its healthy ones.
func (s *server) budgetsHold(c call) {
	for _, b := range s.budgetsOf(c.pod.Namespace, c.pod.Labels) {
		now := s.sync(b)
		if now.foreign {
			now.desired = int(b.Status.DesiredHealthy)
			now.healthy += s.ahead[key(b)]
		}
		if now.healthy < now.desired {
			s.object(c.move, plan.BlockedByPDB, "budget %s has %d healthy pods of %d after call %d", b.Name, now.healthy, now.desired, s.made)
		}
	}
}

func (s *server) servicesHold(c call) {
	if !s.rules.Protect["LastReadyPods"] {
		return
	}
	for _, svc := range s.services {
		if svc.selects(c.pod) && s.behind(svc) == 0 {
			s.object(c.move, plan.LastReadyPod, "nothing is Ready behind Service %s after call %d", svc.key, s.made)
		}
	}
}

func (s *server) workloadHolds(c call) {
	owner := s.chainOf(c.pod).id
	if owner == "" || len(s.budgetsOf(c.pod.Namespace, c.pod.Labels)) > 0 {
		return
	}
	if want, known := s.desired(c.pod); known && want-s.up(c.pod.Namespace, owner) > s.rules.MaxUnavailableWithoutPDB {
		s.object(c.move, plan.WorkloadUnavailable, "%d of %d pods of %s are away after call %d", want-s.up(c.pod.Namespace, owner), want, owner, s.made)
	}
}
