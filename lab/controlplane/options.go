package controlplane

import (
	"io"
)

// Options configure the control plane.
type Options struct {
	// Evenkeel is the path of the program whose CustomResourceDefinitions the lab installs. If Evenkeel is empty, the
	// lab installs none: the chart does.
	Evenkeel string
	// Kwok is the path of the kwok program.
	Kwok string
	// WithoutKwok disables kwok. Without kwok, the caller writes the status of nodes and pods.
	WithoutKwok bool
	// Usage makes kwok simulate resource usage from pod annotations (see UsageCPU) and serve it like a kubelet.
	Usage bool
	// LocalPods makes kwok leave the pods that RunsLocally selects to the caller, who runs them as processes and writes
	// their status. Kwok serves their logs and ports like a kubelet, from the objects Logs and PortForward of
	// kwok.x-k8s.io/v1alpha1.
	LocalPods bool
	// Aggregation lets aggregated API servers, such as metrics-server, register with the API server.
	Aggregation bool
	// Controllers lists the controllers to run. If the list is empty, the lab runs those that manage pods, accounts and
	// namespaces.
	Controllers []string
	// SchedulerConfig is a KubeSchedulerConfiguration (v1); empty selects the defaults. The lab overwrites
	// clientConnection and leaderElection.
	SchedulerConfig []byte
	// ControllerManagerFlags are appended to the lab's own flags and override them.
	ControllerManagerFlags []string
	// Etcd is a data folder that Keep wrote for an earlier lab. If Etcd is empty, etcd starts without data.
	Etcd string
	// Programs is a folder with the programs etcd, kube-apiserver, kube-scheduler and kube-controller-manager, each of
	// which runs as a separate process (see Component). If Programs is empty, the environment variable EVENKEEL_KUBE
	// names the folder. If that is empty too, the components are those linked into this program, or the programs that
	// `make lab` puts beside it.
	Programs string
	// Users are additional users that can authenticate to the API server.
	Users []User
	// AuditPolicy (audit.k8s.io/v1) replaces the lab's audit policy.
	AuditPolicy []byte
	// Progress receives one line per step; nil discards them.
	Progress io.Writer
}

// User authenticates to the API server with a static token.
type User struct{ Token, Name, Group string }

// Kubelet returns the user as which the kubelet of a node authenticates. The API server confines it to its own node.
func Kubelet(node string) User {
	return User{Token: "kubelet-" + node, Name: "system:node:" + node, Group: "system:nodes"}
}
