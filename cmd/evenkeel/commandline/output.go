package commandline

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/evenkeel-project/evenkeel/internal/terminal"
	"github.com/evenkeel-project/evenkeel/plan"
	"github.com/evenkeel-project/evenkeel/report"
)

// ObjectForms ends the help of --output for commands that print objects.
const ObjectForms = "name, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE or jsonpath-file=FILE"

// AddNoHeaders adds the flag --no-headers.
func AddNoHeaders(fl *pflag.FlagSet, value *bool) {
	fl.BoolVar(value, "no-headers", false, "with -o table or wide: print only one line per move or pass, without headings and other text")
}

// AddFilter adds the flags that select what a command shows of a plan or of the history.
func AddFilter(fl *pflag.FlagSet, f *plan.Filter) {
	fl.StringSliceVar(&f.Namespaces, "show-namespace", nil, "show only pods and workloads in this namespace; repeatable")
	fl.StringSliceVar(&f.Nodes, "show-node", nil, "show only moves from or to this node, and other facts about the node; repeatable")
	fl.StringSliceVar(&f.Strategies, "show-strategy", nil, "show only moves and goals of this strategy; the plan itself still covers all strategies; repeatable")
}

// ParseOutput parses the flag --output of a command that prints documents. For the forms of kubectl it returns JSON,
// and the output of the command prints each JSON document that is written to it as kubectl does.
func ParseOutput(cmd *cobra.Command, text string) (report.Format, error) {
	printer, err := newPrinter(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("--output: %w", err)
	case printer == nil:
		format, err := ParseFormat(text)
		if err != nil {
			err = fmt.Errorf("%w, or %s", err, ObjectForms)
		}
		return format, err
	}
	cmd.SetOut(documentPrinter{cmd.OutOrStdout(), printer})
	return report.JSON, nil
}

// newPrinter returns the printer for a form of kubectl, or nil for other texts.
func newPrinter(text string) (printers.ResourcePrinter, error) {
	form, template, _ := strings.Cut(text, "=")
	switch form {
	case "name":
		return namePrinter{printers.NamePrinter{ShortOutput: true}}, nil
	case "jsonpath", "jsonpath-as-json":
	case "jsonpath-file":
		_, data, err := ReadFile(template, nil, MaxFileBytes)
		if err != nil {
			return nil, fmt.Errorf("reading the template: %w", err)
		}
		template = string(data)
	default:
		return nil, nil
	}
	if template == "" {
		return nil, fmt.Errorf("%s needs a template (want for example jsonpath='{.metadata.name}')", form)
	}
	p, err := printers.NewJSONPathPrinter(template)
	if err != nil {
		return nil, fmt.Errorf("%q is not a template: %w", template, err)
	}
	p.AllowMissingKeys(true) // as kubectl get does
	p.EnableJSONOutput(form == "jsonpath-as-json")
	return p, nil
}

// namePrinter refuses documents without a name, for which the printer of kubectl prints a placeholder.
type namePrinter struct{ printers.NamePrinter }

// PrintObj implements printers.ResourcePrinter.
func (p namePrinter) PrintObj(o runtime.Object, w io.Writer) error {
	named := func(o runtime.Object) error {
		if u, ok := o.(*unstructured.Unstructured); ok && u.GetName() == "" {
			return fmt.Errorf("-o name prints names of objects, and this %s is not an object of the cluster (want -o json, or -o jsonpath=TEMPLATE)", u.GetKind())
		}
		return nil
	}
	if list, ok := o.(*unstructured.UnstructuredList); ok {
		if err := list.EachListItem(named); err != nil {
			return err
		}
	} else if err := named(o); err != nil {
		return err
	}
	return p.NamePrinter.PrintObj(o, w)
}

// documentPrinter prints JSON documents. One call of Write is one document.
type documentPrinter struct {
	out     io.Writer
	printer printers.ResourcePrinter
}

// Write prints a document. It returns the length of the document.
func (p documentPrinter) Write(doc []byte) (int, error) {
	o, _, err := unstructured.UnstructuredJSONScheme.Decode(doc, nil, nil)
	if err != nil {
		return 0, fmt.Errorf("reading the document: %w", err)
	}
	var text strings.Builder
	if err := p.printer.PrintObj(o, &text); err != nil {
		why, _, _ := strings.Cut(err.Error(), ". Printing more information") // the whole document
		return 0, errors.New(why)
	}
	_, err = io.WriteString(p.out, escapeLines(text.String()))
	return len(doc), err
}

// escapeLines escapes text of the cluster, except the line ends and tabs that templates contain.
func escapeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for k := range cells {
			cells[k] = terminal.Escape(cells[k])
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}
