package real

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Request is one request to a scheduler process: either a cluster to load, which gets no answer, or the index of a pod
// to replace.
type Request struct {
	Load *Objects `json:",omitempty"`
	Pod  int
	Gone bool
}

// Process is a scheduler that runs as a separate process.
type Process struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	requests *json.Encoder
	answers  *json.Decoder
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
