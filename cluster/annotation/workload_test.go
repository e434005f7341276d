package annotation

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

func TestOfWorkload(t *testing.T) {
	for _, c := range []struct {
		name     string
		requests []request
		spreadBy string
		maxSkew  int
		zoneSLO  int
		problems []string // keys
	}{
		{"no request", nil, "", 0, 0, nil},
		{"on the pod", []request{{placePod, SpreadBy, "example.org/rack", false}, {placePod, MaxSkew, "2", false},
			{placePod, ZoneSLO, "3", false}}, "example.org/rack", 2, 3, nil},
		{"a key without a prefix", []request{{placePod, SpreadBy, "rack", true}}, "rack", 0, 0, nil},
		{"the pod's key goes first", []request{{placePod, SpreadBy, "a", false}, {placeStatefulSet, SpreadBy, "b", false},
			{placeNamespace, SpreadBy, "c", false}}, "a", 0, 0, nil},
		{"then its owner's", []request{{placeStatefulSet, SpreadBy, "b", false}, {placeNamespace, SpreadBy, "c", false}}, "b", 0, 0, nil},
		{"an unreadable key is ignored", []request{{placePod, SpreadBy, "a b", false}, {placeNamespace, SpreadBy, "c", false}}, "c", 0,
			0, []string{SpreadBy}},
		{"the least skew", []request{{placePod, MaxSkew, "3", false}, {placeStatefulSet, MaxSkew, "2", false},
			{placeNamespace, MaxSkew, "5", false}}, "", 2, 0, nil},
		{"skews below 1", []request{{placePod, MaxSkew, "0", false}, {placeStatefulSet, MaxSkew, "-1", false},
			{placeNamespace, MaxSkew, "+1", false}}, "", 0, 0, []string{MaxSkew, MaxSkew, MaxSkew}},
		{"skews that are not numbers", []request{{placePod, MaxSkew, "", false}, {placeStatefulSet, MaxSkew, "1.5", false},
			{placeNamespace, MaxSkew, "99999999999999999999", false}}, "", 0, 0, []string{MaxSkew, MaxSkew, MaxSkew}},
		{"the highest category", []request{{placePod, ZoneSLO, "3", false}, {placeStatefulSet, ZoneSLO, "4", false}}, "", 0, 4, nil},
		{"in any order", []request{{placePod, ZoneSLO, "4", false}, {placeNamespace, ZoneSLO, "3", false}}, "", 0, 4, nil},
		{"other categories", []request{{placePod, ZoneSLO, "2", false}, {placeStatefulSet, ZoneSLO, "5", false},
			{placeNamespace, ZoneSLO, "34", false}}, "", 0, 0, []string{ZoneSLO, ZoneSLO, ZoneSLO}},
		{"label and annotation both count", []request{{placePod, MaxSkew, "3", false}, {placePod, MaxSkew, "1", true}}, "", 1, 0, nil},
		{"keys for single pods are ignored",
			[]request{{placePod, Evict, "nonsense", false}, {placePod, Prefix + "x", "", false}}, "", 0, 0, nil},
	} {
		s, p := shopSnapshot(t, c.requests...)
		r := OfWorkload(s, p)
		var keys []string
		for _, p := range r.Problems {
			keys = append(keys, p.Key)
		}
		if r.SpreadBy != c.spreadBy || r.MaxSkew != c.maxSkew || r.ZoneSLO != c.zoneSLO || !slices.Equal(keys, c.problems) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

func TestOfNode(t *testing.T) {
	for _, c := range []struct {
		key, value string
		excluded   bool
		drain      bool
		problem    bool
	}{
		{"example.org/exclude", "true", false, false, false},
		{Exclude, "true", true, false, false},
		{Exclude, "false", false, false, false},
		{Exclude, "", true, false, true},
		{Exclude, "yes", true, false, true},
		{DrainFirst, "true", false, true, false},
		{DrainFirst, "false", false, false, false},
		{DrainFirst, "1", false, false, true},
		{Prefix + "pressure", "cpu", false, false, false},
		{"evenkeel.io/steer", "avoid", false, false, false}, // steering hints are not requests
		{"evenkeel.io/steer-run", "1", false, false, false},
		{"evenkeel.io/steer-expires", "1", false, false, false},
		{"evenkeel.io/steered", "1", false, false, true},
		{Prefix + "exclud", "true", false, false, true},
		{Evict, "never", false, false, true}, // valid only on pods
	} {
		for _, label := range [...]bool{false, true} {
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
			setKey(n, c.key, c.value, label)
			r := OfNode(&cluster.Node{Name: "n1", Object: n})
			if (len(r.Exclude) == 1) != c.excluded || r.DrainFirst != c.drain || (len(r.Problems) == 1) != c.problem {
				t.Errorf("%s: %q: %+v", c.key, c.value, r)
			}
			for _, src := range r.Exclude {
				if src.Object != "node n1" {
					t.Errorf("%s", src)
				}
			}
		}
	}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	setKey(n, Exclude, "false", false)
	setKey(n, Exclude, "true", true)
	if r := OfNode(&cluster.Node{Name: "n1", Object: n}); len(r.Exclude) != 1 {
		t.Errorf("a label does not exclude if the annotation is false: %+v", r)
	}
}

// TestProblems checks that each problem is listed once, in order, even if several pods share
// the object.
func TestProblems(t *testing.T) {
	s, _ := shopSnapshot(t, request{placePod, Evict, "no", false}, request{placePod, SafeToEvict, "no", false},
		request{placePod, ZoneSLO, "1", false},
		request{placeStatefulSet, MaxSkew, "x", false}, request{placeStatefulSet, SafeToEvict, "no", false},
		request{placeNamespace, AllowWindow, "x", false}, request{placeNamespace, Prefix + "b", "2", true},
		request{placeNamespace, Prefix + "a", "1", false})
	second := s.Objects.Pods[0].DeepCopy()
	second.Name, second.UID, second.Annotations = "db-1", "pod-db-1", nil
	s.Objects.Pods = append(s.Objects.Pods, second)
	setKey(s.Objects.Nodes[0], DrainFirst, "x", false)
	s, _ = newSnapshot(t, s.Objects)
	var got []string
	for _, p := range NewCache().Problems(s, nil) {
		got = append(got, p.Object+" "+p.Key)
	}
	want := []string{
		"StatefulSet shop/db evenkeel.io/max-skew",
		"namespace shop evenkeel.io/a", "namespace shop evenkeel.io/b", "namespace shop evenkeel.io/window",
		"node n1 evenkeel.io/drain-first",
		"pod shop/db-0 cluster-autoscaler.kubernetes.io/safe-to-evict", "pod shop/db-0 evenkeel.io/evict", "pod shop/db-0 evenkeel.io/zone-slo",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	p := Problem{Source: Source{"the pod", Evict, "no"}, Want: wantEvict}
	if p.String() != `evenkeel.io/evict: "no" on the pod cannot be read (want never or prefer)` {
		t.Error(p)
	}
}
