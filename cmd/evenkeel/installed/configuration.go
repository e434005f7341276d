// Package installed finds the installed release that a command is about, and reads its configuration. It also submits
// approved plans to the process that holds the Lease of the release.
//
// The package decides which namespace has the release, and where the pods of the release have their configuration:
// in which ConfigMap the file is to which the arguments of their container refer. It decides how long a command waits
// for the report on a plan, when it withdraws the plan, and whether the report means success. It never reads a Secret.
package installed

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/evenkeel-project/evenkeel/config"
)

// selector selects the objects of a release. The chart sets this label.
const (
	labelKey, labelValue = "app.kubernetes.io/name", "evenkeel"
	selector             = labelKey + "=" + labelValue
)

// errNotFound says that the namespace has no object whose pods run Evenkeel with a configuration.
var errNotFound = errors.New("no Deployment or CronJob there with the label " + selector + " runs `evenkeel run --config FILE`")

// found is the configuration of a release.
type found struct {
	config *config.Config
	// configMap is the ConfigMap with config.yaml, as NAMESPACE/NAME.
	configMap string
}

// read returns the configuration of the release in the namespace. Its paths are those in the pods. Files to which the
// configuration refers come from ConfigMaps that the pods mount, too.
func read(ctx context.Context, client kubernetes.Interface, namespace string) (*found, error) {
	installed, err := workloads(ctx, client, namespace)
	if err != nil {
		return nil, err
	}
	var of *mounts
	for i := range installed {
		m := configured(&installed[i].pod)
		if m == nil {
			continue
		}
		if of != nil && (m.name() != of.name() || m.file != of.file) {
			return nil, fmt.Errorf("namespace %s has several configurations of Evenkeel: %s and %s", namespace, of.name(), m.name())
		}
		of = m
	}
	if of == nil {
		return nil, errNotFound
	}
	of.read = func(name string) (*corev1.ConfigMap, error) {
		return client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	}
	data, err := of.content(of.file)
	if err != nil {
		return nil, err
	}
	conf, err := config.LoadFrom(of.file, data, of.content)
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s/%s: %w", namespace, of.name(), err)
	}
	return &found{conf, namespace + "/" + of.name()}, nil
}

// workload is a Deployment or CronJob of a release.
type workload struct {
	namespace string
	pod       corev1.PodSpec
}

// workloads returns the Deployments and CronJobs of Evenkeel in a namespace, or in all namespaces if it is "".
func workloads(ctx context.Context, client kubernetes.Interface, namespace string) ([]workload, error) {
	in := "of namespace " + namespace
	if namespace == metav1.NamespaceAll {
		in = "of all namespaces"
	}
	var out []workload
	options := metav1.ListOptions{LabelSelector: selector}
	deployments, err := client.AppsV1().Deployments(namespace).List(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("listing the Deployments %s: %w", in, err)
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		if d.Labels[labelKey] != labelValue { // the server ignored the selector
			continue
		}
		out = append(out, workload{d.Namespace, d.Spec.Template.Spec})
	}
	jobs, err := client.BatchV1().CronJobs(namespace).List(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("listing the CronJobs %s: %w", in, err)
	}
	for i := range jobs.Items {
		j := &jobs.Items[i]
		if j.Labels[labelKey] != labelValue {
			continue
		}
		out = append(out, workload{j.Namespace, j.Spec.JobTemplate.Spec.Template.Spec})
	}
	return out, nil
}

// mounts are the files that are mounted into a container.
type mounts struct {
	file    string // path of config.yaml
	volumes map[string]*corev1.Volume
	mounts  []corev1.VolumeMount
	read    func(configMap string) (*corev1.ConfigMap, error)
}

// configured returns the files of the container that runs Evenkeel with a configuration, or nil if the pod has none.
func configured(pod *corev1.PodSpec) *mounts {
	m := &mounts{volumes: map[string]*corev1.Volume{}}
	for i := range pod.Volumes {
		m.volumes[pod.Volumes[i].Name] = &pod.Volumes[i]
	}
	for i := range pod.Containers {
		c := &pod.Containers[i]
		args := slices.Concat(c.Command, c.Args)
		if m.file, m.mounts = configFlag(args), c.VolumeMounts; m.file != "" && slices.Contains(args, "run") && m.name() != "" {
			return m
		}
	}
	return nil
}

// configFlag returns the value of the flag --config, or "".
func configFlag(args []string) string {
	for i, a := range args {
		if file, ok := strings.CutPrefix(a, "--config="); ok {
			return file
		}
		if a == "--config" && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// name returns the name of the ConfigMap with config.yaml, or "" if the file is not in a ConfigMap.
func (m *mounts) name() string {
	name, _ := m.locate(m.file)
	return name
}

// locate returns the ConfigMap and the key of a file. The name is "" if the file is not in a ConfigMap.
func (m *mounts) locate(file string) (configMap, key string) {
	var best *corev1.VolumeMount
	for i := range m.mounts {
		dir := path.Clean(m.mounts[i].MountPath)
		if (file == dir || strings.HasPrefix(file, dir+"/")) && (best == nil || len(dir) > len(best.MountPath)) {
			best = &m.mounts[i]
		}
	}
	if best == nil || m.volumes[best.Name] == nil || m.volumes[best.Name].ConfigMap == nil {
		return "", ""
	}
	source := m.volumes[best.Name].ConfigMap
	inside := path.Join(best.SubPath, strings.TrimPrefix(strings.TrimPrefix(file, path.Clean(best.MountPath)), "/"))
	for _, item := range source.Items {
		if item.Path == inside {
			return source.Name, item.Key
		}
	}
	if len(source.Items) > 0 || strings.Contains(inside, "/") {
		return "", ""
	}
	return source.Name, inside
}

// content returns the content of a file of the container.
func (m *mounts) content(file string) ([]byte, error) {
	name, key := m.locate(file)
	if name == "" {
		return nil, fmt.Errorf("%s is in the pods of the release, but not in a ConfigMap; set --config to a local copy of the configuration, "+
			"beside copies of its files", file)
	}
	cm, err := m.read(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	if text, ok := cm.Data[key]; ok {
		return []byte(text), nil
	}
	if data, ok := cm.BinaryData[key]; ok {
		return data, nil
	}
	return nil, fmt.Errorf("%s: ConfigMap %s/%s has no key %s", file, cm.Namespace, cm.Name, key)
}
