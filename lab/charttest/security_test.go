package charttest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
)

// allPermissions are arguments of an installation that evicts, steers and hints, with usage of the given server. The
// chart has further permissions for metricsServer, for the deletion of failed pods, and for metrics.authorize.
func allPermissions(usageURL string) []string {
	return []string{"--set", "config.dryRun=false", "--set", "config.evictor.steer=taint", "--set", "config.guards.minPodAge=0s",
		"--set", "config.load.source=loadWatcher", "--set", "config.load.loadWatcher.url=" + usageURL,
		"--set", "config.hints.enabled=true", "--set", `config.hints.label=example.org/hot\=yes`,
		"--set", "config.hints.taint=evenkeel.io/pressure", "--set", "flowSchema.enabled=true",
		"--set-json", `config.hints.rules=[{"name":"cpu","resource":"cpu","above":0.8}]`}
}

// tokenConfig returns a client configuration with the token of the release's ServiceAccount, as a thief has it.
func (r release) tokenConfig(ctx context.Context, t *testing.T) *rest.Config {
	t.Helper()
	config := must.Get(clientcmd.BuildConfigFromFlags("", r.writePodKubeconfig(ctx, t)))(t)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	return config
}

// attempt is one request with a stolen token. The API server treats it as a dry run: it authorizes and admits the
// request, and stores nothing.
type attempt struct {
	what       string
	verb, path string
	body       any
	// refused is a part of the API server's answer; empty if the request must succeed.
	refused string
}

const (
	byRBAC   = " cannot "
	byPolicy = "ValidatingAdmissionPolicy"
)

func (a attempt) send(ctx context.Context, t *testing.T, client kubernetes.Interface) error {
	t.Helper()
	body := must.Get(json.Marshal(a.body))(t)
	request := client.CoreV1().RESTClient().Verb(a.verb).RequestURI(a.path).MaxRetries(0)
	if a.verb != http.MethodGet {
		request = request.Param("dryRun", "All").Body(body)
	}
	if a.verb == http.MethodPatch {
		return request.SetHeader("Content-Type", string(types.MergePatchType)).Do(ctx).Error()
	}
	return request.SetHeader("Content-Type", "application/json").Do(ctx).Error()
}

type object = map[string]any

// isAnswered reports whether the answer is the wanted one.
func (a attempt) isAnswered(err error) bool {
	if a.refused == "" {
		return err == nil
	}
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), a.refused)
}

// checkAttempts sends the requests. It repeats each until it gets the wanted answer, because roles and policies take
// effect some time after their creation.
func checkAttempts(ctx context.Context, t *testing.T, client kubernetes.Interface, attempts []attempt) {
	t.Helper()
	for _, a := range attempts {
		var last error
		err := seed.WaitUntil(ctx, 10*time.Second, func() (bool, error) {
			last = a.send(ctx, t, client)
			return a.isAnswered(last), nil
		})
		switch {
		case err == nil:
		case a.refused == "":
			t.Errorf("%s: refused: %v", a.what, last)
		default:
			t.Errorf("%s: %v, want an answer that contains %q", a.what, last, a.refused)
		}
	}
}

// TestSecurityStolenToken tries with the token of the release's ServiceAccount what Evenkeel itself never does. The API
// server must refuse it, by RBAC or by the policies of the chart. The same requests of another account must not be
// affected by the policies.
func TestSecurityStolenToken(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-stolen")
	r.attacked = true
	seedThreeZones(ctx, t, r.client, [3]int{1, 1, 4})
	theirs := `{"metadata":{"labels":{"example.org/theirs":"x"},"annotations":{"example.org/theirs":"x"}},
		"spec":{"taints":[{"key":"example.org/theirs","effect":"PreferNoSchedule"}]}}`
	patchNode(ctx, t, "n2", theirs)
	t.Cleanup(func() {
		patchNode(context.Background(), t, "n2", `{"metadata":{"labels":{"example.org/theirs":null},
			"annotations":{"example.org/theirs":null}},"spec":{"taints":null}}`)
	})
	pods, err := r.client.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{})
	if err != nil || len(pods.Items) == 0 {
		t.Fatalf("%d pods in shop: %v", len(pods.Items), err)
	}
	createEventOfAnother(ctx, t, r.client)
	r.install(ctx, t, allPermissions("http://127.0.0.1:1")...)
	attempts := slices.Concat(nodeAttempts(), evictionAttempts(pods.Items[0].Name), r.objectAttempts())
	checkAttempts(ctx, t, kubernetes.NewForConfigOrDie(r.tokenConfig(ctx, t)), attempts)
	r.checkImpersonation(ctx, t)
	for _, a := range attempts {
		if a.refused != byPolicy {
			continue
		}
		if err := a.send(ctx, t, r.client); err != nil && strings.Contains(err.Error(), byPolicy) {
			t.Errorf("%s: the policy affects the administrator: %v", a.what, err)
		}
	}
	r.uninstall(ctx, t)
}

// createEventOfAnother creates the event of another controller in namespace shop that an attempt changes.
func createEventOfAnother(ctx context.Context, t *testing.T, client kubernetes.Interface) {
	t.Helper()
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "theirs"}, Reason: "FailedCreate",
		InvolvedObject: corev1.ObjectReference{Namespace: "shop", Kind: "Pod", Name: "x"}, ReportingController: "theirs"}
	if _, err := client.CoreV1().Events("shop").Create(ctx, event, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// checkImpersonation checks that the token gives no identity of others.
func (r release) checkImpersonation(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, as := range []rest.ImpersonationConfig{{UserName: "admin"}, {UserName: "system:serviceaccount:kube-system:default"},
		{UserName: r.serviceAccountUser(), Groups: []string{"system:masters"}}} {
		config := r.tokenConfig(ctx, t)
		config.Impersonate = as
		_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "cannot impersonate") {
			t.Errorf("as %s of %v: %v, want a refusal", as.UserName, as.Groups, err)
		}
	}
}

