package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/evenkeel-project/evenkeel/internal/must"
	"github.com/evenkeel-project/evenkeel/objects"
	"github.com/evenkeel-project/evenkeel/objects/objectstest"
)

// syncTimeouts are the timeouts for reading the cluster, tried one after another until the message is as expected.
// Most rows with a server wait for the whole timeout, so the first timeout is short. Busy machines need the longer
// timeouts.
var syncTimeouts = []time.Duration{time.Second, 4 * time.Second, 15 * time.Second}

// fakeAPIServer answers like an API server that stores the objects of the example, except for its faults. Without
// faults the program sends evictions to the server: see TestHealthyServerReceivesEviction.
type fakeAPIServer struct {
	*httptest.Server
	faults map[string]http.HandlerFunc // by path; a path that ends in a slash includes all paths below it
	lists  map[string]any              // by path

	mu    sync.Mutex
	posts []string
}

// evictions returns the paths of the evictions that the server received.
func (s *fakeAPIServer) evictions() []string {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, p := range s.posts {
		if strings.HasSuffix(p, "/eviction") {
			out = append(out, p)
		}
	}
	return out
}

// serverFault describes how an API server misbehaves.
type serverFault struct {
	paths map[string]http.HandlerFunc
	// start starts a server that does not speak plain HTTP, and returns the cluster entry for the kubeconfig.
	start func(t *testing.T, h http.Handler) (s *httptest.Server, cluster string)
}

// serve starts the server of the row, if the row has one, and writes its address to kubeconfig.yaml in dir. serve
// also writes evict.yaml, a configuration that evicts pods.
func (r *badInput) serve(t *testing.T, dir string) *fakeAPIServer {
	t.Helper()
	if r.server == nil {
		return nil
	}
	s := &fakeAPIServer{faults: r.server.paths, lists: exampleObjects()}
	start := r.server.start
	if start == nil {
		start = startPlainServer
	}
	var cluster string
	s.Server, cluster = start(t, http.HandlerFunc(s.handle))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	for name, text := range map[string]string{
		"kubeconfig.yaml": kubeconfig(cluster, ""),
		"evict.yaml":      configHead + "dryRun: false\nstrategies:\n  zones: {type: ZoneSpread, schedule: \"@hourly\"}\n",
	} {
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return s
}

func startPlainServer(_ *testing.T, h http.Handler) (*httptest.Server, string) {
	s := httptest.NewServer(h)
	return s, `server: "` + s.URL + `"`
}

func (s *fakeAPIServer) handle(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.mu.Lock()
		s.posts = append(s.posts, r.URL.Path)
		s.mu.Unlock()
	}
	for path, h := range s.faults {
		if r.URL.Path == path || strings.HasSuffix(path, "/") && strings.HasPrefix(r.URL.Path, path) {
			h(w, r)
			return
		}
	}
	switch q := r.URL.Query(); {
	case strings.HasSuffix(r.URL.Path, "/eviction"):
		respondStatus(403, "Forbidden", "no evictions here")(w, r)
	case s.pod(r.URL.Path) != nil:
		writeJSON(w, 200, s.pod(r.URL.Path))
	case r.URL.Path == "/api/v1/namespaces/shop/pods": // the example has no other namespace
		writeJSON(w, 200, s.lists[pods])
	case r.Method == http.MethodGet && s.created(r.URL.Path, "/rebalancers/evenkeel"):
		writeJSON(w, 200, map[string]any{"apiVersion": "evenkeel.io/v1alpha1", "kind": "Rebalancer", "metadata": map[string]any{"name": "evenkeel"}})
	case r.URL.Path == allLeases:
		releasesIn(s.leaders())(w, r)
	case r.URL.Path == objects.DefinitionsPath:
		respondText(200, "application/json", string(objectstest.Definitions()))(w, r)
	case r.URL.Path == "/version":
		writeJSON(w, 200, map[string]string{"major": "1", "minor": "37", "gitVersion": "v1.37.1"})
	case r.URL.Path == "/api/v1/namespaces/kube-system":
		writeJSON(w, 200, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "kube-system", "uid": "u"}})
	case s.lists[r.URL.Path] != nil && q.Get("sendInitialEvents") == "true":
		respondStatus(422, "Invalid", "no streaming lists here")(w, r)
	case s.lists[r.URL.Path] != nil && q.Get("watch") == "true":
		neverAnswer(w, r)
	case s.lists[r.URL.Path] != nil:
		writeJSON(w, 200, s.lists[r.URL.Path])
	case r.Method == http.MethodPost || r.Method == http.MethodPut: // Leases, ConfigMaps and events
		body, _ := io.ReadAll(r.Body) // read the whole body before the answer begins
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		w.WriteHeader(200)
		_, _ = w.Write(body)
	default:
		respondNotFound(w, r)
	}
}

