package budgets

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// request and response are the JSON lines that budgetcheck reads and writes.
type request struct {
	Op       string               `json:"op"`
	Tracker  string               `json:"book"`
	Snapshot string               `json:"snapshot,omitempty"`
	Now      time.Time            `json:"now,omitzero"`
	Spent    map[string]time.Time `json:"spent,omitempty"`
	Taken    string               `json:"taken,omitempty"`
	Pod      string               `json:"pod,omitempty"`
}

type response struct {
	Allowed bool   `json:"allowed"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Taken   int    `json:"taken"`
	Error   string `json:"error"`
}

// budgetcheckProcess is a running budgetcheck, a program of the root module that exposes package
// planner/eligibility/budget. The lab's module cannot import the root module, because the two modules pin different
// dependency versions.
type budgetcheckProcess struct {
	mu  sync.Mutex
	dir string
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startBudgetcheck() (*budgetcheckProcess, error) {
	dir, err := os.MkdirTemp("", "evenkeel-budgets-")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "budgetcheck")
	build := exec.Command("go", "build", "-o", path, "./verify/budgetcheck")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("building budgetcheck: %w\n%s", err, out)
	}
	c := &budgetcheckProcess{dir: dir, cmd: exec.Command(path)}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	c.cmd.Stderr = os.Stderr
	in, err1 := c.cmd.StdinPipe()
	out, err2 := c.cmd.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewScanner(out)
	return c, c.cmd.Start()
}

func (c *budgetcheckProcess) stop() {
	c.in.Close()
	_ = c.cmd.Wait()
	os.RemoveAll(c.dir)
}

// request sends one request and reads its answer.
func (c *budgetcheckProcess) request(r request) (response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line, err := json.Marshal(r)
	if err != nil {
		return response{}, err
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		return response{}, fmt.Errorf("sending a request to budgetcheck: %w", err)
	}
	if !c.out.Scan() {
		return response{}, fmt.Errorf("budgetcheck ended: %w", errors.Join(c.out.Err(), io.EOF))
	}
	var a response
	if err := json.Unmarshal(c.out.Bytes(), &a); err != nil {
		return response{}, fmt.Errorf("reading budgetcheck's answer: %w", err)
	}
	if a.Error != "" {
		return response{}, fmt.Errorf("budgetcheck: %s", a.Error)
	}
	return a, nil
}
