package cluster

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/evenkeel-project/evenkeel/cluster/kubeversion"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
)

func cpuList(milli int64) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: *resource.NewMilliQuantity(milli, resource.DecimalSI)}
}

// container returns a container that requests CPU and 1Gi of memory.
func container(name string, milliCPU int64) corev1.Container {
	list := cpuList(milliCPU)
	list[corev1.ResourceMemory] = resource.MustParse("1Gi")
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: list}}
}

// containerStatus has actual and allocated requests; -1 leaves them out.
func containerStatus(name string, actual, allocated int64) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: name}
	if actual >= 0 {
		s.Resources = &corev1.ResourceRequirements{Requests: cpuList(actual)}
	}
	if allocated >= 0 {
		s.AllocatedResources = cpuList(allocated)
	}
	return s
}

// TestRequestsByVersion checks the requests that each version of kube-scheduler counts for a pod on
// a node, in milliCPU. Specified, allocated and actual requests are written as S, L and A.
func TestRequestsByVersion(t *testing.T) {
	type byVersion = map[int]int64
	always := corev1.ContainerRestartPolicyAlways
	infeasible := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue,
			Reason: corev1.PodReasonInfeasible}}
	}
	containers := func(p *corev1.Pod, list ...corev1.Container) { p.Spec.Containers = list }
	statuses := func(p *corev1.Pod, list ...corev1.ContainerStatus) { p.Status.ContainerStatuses = list }
	for _, c := range []struct {
		name string
		edit func(*corev1.Pod)
		want byVersion
	}{
		{"no status", func(p *corev1.Pod) { containers(p, container("a", 200), container("b", 500)) },
			byVersion{33: 700, 34: 700, 35: 700, 36: 700, 37: 700}},
		// S 600 + 100, L and A 200 + 500. By container: 600 + 500.
		{"one grows, one shrinks", func(p *corev1.Pod) {
			containers(p, container("a", 600), container("b", 100))
			statuses(p, containerStatus("a", 200, 200), containerStatus("b", 500, 500))
		}, byVersion{33: 1100, 34: 1100, 35: 1100, 36: 1100, 37: 700}},
		// S 200, L 400, no A. Before 1.37 a status without actual requests does not count.
		{"allocated, not actual", func(p *corev1.Pod) {
			containers(p, container("a", 200))
			statuses(p, containerStatus("a", -1, 400))
		}, byVersion{33: 200, 34: 200, 35: 200, 36: 200, 37: 400}},
		// a: S, L and A 200. b: S 100, L 400, no A. By container: 200 + 100. By pod: L 200 + 400.
		{"allocated, not actual, beside another", func(p *corev1.Pod) {
			containers(p, container("a", 200), container("b", 100))
			statuses(p, containerStatus("a", 200, 200), containerStatus("b", -1, 400))
		}, byVersion{33: 300, 34: 300, 35: 300, 36: 300, 37: 600}},
		// S 900 is infeasible, L 300, A 400.
		{"infeasible", func(p *corev1.Pod) {
			containers(p, container("a", 900))
			statuses(p, containerStatus("a", 400, 300))
			infeasible(p)
		}, byVersion{33: 400, 34: 400, 35: 400, 36: 400, 37: 400}},
		// By container: the infeasible 900 of a does not count, b has no status, so 300 + 100. By pod:
		// without a status, infeasible b has neither L nor A, so 300.
		{"infeasible, one without status", func(p *corev1.Pod) {
			containers(p, container("a", 900), container("b", 100))
			statuses(p, containerStatus("a", 300, 300))
			infeasible(p)
		}, byVersion{33: 400, 34: 400, 35: 400, 36: 400, 37: 300}},
		// An ordinary init container: S 100, L and A 800. Its status counts only in 1.37.
		{"init container", func(p *corev1.Pod) {
			containers(p, container("a", 200))
			p.Spec.InitContainers = []corev1.Container{container("i", 100)}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{containerStatus("i", 800, 800)}
		}, byVersion{33: 200, 34: 200, 35: 200, 36: 200, 37: 800}},
		// A sidecar: S 100, L and A 800. Its status counts in every version, and it adds to a.
		{"sidecar", func(p *corev1.Pod) {
			containers(p, container("a", 200))
			sidecar := container("i", 100)
			sidecar.RestartPolicy = &always
			p.Spec.InitContainers = []corev1.Container{sidecar}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{containerStatus("i", 800, 800)}
		}, byVersion{33: 1000, 34: 1000, 35: 1000, 36: 1000, 37: 1000}},
		{"overhead", func(p *corev1.Pod) {
			containers(p, container("a", 200))
			statuses(p, containerStatus("a", 300, 100))
			p.Spec.Overhead = cpuList(50)
		}, byVersion{33: 350, 34: 350, 35: 350, 36: 350, 37: 350}},
		{"pod level", func(p *corev1.Pod) {
			containers(p, container("a", 200))
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: cpuList(900)}
		}, byVersion{33: 200, 34: 900, 35: 900, 36: 900, 37: 900}},
		// Pod level: S 900, L 950, A 1000.
		{"pod-level statuses", func(p *corev1.Pod) {
			containers(p, container("a", 200))
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: cpuList(900)}
			p.Status.Resources = &corev1.ResourceRequirements{Requests: cpuList(1000)}
			p.Status.AllocatedResources = cpuList(950)
		}, byVersion{33: 200, 34: 900, 35: 900, 36: 1000, 37: 1000}},
		{"pod-level statuses, infeasible", func(p *corev1.Pod) {
			containers(p, container("a", 200))
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: cpuList(900)}
			p.Status.Resources = &corev1.ResourceRequirements{Requests: cpuList(300)}
			p.Status.AllocatedResources = cpuList(400)
			infeasible(p)
		}, byVersion{33: 200, 34: 900, 35: 900, 36: 400, 37: 400}},
		// No pod-level requests, but pod-level statuses: 1.37 takes them in place of the sums of L and A.
		{"pod-level statuses alone", func(p *corev1.Pod) {
			containers(p, container("a", 200))
			p.Status.Resources = &corev1.ResourceRequirements{Requests: cpuList(600)}
			p.Status.AllocatedResources = cpuList(600)
		}, byVersion{33: 200, 34: 200, 35: 200, 36: 200, 37: 600}},
		// The spec names memory only. CPU of the status counts in 1.37: L and A 600.
		{"pod-level statuses with another resource", func(p *corev1.Pod) {
			containers(p, container("a", 200))
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"memory": resource.MustParse("4Gi")}}
			p.Status.Resources = &corev1.ResourceRequirements{Requests: cpuList(600)}
			p.Status.AllocatedResources = cpuList(600)
		}, byVersion{33: 200, 34: 200, 35: 200, 36: 200, 37: 600}},
	} {
		for minor, want := range c.want {
			p := &corev1.Pod{}
			c.edit(p)
			features := kubeversion.Of(minor)
			if exact, _ := effectiveRequests(p, &features); exact.MilliCPU != want {
				t.Errorf("%s, 1.%d: %dm, want %dm", c.name, minor, exact.MilliCPU, want)
			}
		}
	}
}

