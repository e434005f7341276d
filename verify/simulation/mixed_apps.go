package simulation

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// addOwner adds an owner above the workload and sets it as the controller of the pods or of the previous owner.
func (m *mixedCluster) addOwner(a *mixedApp, apiVersion, kind string, o *metav1.ObjectMeta, name string) {
	o.Namespace, o.Name, o.Generation, o.Annotations = a.ns, name, 1, map[string]string{}
	o.UID = types.UID(kind + "-" + a.ns + "-" + name)
	if owners := controlledBy(apiVersion, kind, name, o.UID); len(a.meta) > 0 {
		a.meta[len(a.meta)-1].OwnerReferences = owners
	} else {
		a.owners = owners
	}
	a.meta = append(a.meta, o)
}

func (m *mixedCluster) addReplicaSet(a *mixedApp, hash string) *appsv1.ReplicaSet {
	hashed := maps.Clone(a.template.Labels)
	hashed["pod-template-hash"] = hash
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Labels: hashed}, Spec: appsv1.ReplicaSetSpec{Replicas: new(a.n),
		Selector: matchLabels(hashed), Template: *a.template.DeepCopy()},
		Status: appsv1.ReplicaSetStatus{Replicas: a.n, ReadyReplicas: a.n, ObservedGeneration: 1}}
	rs.Spec.Template.Labels = hashed
	m.base.o.ReplicaSets = append(m.base.o.ReplicaSets, rs)
	return rs
}

func (m *mixedCluster) addDeployment(a *mixedApp) {
	rs := m.addReplicaSet(a, "x")
	m.addOwner(a, "apps/v1", "ReplicaSet", &rs.ObjectMeta, a.name+"-x")
	n := a.n
	d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &n, Selector: matchLabels(a.labels),
		Template: *a.template.DeepCopy()},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n}}
	m.addOwner(a, "apps/v1", "Deployment", &d.ObjectMeta, a.name)
	m.base.o.Deployments = append(m.base.o.Deployments, d)
	m.addPods(a, rs.Labels, a.name+"-x-%02d")
	if m.base.chance(0.12) {
		m.startRollout(a, d)
	}
}

// startRollout puts a Deployment into one of the states of a rollout.
func (m *mixedCluster) startRollout(a *mixedApp, d *appsv1.Deployment) {
	switch m.base.r.IntN(4) {
	case 0:
		d.Generation = 2
	case 1: // paused, with a pending change: no pod has the new template
		d.Spec.Paused, d.Status.UpdatedReplicas = true, 0
		d.Spec.Template.Spec.Containers[0].Image = "registry.example.com/" + a.name + ":v2"
	case 2: // a new ReplicaSet has no pod yet
		d.Status.UpdatedReplicas = 0
		old := a.meta[0].OwnerReferences
		rs := m.addReplicaSet(a, "y")
		rs.Namespace, rs.Name, rs.UID, rs.OwnerReferences = a.ns, a.name+"-y", types.UID("rs-y-"+a.ns+a.name), old
		rs.Spec.Replicas = new(int32(1))
		rs.Spec.Template.Spec.Containers[0].Image = "registry.example.com/" + a.name + ":v2"
		d.Spec.Template.Spec.Containers[0].Image = rs.Spec.Template.Spec.Containers[0].Image
	case 3: // the Deployment scales down
		*d.Spec.Replicas--
	}
}

func (m *mixedCluster) addBareReplicaSet(a *mixedApp) {
	rs := m.addReplicaSet(a, "x")
	m.addOwner(a, "apps/v1", "ReplicaSet", &rs.ObjectMeta, a.name)
	m.addPods(a, rs.Labels, a.name+"-%02d")
}

func (m *mixedCluster) addReplicationController(a *mixedApp) {
	n := a.n
	rc := &corev1.ReplicationController{Spec: corev1.ReplicationControllerSpec{Replicas: &n, Selector: a.labels,
		Template: a.template.DeepCopy()}, Status: corev1.ReplicationControllerStatus{Replicas: n, ObservedGeneration: 1}}
	m.addOwner(a, "v1", "ReplicationController", &rc.ObjectMeta, a.name)
	m.base.o.ReplicationControllers = append(m.base.o.ReplicationControllers, rc)
	m.addPods(a, a.template.Labels, a.name+"-%02d")
}

func (m *mixedCluster) addStatefulSet(a *mixedApp) {
	n := a.n
	s := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: &n, Selector: matchLabels(a.labels),
		Template: *a.template.DeepCopy(),
		UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType,
			RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(0))}}},
		Status: appsv1.StatefulSetStatus{ObservedGeneration: 1, Replicas: n, ReadyReplicas: n, CurrentReplicas: n, UpdatedReplicas: n,
			CurrentRevision: a.name + "-r1", UpdateRevision: a.name + "-r1"}}
	m.addOwner(a, "apps/v1", "StatefulSet", &s.ObjectMeta, a.name)
	m.base.o.StatefulSets = append(m.base.o.StatefulSets, s)
	m.addPods(a, a.template.Labels, a.name+"-%d")
	for _, p := range a.pods {
		p.Labels[appsv1.ControllerRevisionHashLabelKey] = a.name + "-r1"
		p.Labels[appsv1.StatefulSetPodNameLabel] = p.Name
	}
	if m.base.chance(0.35) {
		m.addSecondRevision(a, s)
	}
}

