package window_test

import (
	"testing"
	"time"

	"github.com/evenkeel-project/evenkeel/cluster"
	"github.com/evenkeel-project/evenkeel/usage"
	"github.com/evenkeel-project/evenkeel/usage/window"
)

// TestWhatWasMeasuredBeforeANodeWasCreated checks that earlier measurements of a node belong to
// another machine of that name. This includes the source's history.
func TestWhatWasMeasuredBeforeANodeWasCreated(t *testing.T) {
	w := window.New(testOptions(window.LevelWatch{Name: "w", Resource: "cpu", Enter: 0.5, Leave: 0.4, For: 3}))
	nodes := testNodes("a")
	nodes[0].Created = secondsAfterStart(45)
	for i := range 2 {
		w.Add(sampleOfNodeA(30*i, 900), nodes, nil)
	}
	if u := w.Usage(secondsAfterStart(50)); len(u.Nodes) != 0 || len(u.Marks) != 0 || !w.NewestMeasurement().IsZero() {
		t.Errorf("measurements of the earlier machine count: %+v, marks %+v", u.Nodes, u.Marks)
	}
	w.Add(sampleOfNodeA(60, 900), nodes, nil)
	if u := w.Usage(secondsAfterStart(60)); len(u.Nodes) != 1 || u.Samples != 1 || len(u.Marks) != 1 || u.Marks[0].Hot ||
		u.Marks[0].Samples != 1 {
		t.Errorf("after its first measurement: %+v, marks %+v", u.Nodes, u.Marks)
	}
}

func TestOtherMachinesAndPodsOfTheSameName(t *testing.T) {
	watch := window.LevelWatch{Name: "w", Resource: "cpu", Enter: 0.5, Leave: 0.4, For: 1}
	w := window.New(testOptions(watch))
	place := window.PodPlace{Node: "a", UID: "1", Created: secondsAfterStart(-1000)}
	here := true
	where := func(string) (window.PodPlace, bool) { return place, here }
	pod := func(seconds int, cpu int64) usage.Sample {
		s := sampleOfNodeA(seconds, cpu)
		s.Pods = map[string]usage.Reading{"db/0": {At: secondsAfterStart(seconds), Used: map[string]int64{"cpu": cpu}}}
		return s
	}
	w.Add(pod(0, 900), testNodes("a"), where)
	again := testNodes("a")
	again[0].UID = "another"
	place = window.PodPlace{Node: "a", UID: "2", Created: secondsAfterStart(29)}
	w.Add(pod(30, 100), again, where)
	u := w.Usage(secondsAfterStart(30))
	if u.Nodes[0].Used["cpu"] != 100 || len(u.Marks) != 0 {
		t.Errorf("a replaced machine kept its usage: %+v, marks %+v", u.Nodes, u.Marks)
	}
	if len(u.Pods) != 2 || u.Pods[0].Used["cpu"] != 900 || u.Pods[0].UID != "1" || !u.Pods[0].At.Equal(secondsAfterStart(0)) ||
		u.Pods[1].Used["cpu"] != 100 || u.Pods[1].UID != "2" {
		t.Errorf("a replaced pod kept its usage: %+v", u.Pods)
	}
	place = window.PodPlace{Node: "a", UID: "3", Created: secondsAfterStart(61)}
	w.Add(pod(60, 700), again, where) // measured before pod 3 was created
	if u := w.Usage(secondsAfterStart(60)); len(u.Pods) != 2 || u.Pods[1].UID != "2" || u.Pods[1].Used["cpu"] != 100 {
		t.Errorf("measurements of the earlier pod count: %+v", u.Pods)
	}
	here = false
	w.Add(pod(90, 700), testNodes("b"), where)
	if u := w.Usage(secondsAfterStart(90)); len(u.Nodes) != 0 {
		t.Errorf("a deleted node is still listed: %+v", u.Nodes)
	}
	if u := w.Usage(secondsAfterStart(280)); len(u.Pods) != 2 { // they have left, and the window, which ends at 90 s, includes them
		t.Errorf("pods that have left within the window: %+v", u.Pods)
	}
	w.Add(usage.Sample{Taken: secondsAfterStart(400)}, again, where)
	if u := w.Usage(secondsAfterStart(91)); len(u.Pods) != 0 {
		t.Errorf("a pod that left before all windows is still listed: %+v", u.Pods)
	}
}

// TestWhatMayBeOfThePodBefore covers a source without measurement times. For a while, its
// values may belong to an earlier pod of the same name.
func TestWhatMayBeOfThePodBefore(t *testing.T) {
	w := window.New(testOptions())
	place := window.PodPlace{Node: "a", UID: "1", Created: secondsAfterStart(-10)}
	add := func(seconds int) []cluster.PodUsage {
		s := sampleOfNodeA(seconds, 100)
		s.PodDelay = time.Minute
		s.Pods = map[string]usage.Reading{"db/0": {At: secondsAfterStart(seconds), Used: map[string]int64{"cpu": 900}}}
		w.Add(s, testNodes("a"), func(string) (window.PodPlace, bool) { return place, true })
		return w.Usage(secondsAfterStart(seconds)).Pods
	}
	if got := add(0); len(got) != 1 || got[0].UID != "1" {
		t.Errorf("a new pod without a predecessor is missing: %+v", got)
	}
	place = window.PodPlace{Node: "a", UID: "2", Created: secondsAfterStart(10)}
	if got := add(30); len(got) != 1 || got[0].UID != "1" {
		t.Errorf("20 s after another pod arrived: %+v", got)
	}
	if got := add(90); len(got) != 2 || got[1].UID != "2" {
		t.Errorf("80 s after: %+v", got)
	}
	if got := add(95); len(got) != 2 || !got[1].At.Equal(secondsAfterStart(95)) {
		t.Errorf("after the pod is known: %+v", got)
	}
}
