//go:build linux

package imagetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/freeport"
	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/rootfs"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const (
	chart     = "../../charts/evenkeel"
	namespace = "evenkeel" // and the name of the release
	account   = "/var/run/secrets/kubernetes.io/serviceaccount"
)

// helm runs helm as the administrator.
func helm(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command(os.Getenv("EVENKEEL_HELM"), append(args, "--namespace", namespace)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+lab.Kubeconfig)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// createNamespace creates the namespace of the release, which enforces the restricted Pod Security level.
func createNamespace(t *testing.T) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace,
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}
	if _, err := lab.Client.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// uninstall removes the release and all namespaces of a test, and waits until they are gone. It runs no hooks,
// because the pods of their jobs are fake and never end.
func uninstall(t *testing.T) {
	t.Helper()
	helm(t, "uninstall", namespace, "--no-hooks")
	ctx := context.Background() // that of the test has ended
	for _, name := range []string{namespace, "shop"} {
		if err := seed.DeleteNamespace(ctx, lab.Client, name); err != nil {
			t.Error(err)
		}
		err := seed.WaitUntil(ctx, 3*time.Minute, func() (bool, error) {
			_, err := lab.Client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return true, nil
			}
			return false, err
		})
		if err != nil {
			t.Errorf("deleting namespace %s: %v", name, err)
		}
	}
}

// usage returns the share of nodes whose usage the pass read from Prometheus, and the problems.
func usage(t *testing.T, r testbed.Report) (perMille int, problems string) {
	t.Helper()
	for _, i := range r.Spec.Inputs {
		if i.Source == "prometheus" {
			return i.CoveragePerMille, strings.Join(i.Problems, "\n")
		}
	}
	t.Fatalf("the report has no input prometheus: %+v", r.Spec.Inputs)
	return 0, ""
}

// runOnce runs one pass in the container with the arguments, environment, ConfigMap and account of the
// installed pods, and returns its report. edits are pairs of an old and a new text in the configuration.
func runOnce(t *testing.T, c *rootfs.Container, edits ...string) testbed.Report {
	t.Helper()
	d := must.Get(lab.Client.AppsV1().Deployments(namespace).Get(t.Context(), "evenkeel", metav1.GetOptions{}))(t)
	pod := d.Spec.Template.Spec
	mountVolumes(t, c, pod, edits)
	mountAccount(t, c, pod.ServiceAccountName)
	var r testbed.Report
	// A pod that ends without a report is started again, because changed policies take effect some time after
	// an upgrade.
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		out, errs := runPod(t, c, pod.Containers[0])
		if err := json.Unmarshal(out, &r); err != nil {
			return false, fmt.Errorf("the report %q: %w; standard error:\n%s", out, err, errs)
		}
		return true, nil
	}))
	return r
}

// runPod runs the container once with the arguments and the environment of a pod, and returns its standard output and
// standard error.
func runPod(t *testing.T, c *rootfs.Container, spec corev1.Container) (out, errs []byte) {
	t.Helper()
	// The network is that of this machine, so another port than the pod's is needed.
	l, err := freeport.Listen()
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	host, port, _ := strings.Cut(strings.TrimPrefix(lab.Config.Host, "https://"), ":")
	env := append(podEnv(t, spec), "KUBERNETES_SERVICE_HOST="+host, "KUBERNETES_SERVICE_PORT="+port)
	cmd := c.Command(append(slices.Clone(spec.Args), "--once", "-o", "json", "--bind-address", l.Addr().String()), env)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	must.Succeed(t, c.Start(cmd))
	err = cmd.Wait()
	t.Logf("%v: %v\n%s", cmd.Args, err, stderr.String())
	return stdout.Bytes(), stderr.Bytes()
}

// podEnv returns the environment that a kubelet gives the container of a pod with the name evenkeel-image.
func podEnv(t *testing.T, spec corev1.Container) (env []string) {
	t.Helper()
	fields := map[string]string{"metadata.namespace": namespace, "metadata.name": "evenkeel-image"}
	for _, e := range spec.Env {
		value := e.Value
		if e.ValueFrom != nil {
			if e.ValueFrom.FieldRef == nil || fields[e.ValueFrom.FieldRef.FieldPath] == "" {
				t.Fatalf("the variable %s has a source that this test does not read: %+v", e.Name, e.ValueFrom)
			}
			value = fields[e.ValueFrom.FieldRef.FieldPath]
		}
		env = append(env, e.Name+"="+value)
	}
	if len(spec.EnvFrom) > 0 {
		t.Fatalf("this test does not read envFrom: %+v", spec.EnvFrom)
	}
	return env
}

// mountVolumes mounts the ConfigMaps of the pod, as a kubelet does.
func mountVolumes(t *testing.T, c *rootfs.Container, pod corev1.PodSpec, edits []string) {
	t.Helper()
	for _, v := range pod.Volumes {
		if v.ConfigMap == nil {
			continue // such as the account, which mountAccount mounts
		}
		cm := must.Get(lab.Client.CoreV1().ConfigMaps(namespace).Get(t.Context(), v.ConfigMap.Name, metav1.GetOptions{}))(t)
		for i := 0; i < len(edits); i += 2 {
			if !strings.Contains(cm.Data["config.yaml"], edits[i]) {
				t.Fatalf("the configuration lacks %q:\n%s", edits[i], cm.Data["config.yaml"])
			}
		}
		cm.Data["config.yaml"] = strings.NewReplacer(edits...).Replace(cm.Data["config.yaml"])
		for _, m := range pod.Containers[0].VolumeMounts {
			if m.Name == v.Name {
				c.Mounts[m.MountPath] = writeFolder(t, cm.Data)
			}
		}
	}
}

// mountAccount mounts a token of the ServiceAccount where programs in a pod look for it.
func mountAccount(t *testing.T, c *rootfs.Container, name string) {
	t.Helper()
	hour := int64(3600)
	request := &authv1.TokenRequest{Spec: authv1.TokenRequestSpec{ExpirationSeconds: &hour}}
	token := must.Get(lab.Client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name, request, metav1.CreateOptions{}))(t)
	var authority string // of the API server
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		cm, err := lab.Client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
		if err == nil {
			authority = cm.Data["ca.crt"]
		}
		return err == nil, err
	}))
	c.Mounts[account] = writeFolder(t, map[string]string{"token": token.Status.Token, "namespace": namespace, "ca.crt": authority})
}

// writeFolder writes files that every user can read.
func writeFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "files")
	must.Succeed(t, os.Mkdir(dir, 0o755))
	for name, text := range files {
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// seedThreeZones creates Deployment d with four of its six pods in one of three zones.
func seedThreeZones(t *testing.T) {
	t.Helper()
	const graceSeconds = 30
	must.Succeed(t, seed.CreateApps(t.Context(), lab.Client, "shop", seed.ThreeZoneApps([3]int{1, 1, 4}, graceSeconds)))
}
