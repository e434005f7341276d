package web_test

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evenkeel-project/evenkeel/metrics"
	"github.com/evenkeel-project/evenkeel/usage/loadwatcher"
	"github.com/evenkeel-project/evenkeel/usage/window"
	"github.com/evenkeel-project/evenkeel/web"
)

type fakeUsage []window.NodeLoads

func (k fakeUsage) Enabled() bool { return k == nil || k[0].Node != "off" }

func (fakeUsage) Source() string { return "metricsServer" }

func (k fakeUsage) Loads() ([]window.NodeLoads, time.Duration, time.Time) {
	return k, 15 * time.Minute, time.Unix(10_000, 0)
}

func watcherHandler(k fakeUsage) http.Handler {
	return (&web.Server{Metrics: metrics.New("v1", "abc").Registry, Routes: web.WatcherRoutes(k)}).Handler()
}

func usageOfTwoNodes() fakeUsage {
	return fakeUsage{
		{
			Node:       "n1",
			At:         time.Unix(9_990, 0),
			ByResource: map[string]window.LoadStatistics{"cpu": {Latest: 12.5, Mean: 10, Std: 2}, "memory": {Latest: 40, Mean: 41, Std: 0}},
		},
		{Node: "n2", At: time.Unix(9_960, 0), ByResource: map[string]window.LoadStatistics{"memory": {Latest: 50, Mean: math.NaN(), Std: 1}}},
	}
}

func TestWatcherSpeaksAsALoadWatcherDoes(t *testing.T) {
	code, body := getPage(t, watcherHandler(usageOfTwoNodes()), "GET", "/watcher")
	want := `{"timestamp":10000,"window":{"duration":"15m","start":9060,"end":9960},"source":"metricsServer","data":{"NodeMetricsMap":{` +
		`"n1":{"metrics":[{"name":"","type":"CPU","operator":"Latest","rollup":"","value":12.5},{"name":"","type":"CPU","operator":"AVG",` +
		`"rollup":"","value":10},{"name":"","type":"CPU","operator":"STD","rollup":"","value":2},` +
		`{"name":"","type":"Memory","operator":"Latest","rollup":"","value":40},{"name":"","type":"Memory","operator":"AVG","rollup":"",` +
		`"value":41},{"name":"","type":"Memory","operator":"STD","rollup":"","value":0}],"tags":{},"metadata":{"dataCenter":""}},` +
		`"n2":{"metrics":[{"name":"","type":"Memory","operator":"Latest","rollup":"","value":50},{"name":"","type":"Memory","operator":"STD",` +
		`"rollup":"","value":1}],"tags":{},"metadata":{"dataCenter":""}}}}}`
	if diff := cmp.Diff(want, strings.TrimSpace(body)); diff != "" || code != 200 {
		t.Errorf("%d (-want +got):\n%s", code, diff)
	}
	if _, err := loadwatcher.Decode([]byte(body)); err != nil {
		t.Error(err)
	}
}

func TestWatcherAnswersForOneHost(t *testing.T) {
	code, body := getPage(t, watcherHandler(usageOfTwoNodes()), "GET", "/watcher?host=n2")
	a, err := loadwatcher.Decode([]byte(body))
	if err != nil || code != 200 || len(a.Data.Nodes) != 1 || len(a.Data.Nodes["n2"].Metrics) != 2 {
		t.Errorf("%d, %v, %s", code, err, body)
	}
	for path, want := range map[string]int{"/watcher?host=n3": 404, "/watcher/health": 200} {
		if code, _ := getPage(t, watcherHandler(usageOfTwoNodes()), "GET", path); code != want {
			t.Errorf("%s: got status %d, want %d", path, code, want)
		}
	}
	if code, _ := getPage(t, watcherHandler(usageOfTwoNodes()), "POST", "/watcher"); code != 405 {
		t.Errorf("POST: %d", code)
	}
}

// slowUsage answers when the test releases it.
type slowUsage struct {
	fakeUsage
	began, answer chan struct{}
}

func (s slowUsage) Loads() ([]window.NodeLoads, time.Duration, time.Time) {
	s.began <- struct{}{}
	<-s.answer
	return s.fakeUsage.Loads()
}

// All watcher routes together serve at most four requests at once.
func TestWatcherAnswersAFewAtOnce(t *testing.T) {
	s := slowUsage{usageOfTwoNodes(), make(chan struct{}), make(chan struct{})}
	h := (&web.Server{Metrics: metrics.New("v1", "abc").Registry, Routes: web.WatcherRoutes(s)}).Handler()
	codes := make(chan int)
	for i := range 4 {
		go func() {
			code, _ := getPage(t, h, "GET", []string{"/watcher", "/watcher/health"}[i%2])
			codes <- code
		}()
		<-s.began
	}
	for _, path := range []string{"/watcher", "/watcher?host=n1", "/watcher/health"} {
		if code, body := getPage(t, h, "GET", path); code != 503 ||
			!strings.Contains(body, "the server is already answering 4 requests; try again later") {
			t.Errorf("%s during four requests: got status %d and body %s", path, code, body)
		}
	}
	close(s.answer)
	for range 4 {
		if code := <-codes; code != 200 {
			t.Errorf("got status %d for one of the four requests", code)
		}
	}
	go func() { <-s.began }()
	if code, _ := getPage(t, h, "GET", "/watcher"); code != 200 {
		t.Errorf("after them: %d", code)
	}
}

func TestWatcherWithoutData(t *testing.T) {
	for path, want := range map[string]int{"/watcher": 500, "/watcher?host=n1": 500, "/watcher/health": 503} {
		if code, _ := getPage(t, watcherHandler(nil), "GET", path); code != want {
			t.Errorf("%s: got status %d, want %d", path, code, want)
		}
	}
	for _, path := range []string{"/watcher", "/watcher?host=off", "/watcher/health"} {
		if code, _ := getPage(t, watcherHandler(fakeUsage{{Node: "off"}}), "GET", path); code != 404 {
			t.Errorf("%s with the routes disabled: got status %d", path, code)
		}
	}
}
