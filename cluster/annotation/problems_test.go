package annotation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/cluster"
)

// TestProblemCauses checks that problems name the wrong part of a value, or suggest a key.
func TestProblemCauses(t *testing.T) {
	const keysOfPods = "evenkeel.io/evict, evenkeel.io/do-not-disrupt, evenkeel.io/window, evenkeel.io/spread-by, evenkeel.io/max-skew, evenkeel.io/zone-slo"
	for _, c := range []struct{ key, value, want string }{
		{Prefix + "evicted", "never", `evenkeel.io/evicted: "never" on the pod: no such key (did you mean evenkeel.io/evict?)`},
		{Prefix + "Do-Not-Disrupt", "true", `evenkeel.io/Do-Not-Disrupt: "true" on the pod: no such key (did you mean evenkeel.io/do-not-disrupt?)`},
		{Prefix + "qqq", "1", `evenkeel.io/qqq: "1" on the pod: no such key on pods, workloads and namespaces (want one of ` + keysOfPods + `)`},
		{Exclude, "true", `evenkeel.io/exclude: "true" on the pod: it belongs on nodes`},
		{DrainFirst, "x", `evenkeel.io/drain-first: "x" on the pod: it belongs on nodes`},
		{Prefix + "pressure", "true", `evenkeel.io/pressure: "true" on the pod: it belongs on nodes`},
		{DoNotDisrupt, "2d", `evenkeel.io/do-not-disrupt: "2d" on the pod cannot be read: days are not supported (did you mean 48h?)`},
		{DoNotDisrupt, "4", `evenkeel.io/do-not-disrupt: "4" on the pod cannot be read: it has no unit (did you mean 4h or 4m?)`},
		{DoNotDisrupt, "-4h", `evenkeel.io/do-not-disrupt: "-4h" on the pod cannot be read: the duration is not above 0 (want true, false, or a duration from the pod's start, such as 4h)`},
		{DoNotDisrupt, "99999999d", `evenkeel.io/do-not-disrupt: "99999999d" on the pod cannot be read (want true, false, or a duration from the pod's start, such as 4h)`},
		{KarpenterNoDisrupt, "1d", `karpenter.sh/do-not-disrupt: "1d" on the pod cannot be read: days are not supported (did you mean 24h?)`},
		{AllowWindow, "0 3 * * * 10s", `evenkeel.io/window: "0 3 * * * 10s" on the pod cannot be read: a window of 10s makes no sense (want 1m to 168h)`},
		{AllowWindow, "0 25 * * * 6h", `evenkeel.io/window: "0 25 * * * 6h" on the pod cannot be read: "0 25 * * *" is not a cron expression: "25" is not a valid hour (want 0 to 23)`},
		{AllowWindow, "0 22 * * * 6h Mars/Base", `evenkeel.io/window: "0 22 * * * 6h Mars/Base" on the pod cannot be read: "Mars/Base" is not a time zone (want an IANA name, such as Europe/Berlin or Etc/UTC)`},
		{AllowWindow, "@daily 30m; 0 0 30 2 * 6h", `evenkeel.io/window: "@daily 30m; 0 0 30 2 * 6h" on the pod cannot be read: "0 0 30 2 *" never fires: no year has such a day`},
	} {
		r := readRequests(t, request{placePod, c.key, c.value, false})
		if len(r.Problems) != 1 || r.Problems[0].String() != c.want {
			t.Errorf("got  %v\nwant %s", r.Problems, c.want)
		}
	}
}

func TestProblemsOfNodesSayWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ key, want string }{
		{Prefix + "exlude", `evenkeel.io/exlude: "true" on node n1: no such key (did you mean evenkeel.io/exclude?)`},
		{Prefix + "drain", `evenkeel.io/drain: "true" on node n1: no such key on nodes (want one of evenkeel.io/exclude, evenkeel.io/drain-first)`},
		{Evict, `evenkeel.io/evict: "true" on node n1: it belongs on pods, workloads and namespaces`},
		{Exclude, ""}, {DrainFirst, ""}, {Prefix + "pressure", ""}, {Prefix + "steer", ""},
	} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
		setKey(n, c.key, "true", false)
		got := ""
		for _, p := range OfNode(&cluster.Node{Name: "n1", Object: n}).Problems {
			got += p.String()
		}
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestCausesAreShort checks that the cause does not repeat a long value.
func TestCausesAreShort(t *testing.T) {
	long := ""
	for range 5000 {
		long += "1,"
	}
	for _, value := range []string{long + "99 * * * * 1h", "0 " + long + "x * * * 1h", "* * * * * 1h " + long, "* * * * * " + long, long} {
		for _, p := range readRequests(t, request{placePod, AllowWindow, value, false}).Problems {
			if n := len([]rune(p.String())); n > 400 {
				t.Errorf("%d characters: %.200s", n, p)
			}
		}
	}
}
