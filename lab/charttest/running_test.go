package charttest

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// automatic are arguments of an installation that evicts young pods and runs its strategies only when asked. It steers
// replacements, because its own pod may otherwise decide a tie between nodes.
var automatic = []string{"--set", "config.dryRun=false", "--set", "config.guards.minPodAge=0s", "--set", "config.evictor.steer=taint",
	"--set-json", `config.preset=[],config.strategies={"zones": {"type":"ZoneSpread","schedule":"0 0 29 2 *",` +
		`"args":{"topologyKey":"topology.kubernetes.io/zone","maxSkew":1,"by":"owner"}}}`}

// runAsAdministrator runs a command of the program for people, and fails the test if the command fails.
func (r release) runAsAdministrator(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()
	args = append(args, "--kubeconfig", r.kubeconfig, "--lease-namespace", r.namespace)
	cmd := exec.CommandContext(ctx, testbed.Evenkeel, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("evenkeel %s: %v\n%s%s", strings.Join(args, " "), err, out, errs.String())
	}
	return string(out)
}

// logs returns the output of all pods of the release, as kubectl logs shows it.
func (r release) logs(ctx context.Context) (string, error) {
	return r.logsOf(ctx, "app.kubernetes.io/instance="+r.name)
}

func (r release) logsOf(ctx context.Context, selector string) (string, error) {
	pods, err := r.client.CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return "", err
	}
	var all []string
	for _, p := range pods.Items {
		text, err := r.client.CoreV1().Pods(r.namespace).GetLogs(p.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
		if err != nil {
			return "", err
		}
		all = append(all, string(text))
	}
	return strings.Join(all, ""), nil
}

// showLogs shows the output of the pods if the test failed, also that of containers that have ended.
func (r release) showLogs(t *testing.T) {
	if !t.Failed() {
		return
	}
	pods, err := r.client.CoreV1().Pods(r.namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Error(err)
		return
	}
	for _, p := range pods.Items {
		for _, previous := range []bool{true, false} {
			o := &corev1.PodLogOptions{Previous: previous}
			text, err := r.client.CoreV1().Pods(r.namespace).GetLogs(p.Name, o).DoRaw(context.Background())
			t.Logf("output of pod %s/%s, %s, previous %v (%v):\n%s", p.Namespace, p.Name, p.Status.Phase, previous, err, text)
		}
	}
}

// waitForLog waits until the output of the pods contains a text.
func (r release) waitForLog(ctx context.Context, t *testing.T, want string) {
	t.Helper()
	eventually(ctx, t, fmt.Sprintf("%q in the log of %s", want, r.namespace), func() (bool, string) {
		text, err := r.logs(ctx)
		if err != nil {
			return false, err.Error()
		}
		return strings.Contains(text, want), text
	})
}

// waitForZones waits until the running pods of d are spread over the zones as in 2/2/2.
func waitForZones(ctx context.Context, t *testing.T, want string) {
	t.Helper()
	eventually(ctx, t, "pods of d in the zones "+want, func() (bool, string) {
		got := podsOfDPerZone(ctx, t, lab.Client)
		return got == want, got
	})
}

// runJob runs the job of the CronJob for a strategy now, waits until it completes, and returns its output.
func (r release) runJob(ctx context.Context, t *testing.T, strategy string) string {
	t.Helper()
	return r.waitForJob(ctx, t, r.createJob(ctx, t, strategy), func(s batchv1.JobStatus) bool { return s.Succeeded == 1 })
}

// runFailingJob is like runJob for a job that must fail.
func (r release) runFailingJob(ctx context.Context, t *testing.T, strategy string) string {
	t.Helper()
	return r.waitForJob(ctx, t, r.createJob(ctx, t, strategy), func(s batchv1.JobStatus) bool { return s.Failed == 1 })
}

// createJob creates the job that the CronJob for a strategy would create, and returns its name.
func (r release) createJob(ctx context.Context, t *testing.T, strategy string) string {
	t.Helper()
	crons := must.Get(r.client.BatchV1().CronJobs(r.namespace).List(ctx, metav1.ListOptions{}))(t)
	i := slices.IndexFunc(crons.Items, func(c batchv1.CronJob) bool {
		return slices.Contains(c.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Args, strategy)
	})
	if i < 0 {
		t.Fatalf("none of %d CronJobs runs strategy %s", len(crons.Items), strategy)
	}
	cron := &crons.Items[i]
	owner := metav1.NewControllerRef(cron, batchv1.SchemeGroupVersion.WithKind("CronJob"))
	job := must.Get(r.client.BatchV1().Jobs(r.namespace).Create(ctx, &batchv1.Job{Spec: cron.Spec.JobTemplate.Spec,
		ObjectMeta: metav1.ObjectMeta{GenerateName: "by-hand-", Labels: cron.Spec.JobTemplate.Labels,
			OwnerReferences: []metav1.OwnerReference{*owner}}}, metav1.CreateOptions{}))(t)
	return job.Name
}

// waitForJob waits until the job has the status, and returns the output of its pod.
func (r release) waitForJob(ctx context.Context, t *testing.T, job string, is func(batchv1.JobStatus) bool) string {
	t.Helper()
	var text string
	eventually(ctx, t, "the end of job "+job, func() (bool, string) {
		now, err := r.client.BatchV1().Jobs(r.namespace).Get(ctx, job, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		if text, err = r.logsOf(ctx, "job-name="+job); err != nil {
			return false, err.Error()
		}
		return is(now.Status), fmt.Sprintf("%+v\n%s", now.Status, text)
	})
	return text
}
