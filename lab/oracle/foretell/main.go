// Command foretell says where package placement sees a pod go. The lab's tests
// compare it with where the real kube-scheduler put the pod. It decides nothing.
package main

import (
	"fmt"
	"os"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/placement"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "foretell:", err)
		os.Exit(1)
	}
}

// run takes a snapshot, a pod (NAMESPACE/NAME) and maybe a scheduler's
// configuration. It takes the pod off its node and prints the nodes that would
// win, one a line.
func run(args []string) error {
	if len(args) < 2 || len(args) > 3 {
		return fmt.Errorf("want: foretell SNAPSHOT NAMESPACE/NAME [SCHEDULER-CONFIG]")
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
		return fmt.Errorf("no pod %s", args[1])
	}
	var opts placement.Options
	if len(args) == 3 {
		data, err := os.ReadFile(args[2])
		if err != nil {
			return err
		}
		if opts.Profiles, err = config.LoadScheduler(args[2], data); err != nil {
			return err
		}
	}
	p := placement.NewClusterModel(s, opts).Predict(pod.ID)
	if p.SupportedWhy != "" {
		return fmt.Errorf("%s: %s", args[1], p.SupportedWhy)
	}
	for _, n := range p.Gone.Winners {
		fmt.Println(s.Nodes[n].Name)
	}
	return nil
}