// created reports whether path ends with object, which was created.
func (s *fakeAPIServer) created(path, object string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.HasSuffix(path, object) && slices.Contains(s.posts, strings.TrimSuffix(path, "/evenkeel"))
}

// leaders returns a holder for each namespace in which a Lease was created.
func (s *fakeAPIServer) leaders() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]string{}
	for _, path := range s.posts {
		if namespace, isLease := strings.CutSuffix(strings.TrimPrefix(path, "/apis/coordination.k8s.io/v1/namespaces/"), "/leases"); isLease {
			out[namespace] = "me"
		}
	}
	return out
}

// pod returns the pod at an API path, or nil.
func (s *fakeAPIServer) pod(path string) map[string]any {
	const namespace = "/api/v1/namespaces/shop/pods/"
	if !strings.HasPrefix(path, namespace) {
		return nil
	}
	for _, p := range s.lists[pods].(map[string]any)["items"].([]map[string]any) {
		if namespace+p["metadata"].(map[string]any)["name"].(string) == path {
			return p
		}
	}
	return nil
}

// exampleObjects returns the lists that the fake server returns, by API path.
var exampleObjects = sync.OnceValue(func() map[string]any {
	var list struct {
		Items []map[string]any `json:"items"`
	}
	if err := yaml.Unmarshal([]byte(readExample()), &list); err != nil {
		panic(err)
	}
	byKind := map[string][]map[string]any{}
	for _, o := range list.Items {
		kind := o["kind"].(string)
		byKind[kind] = append(byKind[kind], o)
	}
	lists := map[string]any{}
	for _, gv := range scheme.Scheme.PrioritizedVersionsAllGroups() {
		for listKind := range scheme.Scheme.KnownTypes(gv) {
			kind, isList := strings.CutSuffix(listKind, "List")
			if !isList || gv.Version != "v1" {
				continue
			}
			path := "/api/v1/"
			if gv.Group != "" {
				path = "/apis/" + gv.String() + "/"
			}
			resource, _ := meta.UnsafeGuessKindToResource(gv.WithKind(kind))
			lists[path+resource.Resource] = apiList(gv.String(), kind, byKind[kind])
		}
	}
	return lists
})

func apiList(version, kind string, items []map[string]any) map[string]any {
	if items == nil {
		items = []map[string]any{}
	}
	return map[string]any{"apiVersion": version, "kind": kind + "List", "metadata": map[string]any{"resourceVersion": "1"}, "items": items}
}

func writeJSON(w http.ResponseWriter, code int, x any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(x) // the client may have closed the connection
}

// respondStatus answers with a Status object, as the API server does.
func respondStatus(code int, reason, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, code, map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message})
	}
}

// respondNotFound answers as an API server does if the object of the path does not exist: it names the object.
func respondNotFound(w http.ResponseWriter, r *http.Request) {
	resource, name := path.Split(r.URL.Path)
	writeJSON(w, 404, map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 404, "reason": "NotFound",
		"message": "not found", "details": map[string]any{"kind": path.Base(resource), "name": name}})
}

// respondText answers with a text.
func respondText(code int, contentType, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text)
	}
}

// neverAnswer is a handler that holds each request open until the client gives up.
func neverAnswer(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// closeConnection closes the connection without an answer.
func closeConnection(w http.ResponseWriter, _ *http.Request) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		c.Close()
	}
}

// sendHalfAnswer sends the first part of an answer and closes the connection.
func sendHalfAnswer(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "10000")
	_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"PodList","items":[`)
}

// TestHealthyServerReceivesEviction checks that a fake server without faults receives an eviction.
func TestHealthyServerReceivesEviction(t *testing.T) {
	isolateFromCluster(t)
	r := badInput{args: onePass, server: &serverFault{}}
	dir := r.prepare(t)
	s := r.serve(t, dir)
	got := invoke(t, connectTimeout, r.commandLine(dir), "")
	if len(s.evictions()) == 0 {
		t.Errorf("no eviction: exit %d\n%s%s", got.exit, got.stdout, got.stderr)
	}
}
