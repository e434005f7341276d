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

// Remove reverses Put. Put and Remove leave everything else on the node and do not modify their argument.
func TestPutAndTakeAreInverse(t *testing.T) {
	for _, kind := range []hints.Kind{hints.Taint, hints.Label} {
		n := newNode()
		h := hints.Hint{Node: "n1", Kind: kind, Run: "r1", Expires: noon}
		with, changed := hints.WithHint(n, h)
		if got, ours := hints.FromNode(with); !changed || !ours || got != h {
			t.Errorf("%s: got hint %+v, want %+v", kind, got, h)
		}
		if hints.HasTaint(with) != (kind == hints.Taint) || hints.HasLabel(with) != (kind == hints.Label) {
			t.Errorf("%s: got taints %v, labels %v", kind, with.Spec.Taints, with.Labels)
		}
		if _, changed := hints.WithHint(with, h); changed {
			t.Errorf("%s: putting the same hint again changed the node", kind)
		}
		without, changed := hints.Remove(with)
		if !changed || !reflect.DeepEqual(without, newNode()) || !reflect.DeepEqual(n, newNode()) {
			t.Errorf("%s: after Remove the node is %+v, want %+v", kind, without, n)
		}
		if _, changed := hints.Remove(without); changed {
			t.Errorf("%s: removing a missing hint changed the node", kind)
		}
	}
}

// If another run puts its hint, the node has the run and expiry of that run, and only one kind of hint.
func TestAnotherRunTakesOver(t *testing.T) {
	n, _ := hints.WithHint(newNode(), hints.Hint{Node: "n1", Kind: hints.Label, Run: "dead", Expires: noon})
	h := hints.Hint{Node: "n1", Kind: hints.Taint, Run: "new", Expires: noon.Add(time.Hour)}
	n, changed := hints.WithHint(n, h)
	if got, _ := hints.FromNode(n); !changed || got != h || hints.HasLabel(n) || len(n.Spec.Taints) != 2 {
		t.Errorf("%+v, %v, %v", got, n.Labels, n.Spec.Taints)
	}
}

// Without our annotations, or with another effect, a taint or label belongs to another owner and stays.
func TestWhatIsNotOursStays(t *testing.T) {
	byHand := newNode()
	byHand.Spec.Taints = append(byHand.Spec.Taints, hints.NewTaint())
	labelled := newNode()
	labelled.Labels[hints.Key] = "by-hand"
	h := hints.Hint{Node: "n1", Kind: hints.Taint, Run: "r", Expires: noon}
	if _, changed := hints.WithHint(byHand, h); changed {
		t.Error("Put took over the taint of another owner")
	}
	h.Kind = hints.Label
	if _, changed := hints.WithHint(labelled, h); changed {
		t.Error("Put changed the label of another owner")
	}
	for _, n := range []*corev1.Node{byHand, labelled} {
		if _, changed := hints.Remove(n); changed {
			t.Errorf("Remove deleted a taint or label of another owner: %v %v", n.Labels, n.Spec.Taints)
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
	n, _ := hints.WithHint(newNode(), hints.Hint{Node: "n1", Kind: hints.Taint, Run: "r", Expires: noon})
	h, _ := hints.FromNode(n)
	for at, want := range map[time.Time]bool{noon.Add(-time.Second): false, noon: false, noon.Add(time.Second): true} {
		if h.Expired(at) != want {
			t.Errorf("at %s: got expired %v", at, !want)
		}
	}
	for expires, want := range map[string]bool{
		"soon": true, "9999-01-01T00:00:00Z": true, noon.Add(hints.MaxTTL).Format(time.RFC3339): false,
		noon.Add(hints.MaxTTL + time.Second).Format(time.RFC3339): true,
	} {
		n.Annotations[hints.ExpiresAnnotation] = expires
		if h, ours := hints.FromNode(n); !ours || h.Expired(noon) != want {
			t.Errorf("expires %s: got ours %v, expired %v, want %v", expires, ours, h.Expired(noon), want)
		}
	}
}

// A taint or label of another owner under our key outlives a hint of the other kind. Their order does not matter, and
// the other owner's taint or label does not become ours when the kind of the hint changes.
func TestTheOtherKindIsNotOurs(t *testing.T) {
	tainted := func(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, hints.NewTaint()) }
	labelled := func(n *corev1.Node) { n.Labels[hints.Key] = hints.Value }
	for kind, byHand := range map[hints.Kind]func(*corev1.Node){hints.Label: tainted, hints.Taint: labelled} {
		h := hints.Hint{Node: "n1", Kind: kind, Run: "r", Expires: noon}
		want := newNode()
		byHand(want)
		first, changed := hints.WithHint(want, h)
		if got, _ := hints.FromNode(first); !changed || got != h || !hints.HasTaint(first) || !hints.HasLabel(first) {
			t.Errorf("%s: got hint %+v, labels %v, taints %v", kind, got, first.Labels, first.Spec.Taints)
		}
		later, _ := hints.WithHint(newNode(), h)
		byHand(later)
		other := h
		if other.Kind = hints.Taint; kind == hints.Taint {
			other.Kind = hints.Label
		}
		for name, n := range map[string]*corev1.Node{"before": first, "after": later} {
			if left, _ := hints.Remove(n); !reflect.DeepEqual(left, want) {
				t.Errorf("%s, with another owner's %s: after Remove got %v, %v, %v", kind, name, left.Labels, left.Spec.Taints, left.Annotations)
			}
			if left, changed := hints.WithHint(n, other); !changed || !reflect.DeepEqual(left, want) {
				t.Errorf("%s, with another owner's %s, then %s: got %v, %v, %v", kind, name, other.Kind, left.Labels, left.Spec.Taints,
					left.Annotations)
			}
			taken := n.DeepCopy() // another client removed our taint or label
			if kind == hints.Taint {
				taken.Spec.Taints = taken.Spec.Taints[:1]
			} else {
				delete(taken.Labels, hints.Key)
			}
			if got, ours := hints.FromNode(taken); !ours || got.Kind != hints.None {
				t.Errorf("%s: got hint %+v for another owner's %s", kind, got, other.Kind)
			}
		}
	}
}

// If the annotation with the kind is missing, the kind follows from the taint or label on the node.
func TestAHintWithoutItsKind(t *testing.T) {
	for _, kind := range []hints.Kind{hints.Taint, hints.Label} {
		n, _ := hints.WithHint(newNode(), hints.Hint{Node: "n1", Kind: kind, Run: "r", Expires: noon})
		delete(n.Annotations, hints.KindAnnotation)
		if got, _ := hints.FromNode(n); got.Kind != kind {
			t.Errorf("a hint of kind %s is read as %s", kind, got.Kind)
		}
		if left, _ := hints.Remove(n); !reflect.DeepEqual(left, newNode()) {
			t.Errorf("%s: %+v", kind, left)
		}
	}
}
