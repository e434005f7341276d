package prometheus

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/evenkeel-project/evenkeel/internal/cputime"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

// podVectorJSON returns an answer with n pods.
func podVectorJSON(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"status":"success","data":{"resultType":"vector","result":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"metric":{"namespace":"team-%d","pod":"service-%d-7d9f8b6c5-x%05d"},"value":[%d.123,"0.0%d"]}`, i%100, i/20,
			i, noon.Unix(), i)
	}
	b.WriteString(`]}}`)
	return b.Bytes()
}

// decodeWithClientLibrary decodes the same answer with the client library.
func decodeWithClientLibrary(t testing.TB, body []byte) (model.Value, error) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
	defer s.Close()
	c, err := api.NewClient(api.Config{Address: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	v, _, err := v1.NewAPI(c).Query(ctx, "x", noon)
	return v, err
}

// compareAnswers checks that both decoders give the same result.
func compareAnswers(t testing.TB, got answer, want model.Value) {
	t.Helper()
	var theirs []string
	switch v := want.(type) {
	case model.Vector:
		for _, s := range v {
			if s.Histogram != nil {
				theirs = append(theirs, fmt.Sprint(s.Metric["namespace"], s.Metric["pod"], "histogram"))
				continue
			}
			theirs = append(theirs, fmt.Sprint(s.Metric["namespace"], s.Metric["pod"], int64(s.Timestamp), float64(s.Value)))
		}
	case model.Matrix:
		for _, s := range v {
			for _, p := range s.Values {
				theirs = append(theirs, fmt.Sprint(s.Metric["namespace"], s.Metric["pod"], int64(p.Timestamp), float64(p.Value)))
			}
		}
	}
	var ours []string
	for _, s := range got.samples {
		if s.histogram {
			ours = append(ours, fmt.Sprint(s.labels[0], s.labels[1], "histogram"))
			continue
		}
		ours = append(ours, fmt.Sprint(s.labels[0], s.labels[1], s.at.UnixMilli(), s.v))
	}
	if a, b := strings.Join(ours, "\n"), strings.Join(theirs, "\n"); a != b {
		t.Fatalf("decoded\n%.2000s\nthe library decoded\n%.2000s", a, b)
	}
}

func TestAnswersReadAsTheLibraryReadsThem(t *testing.T) {
	for name, body := range map[string][]byte{
		"pods": podVectorJSON(300),
		"odd numbers": []byte(`{"status":"success","data":{"resultType":"vector","result":[
			{"metric":{"pod":"a"},"value":[1767268800,"NaN"]},{"metric":{"pod":"b"},"value":[1767268800.5,"+Inf"]},
			{"metric":{"pod":"c"},"value":[1767268800,"-Inf"]},{"metric":{"pod":"d"},"value":[1767268800,"1e-7"]}]}}`),
		"escapes": []byte(`{"status":"success","data":{"resultType":"vector","result":[
			{"metric":{"pod":"a\"\\\u00e9\ud83d\ude00","x":"\n"},"value":[1767268800,"1"]}]}}`),
		"histogram": []byte(`{"status":"success","data":{"resultType":"vector","result":[
			{"metric":{"pod":"a"},"histogram":[1767268800,{"count":"1","sum":"2","buckets":[[0,"0","1","1"]]}]}]}}`),
		"range": []byte(`{"status":"success","data":{"resultType":"matrix","result":[
			{"metric":{"pod":"a"},"values":[[1767268800,"1"],[1767268830,"2"]]}]}}`),
		"infos": []byte(`{"status":"success","data":{"resultType":"vector","result":[]},"infos":["metric might not be a counter"]}`),
	} {
		t.Run(name, func(t *testing.T) {
			want := must.Get(decodeWithClientLibrary(t, body))(t)
			got := must.Get(decodeAnswer(body, []string{"namespace", "pod"}))(t)
			compareAnswers(t, got, want)
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	whole := string(podVectorJSON(3))
	for name, c := range map[string]struct{ body, want string }{
		"nothing":          {"", "is empty"},
		"a page":           {"\n<html>", "a web page"},
		"a list":           {"[]", "not a JSON object"},
		"half":             {whole[:200], "not what the Prometheus API sends"},
		"all but the end":  {whole[:len(whole)-1], "not what the Prometheus API sends"},
		"twice":            {whole + whole, "more than one value"},
		"something else":   {`{"status":1}`, "not what"},
		"a time far off":   {strings.Replace(whole, "1767268800.123", "1e18", 1), "1e+18 is not a time"},
		"before time":      {strings.Replace(whole, "1767268800.123", "-1", 1), "-1 is not a time"},
		"a word":           {strings.Replace(whole, `"0.01"`, `"one"`, 1), "is not a number"},
		"a bare number":    {strings.Replace(whole, `"0.01"`, `0.01`, 1), "not what"},
		"half a point":     {strings.Replace(whole, `,"0.01"`, ``, 1), "fewer than two elements (want a time and a number)"},
		"a point and more": {strings.Replace(whole, `"0.01"`, `"0.01",1`, 1), "more than two elements (want a time and a number)"},
	} {
		t.Run(name, func(t *testing.T) {
			if a, err := decodeAnswer([]byte(c.body), []string{"namespace", "pod"}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v; want %q", a, err, c.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(podVectorJSON(2))
	f.Add([]byte(`{"status":"error","errorType":"bad_data","error":"x","warnings":["a"]}`))
	f.Add([]byte(`{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`))
	f.Add([]byte(`{"data":{"resultType":"matrix","result":[{"values":[[1,"2"],[2,"NaN"]]}]}}`))
	f.Add([]byte(`{"\`))
	f.Add([]byte("{}\x00"))
	f.Add([]byte(`{"data":null,"status":"success","x":[true,{"a":"\\\""}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := decodeAnswer(body, []string{"namespace", "pod"})
		if err != nil {
			return
		}
		for _, s := range a.samples {
			if s.at.Unix() < 0 && !s.histogram {
				t.Fatalf("%+v", s)
			}
		}
		// A truncated answer is never accepted.
		if whole := bytes.TrimRight(body, " \t\r\n"); len(whole) > 0 {
			if a, err := decodeAnswer(whole[:len(whole)-1], []string{"namespace", "pod"}); err == nil {
				t.Fatalf("a truncated answer was accepted: %+v", a)
			}
		}
	})
}

func BenchmarkDecode150kPods(b *testing.B) {
	body := podVectorJSON(150000)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	before := cputime.Used(b)
	for b.Loop() {
		a, err := decodeAnswer(body, []string{"namespace", "pod"})
		if err != nil || len(a.samples) != 150000 {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cputime.Used(b)-before).Seconds()/float64(b.N), "cpu-s/op")
}
