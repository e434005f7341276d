package controlplane

import (
	"io"
)

// Options configure the control plane.
type Options struct {
	// Kwok is the path of the kwok program.
	Kwok string
	// WithoutKwok runs no kwok. The caller then writes the status of nodes and pods.
	WithoutKwok bool
	// Usage makes kwok simulate resource usage from pod annotations (see UsageCPU) and serve it like a kubelet.
	Usage bool
	// Aggregation lets aggregated API servers, such as metrics-server, register with the API server.
	Aggregation bool
	// Controllers lists the controllers to run. Empty selects those that manage pods, accounts and namespaces.
	Controllers []string
	// SchedulerConfig is a KubeSchedulerConfiguration (v1); empty selects the defaults. The lab replaces
	// clientConnection and leaderElection.
	SchedulerConfig []byte
	// ControllerManagerFlags come after the lab's own flags and override them.
	ControllerManagerFlags []string
	// Etcd is a data folder that Keep wrote for an earlier lab. Empty starts with no data.
	Etcd string
	// Command runs one component if the component's name and arguments are appended to it. Each component then runs
	// as a process of its own (see RunComponent and Component). Empty runs all components in this process.
	Command []string
	// Users can authenticate in addition to the administrator.
	Users []User
	// AuditPolicy (audit.k8s.io/v1) replaces the lab's audit policy.
	AuditPolicy []byte
	// Progress receives one line per step; nil discards them.
	Progress io.Writer
}

// User authenticates to the API server with a static token.
type User struct{ Token, Name, Group string }
