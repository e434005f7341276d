// Package filter decides on which nodes a replacement fits, with the filters of kube-scheduler. The
// package never scores nodes and never moves a pod.
package filter
