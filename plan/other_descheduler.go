package plan

// OtherDescheduler is another program in the cluster that evicts pods to move them. Such a program ignores Evenkeel's
// goals, limits and back-offs, so each of the two may undo what the other does.
type OtherDescheduler struct {
	// Program is the name of its container image, such as "descheduler" or "koord-descheduler".
	Program string `json:"program"`
	// Kind, Namespace and Name identify the object to remove: a Deployment, StatefulSet, DaemonSet, CronJob or Job, or
	// a Pod without an owner.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String returns the program with its object, such as "descheduler (Deployment kube-system/descheduler)".
func (o OtherDescheduler) String() string {
	return o.Program + " (" + o.Kind + " " + o.Namespace + "/" + o.Name + ")"
}
