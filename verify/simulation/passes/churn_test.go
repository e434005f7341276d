package passes

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/placement"
	"github.com/evenkeel-project/evenkeel/placement/prediction"
)

// applyChurn applies the changes between two passes and schedules new pods.
func (c *Simulation) applyChurn() {
	for range c.randomCount(c.Churn.Leaves) {
		c.removeNode()
	}
	for range c.randomCount(c.Churn.Joins) {
		c.addNode()
	}
	for range c.randomCount(c.Churn.Rollouts) {
		c.rollOut(c.r.IntN(len(c.o.Deployments)))
	}
	for range c.randomCount(c.Churn.Scalings) {
		c.scaleDeployment(c.r.IntN(len(c.o.Deployments)))
	}
	c.schedule()
}

// randomCount returns a random number of events between two passes for a mean number per hour.
func (c *Simulation) randomCount(perHour float64) int {
	mean := perHour * float64(c.EveryMinutes) / 60
	n := int(mean)
	if c.r.Float64() < mean-float64(n) {
		n++
	}
	return n
}

// newPod returns a new unbound pod of a ReplicaSet.
func (c *Simulation) newPod(rs *appsv1.ReplicaSet) *corev1.Pod {
	name := fmt.Sprintf("%s-%02d", rs.Name, c.podsCreated[string(rs.UID)])
	c.podsCreated[string(rs.UID)]++
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: rs.Namespace, Name: name,
		UID: types.UID(fmt.Sprintf("%s@%d", name, c.now.Unix())), Labels: rs.Spec.Template.Labels, CreationTimestamp: metav1.NewTime(c.now),
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}},
		Spec: rs.Spec.Template.Spec, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	c.histories[string(p.UID)] = &podHistory{unmet: map[unmetGoal]bool{}}
	c.templateRequests[string(p.UID)] = p.Spec.Containers[0].Resources.Requests
	return p
}

func (c *Simulation) removePodRecord(p *corev1.Pod) {
	delete(c.histories, string(p.UID))
	delete(c.templateRequests, string(p.UID))
}

// removePods removes the pods for which gone returns true, and returns them.
func (c *Simulation) removePods(gone func(*corev1.Pod) bool) (out []*corev1.Pod) {
	c.o.Pods = slices.DeleteFunc(slices.Clone(c.o.Pods), func(p *corev1.Pod) bool {
		if gone(p) {
			out = append(out, p)
			c.removePodRecord(p)
			return true
		}
		return false
	})
	return out
}

// addNode adds a copy of the first node under a new name.
func (c *Simulation) addNode() {
	n := c.o.Nodes[0].DeepCopy()
	n.Name = fmt.Sprintf("n%05d", c.nodesCreated)
	n.UID = types.UID(n.Name)
	n.Labels["topology.kubernetes.io/zone"], n.Labels["kubernetes.io/hostname"] = fmt.Sprintf("z%d", c.nodesCreated%3), n.Name
	c.nodesCreated++
	c.o.Nodes = append(slices.Clone(c.o.Nodes), n)
}

// removeNode removes a random node. The ReplicaSets create its pods again, and the scheduler binds
// them to other nodes.
func (c *Simulation) removeNode() {
	i := c.r.IntN(len(c.o.Nodes))
	name := c.o.Nodes[i].Name
	c.o.Nodes = slices.Delete(slices.Clone(c.o.Nodes), i, i+1)
	sets := map[types.UID]*appsv1.ReplicaSet{}
	for _, rs := range c.o.ReplicaSets {
		sets[rs.UID] = rs
	}
	for _, p := range c.removePods(func(p *corev1.Pod) bool { return p.Spec.NodeName == name }) {
		if p.Status.Phase != corev1.PodFailed {
			c.o.Pods = append(c.o.Pods, c.newPod(sets[p.OwnerReferences[0].UID]))
		}
	}
}

