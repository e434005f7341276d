package webtest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// allMoves is the closed list of all moves of a large report.
const allMoves = `details:has(.filter)`

// pods returns the pods that the list of all moves shows, in order.
func (p *page) pods() []string {
	p.t.Helper()
	return evaluate[[]string](p, `(() => { const list = document.querySelector("`+allMoves+`"), head = [...list.querySelectorAll("thead th")];
		const i = head.find(h => h.textContent === "Pod").cellIndex;
		return [...list.querySelectorAll("tbody tr")].filter(r => r.checkVisibility()).map(r => r.cells[i].textContent.trim()) })()`)
}

// TestPeopleSortAndFilter opens the list of all moves of a large report, sorts it and filters it, with the mouse and
// with the keyboard alone.
func TestPeopleSortAndFilter(t *testing.T) {
	address := largeReport(t)
	for _, how := range []string{"mouse", "keyboard"} {
		t.Run(how, func(t *testing.T) {
			p := open(t, views[0], address)
			act := func(selector string) {
				t.Helper()
				if how == "mouse" {
					p.do(chromedp.Click(chromedp.CSS(selector)))
				} else {
					p.do(chromedp.Focus(chromedp.CSS(selector)))
					p.press(kb.Enter)
				}
			}
			if n := len(p.pods()); n > 0 {
				t.Fatalf("the list of all moves is open at first, with %d rows", n)
			}
			act(allMoves + ` > summary`)
			pods := p.pods()
			if len(pods) < 100 {
				t.Fatalf("the open list has %d rows", len(pods))
			}
			sort := evaluate[string](p, `(() => { const b = [...document.querySelectorAll("`+allMoves+` thead button")].find(b => b.textContent === "Pod"); b.id = "sort"; return "#sort" })()`)
			act(sort)
			up := p.pods()
			act(sort)
			down := p.pods()
			if slices.Equal(up, pods) || slices.Equal(up, down) || len(up) != len(pods) || len(down) != len(pods) || up[0] > up[len(up)-1] || down[0] < down[len(down)-1] {
				t.Errorf("sorted upwards from %s to %s, downwards from %s to %s; %d, %d and %d rows", up[0], up[len(up)-1], down[0], down[len(down)-1],
					len(pods), len(up), len(down))
			}
			want := up[len(up)/2]
			p.do(chromedp.SendKeys(chromedp.CSS(allMoves+` .filter input`), strings.ToUpper(want)))
			if got := p.pods(); len(got) == 0 || len(got) > 20 || !slices.Contains(got, want) {
				t.Errorf("filtered by %s: %q", want, got)
			}
			p.checkShown(allMoves+` .filter`, " of ")
			if how == "mouse" {
				evaluate[chromedp.Void](p, `document.querySelectorAll("details:not([open]) > :not(summary), [hidden]").forEach(e => e.remove())`)
				p.check("sorted-and-filtered", "")
			}
		})
	}
}

// TestEveryControlIsReachedByKeyboard presses Tab until the focus returns, and checks that it passes every control and
// every frame that scrolls, and that each shows that it has the focus.
func TestEveryControlIsReachedByKeyboard(t *testing.T) {
	p := open(t, views[2], writeReport(t, "plan", "-f", threeZones))
	evaluate[chromedp.Void](p, `document.body.dataset.x = ""; document.body.focus()`)
	reached := map[string]bool{}
	const where = `(() => { const e = document.activeElement; if (!e || e === document.body) return "";
		e.dataset.reached = ""; const s = getComputedStyle(e); return s.outlineStyle === "none" || s.outlineWidth === "0px" ? "no outline at " + e.outerHTML.slice(0, 100) : String([...document.querySelectorAll("*")].indexOf(e)); })()`
	for range 500 {
		p.press(kb.Tab)
		at := evaluate[string](p, where)
		if strings.HasPrefix(at, "no outline") {
			t.Error(at)
		}
		if at == "" || reached[at] {
			break
		}
		reached[at] = true
	}
	if len(reached) < 5 {
		t.Errorf("the keyboard reaches %d controls", len(reached))
	}
	for _, missed := range evaluate[[]string](p, `[...document.querySelectorAll("a[href], button, input, summary, select")].concat(
		[...document.querySelectorAll("*")].filter(e => ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth))
		.filter(e => e.checkVisibility() && !("reached" in e.dataset)).map(e => e.outerHTML.slice(0, 100))`) {
		t.Errorf("the keyboard does not reach %s", missed)
	}
}

// TestWithoutScript checks that a report without JavaScript shows all that it shows with it, but the filter.
func TestWithoutScript(t *testing.T) {
	address := largeReport(t)
	const all = `(() => { const b = document.body.cloneNode(true); for (const e of b.querySelectorAll(".filter, script")) e.remove(); return b.textContent.replace(/\s+/g, " "); })()`
	with := evaluate[string](open(t, views[0], address), all)
	p := open(t, view{width: 390, withoutScript: true}, address)
	if without := evaluate[string](p, all); len(without) < 1000 || without != with {
		t.Errorf("%d characters without script, %d with it", len(without), len(with))
	}
	p.picture("without-script-390-light")
}

// TestPrint prints a report that is shown in dark colours.
func TestPrint(t *testing.T) {
	for address, pages := range map[string][2]int{writeReport(t, "plan", "-f", threeZones): {2, 4}, largeReport(t): {3, 8}} {
		p := open(t, views[1], address)
		pdf, err := chromedp.Run(p.ctx, chromedp.PrintToPDF(chromedp.PDFPreferCSSPageSize(), chromedp.PDFPrintBackground()))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(regexp.MustCompile(`/Type /Page\b`).FindAll(pdf, -1)); n < pages[0] || n > pages[1] {
			t.Errorf("%s: %d pages, want %v", address, n, pages)
		}
		p.do(command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print",
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}))
		if c := evaluate[string](p, `getComputedStyle(document.body).backgroundColor`); c != "rgb(255, 255, 255)" {
			t.Errorf("%s is printed on %s, want white", address, c)
		}
	}
}
