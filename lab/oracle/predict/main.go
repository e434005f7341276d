// Command predict prints the nodes on which package placement expects a pod to land. The lab's tests compare the
// predicted nodes with the choice of the real kube-scheduler.
package main

import (
	"fmt"
	"os"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config/schedulerconfig"
	"github.com/evenkeel-project/evenkeel/placement"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "predict:", err)
		os.Exit(1)
	}
}

// run reads a snapshot, the key of a pod (NAMESPACE/NAME) and optionally a scheduler configuration from args. Then run
// removes the pod from its node and prints the predicted nodes, one per line.
func run(args []string) error {
	if len(args) < 2 || len(args) > 3 {
		return fmt.Errorf("usage: predict SNAPSHOT NAMESPACE/NAME [SCHEDULER-CONFIG]")
	}
	o, err := cluster.ReadFiles(args[:1], nil)
	if err != nil {
		return err
	}
	for _, p := range o.Pods {
		if p.Namespace+"/"+p.Name == args[1] {
			p.Spec.NodeName = ""
		}
	}
	s, err := cluster.New(o)
	if err != nil {
		return err
	}
	pod := s.PodByKey(args[1])
	if pod == nil {
		return fmt.Errorf("pod %s is not in the snapshot", args[1])
	}
	var opts placement.Options
	if len(args) == 3 {
		data, err := os.ReadFile(args[2])
		if err != nil {
			return err
		}
		if opts.Profiles, err = schedulerconfig.Load(args[2], data); err != nil {
			return err
		}
	}
	p := placement.NewClusterModel(s, opts).Predict(pod.ID)
	if p.UnsupportedReason != "" {
		return fmt.Errorf("%s: %s", args[1], p.UnsupportedReason)
	}
	for _, n := range p.Gone.Winners {
		fmt.Println(s.Nodes[n].Name)
	}
	return nil
}
