// Package legacy scores nodes by the priority functions of a legacy Policy, as kube-scheduler did
// before 1.23. The package never filters nodes.
package legacy
