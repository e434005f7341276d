package charttest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

const chart = "../../charts/evenkeel"

// release is one installation of the chart in its own namespace, which enforces the restricted Pod Security level.
type release struct {
	name, namespace string
	kubeconfig      string // the administrator's
	client          kubernetes.Interface
	fake            bool // the lab does not execute its pods
	// attacked is true if the test itself makes forbidden requests with the account of the release, or takes its
	// permissions away.
	attacked bool
	since    time.Time
	// upgraded is the time until which the program may ask for more than the former chart grants: what optionalKinds
	// has, and the kinds of evenkeel.io.
	upgraded time.Time
}

// optionalKinds are the resources without which passes run. The former chart does not grant them.
var optionalKinds = []string{"limitranges", "serviceaccounts", "runtimeclasses"}

// helmBinary returns the path in EVENKEEL_HELM, or else builds helm in the helm module. Go builds helm once, which
// takes some minutes, and caches it.
func helmBinary(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("EVENKEEL_HELM"); path != "" {
		return path
	}
	cmd := exec.Command("go", "tool", "-n", "helm")
	cmd.Dir = "../helm"
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("building helm: %v", err)
	}
	return strings.TrimSpace(string(out))
}

func (r release) runHelm(t *testing.T, args ...string) string {
	t.Helper()
	out, err := r.helm(t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// helm returns a command of helm for the namespace of the release.
func (r release) helm(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(helmBinary(t), append(args, "--namespace", r.namespace)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "KUBECONFIG=" + r.kubeconfig}
	return cmd
}

// install creates the namespace and installs the chart in it. If the pods run, install waits until they are Ready. The
// CustomResourceDefinitions go with the release, so that the next test can install its own.
func (r release) install(ctx context.Context, t *testing.T, args ...string) {
	t.Helper()
	createNamespace(ctx, t, r.namespace)
	r.installChart(t, chart, append([]string{"--set", "crds.keep=false"}, args...)...)
}

const image = "image.repository=registry.example.org/team/evenkeel"

func (r release) installChart(t *testing.T, chart string, args ...string) {
	t.Helper()
	if r.fake { // the annotation is also that of the clean-up's pod, which would then never end
		args = append([]string{"--set", `podAnnotations.lab\.evenkeel\.io/fake=yes`, "--set", "cleanup.enabled=false"}, args...)
	}
	args = append([]string{"install", r.name, chart, "--set", image}, args...)
	t.Cleanup(func() { r.abandon(t, func() { r.runHelm(t, "uninstall", r.name, "--no-hooks", "--ignore-not-found") }) })
	r.runHelm(t, r.waiting(args)...)
}

// abandon removes the release of a test that failed, so that it does not affect the next test: a release that may evict
// stops all younger ones. remove deletes the objects of the release.
func (r release) abandon(t *testing.T, remove func()) {
	if !t.Failed() {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	r.showLogs(t)
	remove()
	r.removeLeases(ctx, t)
	resetNodes(ctx, t)
}

// upgrade changes values of the release. If its pods run, upgrade waits until they are Ready.
func (r release) upgrade(t *testing.T, args ...string) {
	t.Helper()
	r.runHelm(t, r.waiting(append([]string{"upgrade", r.name, chart, "--reset-then-reuse-values"}, args...))...)
}

func (r release) waiting(args []string) []string {
	if r.fake {
		return args
	}
	return append(args, "--wait", "--timeout", "5m")
}

// fullname returns the name of most objects, as the chart makes it.
func (r release) fullname() string {
	if strings.Contains(r.name, "evenkeel") {
		return r.name
	}
	return r.name + "-evenkeel"
}

func (r release) serviceAccountUser() string {
	return "system:serviceaccount:" + r.namespace + ":" + r.fullname()
}

// writeConfig writes the release's configuration to a file and returns its path.
func (r release) writeConfig(ctx context.Context, t *testing.T) string {
	t.Helper()
	cm := must.Get(r.client.CoreV1().ConfigMaps(r.namespace).Get(ctx, r.fullname(), metav1.GetOptions{}))(t)
	path := filepath.Join(t.TempDir(), "config.yaml")
	must.Succeed(t, os.WriteFile(path, []byte(cm.Data["config.yaml"]), 0o600))
	return path
}

// writePodKubeconfig writes a kubeconfig with a token of the release's ServiceAccount, as its pods have.
func (r release) writePodKubeconfig(ctx context.Context, t *testing.T) string {
	t.Helper()
	path := must.Get(lab.ServiceAccountKubeconfig(ctx, r.namespace, r.fullname()))(t)
	return path
}

// hasPermission asks the API server whether the release's ServiceAccount has a permission.
func (r release) hasPermission(ctx context.Context, t *testing.T, a authorizationv1.ResourceAttributes) bool {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: r.serviceAccountUser(), ResourceAttributes: &a}}
	review = must.Get(r.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{}))(t)
	return review.Status.Allowed
}

// waitForAccess waits until the API server knows that the release's ServiceAccount may do something.
func (r release) waitForAccess(ctx context.Context, t *testing.T, a authorizationv1.ResourceAttributes) {
	t.Helper()
	eventually(ctx, t, "the permissions of the release", func() (bool, string) {
		return r.hasPermission(ctx, t, a), fmt.Sprintf("%+v is denied", a)
	})
}

// runEvenkeel runs the program with the environment of the release's pods.
func (r release) runEvenkeel(ctx context.Context, t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(ctx, testbed.Evenkeel, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(),
		"POD_NAMESPACE=" + r.namespace, "POD_NAME=" + r.fullname() + "-local"}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// remainingObjects lists all objects that have the release's label.
func (r release) remainingObjects(ctx context.Context, t *testing.T) []string {
	t.Helper()
	config := must.Get(clientcmd.BuildConfigFromFlags("", r.kubeconfig))(t)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	client := must.Get(dynamic.NewForConfig(config))(t)
	groups := must.Get(r.client.Discovery().ServerPreferredResources())(t)
	groups = discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, groups)
	var left []string
	for _, group := range groups {
		gv := must.Get(schema.ParseGroupVersion(group.GroupVersion))(t)
		for _, kind := range group.APIResources {
			ours := metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + r.name}
			list, err := client.Resource(gv.WithResource(kind.Name)).List(ctx, ours)
			if apierrors.IsNotFound(err) {
				continue // its CustomResourceDefinition was deleted
			}
			if err != nil {
				t.Fatalf("listing %s: %v", kind.Name, err)
			}
			for _, item := range list.Items {
				left = append(left, kind.Kind+" "+item.GetNamespace()+"/"+item.GetName())
			}
		}
	}
	secrets := must.Get(r.client.CoreV1().Secrets(r.namespace).List(ctx, metav1.ListOptions{LabelSelector: "owner=helm"}))(t)
	for _, s := range secrets.Items {
		left = append(left, "Secret "+s.Name)
	}
	return left
}
