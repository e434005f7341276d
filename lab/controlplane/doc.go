// Package controlplane runs a real Kubernetes control plane: etcd, kube-apiserver, kube-scheduler and
// kube-controller-manager. All components run in this process, or each component runs in a separate process that can be
// frozen and killed. Kwok simulates the nodes in a child process.
//
// The package creates no objects in the cluster. RBAC and the admission plugins ServiceAccount and PodSecurity are
// enabled. The audit log records the clients' requests independently of the clients. A process can hold one control
// plane.
package controlplane
