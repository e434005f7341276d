package installed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/evenkeel-project/evenkeel/internal/must"
)

// leaseIn returns a Lease of a release, which has expired if it has no holder.
func leaseIn(namespace, holder string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "evenkeel"}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: &holder, LeaseDurationSeconds: ptr.To[int32](15), RenewTime: &metav1.MicroTime{Time: time.Now()}}}
}

// lookup returns the search of a command with these arguments in a cluster with these objects.
func lookup(t *testing.T, args string, objects ...runtime.Object) (l *Lookup, client kubernetes.Interface, namespace string) {
	t.Helper()
	t.Setenv(podNamespace, "")
	cmd := &cobra.Command{}
	AddNamespaceFlag(cmd.Flags(), &namespace)
	shop := cmd.Flags().StringP("namespace", "n", "", "")
	must.Succeed(t, cmd.ParseFlags(strings.Fields(args)))
	if *shop != "" {
		namespace = *shop
	}
	client = fake.NewClientset(objects...)
	return &Lookup{Command: cmd, Connect: func() (kubernetes.Interface, *rest.Config, error) { return client, nil, nil }}, client, namespace
}

// TestNamespaceOfAnApplication checks that --namespace must name a namespace with a release, unlike --lease-namespace.
func TestNamespaceOfAnApplication(t *testing.T) {
	const none = "namespace shop (--namespace) has no release of Evenkeel: neither a Lease evenkeel or evenkeel-dry-run, nor a Deployment or CronJob " +
		"with the label app.kubernetes.io/name=evenkeel"
	inEk := deployment("a", pod("cm", "run"))
	for name, c := range map[string]struct {
		args    string
		objects []runtime.Object
		want    string // the namespace, or the error
	}{
		"no release":           {"-n shop", nil, none + "; set --lease-namespace"},
		"a release elsewhere":  {"-n shop", []runtime.Object{leaseIn("ops", "node-7")}, none + "; a release was found in namespace ops; set --lease-namespace"},
		"a workload elsewhere": {"-n shop", []runtime.Object{inEk}, none + "; a release was found in namespace ek; set --lease-namespace"},
		"with a Lease":         {"-n ops", []runtime.Object{leaseIn("ops", "")}, "ops"},
		"with a workload":      {"-n ek", []runtime.Object{inEk}, "ek"},
		"explicit":             {"--lease-namespace shop", []runtime.Object{inEk}, "shop"},
	} {
		t.Run(name, func(t *testing.T) {
			l, client, namespace := lookup(t, c.args, c.objects...)
			got, err := l.Namespace(t.Context(), client, namespace)
			if err != nil {
				got = err.Error()
			}
			if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestFindsTheInstalledRelease checks that the Lease of a removed release does not hide a release without a Lease.
func TestFindsTheInstalledRelease(t *testing.T) {
	installed, job := deployment("a", pod("cm", "run")), cronJob("b", pod("cm", "run"))
	job.Namespace = "jobs"
	for name, c := range map[string]struct {
		objects []runtime.Object
		want    string // the namespace, or a part of the error
	}{
		"an old Lease":                      {[]runtime.Object{leaseIn("old", ""), installed}, "ek"},
		"a held Lease and a workload":       {[]runtime.Object{leaseIn("other", "node-7"), installed}, "2 releases of Evenkeel were found: in namespace ek (no leader now), in namespace other (led by node-7)"},
		"two workloads":                     {[]runtime.Object{leaseIn("old", ""), installed, job}, "2 releases of Evenkeel were found: in namespace ek (no leader now), in namespace jobs"},
		"only an idle Lease":                {[]runtime.Object{leaseIn("old", "")}, "old"},
		"a CronJob between its jobs":        {[]runtime.Object{leaseIn("jobs", ""), job}, "jobs"},
		"a workload of another application": {[]runtime.Object{leaseIn("old", ""), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "y"}}}, "old"},
	} {
		t.Run(name, func(t *testing.T) {
			l, client, _ := lookup(t, "", c.objects...)
			got, err := l.Namespace(t.Context(), client, "")
			if err != nil {
				got = err.Error()
			}
			if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestLocalFilesAreNotThoseOfTheRelease checks that the files that the configuration of a release names are never read
// on this machine, even if they exist: their content would be sent to a server that the configuration names.
func TestLocalFilesAreNotThoseOfTheRelease(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	must.Succeed(t, os.WriteFile(file, []byte("secret"), 0o600))
	source := text + "load: {source: prometheus, prometheus: {url: \"https://prometheus.tenant:9090\", tokenFile: " + file + "}}\n"
	l, _, _ := lookup(t, "", deployment("a", pod("cm", "run", "--config", "/etc/evenkeel/config.yaml")), configMap("cm", map[string]string{"config.yaml": source}))
	c, err := l.Choose(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if c.Measured() != nil || !strings.Contains(c.note, "load.prometheus.tokenFile "+file) {
		t.Errorf("usage would be measured with a local file; note %q", c.note)
	}
	if err := c.CheckExecutable(); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a plan could be executed with a local file: %v", err)
	}
	local := filepath.Join(t.TempDir(), "config.yaml")
	must.Succeed(t, os.WriteFile(local, []byte(source), 0o600))
	if c, err = l.Choose(t.Context(), local, ""); err != nil || c.Measured() == nil || c.CheckExecutable() != nil {
		t.Errorf("a file of the command line: %v, %v", err, c.CheckExecutable())
	}
}
