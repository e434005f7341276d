// Package controlplane runs a real Kubernetes control plane (etcd,
// kube-apiserver, kube-scheduler, kube-controller-manager), all in this process
// or each in one of its own that can be frozen and killed, and fake nodes by kwok
// in a child process.
//
// It decides nothing about what runs in the cluster. RBAC, ServiceAccount and
// PodSecurity admission are on; the audit log is an independent witness of what
// clients did. One process can hold one control plane.
package controlplane