func patchNode(ctx context.Context, t *testing.T, name, patch string) {
	t.Helper()
	if _, err := lab.Client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// serveUsage serves the API of a load-watcher. Node n1 uses as many percent of its CPU as percent holds; the others use
// 1 %.
func serveUsage(t *testing.T, percent *atomic.Int64) string {
	t.Helper()
	cpu := func(value int64) object {
		return object{"metrics": []object{{"name": "cpu", "type": "CPU", "operator": "Latest", "value": value},
			{"name": "cpu", "type": "CPU", "operator": "AVG", "value": value}}}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		now := time.Now().Unix()
		if err := json.NewEncoder(w).Encode(object{"timestamp": now, "window": object{"duration": "5m", "start": now - 300, "end": now},
			"data": object{"NodeMetricsMap": object{"n1": cpu(percent.Load()), "n2": cpu(1), "n3": cpu(1)}}}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestSecurityPoliciesAllowHints runs three passes as the release's ServiceAccount under the policies of the chart. The
// first steers and evicts, the second hints the busy node n1, and the third removes the hint.
func TestSecurityPoliciesAllowHints(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-policies")
	seedThreeZones(ctx, t, r.client, [3]int{1, 2, 3})
	var busy atomic.Int64
	busy.Store(1)
	// As a CronJob, the release has no pod that would decide the tie between nodes. Without steering, the replacement
	// lands in zone-1 with a probability of 95 %.
	r.install(ctx, t, append(allPermissions(serveUsage(t, &busy)), "--set", "kind=CronJob", "--set", "cronJob.suspend=true",
		"--set-json", "config.guards.minConfidence=0.99")...)
	config, kubeconfig := r.writeConfig(ctx, t), r.writePodKubeconfig(ctx, t)
	checkAttempts(ctx, t, kubernetes.NewForConfigOrDie(r.tokenConfig(ctx, t)), []attempt{{"cordon", http.MethodPatch, "/api/v1/nodes/n2",
		object{"spec": object{"unschedulable": true}}, byPolicy}})
	for _, step := range []struct {
		percent int64
		hinted  bool
	}{{1, false}, {95, true}, {1, false}} {
		busy.Store(step.percent)
		before := r.patchedNodes(ctx, t)
		out, errs, err := r.runEvenkeel(ctx, t, "run", "--once", "--strategy", "zones", "--config", config, "--kubeconfig", kubeconfig)
		if err != nil {
			t.Fatalf("a pass with %d %% on n1: %v\n%s%s", step.percent, err, out, errs)
		}
		n1, err := r.client.CoreV1().Nodes().Get(ctx, "n1", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		hasTaint := slices.ContainsFunc(n1.Spec.Taints, func(x corev1.Taint) bool { return x.Key == "evenkeel.io/pressure" })
		if n1.Labels["example.org/hot"] == "yes" != step.hinted || hasTaint != step.hinted {
			t.Errorf("with %d %% n1 has labels %v and taints %v, want hinted %v\n%s%s",
				step.percent, n1.Labels, n1.Spec.Taints, step.hinted, out, errs)
		}
		if r.patchedNodes(ctx, t) == before {
			t.Errorf("the pass with %d %% on n1 patched no node\n%s%s", step.percent, out, errs)
		}
	}
	r.checkRequests(ctx, t, 1)
	r.uninstall(ctx, t)
}

// patchedNodes counts the node patches of the release's ServiceAccount that succeeded and were no dry runs.
func (r release) patchedNodes(ctx context.Context, t *testing.T) (n int) {
	t.Helper()
	for _, e := range r.auditedRequests(ctx, t) {
		if e.Verb == "patch" && e.ObjectRef != nil && e.ObjectRef.Resource == "nodes" &&
			!strings.Contains(e.RequestURI, "dryRun") && e.ResponseStatus != nil && e.ResponseStatus.Code == http.StatusOK {
			n++
		}
	}
	return n
}

// TestSecurityFlowSchema checks that the API server handles the requests of the ServiceAccount in the flows of the
// release: requests for the Lease in one, all others in the other.
func TestSecurityFlowSchema(t *testing.T) {
	ctx := t.Context()
	r := newRelease("keel", "ek-flow")
	r.install(ctx, t, "--set", "flowSchema.enabled=true")
	config := r.tokenConfig(ctx, t)
	client := must.Get(rest.HTTPClientFor(config))(t)
	for suffix, path := range map[string]string{
		"all":    "/api/v1/nodes?limit=1",
		"leases": "/apis/coordination.k8s.io/v1/namespaces/" + r.namespace + "/leases/evenkeel-dry-run",
	} {
		flow := must.Get(r.client.FlowcontrolV1().FlowSchemas().Get(ctx, r.namespace+"-"+r.fullname()+"-"+suffix, metav1.GetOptions{}))(t)
		eventually(ctx, t, "requests to be in flow "+flow.Name, func() (bool, string) {
			answer, err := client.Get(config.Host + path)
			if err != nil {
				return false, err.Error()
			}
			answer.Body.Close()
			uid := answer.Header.Get("X-Kubernetes-Pf-Flowschema-Uid")
			return uid == string(flow.UID), "the answer names flow " + uid
		})
	}
	r.uninstall(ctx, t)
}