// rollOut replaces the ReplicaSet of a Deployment with a new one.
func (c *Simulation) rollOut(i int) {
	old, d := c.o.ReplicaSets[i], *c.o.Deployments[i]
	hashed := map[string]string{"app": d.Name, "pod-template-hash": fmt.Sprintf("t%d", c.now.Unix()/60)}
	rs := *old
	rs.Name = d.Name + "-" + hashed["pod-template-hash"]
	if rs.Name == old.Name {
		return // it already rolled out between these passes
	}
	rs.UID, rs.Labels = types.UID("rs-"+rs.Name), hashed
	rs.Spec.Selector = &metav1.LabelSelector{MatchLabels: hashed}
	rs.Spec.Template.Labels = hashed
	now := rs.Spec.Template.Spec.Containers[0].Resources.Requests
	factor := 0.8 + 0.45*c.r.Float64()
	if cpu := now.Cpu().MilliValue(); cpu > 600 && factor > 1 || cpu < 100 && factor < 1 {
		factor = 1 / factor // keep requests within 100 to 600 milliCPU
	}
	rs.Spec.Template.Spec.Containers = []corev1.Container{rs.Spec.Template.Spec.Containers[0]}
	rs.Spec.Template.Spec.Containers[0].Resources.Requests = scaleRequests(now, factor)
	d.Spec.Template = rs.Spec.Template
	for _, p := range c.removePods(func(p *corev1.Pod) bool { return p.OwnerReferences[0].UID == old.UID }) {
		if p.Status.Phase != corev1.PodFailed {
			c.o.Pods = append(c.o.Pods, c.newPod(&rs))
		}
	}
	c.o.ReplicaSets[i], c.o.Deployments[i] = &rs, &d
}

// scaleDeployment changes the replicas of a Deployment to a number from 4 to 60.
func (c *Simulation) scaleDeployment(i int) {
	rs, d := *c.o.ReplicaSets[i], *c.o.Deployments[i]
	was := int(*d.Spec.Replicas)
	by := max(1, int(float64(was)*(0.2+0.3*c.r.Float64())))
	if c.r.IntN(2) == 0 && was-by >= 4 || was+by > 60 {
		by = -by
	}
	n := int32(was + by)
	d.Spec.Replicas, rs.Spec.Replicas = &n, &n
	c.o.ReplicaSets[i], c.o.Deployments[i] = &rs, &d
	for range by {
		c.o.Pods = append(c.o.Pods, c.newPod(&rs))
	}
	left := -by
	c.removePods(func(p *corev1.Pod) bool {
		if p.OwnerReferences[0].UID != rs.UID || p.Status.Phase == corev1.PodFailed {
			return false
		}
		left--
		return left >= 0
	})
}

// schedule binds each Pending pod to a random node, with the predicted probabilities.
func (c *Simulation) schedule() {
	c.placed = 0
	if !slices.ContainsFunc(c.o.Pods, func(p *corev1.Pod) bool { return p.Spec.NodeName == "" }) {
		return
	}
	s := c.takeSnapshot()
	w := placement.NewClusterModel(s, c.conf.PlannerOptions().Placement)
	for i, p := range c.o.Pods {
		if p.Spec.NodeName != "" {
			continue
		}
		id := s.PodByUID(string(p.UID)).ID
		if to := c.drawLanding(w.Predict(id)); to != cluster.NoNode {
			w.Cluster.Move(id, to)
			c.placed++
			c.o.Pods[i] = bindPod(p, s.Nodes[to].Name, metav1.NewTime(c.now))
		}
	}
}

// drawLanding draws a random node from a prediction. drawLanding returns NoNode if the pod stays Pending.
func (c *Simulation) drawLanding(pr prediction.Prediction) cluster.NodeID {
	st := pr.Terminating
	if c.r.Float64() < pr.WeightGone {
		st = pr.Gone
	}
	if c.UnpredictedFrac > 0 && len(st.Feasible) > 0 && c.r.Float64() < c.UnpredictedFrac {
		return st.Feasible[c.r.IntN(len(st.Feasible))]
	}
	x := c.r.Float64()
	for i, n := range st.Winners {
		if x -= st.WinnerProb(i); x < 0 || i == len(st.Winners)-1 {
			return n
		}
	}
	return cluster.NoNode
}

// bindPod returns a copy of the pod that is bound to the node and Ready.
func bindPod(p *corev1.Pod, node string, at metav1.Time) *corev1.Pod {
	out := *p
	out.Spec.NodeName = node
	out.Status = corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &at,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at}}}
	return &out
}
