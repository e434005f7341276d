package hints_test

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/hints"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func bare() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"zone": "a"}, Annotations: map[string]string{"note": "x"}},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: "other", Value: "v", Effect: corev1.TaintEffectNoSchedule}}},
	}
}

// TestPutAndTakeAreInverse: what stands on the node besides stays, and the node
// that was given is not changed.
func TestPutAndTakeAreInverse(t *testing.T) {
	for _, kind := range []hints.Kind{hints.Taint, hints.Label} {
		n := bare()
		h := hints.Hint{Node: "n1", Kind: kind, Run: "r1", Expires: noon}
		with, changed := hints.Put(n, h)
		if got, ours := hints.Of(with); !changed || !ours || got != h {
			t.Errorf("%s: %+v, want %+v", kind, got, h)
		}
		if hints.Tainted(with) != (kind == hints.Taint) || hints.Labelled(with) != (kind == hints.Label) {
			t.Errorf("%s: taints %v, labels %v", kind, with.Spec.Taints, with.Labels)
		}
		if _, changed := hints.Put(with, h); changed {
			t.Errorf("%s: the same hint again is a change", kind)
		}
		without, changed := hints.Take(with)
		if !changed || !reflect.DeepEqual(without, bare()) || !reflect.DeepEqual(n, bare()) {
			t.Errorf("%s: %+v is left, of %+v", kind, without, n)
		}
		if _, changed := hints.Take(without); changed {
			t.Errorf("%s: nothing to take is a change", kind)
		}
	}
}

// TestAnotherRunTakesOver: its run and expiry stand there then, and one kind only.
func TestAnotherRunTakesOver(t *testing.T) {
	n, _ := hints.Put(bare(), hints.Hint{Node: "n1", Kind: hints.Label, Run: "dead", Expires: noon})
	h := hints.Hint{Node: "n1", Kind: hints.Taint, Run: "new", Expires: noon.Add(time.Hour)}
	n, changed := hints.Put(n, h)
	if got, _ := hints.Of(n); !changed || got != h || hints.Labelled(n) || len(n.Spec.Taints) != 2 {
		t.Errorf("%+v, %v, %v", got, n.Labels, n.Spec.Taints)
	}
}

// TestWhatIsNotOursStays: the key without our annotations, or another effect.
func TestWhatIsNotOursStays(t *testing.T) {
	byHand := bare()
	byHand.Spec.Taints = append(byHand.Spec.Taints, hints.Repelling())
	labelled := bare()
	labelled.Labels[hints.Key] = "by-hand"
	h := hints.Hint{Node: "n1", Kind: hints.Taint, Run: "r", Expires: noon}
	if _, changed := hints.Put(byHand, h); changed {
		t.Error("a taint by hand is made ours")
	}
	h.Kind = hints.Label
	if _, changed := hints.Put(labelled, h); changed {
		t.Error("a label by hand is overwritten")
	}
	for _, n := range []*corev1.Node{byHand, labelled} {
		if _, changed := hints.Take(n); changed {
			t.Errorf("taken off: %v %v", n.Labels, n.Spec.Taints)
		}
	}
	strict := bare()
	strict.Spec.Taints[0].Key = hints.Key // effect NoSchedule
	strict.Annotations[hints.Expires], strict.Annotations[hints.Run] = noon.Format(time.RFC3339), "r"
	left, _ := hints.Take(strict)
	if len(left.Spec.Taints) != 1 || left.Annotations[hints.Expires] != "" {
		t.Errorf("%v, %v", left.Spec.Taints, left.Annotations)
	}
}

func TestExpiry(t *testing.T) {
	n, _ := hints.Put(bare(), hints.Hint{Node: "n1", Kind: hints.Taint, Run: "r", Expires: noon})
	h, _ := hints.Of(n)
	for at, want := range map[time.Time]bool{noon.Add(-time.Second): false, noon: false, noon.Add(time.Second): true} {
		if h.Expired(at) != want {
			t.Errorf("expired at %s: %v", at, !want)
		}
	}
	n.Annotations[hints.Expires] = "soon"
	if h, ours := hints.Of(n); !ours || h.Expired(noon.Add(1000*time.Hour)) {
		t.Errorf("an expiry that cannot be read: ours %v, %+v", ours, h)
	}
}
