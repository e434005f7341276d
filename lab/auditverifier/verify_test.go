package auditverifier

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// expectOnlyKind fails unless the result has violations of kind k and of no other kind. An empty k
// means that no violation is expected.
func expectOnlyKind(t *testing.T, v Result, k Kind) {
	t.Helper()
	n := 0
	for _, x := range v.Violations {
		if x.Kind == k {
			n++
		} else {
			t.Errorf("unexpected violation: %s", x)
		}
	}
	if k != "" && n == 0 {
		t.Errorf("got no violation of kind %s", k)
	}
}

func TestAnHonestDrillHasNoViolations(t *testing.T) {
	x := newDrillWithoutViolations()
	a, b := readyPod("d0", "n1"), readyPod("d1", "n2")
	x.runPass("run-1", a, b)
	v := x.Verify()
	expectOnlyKind(t, v, "")
	if v.Evictions != 2 || v.Requested != 2 {
		t.Errorf("got %d evictions of %d requested, want 2 of 2", v.Evictions, v.Requested)
	}
}

// TestForgeries changes the honest drill in one way per case. The verifier must find each change.
func TestForgeries(t *testing.T) {
	a, b, c, d := readyPod("d0", "n1"), readyPod("d1", "n2"), readyPod("d2", "n3"), readyPod("d3", "n1")
	for _, f := range []struct {
		name string
		kind Kind
		make func(x *forgedDrill)
	}{
		{"budget", BudgetExceeded, func(x *forgedDrill) {
			sick := d
			sick.Ready = false
			x.addPod(sick)
			x.Rules.FlightOwner, x.Rules.FlightTotal = 0, 0
			x.runPass("run-1", a)
		}},
		{"budget in percent", BudgetExceeded, func(x *forgedDrill) {
			p := intstr.FromString("84%") // of 6: 5.04, rounded up to 6
			x.addChange(Change{Budget: &Budget{Namespace: "shop", Name: "d",
				Selector: labels.SelectorFromSet(labels.Set{"app": "d"}), MinAvailable: &p}})
			x.runPass("run-1", a)
		}},
		{"no budget", BudgetExceeded, func(x *forgedDrill) {
			x.addChange(Change{Gone: true, Budget: &Budget{Namespace: "shop", Name: "d", Selector: labels.Nothing()}})
			sick := d
			sick.Ready = false
			x.addPod(sick)
			x.runPass("run-1", a)
		}},
		{"perPass", LimitExceeded, func(x *forgedDrill) {
			x.Rules.PerPass = 1
			x.runPass("run-1", a, b)
		}},
		{"perPass over two reports", LimitExceeded, func(x *forgedDrill) {
			x.Rules.PerPass, x.Rules.OnePass = 1, false
			x.runPass("run-1", a, b)
		}},
		{"perNode", LimitExceeded, func(x *forgedDrill) {
			x.Rules.PerNode = 1
			x.runPass("run-1", a, d)
		}},
		{"perZone", LimitExceeded, func(x *forgedDrill) {
			x.Rules.PerZone = 1
			x.runPass("run-1", a, d)
		}},
		{"perOwner", LimitExceeded, func(x *forgedDrill) {
			x.Rules.PerOwner = 1
			x.runPass("run-1", a, b)
		}},
		{"perHour over processes", LimitExceeded, func(x *forgedDrill) {
			x.Rules.HourCluster = 1
			x.evict("ek-1", a)
			x.now = x.now.Add(50 * time.Minute)
			x.acquireLease("ek-2")
			x.evict("ek-2", b)
			x.addReport("run-1", "ek-1", "evicted", a)
			x.addReport("run-2", "ek-2", "evicted", b)
		}},
		{"pace", LimitExceeded, func(x *forgedDrill) {
			x.evict("ek-1", a)
			x.now = x.now.Add(-600 * time.Millisecond)
			x.evict("ek-1", b)
			x.addReport("run-1", "ek-1", "evicted", a, b)
		}},
		{"in flight in total", LimitExceeded, func(x *forgedDrill) {
			x.Rules.FlightTotal, x.Rules.FlightNode, x.Rules.FlightOwner = 1, 0, 0
			x.evictOverlapping(a, b)
		}},
		{"in flight of one workload", LimitExceeded, func(x *forgedDrill) {
			x.Rules.FlightTotal, x.Rules.FlightNode, x.Rules.FlightOwner = 0, 0, 1
			x.evictOverlapping(a, b)
		}},
		{"in flight from one node", LimitExceeded, func(x *forgedDrill) {
			x.Rules.FlightTotal, x.Rules.FlightNode, x.Rules.FlightOwner = 0, 1, 0
			x.evictOverlapping(a, d)
		}},
		{"twice", EvictedTwice, func(x *forgedDrill) {
			x.evict("ek-1", a)
			x.requestEviction("ek-1", a, 201)
			x.addReport("run-1", "ek-1", "evicted", a)
		}},
		{"protected pod", ProtectedEvicted, func(x *forgedDrill) {
			p := a
			p.Protected = "it is protected"
			x.addPod(p)
			x.evict("ek-1", p)
			x.addReport("run-1", "ek-1", "evicted", a)
		}},
		{"excluded node", ProtectedEvicted, func(x *forgedDrill) {
			x.addChange(Change{Node: &Node{Name: "n1", Zone: "z1", Excluded: true}})
			x.runPass("run-1", a)
		}},
		{"foreign write", ForeignWrite, func(x *forgedDrill) {
			x.addEvent("ek-1", "delete", "pods", "", "shop", "d5", 200, "")
		}},
		{"deletion of a pod that runs", ProtectedEvicted, func(x *forgedDrill) {
			x.Rules.DeletesFailedPods = true
			x.delete("ek-1", a)
			x.addReport("run-1", "ek-1", "evicted", a)
		}},
		{"unreported deletion", UnreportedEviction, func(x *forgedDrill) {
			x.Rules.DeletesFailedPods = true
			x.delete("ek-1", x.addFailedPod())
		}},
		{"deletion without a rule for it", ForeignWrite, func(x *forgedDrill) { x.delete("ek-1", x.addFailedPod()) }},
		{"foreign ConfigMap", ForeignWrite, func(x *forgedDrill) {
			x.addEvent("ek-1", "update", "configmaps", "", "shop", "settings", 200, "")
		}},
		{"no Lease", EvictedWithoutLease, func(x *forgedDrill) {
			x.acquireLease("ek-2")
			x.runPass("run-1", a)
		}},
		{"Lease run out", EvictedWithoutLease, func(x *forgedDrill) {
			x.now = x.now.Add(15 * time.Second)
			x.runPass("run-1", a)
		}},
		{"unreported", UnreportedEviction, func(x *forgedDrill) {
			x.evict("ek-1", a)
			x.evict("ek-1", b)
			x.addReport("run-1", "ek-1", "evicted", a)
		}},
		{"reported as something else", UnreportedEviction, func(x *forgedDrill) {
			x.evict("ek-1", a)
			x.addReport("run-1", "ek-1", "dropped", a)
		}},
		{"claimed", FalseClaim, func(x *forgedDrill) {
			x.evict("ek-1", a)
			x.addReport("run-1", "ek-1", "evicted", a, c)
		}},
		{"claimed as Pending, but bound", FalseClaim, func(x *forgedDrill) { x.evictPending("run-1", a, "n2") }},
		{"in flight after a replacement that is not reported as Pending", LimitExceeded, func(x *forgedDrill) {
			x.Rules.FlightTotal, x.Rules.FlightNode, x.Rules.FlightOwner, x.Rules.MaxUnavailable = 1, 0, 0, 0
			x.addChange(Change{Gone: true, Budget: &Budget{Namespace: "shop", Name: "d", Selector: labels.Nothing()}})
			x.evictPending("run-1", a, "")
			x.Reports[0].Outcomes[0].Pending = false
			x.evict("ek-1", b)
			x.addReport("run-2", "ek-1", "evicted", b)
		}},
		{"claimed after a refusal", FalseClaim, func(x *forgedDrill) {
			x.requestEviction("ek-1", a, 429)
			x.addReport("run-1", "ek-1", "evicted", a)
		}},
		{"claims another user's eviction", FalseClaim, func(x *forgedDrill) {
			x.evict("ann", a)
			x.addReport("run-1", "ek-1", "evicted", a)
		}},
		{"claimed by two runs", FalseClaim, func(x *forgedDrill) {
			x.runPass("run-1", a)
			x.addReport("run-2", "ek-2", "evicted", a)
		}},
		{"reported twice without a recovery mark", FalseClaim, func(x *forgedDrill) {
			x.evict("ek-1", a)
			x.addReport("run-1", "ek-1", "evicted", a)
			x.addReport("run-1", "ek-2", "evicted", a)
		}},
		{"recovered under another run ID", FalseClaim, func(x *forgedDrill) {
			x.evict("ek-1", a)
			x.addReport("run-1", "ek-1", "evicted", a)
			x.addReport("run-2", "ek-2", "evicted", a)
			x.markRecovery("ek-1")
		}},
		{"a recovery does not start a second pass", LimitExceeded, func(x *forgedDrill) {
			x.Rules.PerPass, x.Rules.OnePass = 1, false
			x.evict("ek-1", a)
			x.addReport("run-0", "ek-1", "dropped", c)
			x.markRecovery("ek-0")
			x.now = x.now.Add(time.Second)
			x.evict("ek-1", d)
			x.addReport("run-1", "ek-1", "evicted", a, d)
		}},
		{"not in the recording", IncompleteRecording, func(x *forgedDrill) {
			x.requestEviction("ek-1", a, 201)
			x.addReport("run-1", "ek-1", "evicted", a)
		}},
	} {
		t.Run(f.name, func(t *testing.T) {
			x := newDrillWithoutViolations()
			f.make(x)
			v := x.Verify()
			expectOnlyKind(t, v, f.kind)
			if len(v.Violations) != 1 {
				t.Errorf("got %d violations, want one: %v", len(v.Violations), v.Violations)
			}
		})
	}
}

