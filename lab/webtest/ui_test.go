package webtest

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/evenkeel-project/evenkeel/lab/must"
	"github.com/evenkeel-project/evenkeel/lab/seed"
	"github.com/evenkeel-project/evenkeel/lab/testbed"
)

// program is a running process of the program under test.
type program struct{ output testbed.Buffer }

// start starts the program, and ends it when the test ends.
func start(t *testing.T, args ...string) *program {
	t.Helper()
	p := &program{}
	cmd := exec.Command(testbed.Evenkeel, args...)
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	must.Succeed(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("evenkeel %s\n%s", strings.Join(args, " "), p.output.String())
		}
	})
	return p
}

// waitFor waits until the output contains a match, and returns its last one.
func (p *program) waitFor(t *testing.T, pattern string) (found string) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	must.Succeed(t, seed.WaitUntil(t.Context(), 30*time.Second, func() (bool, error) {
		all := re.FindAllString(p.output.String(), -1)
		if len(all) == 0 {
			return false, fmt.Errorf("no %s in the output", pattern)
		}
		found = all[len(all)-1]
		return true, nil
	}))
	return found
}

// startRelease starts `evenkeel run` in a namespace and waits until it leads.
func startRelease(t *testing.T, ns, config string) {
	t.Helper()
	start(t, "run", "--kubeconfig", lab.Kubeconfig, "--lease-namespace", ns, "--config", testbed.ConfigFile(t, config),
		"--bind-address", "127.0.0.1:0").waitFor(t, "leads=true")
}

// startUI starts `evenkeel ui` for a release and returns the process and its address with the secret.
func startUI(t *testing.T, kubeconfig, ns string) (p *program, address string) {
	t.Helper()
	p = start(t, "ui", "--kubeconfig", kubeconfig, "--lease-namespace", ns)
	return p, p.waitFor(t, `http://127\.0\.0\.1:\d+/\S+`)
}

// origin returns the scheme, host and port of an address.
func origin(address string) string { return regexp.MustCompile(`^http://[^/]+`).FindString(address) }

// openUI opens the first page of `evenkeel ui`, and returns the page and the beginning of all addresses.
func openUI(t *testing.T, v view, address string) (p *page, base string) {
	t.Helper()
	p = open(t, v, address)
	p.waitUntil(`document.querySelector("nav") !== null`)
	return p, strings.TrimSuffix(evaluate[string](p, `location.href`), "/")
}

// waitUntil waits until an expression is true in the page, which may load another page meanwhile.
func (p *page) waitUntil(condition string) {
	p.t.Helper()
	if err := seed.WaitUntil(p.ctx, time.Minute, func() (bool, error) {
		is, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](condition))
		return err == nil && is, nil
	}); err != nil {
		p.t.Fatalf("waiting for %s: %v; the page shows:\n%s", condition, err, p.shown("body"))
	}
}

// waitForText waits until the page shows a text.
func (p *page) waitForText(want string) {
	p.t.Helper()
	p.waitUntil(`document.body.innerText.replace(/\s+/g, " ").includes(` + text(want) + `)`)
}

// click clicks the first visible button, link or label with this text.
func (p *page) click(words string) {
	p.t.Helper()
	id := evaluate[string](p, `(() => { const e = [...document.querySelectorAll("button, a, label, summary, input[type=submit]")].find(e =>
		e.checkVisibility() && (e.innerText || e.value || "").replace(/\s+/g, " ").includes(`+text(words)+`)); if (!e) return "";
		document.querySelectorAll("[data-clicked]").forEach(x => delete x.dataset.clicked); e.dataset.clicked = ""; return "[data-clicked]" })()`)
	if id == "" {
		p.t.Fatalf("there is nothing to click with the text %q:\n%s", words, p.shown("body"))
	}
	p.do(chromedp.Click(chromedp.CSS(id)))
}

// objects is where the API server has the objects of a release.
const objects = "/apis/evenkeel.io/v1alpha1/namespaces"

// storedPlan is what the tests read of a RebalancePlan.
type storedPlan struct {
	Metadata struct{ Name string }
	Status   struct {
		Phase string
		Steps []struct {
			Step             int
			State, DecidedBy string
		}
	}
}

// waitForStoredPlan waits until the only plan of a namespace has a phase and steps in these states, as in "1 Evicted".
func waitForStoredPlan(t *testing.T, ns, phase, states string) (found storedPlan) {
	t.Helper()
	must.Succeed(t, seed.WaitUntil(t.Context(), time.Minute, func() (bool, error) {
		var list struct{ Items []storedPlan }
		must.Succeed(t, json.Unmarshal(must.Get(lab.Client.Discovery().RESTClient().Get().AbsPath(objects, ns, "rebalanceplans").DoRaw(t.Context()))(t), &list))
		if len(list.Items) != 1 {
			return false, fmt.Errorf("%d plans", len(list.Items))
		}
		found = list.Items[0]
		var got []string
		for _, s := range found.Status.Steps {
			got = append(got, fmt.Sprint(s.Step, " ", s.State))
		}
		if s := strings.Join(got, " "); found.Status.Phase != phase || s != states {
			return false, fmt.Errorf("phase %s with steps %q, want %s with %q", found.Status.Phase, s, phase, states)
		}
		return true, nil
	}))
	return found
}

// createRun asks the release for a pass.
func createRun(t *testing.T, ns, by string) {
	t.Helper()
	body := fmt.Sprintf(`{"apiVersion": "evenkeel.io/v1alpha1", "kind": "RebalanceRun", "metadata": {"generateName": "zones-"},
		"spec": {"strategies": ["zones"], "by": %q}}`, by)
	must.Succeed(t, lab.Client.Discovery().RESTClient().Post().AbsPath(objects, ns, "rebalanceruns").SetHeader("Content-Type", "application/json").
		Body([]byte(body)).Do(t.Context()).Error())
}
