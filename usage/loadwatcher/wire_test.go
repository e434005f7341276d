package loadwatcher

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// recordedAnswer returns testdata/watcher.json, an answer of load-watcher v0.2.4 as recorded from the network.
func recordedAnswer(t testing.TB) []byte {
	t.Helper()
	b := must.Get(os.ReadFile("testdata/watcher.json"))(t)
	return b
}

func TestTheRecordedAnswerDecodesAndEncodes(t *testing.T) {
	body := recordedAnswer(t)
	got := must.Get(Decode(body))(t)
	want := Answer{
		Timestamp: 5, Window: Window{"15m", 1, 901}, Source: "KubernetesMetricsServer",
		Data: Data{map[string]NodeMetrics{"n1": {Metrics: []Metric{{Type: CPU, Operator: Latest, Value: 12.5}}}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("decoded:\n%s", d)
	}
	var b bytes.Buffer
	must.Succeed(t, Encode(&b, got))
	if d := cmp.Diff(string(body), b.String()); d != "" {
		t.Errorf("encoded:\n%s", d)
	}
}

func TestEncodeNeverSendsNaN(t *testing.T) {
	a := Answer{Data: Data{map[string]NodeMetrics{
		"none": {Metrics: []Metric{{Type: CPU, Operator: Average, Value: math.NaN()}}},
		"some": {Metrics: []Metric{{Type: CPU, Operator: Average, Value: 1}, {Type: Memory, Operator: Average, Value: math.Inf(1)}}},
	}}}
	var b bytes.Buffer
	must.Succeed(t, Encode(&b, a))
	got := must.Get(Decode(b.Bytes()))(t)
	want := map[string]NodeMetrics{"some": {Metrics: []Metric{{Type: CPU, Operator: Average, Value: 1}}}}
	if d := cmp.Diff(want, got.Data.Nodes); d != "" {
		t.Error(d)
	}
	b.Reset()
	if err := Encode(&b, Answer{}); err != nil || strings.Contains(b.String(), "null") {
		t.Errorf("%s, %v", b.String(), err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"nothing":           {"", "unexpected end"},
		"half an answer":    {string(recordedAnswer(t)[:100]), "unexpected end"},
		"a page":            {"<html>login</html>", "invalid character"},
		"something else":    {`{"status":"ok"}`, "NodeMetricsMap"},
		"null":              {"null", "NodeMetricsMap"},
		"a bare NaN":        {strings.Replace(string(recordedAnswer(t)), "12.5", "NaN", 1), "invalid character"},
		"a value in quotes": {strings.Replace(string(recordedAnswer(t)), "12.5", `"12.5"`, 1), "cannot unmarshal"},
	} {
		t.Run(name, func(t *testing.T) {
			if a, err := Decode([]byte(c.body)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v; want %q", a, err, c.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(recordedAnswer(f))
	f.Add([]byte(`{"data":{"NodeMetricsMap":{"":{"metrics":null}}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := Decode(body)
		if err != nil {
			return
		}
		var b bytes.Buffer
		must.Succeed(t, Encode(&b, a))
		again, err := Decode(b.Bytes())
		if err != nil {
			t.Fatalf("%v: %s", err, b.String())
		}
		for name, n := range a.Data.Nodes {
			if len(n.Metrics) > 0 && !cmp.Equal(n.Metrics, again.Data.Nodes[name].Metrics) {
				t.Fatalf("%s: %+v, want %+v", name, again.Data.Nodes[name], n)
			}
		}
	})
}
