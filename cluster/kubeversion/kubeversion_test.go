package kubeversion

import (
	"reflect"
	"testing"
)

// TestFeatures lists by feature the minor versions that have it, from the sources of each version.
func TestFeatures(t *testing.T) {
	want := map[string][]int{
		"BalancedByGain":              {36, 37},
		"ImageVolumesScored":          {36, 37},
		"ImageVolumesCounted":         {37},
		"DeclaredFeatures":            {36, 37},
		"BindMountOptions":            {37},
		"PodLevelResources":           {34, 35, 36, 37},
		"PodLevelStatuses":            {36, 37},
		"ResizeByPod":                 {37},
		"StorageCapacityScored":       {37},
		"MissingDriversReject":        {37},
		"PortworxAnnotated":           {33, 34, 35},
		"VolumeAttributesClass":       {34, 35, 36, 37},
		"UncertainNamespaceSelectors": {34, 35, 36},
	}
	fields := reflect.TypeFor[Features]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		var got []int
		for minor := Oldest; minor <= Newest; minor++ {
			if reflect.ValueOf(Of(minor)).Field(i).Bool() {
				got = append(got, minor)
			}
		}
		if !reflect.DeepEqual(got, want[name]) {
			t.Errorf("%s: minor versions %v, want %v", name, got, want[name])
		}
	}
}

func TestUnknownVersions(t *testing.T) {
	if Of(1) != Of(Oldest) || Of(99) != Of(Newest) {
		t.Error("an unknown version does not have the features of the nearest known one")
	}
	for _, c := range []struct {
		major, minor int
		want         bool
	}{{1, 32, false}, {1, 33, true}, {1, 37, true}, {1, 38, false}, {2, 35, false}, {0, 0, false}} {
		if got := Known(c.major, c.minor); got != c.want {
			t.Errorf("%d.%d: known %v, want %v", c.major, c.minor, got, c.want)
		}
	}
}
