// Package policy scores nodes by the priority functions of a legacy Policy, as
// kube-scheduler did before 1.23. It never filters.
package policy
