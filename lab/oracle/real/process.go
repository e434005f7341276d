package real

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Request is one request to a scheduler process: either a configuration or a cluster to load, which get no answer, or
// the index of a pod to replace.
type Request struct {
	Configuration string   `json:",omitempty"`
	Load          *Objects `json:",omitempty"`
	Pod           int
	Gone          bool
}

// Process is a scheduler that runs as a separate process.
type Process struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	requests *json.Encoder
	answers  *json.Decoder
}

// Version returns the version of kube-scheduler that a binary of cmd/real contains, such as v1.36.3.
func Version(binary string) (string, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return "", fmt.Errorf("reading the build information of %s: %w", binary, err)
	}
	for _, m := range info.Deps {
		if m.Path == "k8s.io/kubernetes" {
			return m.Version, nil
		}
	}
	return "", fmt.Errorf("%s contains no kube-scheduler", binary)
}

// Start runs a binary of cmd/real.
func Start(binary string) (*Process, error) {
	c := &Process{cmd: exec.Command(binary)}
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", binary, err)
	}
	c.in, c.requests, c.answers = in, json.NewEncoder(in), json.NewDecoder(out)
	return c, nil
}

// Stop ends the process and returns its exit error.
func (c *Process) Stop() error {
	if err := c.in.Close(); err != nil {
		return err
	}
	return c.cmd.Wait()
}

// Configure is like Scheduler.Configure. The process ends if the configuration is invalid.
func (c *Process) Configure(_ context.Context, text string) error {
	return c.requests.Encode(Request{Configuration: text})
}

// Load is like Scheduler.Load.
func (c *Process) Load(o *Objects) error { return c.requests.Encode(Request{Load: o}) }

// Replace is like Scheduler.Replace.
func (c *Process) Replace(_ context.Context, pod int, gone bool) (map[string]Verdict, error) {
	if err := c.requests.Encode(Request{Pod: pod, Gone: gone}); err != nil {
		return nil, fmt.Errorf("sending the request: %w", err)
	}
	var out map[string]Verdict
	if err := c.answers.Decode(&out); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	return out, nil
}
