// Package controlplane runs a real Kubernetes control plane: etcd, kube-apiserver, kube-scheduler and
// kube-controller-manager. All of them run in this process, or each in a process of its own that can be frozen and
// killed. Kwok simulates the nodes in a child process.
//
// The package does not decide what runs in the cluster. RBAC and the ServiceAccount and PodSecurity admission plugins
// are on. The audit log records independently what clients did. A process can hold one control plane.
package controlplane