// addSecondRevision gives a StatefulSet two revisions, with OnDelete, with a partition, or during an update.
func (m *mixedCluster) addSecondRevision(a *mixedApp, s *appsv1.StatefulSet) {
	s.Status.UpdateRevision = a.name + "-r2"
	from := m.base.r.IntN(len(a.pods) + 1) // pods from this ordinal on are updated
	switch m.base.r.IntN(4) {
	case 0:
		s.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
	case 1:
		*s.Spec.UpdateStrategy.RollingUpdate.Partition = int32(from)
	case 2: // the partition was raised later
		*s.Spec.UpdateStrategy.RollingUpdate.Partition = int32(min(from+1, len(a.pods)))
	}
	for i, p := range a.pods {
		if i >= from {
			p.Labels[appsv1.ControllerRevisionHashLabelKey] = a.name + "-r2"
		}
	}
	s.Status.UpdatedReplicas, s.Status.CurrentReplicas = int32(len(a.pods)-from), int32(from)
}

func (m *mixedCluster) addDaemonSet(a *mixedApp) {
	d := &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Selector: matchLabels(a.labels),
		Template: *a.template.DeepCopy()}}
	m.addOwner(a, "apps/v1", "DaemonSet", &d.ObjectMeta, a.name)
	m.base.o.DaemonSets = append(m.base.o.DaemonSets, d)
	m.addPods(a, a.template.Labels, a.name+"-%02d")
}

// addCustomController adds a controller of an unknown kind.
func (m *mixedCluster) addCustomController(a *mixedApp) {
	m.addOwner(a, "example.com/v1", "Thing", &metav1.ObjectMeta{}, a.name)
	m.addPods(a, a.template.Labels, a.name+"-%02d")
}

// addArgoRollout adds a ReplicaSet whose owner is an Argo Rollout.
func (m *mixedCluster) addArgoRollout(a *mixedApp) {
	rs := m.addReplicaSet(a, "x")
	m.addOwner(a, "apps/v1", "ReplicaSet", &rs.ObjectMeta, a.name+"-x")
	m.addOwner(a, "argoproj.io/v1alpha1", "Rollout", &metav1.ObjectMeta{}, a.name)
	m.addPods(a, rs.Labels, a.name+"-x-%02d")
}

// addCanary adds an Argo Rollout with two ReplicaSets that both have pods.
func (m *mixedCluster) addCanary(a *mixedApp) {
	m.addArgoRollout(a)
	first := a.meta[0]
	rs := m.addReplicaSet(a, "y")
	n := int32(1 + m.base.r.IntN(2))
	rs.Spec.Replicas = &n
	rs.Namespace, rs.Name, rs.UID, rs.OwnerReferences = a.ns, a.name+"-y", types.UID("rs-y-"+a.ns+a.name), first.OwnerReferences
	for i := range n {
		p := m.addPod(a, rs.Labels, fmt.Sprintf("%s-y-%02d", a.name, i))
		p.OwnerReferences = controlledBy("apps/v1", "ReplicaSet", rs.Name, rs.UID)
	}
}

// addOperatorOwned adds a workload whose owner has an unknown kind.
func (m *mixedCluster) addOperatorOwned(a *mixedApp) {
	switch m.base.r.IntN(3) {
	case 0:
		m.addStatefulSet(a)
	case 1:
		m.addDeployment(a)
	case 2:
		m.addDeployment(a)
		m.startRollout(a, m.base.o.Deployments[len(m.base.o.Deployments)-1])
	}
	m.addOwner(a, "example.com/v1", "Thing", &metav1.ObjectMeta{}, a.name)
}

// addOrphans adds pods whose owner chain contains a controller that does not exist.
func (m *mixedCluster) addOrphans(a *mixedApp) {
	switch m.base.r.IntN(3) {
	case 0:
		m.addOwner(a, "apps/v1", "ReplicaSet", &metav1.ObjectMeta{}, a.name)
	case 1:
		rs := m.addReplicaSet(a, "x")
		m.addOwner(a, "apps/v1", "ReplicaSet", &rs.ObjectMeta, a.name+"-x")
		m.addOwner(a, "apps/v1", "Deployment", &metav1.ObjectMeta{}, a.name)
	case 2: // another object of the same name
		rs := m.addReplicaSet(a, "x")
		m.addOwner(a, "apps/v1", "ReplicaSet", &rs.ObjectMeta, a.name)
		rs.UID = "another"
	}
	m.addPods(a, a.template.Labels, a.name+"-%02d")
}

func (m *mixedCluster) addBarePods(a *mixedApp) { m.addPods(a, a.template.Labels, a.name+"-%02d") }
