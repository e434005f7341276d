package prometheus

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

func TestHistory(t *testing.T) {
	steps := func(instance string, values ...string) string {
		var out []string
		for i, v := range values {
			out = append(out, fmt.Sprintf("[%d,%q]", noon.Add(time.Duration(i-len(values)+1)*30*time.Second).Unix(), v))
		}
		return fmt.Sprintf(`{"metric":{"instance":%q},"values":[%s]}`, instance, strings.Join(out, ","))
	}
	ok := true
	s := newTestSource(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/query_range") || r.FormValue("step") != "30" ||
			r.FormValue("start") != unixBefore(time.Minute)+".000" {
			t.Errorf("%s %v", r.URL.Path, r.Form)
		}
		result := ""
		switch q := r.FormValue("query"); {
		case !ok && strings.Contains(q, "MemTotal"):
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case strings.Contains(q, "timestamp("):
			result = steps("n1", unixBefore(65*time.Second), unixBefore(35*time.Second), unixBefore(5*time.Second)) + "," +
				steps("n2", unixBefore(time.Hour), unixBefore(31*time.Second), unixBefore(time.Second))
		case strings.Contains(q, "node_cpu"):
			result = steps("n1", "0.25", "0.5", "0.75") + "," + steps("n2", "0.5", "NaN", "0.5")
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[%s]}}`, result)
	}), nil)
	got := must.Get(s.History(t.Context(), twoNodes(), noon.Add(-time.Minute), 30*time.Second))(t)
	var lines []string
	for _, x := range got {
		for _, n := range []string{"n1", "n2"} {
			if r, ok := x.Nodes[n]; ok {
				lines = append(lines, fmt.Sprintf("%s %s %s %d", noon.Sub(x.Taken), n, noon.Sub(r.At), r.Used["cpu"]))
			}
		}
	}
	want := []string{"1m0s n1 1m5s 1000", "30s n1 35s 2000", "0s n1 5s 3000", "0s n2 1s 2000"}
	if d := cmp.Diff(want, lines); d != "" {
		t.Error(d)
	}
	ok = false
	if got, err := s.History(t.Context(), twoNodes(), noon.Add(-time.Minute), 30*time.Second); len(got) != 3 || err == nil ||
		err.Error() != "reading the history from Prometheus: memory: the server answers 503" {
		t.Errorf("with a query that fails: %d samples, %v", len(got), err)
	}
	ok = true
	for _, step := range []time.Duration{0, time.Microsecond, time.Millisecond} {
		if _, err := s.History(t.Context(), twoNodes(), noon.Add(-time.Minute), step); err == nil {
			t.Errorf("steps of %s", step)
		}
	}
	if _, err := s.History(t.Context(), twoNodes(), noon.Add(time.Minute), time.Minute); err == nil {
		t.Error("History accepted a start in the future")
	}
}