// TestAssumedRequestsByVersion: scores assume 100m for a container without a CPU request. Pod-level
// requests replace the assumption, but 1.33 ignores them. Before 1.37 the assumption is added to
// the maximum of the container, so a container whose status has CPU gets none.
func TestAssumedRequestsByVersion(t *testing.T) {
	podLevel := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}, {Name: "b"}},
		Resources: &corev1.ResourceRequirements{Requests: cpuList(900)}}}
	one := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}, container("b", 300)},
		Resources: &corev1.ResourceRequirements{Requests: cpuList(900)}}}
	resized := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}, container("b", 300)}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			containerStatus("a", 50, 50), containerStatus("b", 300, 300)}}}
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
		want map[int]int64
	}{
		{"pod level", podLevel, map[int]int64{33: 200, 34: 900, 36: 900, 37: 900}},
		{"pod level, and one container requests", one, map[int]int64{33: 400, 34: 900, 36: 900, 37: 900}},
		// By container: 50 + 300. By pod: S 100 + 300, L and A 50 + 300.
		{"no request, but a status", resized, map[int]int64{33: 350, 34: 350, 36: 350, 37: 400}},
	} {
		for minor, want := range c.want {
			features := kubeversion.Of(minor)
			if _, nonZero := effectiveRequests(c.pod, &features); nonZero.MilliCPU != want {
				t.Errorf("%s, 1.%d: %dm, want %dm", c.name, minor, nonZero.MilliCPU, want)
			}
		}
	}
}

