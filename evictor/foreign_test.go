package evictor

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	restclient "k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel-project/evenkeel/plan"
)

// foreignAnswers are answers that do not say that pod d1 is gone.
var foreignAnswers = map[string]http.HandlerFunc{
	"the page of a proxy": func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<h1>Not Found</h1>", http.StatusNotFound)
	},
	"the JSON of a proxy": func(w http.ResponseWriter, _ *http.Request) {
		writeAnswer(w, http.StatusNotFound, map[string]string{"error": "no backend"})
	},
	"a path that the API server does not know": func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "404 page not found", http.StatusNotFound)
	},
	"a Status without details": func(w http.ResponseWriter, _ *http.Request) {
		writeAnswer(w, http.StatusNotFound, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound})
	},
	"a Status about a budget that was deleted meanwhile": notFound("poddisruptionbudgets", "d1"),
	"a Status about the namespace":                       notFound("namespaces", "shop"),
	"a Status about another pod":                         notFound("pods", "d2"),
}

func notFound(resource, name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		s := apierrors.NewNotFound(schema.GroupResource{Resource: resource}, name).ErrStatus
		s.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		writeAnswer(w, http.StatusNotFound, s)
	}
}

func writeAnswer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

// newServedLive returns an evictor whose API server has pod d1, unless answer answers a request first.
func newServedLive(t *testing.T, w *fakeCluster, answer func(r *http.Request) http.HandlerFunc) *Live {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if f := answer(r); f != nil {
			f(out, r)
			return
		}
		p, err := w.get(r.Context(), "shop", "d1")
		if err != nil {
			notFound("pods", "d1")(out, r)
			return
		}
		p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		writeAnswer(out, http.StatusOK, p)
	}))
	t.Cleanup(s.Close)
	c := kubernetes.NewForConfigOrDie(&restclient.Config{Host: s.URL, QPS: -1})
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	l := newTestLive(w, clock.RealClock{})
	l.podAPI = restAPI{c}
	return l
}

// Only an API server that names the pod says that the pod is gone.
func TestForeignAnswersDoNotMeanThatThePodIsGone(t *testing.T) {
	m := testMove(1, "d1", "u1")
	for name, answer := range foreignAnswers {
		t.Run("eviction: "+name, func(t *testing.T) {
			l := newServedLive(t, newFakeCluster(testPod("d1", "u1", "n3")), func(r *http.Request) http.HandlerFunc {
				if r.Method == http.MethodPost {
					return answer
				}
				return nil
			})
			r := l.EvictWave(t.Context(), []plan.Move{m}, nil)
			if o := singleOutcome(t, r); o.Outcome != plan.UnknownOutcome || o.Reason.Code != plan.APIError || r.Stop == nil {
				t.Errorf("got outcome %+v, stop reason %v; want an unknown outcome that stops the pass", o, r.Stop)
			}
		})
		t.Run("read: "+name, func(t *testing.T) {
			w := newFakeCluster(testPod("d1", "u1", "n3"))
			l := newServedLive(t, w, func(*http.Request) http.HandlerFunc { return answer })
			o := singleOutcome(t, l.EvictWave(t.Context(), []plan.Move{m}, nil))
			if o.Outcome != plan.Dropped || o.Reason.Code != plan.APIError {
				t.Errorf("got outcome %+v, want that the move was not tried", o)
			}
			open := []plan.Reservation{{Step: 1, Pod: m.Pod, At: time.Now().Add(-time.Hour)}}
			if out, err := l.Resolve(t.Context(), open); err == nil {
				t.Errorf("the reservation of an earlier process got outcome %+v, want an error", out)
			}
			if v := l.resolveAmbiguous(canceled(t), m, Verdict{}); v.Accepted || v.Outcome != plan.UnknownOutcome {
				t.Errorf("an eviction without an answer got %+v, want an unknown outcome", v)
			}
		})
	}
}

// canceled returns a context that has ended, so that nothing is read twice.
func canceled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// An answer about another object, such as an empty one, does not mean that another pod has the name.
func TestAnAnswerAboutAnotherObjectIsAnError(t *testing.T) {
	other := testPod("d2", "u2", "n3")
	elsewhere := testPod("d1", "u2", "n3")
	elsewhere.Namespace = "ops"
	for name, p := range map[string]*corev1.Pod{"an empty object": {}, "another name": other, "another namespace": elsewhere} {
		l := newServedLive(t, newFakeCluster(), func(*http.Request) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
				writeAnswer(w, http.StatusOK, p)
			}
		})
		_, err := l.getPod(t.Context(), testMove(1, "d1", "u1").Pod)
		if err == nil || !strings.Contains(err.Error(), "the answer is about another object") {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}
