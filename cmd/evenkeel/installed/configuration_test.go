package installed

import (
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/evenkeel-project/evenkeel/config"
	"github.com/evenkeel-project/evenkeel/internal/must"
)

const text = "apiVersion: evenkeel.io/v1alpha1\nkind: RebalanceConfig\ndryRun: false\nlimits: {perPass: 7}\n"

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "ek", Name: name, Labels: map[string]string{"app.kubernetes.io/name": "evenkeel"}}
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: meta(name), Data: data}
}

// pod returns a pod that runs Evenkeel with the ConfigMap at /etc/evenkeel.
func pod(configMap string, args ...string) corev1.PodSpec {
	return corev1.PodSpec{
		Containers: []corev1.Container{
			{Name: "sidecar", Args: []string{"--config", "/etc/other"}},
			{Name: "evenkeel", Args: args, VolumeMounts: []corev1.VolumeMount{
				{Name: "config", MountPath: "/etc/evenkeel"}, {Name: "token", MountPath: "/etc/evenkeel/secret"}}},
		},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: configMap}}}},
			{Name: "token", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}}},
		},
	}
}

func deployment(name string, of corev1.PodSpec) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: meta(name)}
	d.Spec.Template.Spec = of
	return d
}

func cronJob(name string, of corev1.PodSpec) *batchv1.CronJob {
	j := &batchv1.CronJob{ObjectMeta: meta(name)}
	j.Spec.JobTemplate.Spec.Template.Spec = of
	return j
}

func TestRead(t *testing.T) {
	run := []string{"run", "--config", "/etc/evenkeel/config.yaml"}
	for name, c := range map[string]struct {
		objects []runtime.Object
		from    string
	}{
		"a Deployment of the chart": {[]runtime.Object{deployment("a", pod("cm", run...)), configMap("cm", map[string]string{"config.yaml": text})}, "ek/cm"},
		"jobs with one configuration": {[]runtime.Object{cronJob("a", pod("cm", "run", "--once", "--config=/etc/evenkeel/config.yaml")),
			cronJob("b", pod("cm", run...)), configMap("cm", map[string]string{"config.yaml": text})}, "ek/cm"},
		"another name of the file": {[]runtime.Object{deployment("a", pod("mine", "run", "--config", "/etc/evenkeel/ours.yaml")),
			configMap("mine", map[string]string{"ours.yaml": text})}, "ek/mine"},
		"a file of the same ConfigMap": {[]runtime.Object{deployment("a", pod("cm", run...)), configMap("cm", map[string]string{
			"config.yaml": text + "placement: {schedulerConfig: s.yaml}\n", "s.yaml": "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"})}, "ek/cm"},
		"beside a workload of another program": {[]runtime.Object{deployment("a", pod("cm", run...)), deployment("b", pod("other", "serve")),
			configMap("cm", map[string]string{"config.yaml": text})}, "ek/cm"},
	} {
		t.Run(name, func(t *testing.T) {
			got := must.Get(read(t.Context(), fake.NewClientset(c.objects...), "ek"))(t)
			if got.configMap != c.from || got.config.DryRun || got.config.Limits.PerPass.For(100) != 7 {
				t.Errorf("%s, dryRun %v, perPass %s", got.configMap, got.config.DryRun, got.config.Limits.PerPass)
			}
		})
	}
}

// TestHash checks that the plan of a person and the plan of a pod are about the same configuration.
func TestHash(t *testing.T) {
	client := fake.NewClientset(deployment("a", pod("cm", "run", "--config", "/etc/evenkeel/config.yaml")),
		configMap("cm", map[string]string{"config.yaml": text}))
	got := must.Get(read(t.Context(), client, "ek"))(t)
	want := must.Get(config.Load("config.yaml", []byte(text)))(t)
	if got.config.Hash() != want.Hash() {
		t.Errorf("hash %s, in the pod %s", got.config.Hash(), want.Hash())
	}
}

func TestNoConfiguration(t *testing.T) {
	for name, c := range map[string]struct {
		objects []runtime.Object
		want    string
	}{
		"an empty namespace":              {nil, errNotFound.Error()},
		"the built-in configuration":      {[]runtime.Object{deployment("a", pod("cm", "run"))}, errNotFound.Error()},
		"a configuration in a Secret":     {[]runtime.Object{deployment("a", pod("cm", "run", "--config", "/etc/evenkeel/secret/config.yaml"))}, errNotFound.Error()},
		"a ConfigMap that does not exist": {[]runtime.Object{deployment("a", pod("cm", "run", "--config", "/etc/evenkeel/config.yaml"))}, `configmaps "cm" not found`},
		"a key that does not exist": {[]runtime.Object{deployment("a", pod("cm", "run", "--config", "/etc/evenkeel/config.yaml")),
			configMap("cm", nil)}, "ConfigMap ek/cm has no key config.yaml"},
		"two configurations": {[]runtime.Object{deployment("a", pod("cm", "run", "--config", "/etc/evenkeel/config.yaml")),
			cronJob("b", pod("mc", "run", "--config", "/etc/evenkeel/config.yaml"))}, "several configurations of Evenkeel: cm and mc"},
		"a mistake": {[]runtime.Object{deployment("a", pod("cm", "run", "--config", "/etc/evenkeel/config.yaml")),
			configMap("cm", map[string]string{"config.yaml": text + "dryrun: true\n"})}, "ConfigMap ek/cm: /etc/evenkeel/config.yaml:5: dryrun: unknown key"},
		"a file of a Secret": {[]runtime.Object{deployment("a", pod("cm", "run", "--config", "/etc/evenkeel/config.yaml")),
			configMap("cm", map[string]string{"config.yaml": text + "placement: {schedulerConfig: secret/s.yaml}\n"})},
			"/etc/evenkeel/secret/s.yaml is in the pods of the release, but not in a ConfigMap; set --config to a local copy"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := read(t.Context(), fake.NewClientset(c.objects...), "ek")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v; want %q", got, err, c.want)
			}
			if strings.Contains(c.want, "no Deployment") != errors.Is(err, errNotFound) {
				t.Errorf("ErrNotFound: %v", err)
			}
		})
	}
}
