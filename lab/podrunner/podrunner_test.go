package podrunner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// TestPathsBecomeLocal checks which texts name a path below a mounted volume, and that output shows the container's
// paths again.
func TestPathsBecomeLocal(t *testing.T) {
	m := paths{"/etc/evenkeel": "/tmp/x/volumes/config", "/etc/evenkeel/tls": "/tmp/x/volumes/tls", "/tmp": "/tmp/x/volumes/tmp"}
	for text, want := range map[string]string{
		"/etc/evenkeel/config.yaml":                     "/tmp/x/volumes/config/config.yaml",
		"--config=/etc/evenkeel/config.yaml":            "--config=/tmp/x/volumes/config/config.yaml",
		"caFile: /etc/evenkeel/ca.crt\nfile: /tmp/plan": "caFile: /tmp/x/volumes/config/ca.crt\nfile: /tmp/x/volumes/tmp/plan",
		"/etc/evenkeel/tls/tls.crt":                     "/tmp/x/volumes/tls/tls.crt",
		`"/etc/evenkeel"`:                               `"/tmp/x/volumes/config"`,
		"/etc/evenkeel-old/config.yaml":                 "/etc/evenkeel-old/config.yaml",
		"/var/etc/evenkeel/config.yaml":                 "/var/etc/evenkeel/config.yaml",
		"rules.yaml":                                    "rules.yaml",
	} {
		got := m.toLocal(text)
		if got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if back := m.visible().Replace(got); back != text {
			t.Errorf("%q is shown as %q, want %q", got, back, text)
		}
	}
}

// TestAddressesBecomeLocal checks that a process listens on the free ports that stand for the ports of its pod.
func TestAddressesBecomeLocal(t *testing.T) {
	for args, want := range map[string]string{
		"run --config c":                            "run --config c --bind-address=127.0.0.1:20080",
		"run --bind-address :8443":                  "run --bind-address 127.0.0.1:20443",
		"run --bind-address=0.0.0.0:8443 --once":    "run --bind-address=127.0.0.1:20443 --once",
		"run --debug-address=:8443 --bind-address=": "run --debug-address=127.0.0.1:20443 --bind-address=",
		"version": "version",
	} {
		c := container{Container: &corev1.Container{Ports: []corev1.ContainerPort{{ContainerPort: 8080}, {ContainerPort: 8443}}},
			ports: map[int32]int32{8080: 20080, 8443: 20443}}
		list := strings.Fields(args)
		must.Succeed(t, c.listenLocally(&list))
		if got := strings.Join(list, " "); got != want {
			t.Errorf("%q became %q, want %q", args, got, want)
		}
	}
}

// TestPhase checks the phase of pods whose containers have ended.
func TestPhase(t *testing.T) {
	ended := func(code int32) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	for _, c := range []struct {
		policy     corev1.RestartPolicy
		terminates bool
		states     []corev1.ContainerState
		want       corev1.PodPhase
	}{
		{corev1.RestartPolicyNever, false, []corev1.ContainerState{ended(0)}, corev1.PodSucceeded},
		{corev1.RestartPolicyNever, false, []corev1.ContainerState{ended(0), ended(3)}, corev1.PodFailed},
		{corev1.RestartPolicyNever, false, []corev1.ContainerState{ended(3), running}, corev1.PodRunning},
		{corev1.RestartPolicyOnFailure, false, []corev1.ContainerState{ended(3)}, corev1.PodRunning},
		{corev1.RestartPolicyAlways, false, []corev1.ContainerState{ended(0)}, corev1.PodRunning},
		{corev1.RestartPolicyAlways, true, []corev1.ContainerState{ended(0)}, corev1.PodSucceeded},
		{corev1.RestartPolicyAlways, false, []corev1.ContainerState{{Waiting: &corev1.ContainerStateWaiting{}}}, corev1.PodPending},
	} {
		p := &pod{Pod: &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: c.policy}}, term: make(chan struct{})}
		for _, s := range c.states {
			p.containers = append(p.containers, &container{pod: p, executed: true, state: s})
		}
		if c.terminates {
			p.terminate(0)
		}
		if got := p.phase(); got != c.want {
			t.Errorf("%+v: phase %s, want %s", c, got, c.want)
		}
	}
}

// TestOutput checks the file from which kwok serves the output: a line for each line, with stream and time.
func TestOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	o := must.Get(openOutput(path))(t)
	s := o.stream("stderr")
	for _, text := range []string{"a", "b\nc\n", "\nd"} {
		if _, err := s.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	s.flush()
	must.Succeed(t, o.rotate())
	o.line("stdout", "next run")
	must.Succeed(t, o.Close())
	for file, want := range map[string][]string{previous(path): {"stderr F ab", "stderr F c", "stderr F ", "stderr F d"},
		path: {"stdout F next run"}} {
		text := must.Get(os.ReadFile(file))(t)
		var got []string
		for line := range strings.Lines(string(text)) {
			_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			got = append(got, rest)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", filepath.Base(file), got, want)
		}
	}
}
