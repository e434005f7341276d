package podfilter

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Containers selects the containers of a pod that count besides its main containers. Sidecars are init containers. The
// end of an init container with exit code 0 never counts, because every healthy pod has it.
type Containers struct {
	Init, Ephemeral bool
}

// initList is the index of the init containers in lists.
const initList = 1

// hasSucceeded reports whether a container ended with exit code 0.
func hasSucceeded(c *corev1.ContainerStatus) bool {
	return c.State.Terminated != nil && c.State.Terminated.ExitCode == 0
}

// lists returns an array, which needs no allocation. Lists that do not count are empty.
func (c Containers) lists(p *corev1.Pod) (lists [3][]corev1.ContainerStatus) {
	lists[0] = p.Status.ContainerStatuses
	if c.Init {
		lists[initList] = p.Status.InitContainerStatuses
	}
	if c.Ephemeral {
		lists[2] = p.Status.EphemeralContainerStatuses
	}
	return lists
}

// Restarts returns the sum of the restarts of the containers.
func (c Containers) Restarts(p *corev1.Pod) int64 {
	var n int64
	for _, list := range c.lists(p) {
		for i := range list {
			n += int64(list[i].RestartCount)
		}
	}
	return n
}

// Waiting returns the first of the reasons for which a container waits.
func (c Containers) Waiting(p *corev1.Pod, reasons []string) (reason string, ok bool) {
	return c.find(p, reasons, waitingReason)
}

// Reason returns the first of the reasons that the status of the pod, or the state of a container, has.
func (c Containers) Reason(p *corev1.Pod, reasons []string) (reason string, ok bool) {
	if r := p.Status.Reason; r != "" && slices.Contains(reasons, r) {
		return r, true
	}
	if r, ok := c.find(p, reasons, waitingReason); ok {
		return r, true
	}
	return c.find(p, reasons, func(s *corev1.ContainerState) string {
		if s.Terminated == nil {
			return ""
		}
		return s.Terminated.Reason
	})
}

func waitingReason(s *corev1.ContainerState) string {
	if s.Waiting == nil {
		return ""
	}
	return s.Waiting.Reason
}

// find returns the first reason of a container that the list contains.
func (c Containers) find(p *corev1.Pod, reasons []string, reasonOf func(*corev1.ContainerState) string) (string, bool) {
	for kind, list := range c.lists(p) {
		for i := range list {
			if kind == initList && hasSucceeded(&list[i]) {
				continue
			}
			if r := reasonOf(&list[i].State); r != "" && slices.Contains(reasons, r) {
				return r, true
			}
		}
	}
	return "", false
}

// State returns the first of the states that the pod has: its phase, or a reason as Reason finds it.
func (c Containers) State(p *corev1.Pod, states []string) (state string, ok bool) {
	if phase := string(p.Status.Phase); slices.Contains(states, phase) {
		return phase, true
	}
	return c.Reason(p, states)
}

// ExitCode returns the first of the codes with which a container has terminated.
func (c Containers) ExitCode(p *corev1.Pod, codes []int) (code int, ok bool) {
	for kind, list := range c.lists(p) {
		for i := range list {
			if kind == initList && hasSucceeded(&list[i]) {
				continue
			}
			if t := list[i].State.Terminated; t != nil && slices.Contains(codes, int(t.ExitCode)) {
				return int(t.ExitCode), true
			}
		}
	}
	return 0, false
}
