package podrunner

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	configmapvolume "k8s.io/kubernetes/pkg/volume/configmap"
	secretvolume "k8s.io/kubernetes/pkg/volume/secret"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"
)

// volume is a folder with the files of a volume.
type volume struct {
	corev1.Volume
	dir    string
	tokens map[string]token // by path
}

type token struct {
	text  string
	renew time.Time
}

type files map[string]volumeutil.FileProjection

// makeVolumes creates the folders of the volumes and writes their files.
func (p *pod) makeVolumes(ctx context.Context) error {
	p.volumes = nil
	for _, v := range p.Spec.Volumes {
		dir := filepath.Join(p.dir, "volumes", v.Name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		p.volumes = append(p.volumes, &volume{Volume: v, dir: dir, tokens: map[string]token{}})
	}
	return p.writeVolumes(ctx)
}

// refreshVolumes keeps the files as the objects are. A folder changes as a whole, as a kubelet changes it. Files of an
// object that was deleted stay.
func (p *pod) refreshVolumes(ctx context.Context) {
	tick := time.NewTicker(volumeInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := p.writeVolumes(ctx); err != nil && ctx.Err() == nil && !isGone(err) {
				p.runner.say("pod %s/%s: %v", p.Namespace, p.Name, err)
			}
		}
	}
}

func (p *pod) writeVolumes(ctx context.Context) error {
	paths := p.paths()
	for _, v := range p.volumes {
		content, err := p.files(ctx, v)
		if err != nil {
			return fmt.Errorf("volume %s: %w", v.Name, err)
		}
		if content == nil {
			continue
		}
		for name, f := range content {
			f.Data = []byte(paths.toLocal(string(f.Data)))
			content[name] = f
		}
		writer, err := volumeutil.NewAtomicWriter(v.dir, p.Name)
		if err != nil {
			return err
		}
		if err := writer.Write(content, nil); err != nil {
			return fmt.Errorf("volume %s: %w", v.Name, err)
		}
	}
	return nil
}

// files returns the files of a volume; nil for an empty folder, which belongs to the containers.
func (p *pod) files(ctx context.Context, v *volume) (files, error) {
	switch {
	case v.EmptyDir != nil:
		return nil, nil
	case v.ConfigMap != nil:
		return p.configMapFiles(ctx, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
	case v.Secret != nil:
		return p.secretFiles(ctx, v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
	case v.DownwardAPI != nil:
		return p.fieldFiles(v.DownwardAPI.Items)
	case v.Projected != nil:
		all := files{}
		for _, s := range v.Projected.Sources {
			some, err := p.projectedFiles(ctx, v, s)
			if err != nil {
				return nil, err
			}
			maps.Copy(all, some)
		}
		return all, nil
	}
	return nil, fmt.Errorf("the lab does not know this kind of volume")
}

func (p *pod) projectedFiles(ctx context.Context, v *volume, s corev1.VolumeProjection) (files, error) {
	switch {
	case s.ConfigMap != nil:
		return p.configMapFiles(ctx, s.ConfigMap.Name, s.ConfigMap.Items, s.ConfigMap.Optional)
	case s.Secret != nil:
		return p.secretFiles(ctx, s.Secret.Name, s.Secret.Items, s.Secret.Optional)
	case s.DownwardAPI != nil:
		return p.fieldFiles(s.DownwardAPI.Items)
	case s.ServiceAccountToken != nil:
		return p.tokenFile(ctx, v, s.ServiceAccountToken)
	}
	return nil, fmt.Errorf("the lab does not know this kind of projected volume")
}

var fileMode = int32(0o644)

func (p *pod) configMapFiles(ctx context.Context, name string, items []corev1.KeyToPath, may *bool) (files, error) {
	found, err := p.configMap(ctx, name, optional(may))
	if err != nil {
		return nil, err
	}
	return configmapvolume.MakePayload(items, found, &fileMode, nil, optional(may))
}

func (p *pod) secretFiles(ctx context.Context, name string, items []corev1.KeyToPath, may *bool) (files, error) {
	found, err := p.secret(ctx, name, optional(may))
	if err != nil {
		return nil, err
	}
	return secretvolume.MakePayload(items, found, &fileMode, nil, optional(may))
}

func (p *pod) fieldFiles(items []corev1.DownwardAPIVolumeFile) (files, error) {
	out := files{}
	for _, item := range items {
		if item.FieldRef == nil {
			return nil, fmt.Errorf("%s: the lab knows only fields of the pod", item.Path)
		}
		value, err := p.field(item.FieldRef.FieldPath)
		if err != nil {
			return nil, err
		}
		out[item.Path] = volumeutil.FileProjection{Data: []byte(value), Mode: fileMode}
	}
	return out, nil
}

// tokenFile returns the file with a token that is bound to the pod. It renews the token after four fifths of its life.
func (p *pod) tokenFile(ctx context.Context, v *volume, s *corev1.ServiceAccountTokenProjection) (files, error) {
	if t := v.tokens[s.Path]; time.Now().After(t.renew) {
		request := &authv1.TokenRequest{Spec: authv1.TokenRequestSpec{ExpirationSeconds: s.ExpirationSeconds,
			BoundObjectRef: &authv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID}}}
		if s.Audience != "" {
			request.Spec.Audiences = []string{s.Audience}
		}
		answer, err := p.runner.Cluster.Client.CoreV1().ServiceAccounts(p.Namespace).
			CreateToken(ctx, p.Spec.ServiceAccountName, request, metav1.CreateOptions{})
		if err != nil {
			return nil, fmt.Errorf("requesting a token of %s: %w", p.Spec.ServiceAccountName, err)
		}
		life := time.Until(answer.Status.ExpirationTimestamp.Time)
		v.tokens[s.Path] = token{answer.Status.Token, time.Now().Add(life * 4 / 5)}
	}
	return files{s.Path: {Data: []byte(v.tokens[s.Path].text), Mode: fileMode}}, nil
}

// paths maps the paths at which containers mount volumes to folders of this machine.
type paths map[string]string

func (p *pod) paths() paths {
	out := paths{}
	for _, c := range p.containers {
		if !c.executed {
			continue
		}
		for _, m := range c.VolumeMounts {
			out[m.MountPath] = filepath.Join(p.dir, "volumes", m.Name, m.SubPath)
		}
	}
	return out
}

// toLocal replaces the paths of the containers in a text, such as a configuration, by those of this machine.
func (m paths) toLocal(text string) string {
	if len(m) == 0 {
		return text
	}
	var names []string
	for _, path := range slices.SortedFunc(maps.Keys(m), func(a, b string) int { return len(b) - len(a) }) {
		names = append(names, regexp.QuoteMeta(path))
	}
	pattern := regexp.MustCompile(`(^|[^A-Za-z0-9_./-])(` + strings.Join(names, "|") + `)($|[^A-Za-z0-9_.-])`)
	return pattern.ReplaceAllStringFunc(text, func(found string) string {
		part := pattern.FindStringSubmatch(found)
		return part[1] + m[part[2]] + part[3]
	})
}

// visible returns the reverse of toLocal, for the output of the containers.
func (m paths) visible() *strings.Replacer {
	var pairs []string
	for path, local := range m {
		pairs = append(pairs, local, path)
	}
	return strings.NewReplacer(pairs...)
}
