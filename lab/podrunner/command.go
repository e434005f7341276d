package podrunner

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	podresource "k8s.io/kubernetes/pkg/api/v1/resource"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"

	"github.com/evenkeel-project/evenkeel/lab/freeport"
)

// accountFolder is where the API server mounts the account of a pod.
const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

// command is what the process of a container runs.
type command struct {
	path      string
	args, env []string
	visible   *strings.Replacer // the paths of this machine -> those in the container
}

// makeCommand makes the command from the container's arguments and environment. Paths below the volumes become paths of
// this machine, and addresses to listen on become free ports of it.
func (c *container) makeCommand(ctx context.Context) (command, error) {
	values, err := c.environment(ctx)
	if err != nil {
		return command{}, err
	}
	paths := c.pod.paths()
	out := command{path: c.pod.runner.Program, visible: paths.visible()}
	for _, arg := range c.Args {
		out.args = append(out.args, paths.toLocal(expansion.Expand(arg, expansion.MappingFuncFor(values))))
	}
	if err := c.listenLocally(&out.args); err != nil {
		return command{}, err
	}
	temp := filepath.Join(c.pod.dir, c.Name, "tmp")
	env := map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": temp, "TMPDIR": temp, "HOSTNAME": c.pod.Name}
	for name, value := range values {
		env[name] = paths.toLocal(value)
	}
	if account, mounted := paths[accountFolder]; mounted {
		if env["KUBECONFIG"], err = c.writeKubeconfig(account); err != nil {
			return command{}, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out.env = append(out.env, name+"="+env[name])
	}
	return out, nil
}

// writeKubeconfig writes a kubeconfig that reads the token and the certificate of the account's folder. A process does
// not find them where a program looks for them in a container.
func (c *container) writeKubeconfig(account string) (string, error) {
	k := clientcmdapi.NewConfig()
	k.Clusters["lab"] = &clientcmdapi.Cluster{Server: c.pod.runner.Cluster.Config.Host, CertificateAuthority: filepath.Join(account, "ca.crt")}
	k.AuthInfos["lab"] = &clientcmdapi.AuthInfo{TokenFile: filepath.Join(account, "token")}
	k.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "lab", Namespace: c.pod.Namespace}
	k.CurrentContext = "lab"
	path := filepath.Join(c.pod.dir, c.Name, "kubeconfig")
	return path, clientcmd.WriteToFile(*k, path)
}

// listenLocally replaces the address of each flag --...-address by a free port of 127.0.0.1. A `run` without
// --bind-address gets one for its default port.
func (c *container) listenLocally(args *[]string) error {
	const bind, defaultAddress = "--bind-address", ":8080"
	list := slices.Clone(*args)
	has := func(arg string) bool { return arg == bind || strings.HasPrefix(arg, bind+"=") }
	if len(list) > 0 && list[0] == "run" && len(c.Ports) > 0 && !slices.ContainsFunc(list, has) {
		list = append(list, bind+"="+defaultAddress)
	}
	for i, arg := range list {
		name, value, inline := strings.Cut(arg, "=")
		if !strings.HasPrefix(name, "--") || !strings.HasSuffix(name, "-address") {
			continue
		}
		at := i
		if !inline {
			if at++; at == len(list) {
				continue
			}
			value = list[at]
		}
		local, err := c.localAddress(value)
		if err != nil {
			return err
		}
		if inline {
			local = name + "=" + local
		}
		list[at] = local
	}
	*args = list
	return nil
}

func (c *container) localAddress(address string) (string, error) {
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		return address, nil // the program says what is wrong with it
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return address, nil
	}
	if c.ports[int32(port)] == 0 {
		free, err := freeport.Get()
		if err != nil {
			return "", err
		}
		c.ports[int32(port)] = int32(free)
	}
	return fmt.Sprintf("127.0.0.1:%d", c.ports[int32(port)]), nil
}

// environment returns the variables that the pod sets.
func (c *container) environment(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for _, from := range c.EnvFrom {
		data, err := c.pod.envSource(ctx, from)
		if err != nil {
			return nil, err
		}
		for name, value := range data {
			out[from.Prefix+name] = value
		}
	}
	for _, e := range c.Env {
		value := expansion.Expand(e.Value, expansion.MappingFuncFor(out))
		if e.ValueFrom != nil {
			var err error
			if value, err = c.envValue(ctx, e.ValueFrom); err != nil {
				return nil, fmt.Errorf("variable %s: %w", e.Name, err)
			}
		}
		out[e.Name] = value
	}
	return out, nil
}

func (c *container) envValue(ctx context.Context, from *corev1.EnvVarSource) (string, error) {
	switch {
	case from.FieldRef != nil:
		return c.pod.field(from.FieldRef.FieldPath)
	case from.ResourceFieldRef != nil:
		return podresource.ExtractContainerResourceValue(from.ResourceFieldRef, c.Container)
	case from.ConfigMapKeyRef != nil:
		data, err := c.pod.configMap(ctx, from.ConfigMapKeyRef.Name, optional(from.ConfigMapKeyRef.Optional))
		return data.Data[from.ConfigMapKeyRef.Key], err
	case from.SecretKeyRef != nil:
		data, err := c.pod.secret(ctx, from.SecretKeyRef.Name, optional(from.SecretKeyRef.Optional))
		return string(data.Data[from.SecretKeyRef.Key]), err
	}
	return "", fmt.Errorf("the lab does not know this source of a value")
}

// field returns a field of the pod for the downward API.
func (p *pod) field(path string) (string, error) {
	switch path {
	case "spec.nodeName":
		return p.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return p.Spec.ServiceAccountName, nil
	case "status.podIP", "status.podIPs", "status.hostIP", "status.hostIPs":
		return "127.0.0.1", nil
	}
	return fieldpath.ExtractFieldPathAsString(p.Pod, path)
}

func (p *pod) envSource(ctx context.Context, from corev1.EnvFromSource) (map[string]string, error) {
	if ref := from.ConfigMapRef; ref != nil {
		found, err := p.configMap(ctx, ref.Name, optional(ref.Optional))
		return found.Data, err
	}
	found, err := p.secret(ctx, from.SecretRef.Name, optional(from.SecretRef.Optional))
	out := map[string]string{}
	for name, value := range found.Data {
		out[name] = string(value)
	}
	return out, err
}

func optional(b *bool) bool { return b != nil && *b }

func (p *pod) configMap(ctx context.Context, name string, optional bool) (*corev1.ConfigMap, error) {
	out, err := p.runner.Cluster.Client.CoreV1().ConfigMaps(p.Namespace).Get(ctx, name, metav1.GetOptions{})
	if optional && isGone(err) {
		return &corev1.ConfigMap{}, nil
	}
	return cmp.Or(out, &corev1.ConfigMap{}), err
}

func (p *pod) secret(ctx context.Context, name string, optional bool) (*corev1.Secret, error) {
	out, err := p.runner.Cluster.Client.CoreV1().Secrets(p.Namespace).Get(ctx, name, metav1.GetOptions{})
	if optional && isGone(err) {
		return &corev1.Secret{}, nil
	}
	return cmp.Or(out, &corev1.Secret{}), err
}