// TestRequestsOfAStatusThatAgrees compares the requests of pods, whose status agrees with the spec or not, with those
// that the helpers of Kubernetes compute from spec and status.
func TestRequestsOfAStatusThatAgrees(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	agreed := 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 38))
		amounts := []int64{-1, 100, 100, 100, 300}
		amount := func() int64 { return amounts[r.IntN(len(amounts))] }
		list := func(n int) (of []corev1.Container, statuses []corev1.ContainerStatus) {
			for i := range n {
				name := fmt.Sprintf("%d-%d", n, i)
				c := corev1.Container{Name: name}
				if r.IntN(4) > 0 {
					c = container(name, 100)
				}
				s := containerStatus(name, amount(), amount())
				for _, l := range []corev1.ResourceList{s.AllocatedResources, ptr.Deref(s.Resources, corev1.ResourceRequirements{}).Requests} {
					if memory, has := c.Resources.Requests["memory"]; has && l != nil && r.IntN(8) > 0 {
						l["memory"] = memory
					}
				}
				of = append(of, c)
				if r.IntN(3) > 0 {
					statuses = append(statuses, s)
				}
			}
			return of, statuses
		}
		p := &corev1.Pod{}
		p.Spec.Containers, p.Status.ContainerStatuses = list(1 + r.IntN(2))
		p.Spec.InitContainers, p.Status.InitContainerStatuses = list(3 * r.IntN(2))
		if len(p.Spec.InitContainers) > 0 && r.IntN(2) == 0 {
			p.Spec.InitContainers[0].RestartPolicy = &always
		}
		if r.IntN(4) == 0 {
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: cpuList(900)}
		}
		if r.IntN(8) == 0 {
			p.Status.Resources, p.Status.AllocatedResources = &corev1.ResourceRequirements{Requests: cpuList(600)}, cpuList(500)
		}
		if r.IntN(8) == 0 {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible}}
		}
		if statusAgrees(p) {
			agreed++
		}
		for minor := 33; minor <= 37; minor++ {
			features := kubeversion.Of(minor)
			exact, nonZero := effectiveRequests(p, &features)
			from, opts := withStatus(p, &features), requestOptions(&features)
			all := helpers.PodRequests(from, opts)
			opts.NonMissingContainerRequests = maps.Clone(DefaultScoreRequests)
			if features.PodLevelResources && p.Spec.Resources != nil {
				delete(opts.NonMissingContainerRequests, "cpu")
				if _, given := all["memory"]; given {
					delete(opts.NonMissingContainerRequests, "memory")
				}
			}
			want, wantNonZero := ResourcesOf(all), ResourcesOf(helpers.PodRequests(from, opts))
			if !reflect.DeepEqual(exact, want) || !reflect.DeepEqual(nonZero, wantNonZero) {
				t.Fatalf("seed %d, 1.%d: %+v and %+v, want %+v and %+v of %+v", seed, minor, exact, nonZero, want, wantNonZero, p)
			}
		}
	}
	if agreed < 400 || agreed > 3600 {
		t.Errorf("the status of %d of 4000 pods agrees", agreed)
	}
}

// TestWithLargestRequestsKeepsThePod checks that the pod of the snapshot does not change.
func TestWithLargestRequestsKeepsThePod(t *testing.T) {
	p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container("a", 200)},
		Resources: &corev1.ResourceRequirements{Requests: cpuList(100)}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{containerStatus("a", 300, 300)},
			Resources: &corev1.ResourceRequirements{Requests: cpuList(400)}, AllocatedResources: cpuList(400)}}
	before, features := p.DeepCopy(), kubeversion.Of(36)
	effectiveRequests(p, &features)
	if !sameRequestInputs(before, p) {
		t.Errorf("the pod changed to %+v", p)
	}
}
