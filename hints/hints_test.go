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

func newNode() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"zone": "a"}, Annotations: map[string]string{"note": "x"}},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: "other", Value: "v", Effect: corev1.TaintEffectNoSchedule}}},
	}
}

// TestPutAndTakeAreInverse: what stands on the node besides stays, and the node
// that was given is not changed.
func TestPutAndTakeAreInverse(t *testing.T) {
	for _, kind := range []hints.Kind{hints.Taint, hints.Label} {
		n := newNode()
		h := hints.Hint{Node: "n1", Kind: kind, Run: "r1", Expires: noon}
		with, changed := hints.Put(n, h)
		if got, ours := hints.Of(with); !changed || !ours || got != h {
			t.Errorf("%s: %+v, want %+v", kind, got, h)
		}
		if hints.HasTaint(with) != (kind == hints.Taint) || hints.HasLabel(with) != (kind == hints.Label) {
			t.Errorf("%s: taints %v, labels %v", kind, with.Spec.Taints, with.Labels)
		}
		if _, changed := hints.Put(with, h); changed {
			t.Errorf("%s: the same hint again is a change", kind)
		}
		without, changed := hints.Remove(with)
		if !changed || !reflect.DeepEqual(without, newNode()) || !reflect.DeepEqual(n, newNode()) {
			t.Errorf("%s: %+v is left, of %+v", kind, without, n)
		}
		if _, changed := hints.Remove(without); changed {
			t.Errorf("%s: nothing to take is a change", kind)
		}
	}
}

// TestAnotherRunTakesOver: its run and expiry stand there then, and one kind only.
func TestAnotherRunTakesOver(t *testing.T) {
	n, _ := hints.Put(newNode(), hints.Hint{Node: "n1", Kind: hints.Label, Run: "dead", Expires: noon})
	h := hints.Hint{Node: "n1", Kind: hints.Taint, Run: "new", Expires: noon.Add(time.Hour)}
	n, changed := hints.Put(n, h)
	if got, _ := hints.Of(n); !changed || got != h || hints.HasLabel(n) || len(n.Spec.Taints) != 2 {
		t.Errorf("%+v, %v, %v", got, n.Labels, n.Spec.Taints)
	}
}

// TestWhatIsNotOursStays: the key without our annotations, or another effect.
func TestWhatIsNotOursStays(t *testing.T) {
	byHand := newNode()
	byHand.Spec.Taints = append(byHand.Spec.Taints, hints.NewTaint())
	labelled := newNode()
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
		if _, changed := hints.Remove(n); changed {
			t.Errorf("taken off: %v %v", n.Labels, n.Spec.Taints)
		}
	}
	strict := newNode()
	strict.Spec.Taints[0].Key = hints.Key // effect NoSchedule
	strict.Annotations[hints.ExpiresAnnotation], strict.Annotations[hints.RunAnnotation] = noon.Format(time.RFC3339), "r"
	left, _ := hints.Remove(strict)
	if len(left.Spec.Taints) != 1 || left.Annotations[hints.ExpiresAnnotation] != "" {
		t.Errorf("%v, %v", left.Spec.Taints, left.Annotations)
	}
}

func TestExpiry(t *testing.T) {
	n, _ := hints.Put(newNode(), hints.Hint{Node: "n1", Kind: hints.Taint, Run: "r", Expires: noon})
	h, _ := hints.Of(n)
	for at, want := range map[time.Time]bool{noon.Add(-time.Second): false, noon: false, noon.Add(time.Second): true} {
		if h.Expired(at) != want {
			t.Errorf("expired at %s: %v", at, !want)
		}
	}
	n.Annotations[hints.ExpiresAnnotation] = "soon"
	if h, ours := hints.Of(n); !ours || h.Expired(noon.Add(1000*time.Hour)) {
		t.Errorf("an expiry that cannot be read: ours %v, %+v", ours, h)
	}
}

// TestTheOtherKindIsNotOurs: a taint or label that somebody else wrote under our
// key outlives a hint of the other kind, whichever came first, and is not made
// ours when the kind changes.
func TestTheOtherKindIsNotOurs(t *testing.T) {
	tainted := func(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, hints.NewTaint()) }
	labelled := func(n *corev1.Node) { n.Labels[hints.Key] = hints.Value }
	for kind, byHand := range map[hints.Kind]func(*corev1.Node){hints.Label: tainted, hints.Taint: labelled} {
		h := hints.Hint{Node: "n1", Kind: kind, Run: "r", Expires: noon}
		want := newNode()
		byHand(want)
		first, changed := hints.Put(want, h)
		if got, _ := hints.Of(first); !changed || got != h || !hints.HasTaint(first) || !hints.HasLabel(first) {
			t.Errorf("%s: %+v, %v, %v", kind, got, first.Labels, first.Spec.Taints)
		}
		later, _ := hints.Put(newNode(), h)
		byHand(later)
		other := h
		if other.Kind = hints.Taint; kind == hints.Taint {
			other.Kind = hints.Label
		}
		for name, n := range map[string]*corev1.Node{"before": first, "after": later} {
			if left, _ := hints.Remove(n); !reflect.DeepEqual(left, want) {
				t.Errorf("%s, by hand %s it: %v, %v, %v are left", kind, name, left.Labels, left.Spec.Taints, left.Annotations)
			}
			if left, changed := hints.Put(n, other); !changed || !reflect.DeepEqual(left, want) {
				t.Errorf("%s, by hand %s it, then %s: %v, %v, %v", kind, name, other.Kind, left.Labels, left.Spec.Taints, left.Annotations)
			}
			taken := n.DeepCopy() // somebody took ours away
			if kind == hints.Taint {
				taken.Spec.Taints = taken.Spec.Taints[:1]
			} else {
				delete(taken.Labels, hints.Key)
			}
			if got, ours := hints.Of(taken); !ours || got.Kind != hints.None {
				t.Errorf("%s: %+v is left, of somebody else's %s", kind, got, other.Kind)
			}
		}
	}
}

// TestAHintWithoutItsKind is the one that stands there.
func TestAHintWithoutItsKind(t *testing.T) {
	for _, kind := range []hints.Kind{hints.Taint, hints.Label} {
		n, _ := hints.Put(newNode(), hints.Hint{Node: "n1", Kind: kind, Run: "r", Expires: noon})
		delete(n.Annotations, hints.KindAnnotation)
		if got, _ := hints.Of(n); got.Kind != kind {
			t.Errorf("%s is read as %s", kind, got.Kind)
		}
		if left, _ := hints.Remove(n); !reflect.DeepEqual(left, newNode()) {
			t.Errorf("%s: %+v", kind, left)
		}
	}
}
