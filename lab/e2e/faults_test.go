package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// kubeconfigWithProxy returns a kubeconfig that connects through a proxy. If fault returns true, it has answered the
// request itself.
func kubeconfigWithProxy(t *testing.T, fault func(http.ResponseWriter, *http.Request) bool) string {
	t.Helper()
	transport := must.Get(rest.TransportFor(lab.Config))(t)
	target := must.Get(url.Parse(lab.Config.Host))(t)
	proxy := &httputil.ReverseProxy{Transport: transport, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !fault(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	k := clientcmdapi.NewConfig()
	k.Clusters["p"] = &clientcmdapi.Cluster{Server: srv.URL}
	k.Contexts["p"] = &clientcmdapi.Context{Cluster: "p"}
	k.CurrentContext = "p"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must.Succeed(t, clientcmd.WriteToFile(*k, path))
	return path
}

func isEviction(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/eviction")
}

// TestFaultyAPIServer lets evictions fail: the pass must evict no pod, report the failures, and name the reason for
// stopping.
func TestFaultyAPIServer(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault func(w http.ResponseWriter, r *http.Request)
		want  string
		asked int32
	}{
		{"500", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "broken", 500) }, "APIError", 1},
		{"429", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "10")
			http.Error(w, "slow down", 429)
		}, "APIThrottled", 4}, // it retries three times after the requested delay, then gives up
		{"hang", func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(time.Minute): // longer than the program waits for an answer
			}
		}, "OutcomeUnknown", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
			var asked atomic.Int32
			kubeconfig := kubeconfigWithProxy(t, func(w http.ResponseWriter, r *http.Request) bool {
				if !isEviction(r) {
					return false
				}
				asked.Add(1)
				_, _ = io.Copy(io.Discard, r.Body)
				c.fault(w, r)
				return true
			})
			r := runEvenkeelAs(t, kubeconfig, "run", "--once", "--config", testbed.ConfigFile(t, zonesConfig))
			if r.code != 1 || !strings.Contains(r.stderr, c.want) {
				t.Errorf("exit %d, want 1 and %s on stderr", r.code, c.want)
			}
			if n := asked.Load(); n != c.asked {
				t.Errorf("the program sent %d evictions, want %d", n, c.asked)
			}
			checkZones(t, ns, "d", 1, 1, 4)
			checkEvictions(t, ns, 0)
		})
	}
}

// TestAPodCreatedAnewIsNotEvicted replaces the victim with a pod of the same name between planning and eviction.
func TestAPodCreatedAnewIsNotEvicted(t *testing.T) {
	ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
	var swapped atomic.Bool
	kubeconfig := kubeconfigWithProxy(t, func(w http.ResponseWriter, r *http.Request) bool {
		// The read just before the eviction still returns the old pod; the eviction request then reaches the new pod.
		if isEviction(r) && swapped.CompareAndSwap(false, true) {
			name := strings.Split(r.URL.Path, "/")[6]
			if err := replaceWithSameName(context.Background(), ns, name); err != nil {
				t.Error(err)
			}
		}
		return false
	})
	r := runEvenkeelAs(t, kubeconfig, "run", "--once", "--config", testbed.ConfigFile(t, zonesConfig))
	if !strings.Contains(r.stdout, "UIDChanged") {
		t.Error("the report does not contain UIDChanged")
	}
	events := must.Get(lab.Evictions(ns))(t)
	if len(events) == 0 || events[0].ResponseStatus.Code != 409 {
		t.Errorf("the first eviction did not fail with a conflict: %v", events)
	}
}

// replaceWithSameName deletes a pod at once and creates another pod with the same name.
func replaceWithSameName(ctx context.Context, ns, name string) error {
	api := lab.Client.CoreV1().Pods(ns)
	old, err := api.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	now := int64(0)
	if err := api.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		return err
	}
	spec := old.Spec.DeepCopy()
	spec.Volumes = nil
	for i := range spec.Containers {
		spec.Containers[i].VolumeMounts = nil
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "other"}}, Spec: *spec}
	_, err = api.Create(ctx, pod, metav1.CreateOptions{})
	return err
}

