package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	protocol "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/evenkeel-project/evenkeel/lab/must"
)

// view is how a person looks at a page.
type view struct {
	width         int
	dark          bool
	withoutScript bool
}

// views are those in which each page must be right.
var views = []view{{width: 1280}, {width: 1280, dark: true}, {width: 390}, {width: 390, dark: true}}

func (v view) String() string {
	colours := "light"
	if v.dark {
		colours = "dark"
	}
	return fmt.Sprint(v.width, "-", colours)
}

// page is a tab of the browser with its own cookies. What happens in it is recorded from the start.
type page struct {
	t    *testing.T
	ctx  context.Context
	view view

	mu       sync.Mutex
	requests []string // addresses, but that of the page itself and of data in it
	faults   []string
}

// newPage opens a tab.
func newPage(t *testing.T, v view) *page {
	t.Helper()
	p := &page{t: t, view: v}
	ctx, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.record))
	t.Cleanup(end)
	must.Succeed(t, chromedp.Do(ctx)) // a deadline on the first call would end the tab
	p.ctx, end = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(end)
	colours := "light"
	if v.dark {
		colours = "dark"
	}
	p.do(command(network.Enable, network.EnableParams{}), command(audits.Enable, cdp.Empty{}), command(log.Enable, cdp.Empty{}),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: colours}}}),
		command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: v.withoutScript}),
		chromedp.EmulateViewport(int64(v.width), 900))
	return p
}

// newTab opens another tab of the same browser window, with the same cookies.
func (p *page) newTab() *page {
	p.t.Helper()
	q := &page{t: p.t, view: p.view}
	ctx, end := chromedp.NewContext(p.ctx, chromedp.WithListener(q.record))
	p.t.Cleanup(end)
	must.Succeed(p.t, chromedp.Do(ctx))
	q.ctx = ctx
	return q
}

// cookies returns the header of a request with the cookies of a page.
func cookies() chromedp.Action[string] {
	return func(ctx context.Context, t *chromedp.Target) (string, error) {
		r, err := cdp.Call(ctx, t, network.GetCookies, network.GetCookiesParams{})
		if err != nil || len(r.Cookies) != 1 {
			return "", fmt.Errorf("%d cookies: %w", len(r.Cookies), err)
		}
		return "Cookie: " + r.Cookies[0].Name + "=" + r.Cookies[0].Value, nil
	}
}

// open opens an address in a new tab and waits until it is loaded.
func open(t *testing.T, v view, address string) *page {
	t.Helper()
	p := newPage(t, v)
	p.do(chromedp.Navigate(address))
	return p
}

// command makes an action of a command of the DevTools protocol.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// do runs actions, and ends the test if one fails.
func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatalf("%v; faults of the page: %q", err, p.faults)
	}
}

// evaluate returns the value of an expression in the page.
func evaluate[T any](p *page, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// record records what the page reports and asks for.
func (p *page) record(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if e.Type != network.ResourceTypeDocument && !strings.HasPrefix(e.Request.URL, "data:") {
			p.requests = append(p.requests, e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		p.faults = append(p.faults, "exception: "+text(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			p.faults = append(p.faults, "console: "+text(e.Args))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			p.faults = append(p.faults, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *protocol.EventJavascriptDialogOpening:
		p.faults = append(p.faults, "dialog: "+e.Message)
	case *audits.EventIssueAdded:
		if d := e.Issue.Details.ContentSecurityPolicyIssueDetails; d != nil {
			p.faults = append(p.faults, "violation of "+d.ViolatedDirective+" "+d.BlockedURL)
		}
	}
}

func text(x any) string {
	b, err := json.Marshal(x)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// takeFaults returns the faults so far, and forgets them.
func (p *page) takeFaults() (faults []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	faults, p.faults = p.faults, nil
	return faults
}
