package descheduler

import (
	"fmt"
	"github.com/evenkeel-project/evenkeel/cluster"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

func TestWhy(t *testing.T) {
	plugin := os.Getenv("PLUGIN")
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	r := rand.New(rand.NewPCG(seed, 1))
	p := newPolicy(r, plugin)
	o := newCluster(r, p, time.Now())
	fmt.Println(p.text(t))
	extra := ""
	if plugin == "HighNodeUtilization" {
		extra = mostAllocated
	}
	c := convertPolicy(t, p.text(t), extra)
	pl := planPolicy(t, o, c)
	for _, m := range pl.Moves {
		fmt.Println(m.Pod.Name, m.From, m.To, m.Reason.Message)
	}
	for _, x := range pl.Rejections.Samples {
		fmt.Printf("%+v\n", x)
	}

}

func TestWhyMore(t *testing.T) {
	plugin := os.Getenv("PLUGIN")
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	r := rand.New(rand.NewPCG(seed, 1))
	p := newPolicy(r, plugin)
	o := newCluster(r, p, time.Now())
	extra := ""
	if plugin == "HighNodeUtilization" {
		extra = mostAllocated
	}
	c := convertPolicy(t, p.text(t), extra)
	before := o
	show := func(what string, o *cluster.Objects, e []string) {
		fmt.Println("==", what, len(e), "evictions")
		s := newState(o)
		f := p.find(before, o)
		u := s.usage()
		for _, n := range o.Nodes {
			fmt.Printf("%s %s %v cordoned %t taints %v cpu %.0f mem %.0f pods %.0f:", n.Name, n.Labels[zoneKey], n.Labels["kind"], n.Spec.Unschedulable, n.Spec.Taints, u[n.Name]["cpu"], u[n.Name]["memory"], u[n.Name]["pods"])
			for _, p := range s.onNode[n.Name] {
				mark := ""
				if f.pods[p.Name] {
					mark = "*"
				}
				if slices.Contains(e, p.Name) {
					mark += "!"
				}
				fmt.Printf(" %s%s(%dm)", p.Name, mark, p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue())
			}
			fmt.Println()
		}
	}
	opts := c.PlannerOptions().Placement
	ours, theirs := movedPods(planPolicy(t, o, c)), runPeer(t, o, p.text(t))
	show("before", o, nil)
	a := replace(t, rand.New(rand.NewPCG(seed, 7)), o, opts, ours)
	show("ours", a.o, ours)
	b := replace(t, rand.New(rand.NewPCG(seed, 7)), o, opts, theirs)
	show("theirs", b.o, theirs)
	fmt.Println(ours, theirs)
}