func TestAnUnreachableServerIsOneClearError(t *testing.T) {
	k := clientcmdapi.NewConfig()
	k.Clusters["p"] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1"}
	k.Contexts["p"] = &clientcmdapi.Context{Cluster: "p"}
	k.CurrentContext = "p"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must.Succeed(t, clientcmd.WriteToFile(*k, path))
	r := runEvenkeelAs(t, path, "run", "--once", "--config", testbed.ConfigFile(t, zonesConfig))
	if r.code != 1 || !strings.Contains(r.stderr, "https://127.0.0.1:1") || strings.Count(strings.TrimSpace(r.stderr), "\n") > 0 {
		t.Errorf("exit %d, want exit 1 and one line that names the server:\n%s", r.code, r.stderr)
	}
}

// createAccount creates a ServiceAccount that may read everything that the program watches, plus the given rules. It
// returns a kubeconfig.
func createAccount(t *testing.T, ns string, more ...rbacv1.PolicyRule) string {
	t.Helper()
	read := []string{"get", "list", "watch"}
	rules := append([]rbacv1.PolicyRule{
		{APIGroups: []string{""}, Verbs: read, Resources: []string{"nodes", "pods", "namespaces", "services",
			"replicationcontrollers", "persistentvolumeclaims", "persistentvolumes", "resourcequotas",
			"limitranges", "serviceaccounts"}},
		{APIGroups: []string{"node.k8s.io"}, Verbs: read, Resources: []string{"runtimeclasses"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"list"}},
		{APIGroups: []string{"apps"}, Resources: []string{"replicasets", "deployments", "statefulsets", "daemonsets"}, Verbs: read},
		{APIGroups: []string{"batch"}, Resources: []string{"jobs", "cronjobs"}, Verbs: read},
		{APIGroups: []string{"policy"}, Resources: []string{"poddisruptionbudgets"}, Verbs: read},
		{APIGroups: []string{"scheduling.k8s.io"}, Resources: []string{"priorityclasses"}, Verbs: read},
		{APIGroups: []string{"storage.k8s.io"}, Verbs: read, Resources: []string{"storageclasses", "csinodes", "csidrivers",
			"volumeattachments", "csistoragecapacities"}},
	}, more...)
	ctx, name := t.Context(), "e2e-"+ns
	api := lab.Client.RbacV1()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	if _, err := api.ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: "default"}}}
	if _, err := api.ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = api.ClusterRoles().Delete(context.Background(), name, metav1.DeleteOptions{})
		_ = api.ClusterRoleBindings().Delete(context.Background(), name, metav1.DeleteOptions{})
	})
	path := must.Get(lab.ServiceAccountKubeconfig(ctx, ns, "default"))(t)
	return path
}

// The permissions for the Lease, and for the state and the objects, which a pass needs besides reading and evicting.
var (
	leaseRule = rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"},
		Verbs: []string{"get", "list", "create", "update"}}
	stateRule = rbacv1.PolicyRule{APIGroups: []string{"", "evenkeel.io"}, Resources: []string{"configmaps", "rebalanceplans",
		"rebalanceplans/status", "rebalancers", "rebalancers/status", "rebalancehistories", "rebalanceruns", "rebalanceruns/status"},
		Verbs: []string{"get", "list", "create", "update"}}
)