// TestHonestTroublesAreNoViolations covers situations that look wrong but break no rule.
func TestHonestTroublesAreNoViolations(t *testing.T) {
	a, b, d := readyPod("d0", "n1"), readyPod("d1", "n2"), readyPod("d3", "n1")
	for _, f := range []struct {
		name string
		make func(x *forgedDrill)
	}{
		{"an unknown outcome that took place", func(x *forgedDrill) {
			x.evict("ek-1", a)
			x.addReport("run-1", "ek-1", "unknown", a)
		}},
		{"an unknown outcome that did not", func(x *forgedDrill) {
			x.requestEviction("ek-1", a, 500)
			x.addReport("run-1", "ek-1", "unknown", a)
		}},
		{"an eviction that the server executed without an answer", func(x *forgedDrill) {
			x.requestEviction("ek-1", a, 504)
			x.terminateAndReplace(a, "next")
			x.addReport("run-1", "ek-1", "evicted", a)
		}},
		{"two in flight from different nodes", func(x *forgedDrill) {
			x.Rules.FlightTotal, x.Rules.FlightNode, x.Rules.FlightOwner = 2, 1, 2
			x.evictOverlapping(a, b)
		}},
		{"an eviction after a replacement that stays Pending", func(x *forgedDrill) {
			x.Rules.FlightTotal, x.Rules.FlightNode, x.Rules.FlightOwner, x.Rules.MaxUnavailable = 1, 0, 0, 0
			x.addChange(Change{Gone: true, Budget: &Budget{Namespace: "shop", Name: "d", Selector: labels.Nothing()}})
			x.evictPending("run-1", a, "")
			x.evict("ek-1", b)
			x.addReport("run-2", "ek-1", "evicted", b)
		}},
		{"a report of a dead run by the next process", func(x *forgedDrill) {
			x.evict("ek-1", a)
			x.acquireLease("ek-2")
			x.evict("ek-2", b)
			x.addReport("run-1", "ek-2", "evicted", a)
			x.addReport("run-2", "ek-2", "evicted", b)
		}},
		{"a run that its process reported but could not close", func(x *forgedDrill) {
			x.runPass("run-1", a)
			x.addReport("run-1", "ek-2", "evicted", a)
			x.markRecovery("ek-1")
			x.addReport("run-1", "ek-3", "unknown", a) // the recovering process could not close the run either
			x.markRecovery("ek-1")
		}},
		{"two passes of one controller", func(x *forgedDrill) {
			x.Rules.PerPass, x.Rules.OnePass = 1, false
			x.runPass("run-1", a)
			x.now = x.now.Add(2 * time.Second)
			x.runPass("run-2", d)
		}},
		{"the deletion of a failed pod", func(x *forgedDrill) {
			x.Rules.DeletesFailedPods = true
			failed := x.addFailedPod()
			x.delete("ek-1", failed)
			x.addReport("run-1", "ek-1", "evicted", failed)
		}},
		{"the eviction of a failed pod", func(x *forgedDrill) {
			failed := x.addFailedPod()
			x.requestEviction("ek-1", failed, 201)
			x.addChange(Change{Pod: &failed, Gone: true})
			x.addReport("run-1", "ek-1", "evicted", failed)
		}},
		{"writes of other users", func(x *forgedDrill) {
			x.evict("ann", a)
			x.addEvent("ann", "delete", "pods", "", "shop", "d5", 200, "")
		}},
		{"a write that was refused", func(x *forgedDrill) {
			x.addEvent("ek-1", "delete", "pods", "", "shop", "d5", 403, "")
		}},
	} {
		t.Run(f.name, func(t *testing.T) {
			x := newDrillWithoutViolations()
			f.make(x)
			expectOnlyKind(t, x.Verify(), "")
		})
	}
}

func TestReadReports(t *testing.T) {
	whole := `{"msg":"move"}` + "\n" + `{"msg":"report","report":{"kind":"RebalancePlan","spec":{"moves":[{"step":1,"reason":{"code":"C"},` +
		`"pod":{"namespace":"shop","name":"d0","uid":"u"}}]},"status":{"runID":"a","steps":[{"step":1,"state":"Evicted"}]}}}` + "\n"
	for _, c := range []struct {
		name, out string
		n         int
		whole, ok bool
	}{
		{"none", "", 0, true, true},
		{"two", whole + whole, 2, true, true},
		{"cut off", whole + whole[:40], 1, false, true},
		{"no JSON", whole + "Run: nothing\n", 1, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, w, err := ReadReports("ek-1", c.out)
			if len(r) != c.n || w != c.whole || (err == nil) != c.ok {
				t.Errorf("got %d reports, whole %t, error %v", len(r), w, err)
			}
			if len(r) > 0 && (r[0].User != "ek-1" || r[0].Outcomes[0].Pod.UID != "u" || r[0].Outcomes[0].Reason.Code != "C") {
				t.Errorf("read %+v", r[0])
			}
		})
	}
}
