package metricsserver

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// TestQuantitiesAreTheLibrarys compares parseQuantity with the library, including forms that
// parseQuantity leaves to the library.
func TestQuantitiesAreTheLibrarys(t *testing.T) {
	for _, text := range []string{"0", "1", "137201532n", "15u", "250m", "3k", "342109Ki", "7Mi", "2Gi", "1.5", "1e3", "-1", "3T",
		"999999999999999999", "1234567890123456789012"} {
		want := resource.MustParse(text)
		if got, err := parseQuantity([]byte(text)); err != nil || got != want.AsApproximateFloat64() {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want.AsApproximateFloat64())
		}
	}
	for _, text := range []string{"Ki", "one", "1 Ki", "-", "0x10"} {
		if got, err := parseQuantity([]byte(text)); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestBothEncodingsSayTheSame(t *testing.T) {
	for kind, list := range map[string]runtime.Object{
		podList: &v1beta1.PodMetricsList{Items: []v1beta1.PodMetrics{podMetrics("a", resourceList("100m", "64Mi"),
			resourceList("1n", "1.5")), podMetrics("b", resourceList("", "1")), podMetrics("c")}},
		nodeList: &v1beta1.NodeMetricsList{Items: []v1beta1.NodeMetrics{nodeMetrics("n1", time.Second+time.Millisecond, time.Minute,
			resourceList("0", "64Mi")), nodeMetrics("n2", 0, 0, nil)}},
	} {
		a := must.Get(decodeProto(encodeList(t, runtime.ContentTypeProtobuf, list), kind))(t)
		b := must.Get(decodeJSON(encodeList(t, runtime.ContentTypeJSON, list), kind))(t)
		for i := range b {
			b[i].at = a[i].at.Truncate(time.Second) // JSON times have whole seconds
			a[i].at = b[i].at
		}
		if d := cmp.Diff(a, b, cmp.AllowUnexported(itemMetrics{}, resourceUse{})); d != "" || len(a) < 2 {
			t.Errorf("%s: %d\n%s", kind, len(a), d)
		}
		if _, err := decodeProto(encodeList(t, runtime.ContentTypeProtobuf, list), "Gadget"); err == nil {
			t.Error("a list of another kind was accepted")
		}
		if _, err := decodeJSON(encodeList(t, runtime.ContentTypeJSON, list), "Gadget"); err == nil {
			t.Error("a list of another kind was accepted")
		}
	}
}

func FuzzDecodeProto(f *testing.F) {
	f.Add(encodeList(f, runtime.ContentTypeProtobuf,
		&v1beta1.PodMetricsList{Items: []v1beta1.PodMetrics{podMetrics("a", resourceList("100m", "64Mi"))}}))
	f.Add([]byte("k8s\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		items, err := decodeProto(body, podList)
		if err == nil && len(items) > len(body) {
			t.Fatal("received more events than were sent")
		}
	})
}