func TestAMissingPermissionIsNamed(t *testing.T) {
	t.Run("state", func(t *testing.T) {
		ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
		r := runEvenkeelAs(t, createAccount(t, ns, leaseRule), "run", "--once", "--config", testbed.ConfigFile(t, zonesConfig),
			"--lease-namespace", ns)
		if r.code != 1 || !strings.Contains(r.stderr, `cannot get resource "configmaps"`) {
			t.Errorf("exit %d:\n%s", r.code, r.stderr)
		}
		checkZones(t, ns, "d", 1, 1, 4)
	})
	t.Run("evict", func(t *testing.T) {
		ns := seedApps(t, seed.ThreeZoneApps([3]int{1, 1, 4}, 30))
		kubeconfig := createAccount(t, ns, leaseRule, stateRule)
		r := runEvenkeelAs(t, kubeconfig, "run", "--once", "--config", testbed.ConfigFile(t, zonesConfig), "--lease-namespace", ns)
		if r.code != 1 || !strings.Contains(r.stderr, "permission to create pods/eviction is missing") {
			t.Errorf("exit %d:\n%s", r.code, r.stderr)
		}
		checkZones(t, ns, "d", 1, 1, 4)
	})
	t.Run("list", func(t *testing.T) {
		ns := seedApps(t, nil)
		kubeconfig := must.Get(lab.ServiceAccountKubeconfig(t.Context(), ns, "default"))(t)
		r := runEvenkeelAs(t, kubeconfig, "plan", "--config", testbed.ConfigFile(t, zonesConfig))
		if r.code != 1 || !strings.Contains(r.stderr, "permission to get namespaces is missing") || r.took > 20*time.Second {
			t.Errorf("exit %d after %s:\n%s", r.code, r.took, r.stderr)
		}
	})
}

// TestOneOfTwoReplicasLeads starts two controllers and stops the leader.
func TestOneOfTwoReplicasLeads(t *testing.T) {
	ns := seedApps(t, nil)
	config := testbed.ConfigFile(t, zonesConfig)
	start := func() (*exec.Cmd, *bytes.Buffer, string) {
		port := freePort(t)
		cmd := exec.CommandContext(t.Context(), testbed.Evenkeel, "run", "--config", config,
			"--kubeconfig", lab.Kubeconfig, "--lease-namespace", ns, "--bind-address", port)
		var log bytes.Buffer
		cmd.Stderr = &log
		must.Succeed(t, cmd.Start())
		return cmd, &log, "http://" + port
	}
	first, log1, url1 := start()
	waitForMetric(t, url1, "evenkeel_leader 1")
	second, log2, url2 := start()
	waitForMetric(t, url2, "evenkeel_leader 0")
	if err := seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		r, err := http.Get(url2 + "/readyz")
		if err != nil {
			return false, nil
		}
		r.Body.Close()
		return r.StatusCode == 200, nil
	}); err != nil {
		t.Errorf("the standby replica is not ready: %v", err)
	}
	if !hasLine(metricsOf(url1), "evenkeel_leader 1") {
		t.Error("the first replica no longer leads")
	}
	if !hasLine(metricsOf(url2), "evenkeel_leader 0") {
		t.Error("both replicas lead")
	}
	_ = first.Process.Signal(syscallTerm)
	if err := first.Wait(); err != nil {
		t.Errorf("the first replica did not exit cleanly: %v\n%s", err, log1)
	}
	waitForMetric(t, url2, "evenkeel_leader 1")
	_ = second.Process.Signal(syscallTerm)
	if err := second.Wait(); err != nil {
		t.Errorf("the second replica did not exit cleanly: %v\n%s", err, log2)
	}
}

func waitForMetric(t *testing.T, url, line string) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		if !hasLine(metricsOf(url), line) {
			return false, fmt.Errorf("the metrics at %[2]s lack the line %[1]q", line, url)
		}
		return true, nil
	}))
}

// hasLine reports whether the text contains the line. A substring search is not enough, because a HELP line can contain
// the same words.
func hasLine(text, line string) bool {
	return slices.Contains(strings.Split(text, "\n"), line)
}

func metricsOf(url string) string {
	r, err := http.Get(url + "/metrics")
	if err != nil {
		return ""
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	return string(b)
}
